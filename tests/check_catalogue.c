/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "live/catalogue.h"
#include "live/source.h"
#include "tests/support.h"

static struct catalogue catalogue;
static struct error err;

static void record(const char *path, const char *build)
{
	ck_assert(!mkdir(path, 0700) || errno == EEXIST);
	support_writes(support_path("%s/build", path), support_path("buildbeat build 1\n%s", build));
	support_writes(support_path("%s/tasks.log", path), "buildbeat tasks 1\n");
}

/* "id id* ...", running ones with a star. */
static const char *list(void)
{
	static char text[1024];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < catalogue.n; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s", i ? " " : "",
					catalogue.entry[i].id, catalogue.entry[i].running ? "*" : "");
	return text;
}

TEST(directory)
{
	const char *dir = support_tmpdir();
	char path[PATH_MAX], host[256], boot[64] = "";
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "r");
	uint64_t generation;

	ck_assert(f && fscanf(f, "%63s", boot) == 1);
	fclose(f);
	gethostname(host, sizeof host);
	ck_assert_int_eq(catalogue_open(&catalogue, dir, &err), 0);
	ck_assert_int_eq(catalogue.kind, CATALOGUE_DIRECTORY);
	ck_assert_uint_eq(catalogue.n, 0);
	ck_assert_ptr_null(catalogue_find(&catalogue, NULL));
	record(support_path("%s/old", dir), "start_wall_ns: 1000\nend_us: 5\n");
	record(support_path("%s/new", dir), "start_wall_ns: 3000\nend_us: 5\n");
	record(support_path("%s/.hidden", dir), "start_wall_ns: 2000\n");
	mkdir(support_path("%s/other", dir), 0700);
	ck_assert_int_eq(symlink("new", support_path("%s/latest", dir)), 0);
	ck_assert_int_eq(symlink(TOP_SRCDIR "/tests/data/recordings/nested", support_path("%s/link", dir)), 0);
	generation = catalogue.generation;
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_str_eq(list(), "new old");
	ck_assert_uint_eq(catalogue.generation, generation + 1);
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_uint_eq(catalogue.generation, generation + 1);
	ck_assert_str_eq(catalogue_find(&catalogue, NULL)->id, "new");
	ck_assert_ptr_null(catalogue_find(&catalogue, "../new"));
	ck_assert_ptr_null(catalogue_find(&catalogue, ""));
	ck_assert(catalogue_directory(&catalogue, catalogue_find(&catalogue, "old"), path));
	ck_assert_str_eq(path, support_path("%s/old", dir));
	/* of this process, which runs */
	record(support_path("%s/a", dir), support_path("start_wall_ns: 2000\nstart_mono_ns: %lld\n"
	       "host: %s\nboot_id: %s\nsampler_pid: %d\nbuildbeat: 1\n",
	       (long long)clock_mono_ns(), host, boot, (int)getpid()));
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_str_eq(list(), "a* new old");
	support_expect(dir, 0, "", "", "rm -r new && echo end_us: 7 >>a/build && sed -i /sampler_pid/d a/build");
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_str_eq(list(), "a old");
	catalogue_release(&catalogue);
}

TEST(others)
{
	const char *dir = support_tmpdir();

	record(support_path("%s/one", dir), "start_wall_ns: 1000\nend_us: 5\n");
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/one/", dir), &err), 0);
	ck_assert_int_eq(catalogue.kind, CATALOGUE_RECORDING);
	ck_assert_str_eq(list(), "one");
	support_expect(dir, 0, "", "", "mv one two");
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_uint_eq(catalogue.n, 0);
	catalogue_release(&catalogue);
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/none", dir), &err), -ENOENT);
	support_writes(support_path("%s/text", dir), "some text\n");
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/text", dir), &err), -EINVAL);
	ck_assert_str_eq(err.message, "not a recording, a directory of recordings or an archive");
	support_expect(dir, 0, NULL, NULL, TOP_BUILDDIR "/tests/gen_archive --tasks 3 --builds 4 r.git");
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/r.git", dir), &err), 0);
	ck_assert_int_eq(catalogue.kind, CATALOGUE_ARCHIVE);
	ck_assert_uint_eq(catalogue.n, 0);
	ck_assert_int_eq(catalogue_update(&catalogue, &err), 0);
	ck_assert_uint_eq(catalogue.n, 4);
	for (size_t i = 1; i < catalogue.n; i++)
		ck_assert_int_ge(catalogue.entry[i - 1].start_ns, catalogue.entry[i].start_ns);
	catalogue_release(&catalogue);
}

/* A recording is read again when it grew, and gone when it is deleted. */
TEST(source)
{
	const char *dir = support_tmpdir();
	RELEASED(source, s);
	uint32_t task;

	record(support_path("%s/r", dir), "start_wall_ns: 1000\n");
	ck_assert_int_eq(catalogue_open(&catalogue, dir, &err), 0);
	ck_assert_int_eq(source_init(&s, &catalogue, "r"), 0);
	ck_assert_int_eq(source_update(&s, &err), 0);
	ck_assert_int_eq(source_need(&s, SOURCE_ANSWER, &err), 0);
	ck_assert_uint_eq(s.recording.n_tasks, 0);
	support_expect(dir, 0, "", "", "printf 'open\\t0\\tx1\\t10\\t0\\t10\\tmake\\n"
		       "start\\t5\\tx1.1\\t11\\t\\tcompile\\ta\\nstart\\t5\\tx1.2\\t12\\t\\tcompile\\ta\\n' "
		       ">>r/tasks.log");
	for (uint64_t before = s.generation; s.generation == before; usleep(1000))
		ck_assert_int_eq(source_update(&s, &err), 0);
	ck_assert_int_eq(source_need(&s, SOURCE_SUMMARY, &err), 0);
	ck_assert_uint_eq(s.recording.n_tasks, 2);
	ck_assert_int_eq(source_task(&s, "x1.2", &task, &err), 0);
	ck_assert_uint_eq(task, 1);
	ck_assert_int_eq(source_task(&s, "a", &task, &err), -EINVAL);
	ck_assert_int_eq(source_task(&s, "x1.3", &task, &err), -ENOENT);
	support_expect(dir, 0, "", "", "rm -r r");
	ck_assert_int_eq(source_update(&s, &err), -ESTALE);
	catalogue_release(&catalogue);
}

TEST_MAIN(catalogue);
