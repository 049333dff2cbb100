/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "report/list_output.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat show` and `buildbeat list`: recording in, exact text out. UPDATE_GOLDEN=1
 * rewrites the golden files.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define DATA TOP_SRCDIR "/tests/data/recordings"

static const struct support_golden goldens[] = {
	{ "show-brief-nested.txt", "show nested", 80 },
	{ "show-brief-nested-40.txt", "show nested", 40 },
	{ "show-brief-oe.txt", "show ../oe/genuine", 80 },
	{ "show-brief-processes.txt", "show ../processes/make", 80 },
	{ "show-brief-empty.txt", "show empty", 80 },
	{ "show-nested-80.txt", "show -a nested", 80 },
	{ "show-nested-40.txt", "show -a nested", 40 },
	{ "show-nested-200.txt", "show -a nested", 200 },
	{ "show-nested.txt", "show -a nested", 0 },
	{ "show-nested.json", "show -j --tasks nested", 0 },
	{ "show-nested-io.txt", "show -s io -t 3 nested", 80 },
	{ "show-nested-start.txt", "show --sort start --filter '*.o' nested", 80 },
	{ "show-nested-failed.txt", "show --failed nested", 80 },
	{ "show-nested-by.txt", "show --by directory,target,program,kind,host -t 3 nested", 80 },
	{ "show-nested-by-40.txt", "show --by target -s memory nested", 40 },
	{ "show-nested-by.json", "show -j --by directory,program -s cpu -t 2 nested", 0 },
	{ "show-oe-by.txt", "show --by directory ../oe/genuine", 80 },
	{ "show-processes-by.txt", "show --by program -t 5 ../processes/make", 80 },
	{ "show-processes-by-selected.txt", "show --by program -k compile ../processes/make", 80 },
	{ "show-nested.md", "show -m -b kind,directory -t 3 nested", 0 },
	{ "show-processes.md", "show --markdown -k compile -s cpu -b program ../processes/make", 0 },
	{ "show-oe.md", "show --markdown --by directory -t 5 ../oe/genuine", 0 },
	{ "show-none.txt", "show -k link -F nothing --failed nested", 80 },
	{ "show-none-tasks.txt", "show --tasks --failed ../processes/make", 80 },
	{ "show-nested-tasks.txt", "show --tasks nested", 80 },
	{ "show-nested-kind.json", "show -j -k compile -s name nested", 0 },
	{ "show-cut-80.txt", "show -a cut", 80 },
	{ "show-cut.json", "show -j cut", 0 },
	{ "show-empty.txt", "show -a empty", 80 },
	{ "show-empty.json", "show -j --tasks empty", 0 },
	{ "show-oe-80.txt", "show -a ../oe/genuine", 80 },
	{ "show-oe-filter.txt", "show --tasks --sort wall --filter 'image-*' ../oe/genuine", 80 },
	{ "show-oe.json", "show -j ../oe/genuine", 0 },
	{ "show-processes.txt", "show -a ../processes/make", 80 },
	{ "show-processes.json", "show -j ../processes/make", 0 },
	{ "show-bounds.txt", "show -a ../memory/bounds", 80 },
	{ "show-bounds.json", "show -j --tasks ../memory/bounds", 0 },
	{ "show-inspected.txt", "show -a ../inspected/make", 80 },
	{ "show-inspected-task.txt", "show --task app ../inspected/make", 80 },
	{ "show-inspected.json", "show -j ../inspected/make", 0 },
	{ "show-results.txt", "show -a ../results/make", 80 },
	{ "show-results-task.txt", "show --task parse.c ../results/make", 80 },
	{ "show-results-files.txt", "show -s files -k compile ../results/make", 80 },
	{ "show-results.json", "show -j --tasks ../results/make", 0 },
	{ "list-oe.txt", "list ../oe", 80 },
	{ "list-80.txt", "list .", 80 },
	{ "list-40.txt", "list .", 40 },
	{ "list.json", "list -j .", 0 },
};

static void run(struct run *r, unsigned columns, const char *command)
{
	support_buildbeat(r, DATA, columns, command);
}

/* A recording without an end runs, if its files are new, as after unpacking the sources. */
TEST_EACH(golden, goldens)
{
	const char *dir = DATA;

	if (!strncmp(goldens[_i].command, "list", 4)) {
		dir = support_path("%s/recordings", support_tmpdir());
		support_expect(support_tmpdir(), 0, NULL, NULL, "cp -r '" DATA "' '" DATA "/../oe' . && "
			       "chmod -R u+w . && find . -exec touch -d '2 days ago' {} +");
	}
	support_prints(dir, &goldens[_i]);
}

/* The message has a tone, the name has none. */
TEST(damaged_in_colour)
{
	struct listing_entry entry = { .name = (char *)"one", .damaged = true, .error.message = "no" };
	const struct listing l = { .n = 1, .entry = &entry };
	const struct style style = { .colour = true };
	RELEASED(buf, b = BUF_INIT);
	RELEASED(doc, d);

	doc_init_terminal(&d, &b, &style);
	ck_assert_int_eq(list_doc(&d, &l), 0);
	ck_assert_str_eq(strstr(buf_str(&b), "one"), "one   \033[1;33mno\033[0m\n");
}

/* In columns: continuation bytes take no column; characters of two columns occur only
 * shortened. */
TEST_LOOP(lines_fit, 3)
{
	static const unsigned widths[] = { 40, 80, 200 };
	struct run r;
	size_t columns = 0;

	run(&r, widths[_i], "show -a nested; " BUILDBEAT " show --tasks nested");
	for (const char *p = strstr(r.out.data, "\nTasks running"); p && *p; p++) {
		if (*p == '\n')
			columns = 0;
		else if (((unsigned char)*p & 0xc0) != 0x80)
			columns++;
		/* Headings are what they are. */
		if (columns > widths[_i])
			ck_assert_msg(!strncmp(p - columns + 1, "Tasks", 5) ||
				      !strncmp(p - columns + 1, "Largest", 7),
				      "too wide: %.*s", (int)columns, p - columns + 1);
	}
}

/* One screen is enough, also of a build with a long verdict, failures and warnings. */
TEST_LOOP(fits_on_a_screen, 5)
{
	static const char *const recordings[] = { "nested", "cut", "../oe/genuine", "../processes/make", "../results/make" };
	struct run r;
	size_t lines = 0;

	run(&r, 80, support_path("show %s", recordings[_i]));
	for (const char *p = r.out.data; (p = strchr(p, '\n')); p++)
		lines++;
	ck_assert_msg(lines >= 5 && lines <= 30, "%zu lines", lines);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\nMore: buildbeat show --all\n"));
}

static bool is_json(int i)
{
	return strstr(goldens[i].golden, ".json") != NULL;
}

TEST_EACH(valid_json, goldens)
{
	struct run r;

	if (!is_json(_i))
		return;
	SKIP_IF(!support_has("python3"));
	run(&r, 0, support_path("%s | python3 -m json.tool > /dev/null", goldens[_i].command));
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 0);
}

/* Documented keys: every ".Ql key" of the page's section about JSON. */
static bool page_has(const char *page, const char *key, size_t len)
{
	const char *p = strstr(page, ".Ss JSON");

	while ((p = memmem(p, strlen(p), key, len))) {
		char before = p[-1], after = p[len];

		if ((before == ' ') && (after == ' ' || after == '\n'))
			return true;
		p += len;
	}
	return false;
}

static void keys_are_in_page(const char *json, const char *page)
{
	for (const char *p = json; (p = strchr(p, '"')); p++) {
		const char *end = p + 1 + strcspn(p + 1, "\"\\\n");

		if (*end == '"' && end[1] == ':')
			ck_assert_msg(page_has(page, p + 1, (size_t)(end - p - 1)),
				      "not documented: %.*s", (int)(end - p - 1), p + 1);
		p = end;
		if (!*p)
			break;
	}
}

static void page_keys_are_made(const char *page, const char *json)
{
	const char *p = strstr(page, ".Ss JSON"), *end = strstr(p, "\n.Sh ");
	char line[256];

	for (; p < end; p += strcspn(p, "\n") + 1) {
		const char *word;

		snprintf(line, sizeof line, "%.*s", (int)strcspn(p, "\n"), p);
		if (strncmp(line, ".Ql ", 4) && strncmp(line, ".It Ql ", 7))
			continue;
		for (word = strtok(line + (line[1] == 'I' ? 7 : 4), " ,;:"); word;
		     word = strtok(NULL, " ,;:")) {
			if (word[0] >= 'a' && word[0] <= 'z' && strcmp(word, "lib"))
				ck_assert_msg(strstr(json, support_path("\"%s\":", word)) != NULL,
					      "documented but not made: %s", word);
		}
	}
}

TEST_LOOP(keys_are_documented, 2)
{
	static const char *const pages[][2] = {
		{ "buildbeat-show.1", "show -j --tasks nested; " BUILDBEAT
				      " show -j -s start nested; " BUILDBEAT
				      " show -j --by program ../processes/make; " BUILDBEAT
				      " show -j --tasks ../results/make; " BUILDBEAT
				      " show -j ../inspected/make; " BUILDBEAT
				      " show -j ../oe-bound; " BUILDBEAT
				      " show -j -s name cut; cd \"$SET\" && printf 'all: ; @echo a.c:1:2: error: b; exit 1\\n' "
				      ">Makefile; unset MAKEFLAGS; " BUILDBEAT " record --log --no-git -o stats -- make "
				      ">out 2>&1; " BUILDBEAT " show -j stats/latest" },
		{ "buildbeat-list.1", "list -j .; cd \"$SET\" && " BUILDBEAT " record --repeat 2 --no-git "
				      "-o stats -- true >out 2>&1; " BUILDBEAT " list -j stats" },
	};
	RELEASED(buf, page);
	struct run r;

	setenv("SET", support_tmpdir(), 1);
	support_read(&page, support_path("%s/man/%s", TOP_SRCDIR, pages[_i][0]));
	run(&r, 0, pages[_i][1]);
	keys_are_in_page(r.out.data, page.data);
	page_keys_are_made(page.data, r.out.data);
}

/* A setscene task that failed silently ended when the recipe went on, or before. */
TEST(end_is_a_bound)
{
	struct run r;

	run(&r, 80, "show ../oe-bound");
	ck_assert_msg(strstr(r.out.data, "\n  <1.23s        -        -  setscene"), "%s", r.out.data);
}

static const struct {
	const char *command;
	const char *says;	/* part of the message */
} errors[] = {
	{ "show no-such-recording", "no-such-recording: no such recording" },
	{ "show ../../golden", "not a recording" },
	{ "show nested/build", "not a recording, and not" },
	{ "show", "no buildstats here or above" },
	{ "show -s size nested", "size" },
	{ "show -t 0 nested", "0" },
	{ "show --by files nested", "files" },
	{ "show -m -j nested", "--markdown and --json exclude each other" },
	{ "show -m --tasks nested", "--markdown and --tasks exclude each other" },
	{ "show --by , nested", "directory" },
	{ "show a b", "" },
	{ "list no-such-directory", "no-such-directory: No such file" },
	{ "list -d no-such-directory", "no-such-directory: No such file" },
};

TEST_EACH(clear_errors, errors)
{
	support_refuses(DATA, errors[_i].command, errors[_i].says);
}

/* A build makes a program or a directory with the name of its recording. */
TEST_LOOP(named_as_a_product, 2)
{
	support_expect(support_tmpdir(), 0, "ok\n2\n", "", "cp -r " DATA "/nested stats-nested && mkdir stats && mv stats-nested stats/lua && %s && "
		       BUILDBEAT " show -d stats --json lua | grep -q '\"tasks\"' && echo ok; "
		       BUILDBEAT " show -d stats ./lua 2>err; echo $?", _i ? "mkdir lua" : ": >lua");
}

TEST(nobody_reads)
{
	struct run r;

	/* SIGPIPE ends it as it ends cat; where the signal is ignored, it reports an error. */
	run(&r, 80, "show nested | true");
	ck_assert_str_eq(r.err.data, "");
	support_run(&r, DATA, "trap '' PIPE; { " BUILDBEAT " show -j --tasks nested; "
		    "echo $? >&2; } | sleep 0.2");
	ck_assert_msg(strstr(r.err.data, "0\n") || strstr(r.err.data, "Broken pipe\n2\n"),
		      "%s", r.err.data);
	run(&r, 80, "show nested > /dev/full");
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.err.data, "No space left"));
}

TEST_LOOP(colour_on_terminals_only, 4)
{
	static const struct { const char *environment; bool colour; } cases[] = {
		{ "TERM=xterm", true }, { "TERM=xterm NO_COLOR=1", false },
		{ "TERM=dumb", false }, { "TERM=xterm NO_COLOR=", true },
	};
	struct run r;

	SKIP_IF(!support_has("script"));
	support_run(&r, DATA, "env -u NO_COLOR %s COLUMNS=80 script -qec '" BUILDBEAT
		    " show -a nested' /dev/null", cases[_i].environment);
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "Slowest"));
	ck_assert_int_eq(strstr(r.out.data, "\033[") != NULL, cases[_i].colour);
}

/* Finding the recording. */

static void make_recording(const char *dir, const char *command)
{
	support_writes(support_path("%s/build", dir), support_path(
		       "buildbeat build 1\nstart_wall_ns: %zu\ncommand: %s\nend_us: 1\n"
		       "status: 0\n", strlen(command), command));
}

static void make_tree(const char *top)
{
	static const char *const dirs[] = {
		"buildstats", "buildstats/20260101000000", "buildstats/20260102000000",
		"buildstats/zz-other", "buildstats/broken", "deep", "deep/er", "else",
		"else/one",
	};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (mkdir(support_path("%s/%s", top, dirs[i]), 0777))
			ck_assert_int_eq(errno, EEXIST);
	}
	make_recording(support_path("%s/buildstats/20260101000000", top), "first");
	make_recording(support_path("%s/buildstats/20260102000000", top), "second");
	make_recording(support_path("%s/else/one", top), "elsewhere");
	support_writes(support_path("%s/buildstats/broken/build", top), "buildbeat build 99\n");
	if (symlink("20260101000000", support_path("%s/buildstats/latest", top)))
		ck_assert_int_eq(errno, EEXIST);
}

static const struct {
	const char *dir, *what, *command;	/* NULL: it fails */
} finds[] = {
	{ "", "", "first" },				/* latest */
	{ "deep/er", "", "first" },
	{ "deep", "20260102000000", "second" },
	{ "", "buildstats/20260102000000", "second" },
	{ "buildstats/20260102000000", ".", "second" },
	{ "", "buildstats", "first" },
	{ "", "else", "elsewhere" },			/* no `latest`: the last by name */
	{ "", "-d else", "elsewhere" },
	{ "", "-d else one", "elsewhere" },
	{ "", "zz-other", NULL },			/* empty */
	{ "", "broken", NULL },				/* of a later version */
	{ "", "-d deep", NULL },
};

TEST_EACH(finding, finds)
{
	const char *top = support_tmpdir();
	struct run r;

	make_tree(top);
	support_run(&r, support_path("%s/%s", top, finds[_i].dir), BUILDBEAT " show %s",
		    finds[_i].what);
	ck_assert_int_eq(r.status, finds[_i].command ? 0 : 2);
	if (finds[_i].command)
		ck_assert_msg(!strncmp(r.out.data, finds[_i].command, strlen(finds[_i].command)),
			      "%s", r.out.data);
	else
		ck_assert_str_ne(r.err.data, "");
}

TEST(listing)
{
	const char *top = support_tmpdir();
	const char *first, *second, *broken;
	struct run r;

	make_tree(top);
	support_run(&r, support_path("%s/deep", top), BUILDBEAT " list");
	ck_assert_int_eq(r.status, 0);
	broken = strstr(r.out.data, "\nbroken ");
	first = strstr(r.out.data, "\n20260101000000 ");
	second = strstr(r.out.data, "\n20260102000000 ");
	ck_assert(broken && first && second && broken < first && first < second);
	ck_assert_ptr_null(strstr(r.out.data, "latest"));
	ck_assert_ptr_null(strstr(r.out.data, "zz-other"));
}

/* Only `build` is read: an unreadable tasks.log does not matter. */
TEST(listing_reads_build_only)
{
	const char *top = support_tmpdir();
	struct run r;

	if (mkdir(support_path("%s/r", top), 0777))
		ck_assert_int_eq(errno, EEXIST);
	make_recording(support_path("%s/r", top), "make");
	ck_assert_int_eq(mkfifo(support_path("%s/r/tasks.log", top), 0600), 0);
	support_run(&r, top, "timeout 600 " BUILDBEAT " list .");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "make\n"));
}

/* A recording of these tasks in the test's directory. */
static const char *make_tasks(int status, const char *tasks)
{
	const char *top = support_tmpdir();

	support_writes(support_path("%s/build", top),
		       support_path("buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n"
				    "cwd: /src\nend_us: 990000\nstatus: %d\n", status));
	support_writes(support_path("%s/tasks.log", top), tasks);
	return top;
}

TEST(a_pool)
{
	struct run r;
	const char *top = make_tasks(0, "buildbeat tasks 1\n"
		       "open\t0\tm\t10\t\t10\tninja\t1.11\t/src\tninja -j8\n"
		       "start\t0\tm.1\t\t\t\ta\nplace\t0\tm.1\tb.ninja\t7\tlink\t1\n"
		       "done\t500000\tm.1\nstart\t502000\tm.2\t\t\t\tb\n"
		       "place\t0\tm.2\tb.ninja\t8\tlink\t1\nafter\t502000\tm.2\tb.c\n"
		       "done\t900000\tm.2\n");

	support_run(&r, top, BUILDBEAT " show -a .");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "1 waited for a pool\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "398 ms  a pool          b\n"));
}

/* A task without a name has the same one for people and in JSON, with and without --tasks. */
TEST(unnamed)
{
	struct run r;
	const char *top = make_tasks(2, "buildbeat tasks 1\n"
		       "open\t0\tm\t10\t\t10\tmake\t4.3\t/src\tmake\n"
		       "start\t0\tm.1\t\t\t\t\t\tgcc -c one.c -o out/one.o\nfail\t500000\tm.1\t256\n"
		       "close\t990000\tm\n");

	support_run(&r, top, BUILDBEAT " show . | grep -o out/one.o | uniq && "
		    BUILDBEAT " show -j . | grep -o '\"name\": *\"[^\"]*\"' && "
		    BUILDBEAT " show -j --tasks . | grep -c '\"name\": *\"out/one.o\"'");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "out/one.o\n\"name\""));
	ck_assert_ptr_null(strstr(r.out.data, "\"\"\n"));
}

TEST_MAIN(show);
