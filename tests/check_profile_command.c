/* SPDX-License-Identifier: MIT */
/* "buildbeat profile" as it is called: options, and what it does without any. */
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/support.h"

#include <sys/resource.h>

#define OPEN "buildbeat tasks 1\nopen\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake -j2\n"
#define RUN(n, from, to, name) "start\t" #from "000\tm." #n "\t\t\t\t" name "\t\tcc -c x.c\n" \
	"done\t" #to "000\tm." #n "\t0\t5000\t1000\t2048\n"
#define THREE OPEN "start\t10000\tm.1\t\t0\t\ta.o\t\tcc -c a.c\ndone\t30000\tm.1\n" \
	"start\t10000\tm.2\t\t1\t\tlib/b.o\t\tcc -c b.c\ndone\t20000\tm.2\n" \
	"start\t40000\tm.3\t\t0\t\tlib\\\\x\t\tcc -c c.c\ndone\t55000\tm.3\n"
#define FOUR OPEN RUN(1, 10, 20, "a.o") RUN(2, 12, 50, "lib/b.o") RUN(3, 21, 31, "c.o") \
	RUN(4, 52, 92, "prog")

static void write_recording(const char *dir, const char *name, const char *tasks)
{
	support_run(&(struct run){ 0 }, dir, "mkdir %s", name);
	support_writes(support_path("%s/%s/build", dir, name),
		       "buildbeat build 1\nstart: 2026-11-20T10:00:00.000000000Z\n"
		       "cwd: /src\ncommand: make\nend_us: 2000000\nstatus: 0\n");
	support_writes(support_path("%s/%s/tasks.log", dir, name), tasks);
}

static const char *recording(void)
{
	static char dir[128];

	snprintf(dir, sizeof dir, "%s", support_tmpdir());
	write_recording(dir, "rec", THREE);
	write_recording(dir, "two", FOUR);
	return dir;
}

static const struct { const char *command, *message; } wrong[] = {
	{ "profile -b nothing rec", "no column 'nothing'; expected name, rule" },
	{ "profile -b run rec", "no column 'run'; expected name, rule" },
	{ "profile -s runs rec", "option '--sort': no column 'runs'" },
	{ "profile -s run,run rec", "column 'run' is given twice" },
	{ "profile --columns run, rec", "no column ''" },
	{ "profile --merge x rec", "option '--merge': no column 'x'" },
	{ "profile -F '/(/' rec", "not a regular expression" },
	{ "profile -t 0 rec", "expected" }, { "profile -t x rec", "expected" },
	{ "profile --since rec", "expected" }, { "profile --since 3x rec", "expected a time" },
	{ "profile --since 5MiB rec", "expected a time" }, { "profile --until 2x rec", "expected" },
	{ "profile --since 3s --until 2s rec", "--until is not later than --since" },
	{ "profile --html x -j rec", "exclude each other" }, { "profile --at 1s rec", "--at needs --html" },
	{ "profile --html x --at soon rec", "expected a time such as 90s" },
	{ "profile rec two rec", "more than two recordings" }, { "profile nowhere", "no such recording" },
	{ "profile --html none/x rec", "none/x" }, { "profile --thread rec", "unknown option" },
	{ "profile --grup kind rec", "unknown option" }, { "profil rec", "unknown command" },
};

TEST_EACH(misuse, wrong)
{
	support_refuses(recording(), support_path("%s", wrong[_i].command), wrong[_i].message);
}

static const struct { const char *command, *out; } good[] = {
	{ "profile rec", "a.o" }, { "profile -b kind,name -t 1 rec", "kind = compile and name" },
	{ "profile rec two", "prog" }, { "profile --since 30ms --until 60ms rec", "1 run, " },
	{ "profile --since 1h rec", "; 0 seconds worth of data" },
	{ "profile -j rec", "\"death_data\"" }, { "profile -j rec two", "\"difference\": true" },
	{ "profile --threads rec", "worker-1" }, { "profile --threads --merge name,died,pid rec", "(2 unique)" },
	{ "profile --merge none rec", "a.o" }, { "profile -b none rec", "3 rows\n" },
	{ "profile rec", "kind = compile\n    3  45 ms  15 ms" },
	{ "profile -b dir rec", "dir = (none)\n" }, { "profile -b none -F a.o -a -r rec", "1 row\n" },
	{ "profile rec rec", "0 rows" },
};

TEST_EACH(command, good)
{
	struct run r;
	const char *dir = recording();

	support_buildbeat(&r, dir, _i % 2 ? 80 : 0, support_path("%s", good[_i].command));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(buf_str(&r.out), good[_i].out), "%s:\n%s", good[_i].command,
		      buf_str(&r.out));
}

TEST(page_command)
{
	const char *dir = recording();
	struct run r;

	support_buildbeat(&r, dir, 0, "profile --html p.html --at 15ms --at 40ms rec two");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(support_text(support_path("%s/p.html", dir)), "data-5"));
}

/* Is a before b in the output? */
static void check_order(const char *dir, const char *line, const char *a, const char *b)
{
	const char *first, *second;
	struct run r;

	support_buildbeat(&r, dir, 0, line);
	ck_assert_int_eq(r.status, 0);
	first = strstr(buf_str(&r.out), a);
	second = strstr(buf_str(&r.out), b);
	ck_assert_msg(first && second && first < second, "%s: %s", line, buf_str(&r.out));
}

#define TALLY "buildbeat tally 1\nat\t5\tx\nlocation\t1\t\toften\tf.c\nlocation\t2\t\trare\tf.c\n" \
	"thread\t1\tmain\nrow\t1\t1\t1\t900\t0\t9000\t9000\n" \
	"row\t2\t1\t1\t1\t0\t900000\t900000\n"

/* The longest tasks come first; of tallies alone, what ran most often. */
TEST(usual_order)
{
	const char *dir = support_tmpdir();

	write_recording(dir, "tasks", OPEN RUN(1, 10, 11, "twice") RUN(2, 12, 52, "long")
			RUN(3, 60, 61, "twice"));
	check_order(dir, "profile tasks", "long", "twice");
	check_order(dir, "profile -s count tasks", "twice", "long");
	write_recording(dir, "tallies", "buildbeat tasks 1\n");
	support_writes(support_path("%s/tallies/tally.log", dir), TALLY);
	check_order(dir, "profile tallies", "often", "rare");
	check_order(dir, "profile -s run tallies", "rare", "often");
	write_recording(dir, "both", OPEN RUN(1, 10, 11, "task"));
	support_writes(support_path("%s/both/tally.log", dir), TALLY);
	check_order(dir, "profile both", "rare", "often");
}

/* The summary names what the queue time was spent on, and the table has its column. */
TEST(queue_time_is_explained)
{
	const char *dir = support_tmpdir();

	write_recording(dir, "rec", OPEN RUN(1, 0, 900, "a") RUN(2, 0, 800, "b")
			RUN(3, 800, 950, "c") "after\t800000\tm.3\tc.c\n");
	check_order(dir, "profile rec", "queue 800 ms (worker 800 ms)", " worker ");
	check_order(dir, "profile rec", " worker ", "  a ");
}

/* Three hosts: 24 ns a run; bytes, with page faults as amounts; CPU time as amounts. */
#define UNITS "buildbeat tally 1\nat\t5000000\tn\nhost\t11\t-1\t\twall\tns\n" \
	"location\t1\t\tquick\tf.c\nthread\t1\tmain\n" \
	"row\t1\t1\t1\t1000\t0\t24300\t24300\t61\t23\t\t\t\t\t\t4:,1000\n" \
	"at\t5000000\tb\t3\nhost\t12\t-1\t\thost\tbytes\tfaults\tfaults\n" \
	"location\t1\t\tallocates\tf.c\nthread\t1\tmain\n" \
	"row\t1\t1\t1\t100\t0\t4950\t4950\t99\t42\t\t\t\t1700\t20\n" \
	"at\t5000000\tc\t2\nhost\t13\t-1\t\tfaults\tfaults\tcpu\tns\n" \
	"location\t1\t\tfaulty\tf.c\nthread\t1\tmain\n" \
	"row\t1\t1\t1\t100\t0\t1000\t1000\t30\t4\t\t\t\t7000\t900\n"

static const struct { const char *options, *line; } units[] = {
	{ "", "1200 runs, run -, queue 0 s; 5 seconds worth of data\n5 runs were lost: there was no room" },
	{ "--columns count,run,mean,max,sample,p50,name,cpu,read,amount", "\n"
	  " 1000        24 us      24 ns      61 ns     23 ns  24 ns  quick         -     -            -\n" },
	{ "--columns count,run,mean,max,sample,name,cpu,amount,amount-max", "\n"
	  "  100      4.8 KiB       50 B       99 B      42 B  allocates     -  1700 faults  20 faults\n"
	  "  100  1000 faults  10 faults  30 faults  4 faults  faulty     7 us         7 us     900 ns\n" },
	{ "--columns count,run,mean -b kind", "\n 1200            -          -\n" },
	{ "-F '50 B' --columns name", "allocates\n1 row" },
	{ "-j", "\"run_ms\": null,\n" }, { "-j", "\"cpu_us\": null,\n" },
	{ "-j", "\"run_us\": 24.300,\n" }, { "-j", "\"run_us_p50\": 0.024,\n" },
	{ "-j", "\"lost_runs\": 5,\n" }, { "-j", "\"cpu_us\": 7,\n" },
	{ "-j", "\"unit\": \"bytes\",\n            \"amount_unit\": \"faults\",\n"
	  "            \"run\": 4950,\n            \"run_max\": 99,\n" },
	{ "-j", "\"amount\": 1700,\n            \"amount_max\": 20\n" },
	{ "-j", "\"unit\": \"ns\",\n            \"amount_unit\": null,\n            \"run\": 24300,\n" },
};

/* Numbers are in the units of the hosts' clocks, and those of different units are not added. */
TEST_EACH(units_of_clocks, units)
{
	const char *dir = support_tmpdir();
	struct run r;

	write_recording(dir, "rec", "buildbeat tasks 1\n");
	support_writes(support_path("%s/rec/tally.log", dir), UNITS);
	support_buildbeat(&r, dir, 0, support_path("profile %s rec", units[_i].options));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(buf_str(&r.out), units[_i].line), "%s:\n%s", units[_i].options,
		      buf_str(&r.out));
	/* a host is the same as itself */
	support_buildbeat(&r, dir, 0, "profile rec rec");
	ck_assert_ptr_nonnull(strstr(buf_str(&r.out), "0 rows"));
}

/* Tallies of many threads, written twice: more of each run the second time. */
static void write_many(const char *path, uint32_t n_locations, uint32_t n_threads, int times)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs("buildbeat tally 1\n", f);
	for (int again = 0; again < times; again++) {
		fprintf(f, "at\t%d\tx\nhost\t11\t-1\t\twall\tns\n", 1000000 * (again + 1));
		for (uint32_t i = 1; i <= n_threads; i++)
			fprintf(f, "thread\t%u\tWorker%u-%u\n", i, i % 2, i);
		for (uint32_t i = 1; i <= n_locations; i++)
			fprintf(f, "location\t%u\t%u\tfunction_%u\tsrc/f.c\n", i, i, i);
		if (again)
			fputs("phase\tlate\n", f);
		for (uint32_t i = 0; i < n_locations * n_threads; i++)
			fprintf(f, "row\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t%u\t60%s\n", i / n_threads + 1,
				i % n_threads + 1, (i * 7) % n_threads + 1,
				(i % 9 + 1) * (unsigned)(again + 1), i % 3, (i + 100) * (unsigned)(again + 1),
				(i + 50) * (unsigned)(again + 1), 90 + i % 40,
				/* a host has room for this many */
				i < 3000 ? i % 2 ? "\t\t\t\t\t\t6:1,7" : "\t\t\t\t\t\t7:3" : "");
	}
	ck_assert_int_eq(fclose(f), 0);
}

/* Threads that are merged while they are read give what they give when merged later. */
TEST_LOOP(merged_early, 5)
{
	static const char *const options[] = {
		"-b none", "-b born", "-b phase", "--since 1s -b none", "--until 1s -b none",
	};
	const char *dir = support_tmpdir(), *columns = "count,living,run,mean,max,p50,p95,self,name,born,died,phase";
	struct run early, late;

	write_recording(dir, "rec", "buildbeat tasks 1\n");
	write_many(support_path("%s/rec/tally.log", dir), 40, 12, 2);
	support_buildbeat(&early, dir, 0, support_path("profile -a -s name,run --columns %s %s rec",
						       columns, options[_i]));
	support_buildbeat(&late, dir, 0, support_path("profile -a -s name,run --columns %s %s -F function rec",
						      columns, options[_i]));
	ck_assert_int_eq(early.status, 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&early.out), "Worker*-*"));
	ck_assert_str_eq(buf_str(&early.out), buf_str(&late.out));
}

#define MILLION_MAX_KB (200l * 1024)

TEST(million_rows)
{
	const char *dir = support_tmpdir();
	struct rusage usage = { 0 };
	int status = 0;
	pid_t pid;

	SKIP_IF(!make_host_can());		/* the memory of sanitizers */
	write_recording(dir, "rec", "buildbeat tasks 1\n");
	write_many(support_path("%s/rec/tally.log", dir), 10000, 100, 1);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || chdir(dir))
			_exit(1);
		execl(TOP_BUILDDIR "/buildbeat", "buildbeat", "profile", "-t", "1", "rec", (char *)NULL);
		_exit(1);
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &usage), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_lt(usage.ru_maxrss, MILLION_MAX_KB);
}

#define HOSTING OPEN "start\t10000\tm.1\t20\t\t\tsub\t\tmake -C r3-lib1\n" \
	"open\t11000\ts\t30\t1\t30,20,10\tmake\t4.3\t/src/r3-lib1\tmake\n" \
	"start\t20000\ts.1\t\t\t\ta.o\t\tcc -c a.c\ndone\t70000\ts.1\n" \
	"close\t80000\ts\ndone\t90000\tm.1\n"

/* A task that runs a make counts without what that make ran; and directories keep their digits. */
TEST(hosting_tasks)
{
	const char *dir = support_tmpdir();

	write_recording(dir, "rec", HOSTING);
	check_order(dir, "profile rec", "2 runs, run 80 ms", "a.o");
	check_order(dir, "profile --columns run,name,born rec", "50 ms  a.o   make[1] r3-lib1\n",
		    "30 ms  sub   make\n");
}

#define NESTED TOP_SRCDIR "/tests/data/recordings/nested"
#define LAST_SAMPLES "CPU time and storage are at least as shown: of 1 task, they are the last sample\n"

static const struct { const char *command, *out; } bounds[] = {
	/* a task that never ended has values in its last sample, and so has its group */
	{ "-b kind -F shell --columns cpu,io,memory,faults,name " NESTED, LAST_SAMPLES
	  "    CPU     disk   memory  faults  name\n\nkind = shell\n"
	  ">230 ms  >64 KiB  4.9 MiB     >10  (2 unique)\n 200 ms      0 B  4.9 MiB      10  lib.a\n"
	  " >30 ms  >64 KiB  1.0 MiB       -  slow\n" },
	/* what it had used at an earlier time is not known */
	{ "-b none -F slow --until 9500ms --columns living,cpu,name " NESTED, " data\nliving  CPU  name\n     1    -  slow\n" },
	{ "-b none -F slow --columns cpu,name NONE " NESTED, "CPU time and storage are not exact: of 1 task, they are the last "
	  "sample\n  CPU  name\n30 ms  slow\n" },
	{ "-j -F slow " NESTED, "\"cpu_us\": 30000,\n            \"at_least\": true,\n            \"delay_us\": 0,\n            \"memory_kb\": 1024,\n" },
	{ "-j -F lib.a " NESTED, "\"cpu_us\": 200000,\n            \"delay_us\": null,\n            \"memory_kb\"" },
	{ "-j -F slow NONE " NESTED, "\"cpu_us\": 30000,\n            \"delay_us\": 0,\n            \"memory_kb\"" },
	/* samples saw delays of two tasks */
	{ "-j -F a.o " NESTED, "\"delay_us\": 20000,\n            \"delay_at_least\": true,\n" },
	{ "-b none -F a.o --columns delay,name " NESTED, "delay  name\n>20 ms  a.o\n" },
	{ "-j -F a.o NONE " NESTED, "\"delay_us\": 20000,\n            \"memory_kb\"" },
	{ "-j " NESTED, "\"incomplete_hosts\": 0,\n  \"at_least\": true,\n" },
	{ "-j NONE", "\"incomplete_hosts\": 0,\n  \"at_least\": false,\n" },
};

/* Sums with the last sample of a task say so, as those of show do. */
TEST_EACH(lower_bounds, bounds)
{
	const char *dir = support_tmpdir();
	struct run r;

	write_recording(dir, "NONE", OPEN);
	support_buildbeat(&r, dir, 0, support_path("profile %s", bounds[_i].command));
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(buf_str(&r.out), bounds[_i].out), "%s:\n%s", bounds[_i].command, buf_str(&r.out));
}

#define PHASES OPEN "begin\t5000\tm\t1\tconfigure\n" RUN(1, 10, 20, "a") RUN(2, 20, 40, "b") \
	"end\t50000\tm\t1\nbegin\t60000\tm\t2\tinstall\n" RUN(3, 70, 100, "c") \
	"end\t110000\tm\t2\n" RUN(4, 120, 160, "d")

/* The tasks of each phase of the host: the innermost that was open when they started. */
TEST(tasks_of_phases)
{
	const char *dir = support_tmpdir();

	write_recording(dir, "rec", PHASES);
	check_order(dir, "profile -b phase -s phase --columns phase,count,run,name rec",
		    "phase = configure\nconfigure      2  30 ms", "phase = install\n");
	check_order(dir, "profile -b phase -s phase --columns phase,count,run,name rec",
		    "phase = install\n", "install        1  30 ms");
}

TEST_MAIN(profile_command);
