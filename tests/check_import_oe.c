/* SPDX-License-Identifier: MIT */
#include "archive/archive.h"
#include "base/arena.h"
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat archive --import-oe`: a repository as oe-git-archive makes it of
 * oe-build-perf-test's results, and directories of recordings.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define DATA TOP_SRCDIR "/tests/data/"
#define SERIES "builder/master/qemux86"
#define BUILDS SERIES ".test1.build"

static const char *dir;

static void must(int status, struct run *out, const char *line)
{
	struct run r;

	support_run(&r, dir, "%s", line);
	ck_assert_msg(r.status == status, "%s: %d\n%s%s", line, r.status, buf_str(&r.out),
		      buf_str(&r.err));
	if (out)
		*out = r;
}

/* Run n: a build of 100 + n seconds, of which do_compile 50 + n. */
static void write_run(int n)
{
	RELEASED(buf, b = BUF_INIT);
	int start = 1700000000 + n * 86400;

	buf_addf(&b, "{\"tester_host\": \"builder\", \"start_time\": %d.25, "
		 "\"elapsed_time\": 400.5, \"tests\": {\"test1\": {\"name\": \"test1\", "
		 "\"description\": \"Build\", \"status\": \"%s\", \"start_time\": %d.5, "
		 "\"elapsed_time\": 300, \"measurements\": {\"build\": {\"type\": \"sysres\", "
		 "\"name\": \"build\", \"legend\": \"bitbake\", \"values\": {\"start_time\": %d, "
		 "\"elapsed_time\": %d, \"rusage\": {\"ru_utime\": 1000.5, \"ru_stime\": 50.25, "
		 "\"ru_maxrss\": 400000, \"ru_inblock\": 10, \"ru_oublock\": 20}, \"iostat\": "
		 "{\"rchar\": 5, \"wchar\": 6, \"read_bytes\": 1024, \"write_bytes\": 2048}}}, "
		 "\"tmpdir\": {\"type\": \"diskusage\", \"name\": \"tmpdir\", \"legend\": "
		 "\"tmpdir\", \"values\": {\"size\": 2000}}}}, \"test2\": {\"name\": \"test2\", "
		 "\"description\": \"\", \"status\": \"SKIPPED\", \"start_time\": 1, "
		 "\"elapsed_time\": 0, \"measurements\": {}}}}",
		 start, n == 2 ? "FAILURE" : "SUCCESS", start, start + 1, 100 + n);
	support_write(support_path("%s/data/results.json", dir), b.data, b.len);
	buf_clear(&b);
	buf_addf(&b, "{\"hostname\": \"builder\", \"layers\": {\"meta-extra\": {\"commit\": "
		 "\"%040d\", \"commit_count\": 7, \"branch\": \"x\"}, \"meta\": {\"commit\": "
		 "\"%040d\", \"commit_count\": %d, \"branch\": \"master\"}}, "
		 "\"config\": {\"MACHINE\": \"qemux86\"}}", n + 10, n, 5000 + n);
	support_write(support_path("%s/data/metadata.json", dir), b.data, b.len);
	buf_clear(&b);
	buf_addf(&b, "{\"test1.build\": [{\"name\": \"gcc\", \"epoch\": \"1\", \"version\": "
		 "\"13.2\", \"revision\": \"r0\", \"tasks\": {\"do_compile\": {\"start_time\": "
		 "%d.5, \"elapsed_time\": %d, \"status\": \"PASSED\", \"rusage\": {\"ru_utime\": "
		 "40.5, \"ru_stime\": 2, \"ru_maxrss\": 9000, \"ru_inblock\": 3}, "
		 "\"iostat\": {\"read_bytes\": 5120}}}}, {\"name\": \"zlib\", \"epoch\": null, "
		 "\"version\": \"1.3\", \"revision\": \"r1\", \"tasks\": {\"do_fetch\": "
		 "{\"start_time\": %d, \"elapsed_time\": 2.5, \"status\": \"FAILED\", "
		 "\"rusage\": {\"ru_utime\": 1, \"ru_stime\": 1}, \"iostat\": {}}}}]}",
		 start + 10, 50 + n, start + 5);
	support_write(support_path("%s/buildstats.json", dir), b.data, b.len);
}

static void commit(const char *what)
{
	RELEASED(buf, line = BUF_INIT);

	buf_addf(&line, "cd oe && git --work-tree=../data add -A . && git commit -q -m '%s' && "
		 "git notes --ref buildstats/" SERIES " add -F ../buildstats.json && "
		 "git tag -a -m run " SERIES "/%s", what, what);
	must(0, NULL, line.data);
}

static void make_oe(int runs)
{
	must(0, NULL, "mkdir data && git init -q oe && cd oe && git config user.name x && "
	     "git config user.email x@example.org && git config core.worktree \"$PWD/../data\" && "
	     "git checkout -q --orphan " SERIES);
	for (int n = 1; n <= runs; n++) {
		char name[32];

		write_run(n);
		snprintf(name, sizeof name, "%d-g%07d/0", 5000 + n, n);
		commit(name);
	}
}

static void setup(void)
{
	dir = support_tmpdir();
	setenv("HOME", dir, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
}

static struct archive *open_it(void)
{
	struct error err = { 0 };
	struct archive *a;

	ck_assert_msg(!archive_open(&a, support_path("%s/n.git", dir), ARCHIVE_READ, &err), "%s",
		      err.message);
	return a;
}

static int64_t column(const struct values *f, const char *task, enum value_column c)
{
	size_t i = values_find(f, task);

	ck_assert_msg(i < f->n_tasks, "no %s", task);
	return f->column[c] ? f->column[c][i] : -1;
}

/* Equal to twelve digits, as stored. */
static void about(int64_t value, int64_t expected)
{
	ck_assert_int_le(llabs(value - expected), expected / 4000);
}

TEST_GROUP_WITH("import_oe", setup, NULL);

TEST(runs)
{
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	struct values f;
	struct archive *a;
	struct run r;

	make_oe(3);
	must(0, &r, BUILDBEAT " archive --repo n.git --import-oe oe");
	ck_assert_ptr_nonnull(strstr(r.out.data, BUILDS " "));
	a = open_it();
	ck_assert_int_eq(archive_builds(a, SERIES, 0, &builds, &err), 0);
	ck_assert_uint_eq(builds.n, 3);
	ck_assert_int_eq(builds.build[0].start_s, 1700086400);
	ck_assert_int_eq(builds.build[0].total[TOTAL_WALL_US], 400500000);
	ck_assert_int_eq(builds.build[0].total[TOTAL_STATUS], 0);
	ck_assert_int_eq(builds.build[1].total[TOTAL_STATUS], 1);
	ck_assert_str_eq(builds.build[2].revision[0].source, "meta");
	ck_assert_int_eq(builds.build[2].revision[0].count, 5003);
	ck_assert_str_eq(builds.build[2].revision[1].source, "meta-extra");
	must(0, &r, "printf oe-; git -C oe rev-parse HEAD");
	ck_assert_str_eq(strtok(r.out.data, "\n"), builds.build[2].run);
	builds_release(&builds);
	ck_assert_int_eq(archive_values(a, SERIES, &f, &err), 0);
	ck_assert_uint_eq(f.n_tasks, 3);
	ck_assert_str_eq(values_fact(&f, "host"), "builder");
	about(column(&f, "test1: build", COLUMN_WALL_US), 103000000);
	ck_assert_int_eq(column(&f, "test1: build", COLUMN_READ_BYTES), 1024);
	ck_assert_int_eq(column(&f, "test1: tmpdir", COLUMN_WRITTEN_BYTES), 2000 * 1024);
	ck_assert_int_eq(column(&f, "test1", COLUMN_STATUS), 0);
	values_release(&f);
	ck_assert_int_eq(archive_values(a, SERIES "~1", &f, &err), 0);
	ck_assert_int_eq(column(&f, "test1", COLUMN_STATUS), STATUS_FAILED);
	values_release(&f);
	archive_close(a);
}

TEST(buildstats)
{
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	struct values f;
	struct archive *a;

	make_oe(2);
	must(0, NULL, BUILDBEAT " archive --repo n.git --import-oe oe");
	a = open_it();
	ck_assert_int_eq(archive_builds(a, BUILDS, 0, &builds, &err), 0);
	ck_assert_uint_eq(builds.n, 2);
	ck_assert_int_eq(builds.build[1].total[TOTAL_WALL_US], 102000000);
	ck_assert_int_eq(builds.build[1].total[TOTAL_USER_US], 1000500000);
	ck_assert_int_eq(builds.build[1].total[TOTAL_MAX_RSS_KB], 400000);
	builds_release(&builds);
	ck_assert_int_eq(archive_values(a, BUILDS, &f, &err), 0);
	ck_assert_uint_eq(f.n_tasks, 2);
	about(column(&f, "gcc: do_compile", COLUMN_WALL_US), 52000000);
	about(column(&f, "gcc: do_compile", COLUMN_START_US), 5500000);
	ck_assert_int_eq(column(&f, "gcc: do_compile", COLUMN_READ_BYTES), 5120);
	ck_assert_int_eq(column(&f, "zlib: do_fetch", COLUMN_STATUS), STATUS_FAILED);
	ck_assert_int_eq(column(&f, "zlib: do_fetch", COLUMN_MAX_RSS_KB), -1);
	ck_assert_str_eq(values_version(&f, values_find(&f, "gcc: do_compile")), "1:13.2-r0");
	ck_assert_str_eq(f.task[values_find(&f, "gcc: do_compile")].kind, "compile");
	values_release(&f);
	archive_close(a);
}

/* A second import adds nothing; then only new runs. */
TEST(again)
{
	struct run r;

	make_oe(2);
	must(0, NULL, BUILDBEAT " archive --repo n.git --import-oe oe");
	must(0, &r, BUILDBEAT " archive --repo n.git --import-oe oe && "
	     "git -C n.git rev-list --count --all");
	ck_assert_ptr_nonnull(strstr(r.out.data, "(already archived)"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n4\n"));
	write_run(3);
	commit("5003-g3/0");
	must(0, &r, BUILDBEAT " archive --repo n.git --import-oe oe >/dev/null && "
	     "git -C n.git rev-list --count --all");
	ck_assert_str_eq(r.out.data, "6\n");
}

/* With other names, from a bare clone. */
TEST(named)
{
	struct run r;

	make_oe(1);
	must(0, &r, "git clone -q --bare oe bare.git && " BUILDBEAT " archive --repo n.git "
	     "--host a --branch b --machine c --import-oe bare.git");
	ck_assert_int_eq(strncmp(r.out.data, "a/b/c ", 6), 0);
}

static const struct { const char *file, *text; const char *told; } damaged[] = {
	{ "data/results.json", "{\"tests\": ", "results.json" },
	{ "data/metadata.json", "nothing", "metadata.json" },
	{ "buildstats.json", "{\"test1.build\": [{\"name\": ", "note" },
	{ "data/results.json", "[]", NULL },
	{ "buildstats.json", "{\"test1.build\": [1, null, {}, {\"tasks\": 3}, "
	  "{\"tasks\": {\"do_x\": {}}}]}", NULL },
	{ "data/results.json", "{\"start_time\": 9e12, \"elapsed_time\": 9e12, \"tests\": {\"a\": "
	  "{\"start_time\": -9e300, \"elapsed_time\": 9.1e12, \"measurements\": {\"m\": {\"values\": "
	  "{\"size\": 9223372036854775807}}}}}}", NULL },
};

/* A damaged run is reported with its place; the others are read. */
TEST_EACH(damaged_run, damaged)
{
	struct run r;

	make_oe(1);
	write_run(2);
	support_writes(support_path("%s/%s", dir, damaged[_i].file), damaged[_i].text);
	commit("5002-g2/0");
	write_run(3);
	commit("5003-g3/0");
	must(0, &r, BUILDBEAT " archive --repo n.git --import-oe oe");
	if (damaged[_i].told)
		ck_assert_msg(strstr(r.err.data, damaged[_i].told), "%s", r.err.data);
	else
		ck_assert_str_eq(buf_str(&r.err), "");
	must(0, &r, "git -C n.git log --format=%B " SERIES " | grep -c ^Build-Start:.*T22:13:20Z");
}

/* Directories of recordings */

TEST(recordings)
{
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	struct archive *a;
	struct run r;

	must(0, &r, "mkdir d && cp -r " DATA "recordings/nested d/b && cp -r " DATA
	     "recordings/cut d/a && cp -r " DATA "oe/genuine d/c && mkdir d/none && "
	     "cp -r d/b d/old && chmod -R u+w d && sed -i 's/^start_wall_ns: 1/start_wall_ns: 10/' d/old/build && "
	     BUILDBEAT " archive --repo n.git --host h --branch b --machine m --import-oe d");
	ck_assert_msg(strstr(r.err.data, "d/a: no end was recorded"), "%s", r.err.data);
	a = open_it();
	ck_assert_int_eq(archive_builds(a, "h/b/m", 0, &builds, &err), 0);
	ck_assert_uint_ge(builds.n, 2);
	for (size_t i = 1; i < builds.n; i++)
		ck_assert_int_le(builds.build[i - 1].start_s, builds.build[i].start_s);
	builds_release(&builds);
	archive_close(a);
}

static const struct { const char *args, *message; } wrong[] = {
	{ "--import-oe", "" }, { "--import-oe .", "" }, { "--import-oe nowhere", "" }, { "a b", "" },
	{ "--import-oe sources", "sources: not an archive of oe-build-perf-test" },
};

TEST_EACH(misuse, wrong)
{
	RELEASED(buf, line = BUF_INIT);
	struct run r;

	/* a repository without results */
	must(0, &r, "git init -q sources && cd sources && echo x >x && git add x && "
	     "git -c user.name=a -c user.email=a@b commit -q -m x");
	buf_addf(&line, BUILDBEAT " archive --repo n.git %s", wrong[_i].args);
	must(2, &r, line.data);
	ck_assert_int_eq(strncmp(r.err.data, "buildbeat: ", 11), 0);
	ck_assert_msg(strstr(r.err.data, wrong[_i].message), "%s", r.err.data);
	ck_assert_str_eq(buf_str(&r.out), "");
}

TEST_PROGRAM(import_oe)
{
	SKIP_PROGRAM_IF(!support_has("git"));
	return support_main();
}
