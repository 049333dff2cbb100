/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/builder.h"
#include "convert/convert.h"
#include "recording/recording_write.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/same.h"
#include "tests/support.h"

#include <dirent.h>

#define GENUINE TOP_SRCDIR "/tests/data/oe/genuine"
#define BOUND TOP_SRCDIR "/tests/data/oe-bound"
#define BUILD "buildbeat build 1\nstart_wall_ns: 1700000000000000000\nstart_mono_ns: 5\n" \
	"interval_ms: 1000\nend_us: 20000000\nstatus: 2\ncwd: /home/me/project\ncores: 4\n"
#define OPEN "open\t0\ta\t100\t0\t100\tmake\t4.3\t/home/me/project\tmake all\n"

static const struct converter *oe(void)
{
	return converter_named("oe");
}

static const char *out(void)
{
	return support_path("%s/out", support_tmpdir());
}

static void write_out(const struct recording *rec)
{
	struct error err = { 0 };

	ck_assert_msg(!oe()->write(rec, out(), &err), "%s: %s", err.path, err.message);
}

/* The recording of these files, in pairs, written. */
static void write_text(const char *const *file)
{
	const char *dir = support_path("%s/rec", support_tmpdir());
	RELEASED(recording, rec);

	ck_assert_int_eq(mkdir(dir, 0777), 0);
	support_writes(support_path("%s/build", dir), BUILD);
	for (; *file; file += 2)
		support_writes(support_path("%s/%s", dir, file[0]), file[1]);
	recorded_open(&rec, dir, &convert_formats);
	write_out(&rec);
}

static void read_out(struct recording *rec)
{
	struct error err = { 0 };
	const char *path = out();

	ck_assert_ptr_eq(converter_of(path, &err), oe());
	ck_assert_msg(!converter_read(oe(), rec, &path, 1, &err), "%s", err.message);
}

static void has(const char *file, const char *text, bool expected)
{
	RELEASED(buf, b = BUF_INIT);

	support_read(&b, support_path("%s/%s", out(), file));
	ck_assert_msg(!strstr(buf_str(&b), text) == !expected, "%s: '%s' is %sexpected:\n%s", file, text,
		      expected ? "" : "not ", buf_str(&b));
}

static void contains(const char *file, const char *text)
{
	has(file, text, true);
}

/* The number of files; fails for a name that occurs twice. */
static size_t count_files(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d))) {
		const char *end = strrchr(e->d_name, '.');

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		ck_assert_int_ne(e->d_name[0], '.');
		ck_assert(!end || (strcmp(end, ".log") && strcmp(end, ".gz") &&
				   strcmp(end, ".tar") && strcmp(end, ".tgz")));
		for (const char *p = e->d_name; *p; p++)
			ck_assert_int_gt((unsigned char)*p, ' ');
		n++;
	}
	closedir(d);
	return n;
}

/* As imported, without the original files: what is written from the recording alone. */
TEST_LOOP(genuine, 2)
{
	RELEASED(recording, rec, own, again);
	struct error err = { 0 };
	char path[PATH_MAX];

	recorded_open(&rec, _i ? BOUND : GENUINE, &convert_formats);
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), "own", path, &err), 0);
	ck_assert(!support_exists(support_path("%s/original.log", path)));
	recorded_open(&own, path, &convert_formats);
	write_out(&own);
	read_out(&again);
	same_recordings(&rec, &again);
}

/* What buildstats.py needs in each file, and pybootchartgui of the times; of values only what is
 * known. */
TEST(states)
{
	static const char *const needed[] = {
		"\nStarted: 170000000", "\nElapsed time: ", "\nStatus: ", "\nEnded: 17000000",
	};
	static const char *const measured[] = {
		"\nIO read_bytes: ", "\nIO write_bytes: ", "\nrusage ru_utime: ", "\nrusage ru_stime: ",
		"\nrusage ru_inblock: ", "\nrusage ru_oublock: ", "\nChild rusage ru_utime: ",
		"\nChild rusage ru_stime: ", "\nChild rusage ru_inblock: ",
		"\nChild rusage ru_oublock: ",
	};
	static const char *const unknown[] = { "time: 0", "rusage", "IO ", "utime", "cstime" };
	static const char *const tasks[] = { "bad", "dead", "gone", "good", "never" };
	static const struct { enum task_state state; int status; int64_t end_us; } told[] = {
		{ TASK_FAILED, 3, 5000000 }, { TASK_KILLED, 9, 6000000 }, { TASK_UNFINISHED, -1, 7000000 },
		{ TASK_DONE, 0, 4000000 }, { TASK_UNFINISHED, -1, -1 },
	};
	RELEASED(recording, rec);

	write_text((const char *[]){ "tasks.log", "buildbeat tasks 1\n" OPEN
		   "start\t1000000\ta.1\t7\t\t\tgood\n"
		   "done\t4000000\ta.1\t0\t1500000\t250000\t2048\t7\t1\t8\t16\t2\t3\t99\t98\n"
		   "start\t1000000\ta.2\t8\t\t\tbad\n"
		   "fail\t5000000\ta.2\t3\t1\t1\t\t7\t1\t8\t16\t2\t3\t\t\t2048\n"
		   "start\t1000000\ta.3\t9\t\t\tdead\nkill\t6000000\ta.3\t9\n"
		   "start\t1000000\ta.4\t10\t\t\tgone\ngone\t7000000\ta.4\n"
		   "start\t1000000\ta.5\t11\t\t\tnever\nqueue\t1100000\ta.6\t\tqueued\n", NULL });
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(needed); k++)
			contains(support_path("project-4.3-r0/%s", tasks[i]), needed[k]);
		for (size_t k = 0; k < ARRAY_SIZE(measured); k++)
			has(support_path("project-4.3-r0/%s", tasks[i]), measured[k], i == 0 || i == 3);
		for (size_t k = 0; i != 0 && i != 3 && k < ARRAY_SIZE(unknown); k++)
			has(support_path("project-4.3-r0/%s", tasks[i]), unknown[k], false);
	}
	contains("project-4.3-r0/good", "Elapsed time: 3.000000 seconds");
	contains("project-4.3-r0/good", "Child rusage ru_utime: 1.500000\n"
		 "Child rusage ru_stime: 0.250000\nChild rusage ru_maxrss: 2048\n");
	contains("project-4.3-r0/good", "IO rchar: 99\nIO wchar: 98\nIO read_bytes: 4096\n"
		 "IO write_bytes: 8192\n");
	contains("project-4.3-r0/bad", "Child rusage ru_stime: 0.000001\n"
		 "Child rusage ru_minflt: 7\n");
	contains("build_stats", "Failed at: project-4.3-r0 at task: bad \n"
		 "Failed at: project-4.3-r0 at task: dead \n");
	read_out(&rec);
	ck_assert_uint_eq(rec.n_tasks, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_str_eq(rec.task[i].name, tasks[i]);
		ck_assert_int_eq(rec.task[i].state, told[i].state);
		ck_assert_int_eq(rec.task[i].status, told[i].status);
		ck_assert_int_eq(rec.task[i].end_us, told[i].end_us);
		ck_assert_int_eq(rec.task[i].start_us, 1000000);
	}
	ck_assert_int_eq(rec.task[3].out_blocks, 16);
	ck_assert_int_eq(rec.task[3].max_rss_kb, 2048);
	ck_assert_int_eq(rec.task[0].max_rss_kb, -1);
	ck_assert_int_eq(rec.task[4].user_us, -1);
	ck_assert_str_eq(recording_build(&rec, "status"), "2");
}

/* OpenEmbedded's own class counts what the process of the task did before its start. */
TEST(setup_and_bounds)
{
	RELEASED(recording, rec);
	const struct task *t;

	write_text((const char *[]){ "tasks.log", "buildbeat tasks 1\n" OPEN
		   "start\t1000000\ta.1\t7\t\t\tgood\n"
		   "done\t4000000\ta.1\t0\t1500000\t250000\t2048\t7\t1\t8\t16\t2\t3\t99\t98\t\t"
		   "60000\t30000\t10000\n"
		   "start\t1000000\ta.2\t8\t\t\tkilled\n"
		   "kill\t6000000\ta.2\t9\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t1\n", NULL });
	contains("project-4.3-r0/good", "\nutime: 3\nstime: 1\ncutime: 150\ncstime: 25\n");
	contains("project-4.3-r0/good", "\nrusage ru_utime: 0.030000\nrusage ru_stime: 0.010000\n");
	contains("project-4.3-r0/good", "\nChild rusage ru_utime: 1.500000\n"
		 "Child rusage ru_stime: 0.250000\n");
	contains("project-4.3-r0/killed", "\nState: killed 9, at most\n");
	has("project-4.3-r0/killed", "Setup", false);
	read_out(&rec);
	ck_assert_uint_eq(rec.n_tasks, 2);
	t = rec.task;
	ck_assert_int_eq(t->user_us, 1500000);
	ck_assert_int_eq(t->system_us, 250000);
	ck_assert_int_eq(t->setup_us, 60000);
	ck_assert_int_eq(t->setup_user_us, 30000);
	ck_assert_int_eq(t->setup_system_us, 10000);
	ck_assert(!t->end_at_most && t[1].end_at_most);
	ck_assert_int_eq(t[1].status, 9);
	ck_assert_int_eq(t[1].setup_us, 0);
}

/* A directory is a recipe; a make inside a task is not counted again. */
TEST(recipes)
{
	write_text((const char *[]){ "tasks.log", "buildbeat tasks 1\n" OPEN
		   "start\t10\ta.1\t7\t\t\tsub\nopen\t20\tb\t8\t1\t8,7,100\tmake\t4.3\t"
		   "/home/me/project/lib/core\nstart\t30\tb.1\t9\t\t\tall\ndone\t40\tb.1\t0\n"
		   "start\t41\tb.2\t9\t\t\tall\ndone\t42\tb.2\t0\nstart\t43\tb.3\t9\t\t\tall.2\n"
		   "done\t50\ta.1\t0\nopen\t60\tc\t10\t\t\tninja\t1.11.1\t/elsewhere/x y\n"
		   "start\t70\tc.1\t\t\t\tobj/a.o\nopen\t80\td\t12\nstart\t90\td.1\t\t\t\ttop\n", NULL });
	ck_assert(!support_exists(support_path("%s/project-4.3-r0", out())));
	ck_assert(support_exists(support_path("%s/project-lib-core-4.3-r0/all", out())));
	ck_assert(support_exists(support_path("%s/project-lib-core-4.3-r0/all.2", out())));
	ck_assert(support_exists(support_path("%s/project-lib-core-4.3-r0/all.2.2", out())));
	ck_assert(support_exists(support_path("%s/elsewhere-x_y-1.11.1-r0/obj:a.o", out())));
	ck_assert(support_exists(support_path("%s/project-0-r0/top", out())));
}

/* BitBake's tasks keep their names, two runs of a task are in one file, and the tasks inside
 * them are left out. */
TEST(of_bitbake)
{
	RELEASED(recording, rec);

	write_text((const char *[]){ "tasks.log", "buildbeat tasks 1\n"
		   "open\t0\ta\t100\t\t100\tbitbake\t2.8\n"
		   "start\t10\ta.1\t7\t\t\tdo_compile\tlib-1.2-r0\nopen\t20\tb\t8\t\t8,7\tmake\t4.3\n"
		   "start\t30\tb.1\t9\t\t\tall\ndone\t40\tb.1\t0\ndone\t50\ta.1\t0\n"
		   "start\t60\ta.2\t\t\t\tdo_compile\tlib-1.2-r0\ndone\t90\ta.2\t0\n"
		   "start\t70\ta.3\t\t\t\tdo_fetch\tx\n"
		   "start\t71\ta.4\t\t\t\tdo_fetch\tmc:arm:lib-1.2-r0\ndone\t75\ta.4\t0\t5\t6\n"
		   "start\t72\ta.5\t\t\t\tdo_fetch\tmc:x86:lib-1.2-r0\ndone\t74\ta.5\t0\t7\t8\n",
		   NULL });
	ck_assert_uint_eq(count_files(out()), 3);
	read_out(&rec);
	ck_assert_uint_eq(rec.n_tasks, 5);
	ck_assert_str_eq(rec.task[0].key, "lib-1.2-r0");
	ck_assert_int_eq(rec.task[0].start_us, 10);
	ck_assert_int_eq(rec.task[1].start_us, 60);
	ck_assert_int_eq(rec.task[1].end_us, 90);
	/* Both multiconfigs are in one file. */
	ck_assert_str_eq(rec.task[2].key, "lib-1.2-r0");
	ck_assert_int_eq(rec.task[2].start_us, 71);
	ck_assert_int_eq(rec.task[2].end_us, 75);
	ck_assert_int_eq(rec.task[2].system_us, 6);
	ck_assert_str_eq(rec.task[3].key, "lib-1.2-r0");
	ck_assert_int_eq(rec.task[3].end_us, 74);
	ck_assert_int_eq(rec.task[3].user_us, 7);
	ck_assert_str_eq(rec.task[4].key, "x-0-r0");
}

/* Names */

static const char *const hostile[] = {
	"..", ".", "", "/", "../../../escaped", "/etc/passwd", ".hidden", "a/../b", "x.log", "x.tar",
	"x.tgz", "x.tar.gz", "cpu.log", "a\nb", "a\tb", " ", "caf\xc3\xa9", "\xff\xfe", "\xed\xa0\x80",
	"\x1b[31m", "build_stats", "reduced_proc_pressure", "$(id)", "-rf", "~", "con:", "a b",
};

#define HOSTILE ARRAY_SIZE(hostile)

static void add_hostile(struct builder *b, uint32_t instance, const char *name, const char *key)
{
	struct builder_task t;

	builder_task_init(&t);
	t.name = name;
	t.key = key;
	t.start_us = 1;
	t.end_us = 2;
	builder_task(b, instance, &t);
}

TEST(hostile_names)
{
	char long_name[600];
	struct recording rec;
	struct builder b;
	uint32_t make;

	builder_init(&b, &rec, "x");
	builder_start_wall(&b, 1700000000000000000);
	make = builder_instance(&b, "../../make", "../..", NULL, NO_INDEX);
	for (size_t i = 0; i < HOSTILE; i++)
		add_hostile(&b, make, hostile[i], NULL);
	memset(long_name, 'x', sizeof long_name - 1);
	long_name[sizeof long_name - 1] = '\0';
	add_hostile(&b, make, long_name, NULL);
	long_name[sizeof long_name - 2] = 'y';
	add_hostile(&b, make, long_name, NULL);
	ck_assert_int_eq(builder_finish(&b), 0);
	write_out(&rec);
	recording_release(&rec);
	ck_assert_uint_eq(count_files(support_tmpdir()), 1);
	ck_assert_uint_eq(count_files(out()), 2);
	ck_assert_uint_eq(count_files(support_path("%s/_.-..-make-0-r0", out())), HOSTILE + 2);
}

TEST(hostile_recipes)
{
	struct recording rec;
	struct builder b;
	uint32_t bitbake;

	builder_init(&b, &rec, "x");
	bitbake = builder_instance(&b, "bitbake", NULL, NULL, NO_INDEX);
	for (size_t i = 0; i < HOSTILE; i++)
		add_hostile(&b, bitbake, "do_compile", hostile[i]);
	ck_assert_int_eq(builder_finish(&b), 0);
	write_out(&rec);
	recording_release(&rec);
	ck_assert_uint_eq(count_files(support_tmpdir()), 1);
	ck_assert(support_exists(support_path("%s/_.-0-r0/do_compile", out())));
	ck_assert(support_exists(support_path("%s/build_stats-0-r0/do_compile", out())));
}

/* What BitBake wrote about volumes comes back byte for byte, also by way of our own format. */
TEST(volumes)
{
	char own[PATH_MAX] = GENUINE;
	RELEASED(buf, before = BUF_INIT, after = BUF_INIT);
	struct recording rec;
	struct error err = { 0 };

	support_read(&before, GENUINE "/monitor_disk.log");
	for (int i = 0; i < 2; i++) {
		const char *to = support_path("%s/%d", support_tmpdir(), i);

		recorded_open(&rec, own, &convert_formats);
		ck_assert_int_eq(oe()->write(&rec, to, &err), 0);
		if (!i)
			ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), "own",
							 own, &err), 0);
		buf_release(&after);
		support_read(&after, support_path("%s/monitor_disk.log", to));
		ck_assert_str_eq(buf_str(&after), buf_str(&before));
		recording_release(&rec);
	}
}

/* Shares of four processors, KiB a second, KiB, and seconds of the wall clock. */
TEST(samples)
{
	write_text((const char *[]){
		"proc_stat.log", "buildbeat proc_stat 1 1000 user:10ms:c nice:10ms:c system:10ms:c "
		"iowait:10ms:c irq:10ms:c\n\n100,100,40,20,20\n40\n",
		"proc_meminfo.log", "buildbeat proc_meminfo 1 1000 free:1MiB:g buffers:1MiB:g "
		"cached:1MiB:g total:1MiB:g swap_total:1MiB:g swap:1MiB:g\n10,1,2,64,8,3\n",
		"proc_diskstats.log", "buildbeat proc_diskstats 1 1000 a.written:1KiB:c a.busy:1ms:c "
		"a.read:1KiB:c b.written:1KiB:c b.busy:1ms:c b.read:1KiB:c\n\n3,500,1,7,100,1\n\n",
		"proc_net.log", "buildbeat proc_net 1 1000 eth0.rx:1KiB:c eth0.tx:1KiB:c\n\n2,1\n",
		"proc_pressure.log", "buildbeat proc_pressure 1 1000 cpu.some:1ms:c io.some:1ms:c "
		"memory.some:1ms:c\n\n500,250\n0\n", NULL });
	contains("reduced_proc_stat.log", "1700000001\n0.500000 0.150000 0.050000\n\n"
		 "1700000002\n0.100000 0.000000 0.000000\n\n");
	contains("reduced_proc_meminfo.log", "1700000000\n65536 10240 1024 2048 8192 5120\n\n");
	contains("reduced_proc_diskstats.log", "1700000000\n2.000000 10.000000 0.600000\n\n"
		 "1700000001\n0.000000 0.000000 0.000000\n\n");
	contains("reduced_proc_net.log", "1700000000\neth0: 0 0 0 0\n\n"
		 "1700000001\neth0: 2048 1024 2048 1024\n\n");
	contains("reduced_proc_pressure/cpu.log", "1700000001\n50.00 50.00 50.00 500000\n\n"
		 "1700000002\n25.00 25.00 25.00 0\n\n");
	contains("reduced_proc_pressure/io.log", "1700000001\n25.00 25.00 25.00 250000\n\n");
	contains("build_stats", "Build Started: 1700000000.000000 \n");
}

/* What comes from OpenEmbedded has the values of its files, and becomes the same files again. */
#define OE_FILES "python3 -B " TOP_SRCDIR "/tests/oe_files.py " TOP_BUILDDIR "/buildbeat "

static const char *const sources[] = {
	GENUINE, "1 2 3 4", "5 6 7 8", "9 10 11 12", "13 14 15 16", "17 18 19 20",
};

TEST_EACH(same_files, sources)
{
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       OE_FILES "%s %s", support_tmpdir(), sources[_i]);
}

/* A packed file that was changed: nothing is written outside, and nothing remains. */
static const struct { const char *lines, *told; } changed[] = {
	{ "", "the first line" },
	{ "buildbeat original 2 oe\n", "the first line" },
	{ "buildbeat original 1 oe\ndir\t..\n", ":2: not the name of a directory" },
	{ "buildbeat original 1 oe\ndir\ta/b\n", ":2: not the name of a directory" },
	{ "buildbeat original 1 oe\ndir\t/etc\n", ":2: not the name of a directory" },
	{ "buildbeat original 1 oe\ndir\ta\\x00b\n", ":2: not the name of a directory" },
	{ "buildbeat original 1 oe\ndir\n", ":2: not the name of a directory" },
	{ "buildbeat original 1 oe\ndir\t\nfile\t../x\t1\n1\n", ":3: not the name and the size" },
	{ "buildbeat original 1 oe\nfile\tx\t9\n1\n", ":2: not the name and the size" },
	{ "buildbeat original 1 oe\nfile\tx\t18446744073709551615\n1\n", ":2: not the name and the size" },
	{ "buildbeat original 1 oe\nfile\tx\t2\n1\n2\n", ":2: not the name and the size" },
	{ "buildbeat original 1 oe\nfile\tx\t3\n1\n2\ntask\tx\t1\n", ":5: not the name of a task" },
	{ "buildbeat original 1 oe\ndir\ta\ntask\t.\t1\n", ":3: not the name of a task" },
	{ "buildbeat original 1 oe\ndir\ta\ntask\tdo_x\t1", ":3: truncated" },
	{ "buildbeat original 1 oe\ndir\ta\ndir\ta\n", "cannot write: File exists" },
	{ "buildbeat original 1 oe\ndir\ta\ntask\tx\ntask\tx\n", "cannot write: File exists" },
};

TEST_EACH(changed_original, changed)
{
	const char *dir = support_path("%s/rec", support_tmpdir());
	RELEASED(recording, rec);
	struct error err = { 0 };
	RELEASED(buf, told = BUF_INIT);

	ck_assert_int_eq(mkdir(dir, 0777), 0);
	support_writes(support_path("%s/build", dir), "buildbeat build 1\nimported: oe\n");
	support_writes(support_path("%s/original.log", dir), changed[_i].lines);
	recorded_open(&rec, dir, &convert_formats);
	if (*changed[_i].lines) {
		ck_assert_int_lt(oe()->write(&rec, out(), &err), 0);
		buf_addf(&told, "%s:%u: %s", err.path, err.line, err.message);
		ck_assert_msg(strstr(buf_str(&told), changed[_i].told), "%s", buf_str(&told));
		ck_assert_uint_eq(count_files(support_tmpdir()), 1);
	}
}

TEST(never_onto_anything)
{
	RELEASED(recording, rec);
	struct error err = { 0 };

	recorded_open(&rec, GENUINE, &convert_formats);
	ck_assert_int_eq(mkdir(out(), 0777), 0);
	ck_assert_int_eq(oe()->write(&rec, out(), &err), -EEXIST);
	ck_assert_uint_eq(count_files(support_tmpdir()), 1);
	ck_assert_uint_eq(count_files(out()), 0);
}

TEST_MAIN(oe_write);
