/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "command/kind.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "recording/store_join.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILD "buildbeat build 1\nstart_wall_ns: 1700000000000000000\nstart_mono_ns: 5\n"
#define TASKS "buildbeat tasks 1\n"
#define OPEN "open\t10\ta1\t100\t0\t100,1\tmake\t4.3\t/src\tmake all\n"
#define FUTURE "format version 2 is newer"

/* A recording of these files; NULL: no file */
static const char *write_dir(const char *build, const char *tasks)
{
	static char dir[128];

	snprintf(dir, sizeof dir, "%s/rec", support_tmpdir());
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	if (build)
		support_writes(support_path("%s/build", dir), build);
	if (tasks)
		support_writes(support_path("%s/tasks.log", dir), tasks);
	return dir;
}

/* Tasks as "name state start-end status" words. */
static const char *shown(const struct recording *rec)
{
	static char text[8192];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		buf_addf(&b, "%s%s %s %lld-%lld %d", i ? "; " : "", t->name, recorded_state(t),
			 (long long)t->start_us, (long long)t->end_us, t->status);
	}
	return buf_str(&b);
}

static const struct {
	const char *what, *build, *tasks;
	int result;
	const char *tasks_shown;
	const char *told;	/* part of the error or of the only warning; NULL: no error */
} cases[] = {
	{ "in order", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t0\tgcc\tx.o\nd\n", 0,
	  "x.o running 20--1 -1", "tasks.log:4: damaged line" },
	{ "done", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t0\t\tx.o\ndone\t30\ta1.1\t0\nclose\t40\ta1\n",
	  0, "x.o done 20-30 0", NULL },
	{ "failed and killed", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\nstart\t20\ta1.2\t7\t\t\ty\n"
	  "fail\t30\ta1.1\t2\nkill\t31\ta1.2\t9\n", 0, "x failed 20-30 2; y killed 20-31 9", NULL },
	{ "only build", BUILD, NULL, 0, "", NULL },
	{ "only tasks", NULL, TASKS OPEN, 0, "", NULL },
	{ "queued", BUILD, TASKS OPEN "queue\t20\ta1.1\tcompile\tx\tk\n", 0, "x queued -1--1 -1", NULL },
	{ "queued, then started", BUILD, TASKS OPEN "queue\t20\ta1.1\t\tx\tk\nstart\t21\ta1.1\n", 0,
	  "x running 21--1 -1", NULL },
	{ "an end without a start", BUILD, TASKS OPEN "done\t30\ta1.1\t0\n", 0, " done -1-30 0",
	  "1 task is missing" },
	{ "two starts", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\nstart\t21\ta1.1\t8\t\t\ty\n", 0,
	  "x running 20--1 -1", "tasks.log:4: damaged line" },
	{ "two ends", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\ndone\t21\ta1.1\t0\nfail\t22\ta1.1\t1\n",
	  0, "x done 20-21 0", NULL },
	{ "a queue behind its start", BUILD, TASKS OPEN "start\t20\ta1.1\t7\nqueue\t19\ta1.1\t\tx\tk\n",
	  0, "x running 20--1 -1", NULL },
	{ "an end before its start", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\ndone\t19\ta1.1\t0\n", 0,
	  "x done 20-20 0", "1 tasks end before they start" },
	{ "end first, start behind", BUILD, TASKS OPEN "done\t30\ta1.1\t0\nstart\t20\ta1.1\t7\t\t\tx\n", 0,
	  "x done 20-30 0", NULL },
	{ "torn end", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\ndone\t21\ta1", 0,
	  "x running 20--1 -1", "tasks.log: its last line is truncated" },
	{ "a damaged line in the middle", BUILD, TASKS OPEN "\x01\xff garbage\nstart\t20\ta1.1\t7\t\t\tx\n", 0,
	  "x running 20--1 -1", "tasks.log:3: damaged line left out" },
	{ "several", BUILD, TASKS "x\n" OPEN "y\nz\n", 0, "", "tasks.log:2: damaged lines left out: this and 2 more" },
	{ "words of a later version", BUILD, TASKS OPEN "blink\t20\ta1.1\nblink\t20\ta1\n", 0, "",
	  "tasks.log:3: 2 lines of kinds this program does not know left out, the first is \"blink\"" },
	{ "negative time", BUILD, TASKS OPEN "start\t-20\ta1.1\t7\t\t\tx\n", 0, "", "damaged" },
	{ "huge time", BUILD, TASKS OPEN "start\t9000000000000000000\ta1.1\t7\t\t\tx\n", 0, "", "damaged" },
	{ "no time at all", BUILD, TASKS OPEN "start\t99999999999999999999\ta1.1\n", 0, "", "damaged" },
	{ "odd numbers", BUILD, TASKS OPEN "start\t20\ta1.1\t-7\t99999999999\t\tx\n"
	  "done\t30\ta1.1\tx\t-5\t\t1e9\n", 0, "x done 20-30 -1", NULL },
	{ "a huge task number", BUILD, TASKS OPEN "start\t20\ta1.18446744073709551615\t\t\t\tx\n"
	  "done\t21\ta1.18446744073709551615\t0\n", 0, "x done 20-21 0", NULL },
	{ "nobody opened", BUILD, TASKS "start\t20\tzz.1\t7\t\t\tx\nclose\t30\tzz\n", 0,
	  "x running 20--1 -1", NULL },
	{ "a longer start line of a later version", BUILD,
	  TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\t\tcmd\tmore\tfields\n", 0, "x running 20--1 -1", NULL },
	{ "odd names", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\ta b\\tc\\nd\\\\ \xff\xfe caf\xc3\xa9\n", 0,
	  "a b\tc\nd\\ \xff\xfe caf\xc3\xa9 running 20--1 -1", NULL },
	{ "a cut name", BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\txxx\\.0123abcd\n", 0,
	  "xxx~#0123abcd running 20--1 -1", NULL },
	{ "headers inside", BUILD, TASKS OPEN TASKS "start\t20\ta1.1\t7\t\t\tx\n", 0, "x running 20--1 -1", NULL },
	{ "nothing there", NULL, NULL, -EINVAL, NULL, "not a recording" },
	{ "empty files", "", "", -EINVAL, NULL, "not a recording: build: empty" },
	{ "empty tasks", BUILD, "", 0, "", "tasks.log: empty" },
	{ "empty build", "", TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\n", 0, "x running 20--1 -1", "build: empty" },
	{ "only a torn first line", NULL, "buildbeat tas", -EINVAL, NULL, "first line" },
	{ "another's files", "FROM debian\n", "Tue: done\n", -EINVAL, NULL, "not a recording: build: its first line" },
	{ "binary tasks", BUILD, "\x7f" "ELF\x02\x01\n\n\x01", 0, "", "tasks.log: its first line" },
	{ "future build", "buildbeat build 2\n", TASKS, -EINVAL, NULL, FUTURE },
	{ "future tasks", BUILD, "buildbeat tasks 2\n" OPEN, -EINVAL, NULL, FUTURE },
	{ "far future", BUILD, "buildbeat tasks 18446744073709551615 x\n", -EINVAL, NULL, "is newer" },
	{ "no version", BUILD, "buildbeat tasks x\n", 0, "", "tasks.log: its first line" },
	{ "version 0", BUILD, "buildbeat tasks 0\n" OPEN "start\t20\ta1.1\t7\t\t\tx\n", 0, "",
	  "tasks.log: its first line" },
	{ "damaged build", BUILD "what\n", NULL, 0, "", "build:4: damaged" },
	{ "clock set back", BUILD "end_us: 60000000\nend_wall_ns: 1699999000000000000\n", NULL, 0, "",
	  "set back by 1060 s" },
	{ "clock set forward", BUILD "end_us: 60000000\nend_wall_ns: 1700003660000000000\n", NULL, 0, "",
	  "set forward by 3600 s" },
	{ "clock set forward from 0", "buildbeat build 1\nstart_wall_ns: 0\nstart_mono_ns: 5\nend_us: 60000000\n"
	  "end_wall_ns: 3660000000000\n", NULL, 0, "", "set forward by 3600 s" },
	{ "clock right", BUILD "end_us: 60000000\nend_wall_ns: 1700000060000000000\n", NULL, 0, "", NULL },
	{ "nonsense times", "buildbeat build 1\nstart_wall_ns: -3\nstart_mono_ns: x\nend_us: 1e9\n", NULL, 0, "", NULL },
};

TEST_EACH(damaged, cases)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err = { 0 };
	const char *dir = write_dir(cases[_i].build, cases[_i].tasks);
	const char *told;
	int r = recording_read(&rec, dir, NULL, &err);

	told = r ? err.message : rec.n_warnings ? rec.warning[0].text : NULL;
	ck_assert_msg(r == cases[_i].result, "%s: %d %s", cases[_i].what, r, err.message);
	if (cases[_i].told)
		ck_assert_msg(told && strstr(told, cases[_i].told), "%s: %s", cases[_i].what, told);
	else
		ck_assert_msg(!told, "%s: %s", cases[_i].what, told);
	if (!r) {
		ck_assert_uint_eq(rec.n_warnings, cases[_i].told ? 1 : 0);
		ck_assert_msg(!strcmp(shown(&rec), cases[_i].tasks_shown), "%s: %s",
			      cases[_i].what, shown(&rec));
		for (size_t i = 0; i < rec.n_tasks; i++)
			ck_assert_int_ge(recording_task_end_us(&rec, &rec.task[i]), rec.task[i].start_us);
	}
}

/* Names that were found later apply, wherever their lines are. */
TEST(later_names)
{
	struct recording rec = RECORDING_INIT;
	const struct task *t;
	const char *dir = write_dir(BUILD, TASKS OPEN
		"name\t50\ta1.1\tlate\trule\tlink\nstart\t20\ta1.1\t77\t\tcompile\tearly\tkey\tgcc -c x.c\n"
		"start\t20\ta1.2\t78\t\tcompile\tsecond\tkey\tgcc -c y.c\nname\t50\ta1.2\t\trule\n"
		"out\t51\ta1.2\ta\tb\nout\t51\ta1.1\tc\\td\nout\t52\ta1.2\te\nname\t53\ta1\tx\n");

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_warnings, 1);	/* an instance has no name */
	t = &rec.task[0];
	ck_assert_str_eq(t->name, "late");
	ck_assert_str_eq(t->key, "rule");
	ck_assert_str_eq(t->kind, "link");
	ck_assert_uint_eq(t->n_out, 1);
	ck_assert_str_eq(rec.out[t->first_out], "c\td");
	t = &rec.task[1];
	ck_assert_str_eq(t->name, "second");
	ck_assert_str_eq(t->key, "rule");
	ck_assert_str_eq(t->kind, "compile");
	ck_assert_uint_eq(t->n_out, 3);
	ck_assert_str_eq(rec.out[t->first_out], "a");
	ck_assert_str_eq(rec.out[t->first_out + 2], "e");
	recording_release(&rec);
	ck_assert_int_eq(recording_read_sums(&rec, dir, NULL, NULL), 0);
	ck_assert_uint_eq(rec.n_out, 0);
	ck_assert_str_eq(rec.task[0].name, "late");
	recording_release(&rec);
}

/* A later process wrote a file that is read before that of the instance. */
TEST(opened_in_a_later_file)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_dir(BUILD, NULL);

	support_writes(support_path("%s/tasks-a1.log", dir), TASKS
		       "name\t50\tb1.1\tlate\trule\tlink\nout\t50\tb1.1\tmore\n");
	support_writes(support_path("%s/tasks-b1.log", dir), TASKS "open\t30\tb1\t9\t\t\tninja\n"
		       "start\t31\tb1.1\t\t\t\t\t\tcc x.c\ndone\t40\tb1.1\t0\nclose\t41\tb1\n"
		       "open\t60\tb1\t9\t\t\tmake\n");
	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_str_eq(shown(&rec), "late done 31-40 0");
	ck_assert_uint_eq(rec.n_out, 1);
	ck_assert_uint_eq(rec.n_instances, 2);
	ck_assert_str_eq(rec.instance[0].tool, "ninja");
	ck_assert_int_eq(rec.instance[0].open_us, 30);
	ck_assert_int_eq(rec.instance[0].close_us, 41);
	ck_assert_str_eq(rec.instance[1].tool, "make");
}

/* An exec that failed: the instance continues, and did not end where it announced that. */
TEST(closed_too_early)
{
	struct recording rec = RECORDING_INIT;
	const char *dir = write_dir(BUILD, NULL);

	for (int again = 0; again < 2; again++) {
		support_writes(support_path("%s/tasks.log", dir), support_path(TASKS OPEN
			       "start\t20\ta1.1\t7\t\t\tx.o\ndone\t30\ta1.1\t0\nclose\t40\ta1\n"
			       "start\t41\ta1.2\t8\t\t\ty.o\n%s", again ? "close\t60\ta1\n" : ""));
		recorded_open(&rec, dir, NULL);
		ck_assert_uint_eq(rec.n_warnings, 0);
		ck_assert_int_eq(rec.instance[0].close_us, again ? 60 : -1);
		ck_assert_uint_eq(rec.n_tasks, 2);
		recording_release(&rec);
	}
}

TEST(all_fields)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const struct task *t;
	const char *dir = write_dir(BUILD "command: make\\tall\nstatus: 2\ninterval_ms: 500\nend_us: 90\ncommand: b\n",
		TASKS OPEN "queue\t15\ta1.1\tlink\tx\trule\nstart\t20\ta1.1\t\t3\t\tx\tkey\tgcc -c x.c\n"
		"pid\t21\ta1.1\t77\nafter\t21\ta1.1\tp\tq\nbegin\t22\ta1.1\t1\tphase\nbegin\t22\ta1\t1\town\n"
		"end\t25\ta1.1\t1\nnote\t26\ta1\tall\nnote\t27\ta1.1\tof one\n"
		"start\t28\ta1.2\t78\t\t\ty\t\tgcc -c y.c\nafter\t28\ta1.2\ty.c\nafter\t29\ta1.1\tr\n"
		"done\t30\ta1.1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t\t12\t13\t14\t1\t123456789012\n"
		"used\t79\ta1\t1\t2\nused\t79\ta1\t15\t16\t0\t0\t0\t17\t18\nclose\t80\ta1\n");

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_int_eq(rec.start_wall_ns, 1700000000000000000);
	ck_assert_int_eq(rec.start_mono_ns, 5);
	ck_assert_int_eq(rec.interval_ms, 500);
	ck_assert_int_eq(rec.end_us, 90);
	ck_assert_int_eq(rec.last_us, 90);
	ck_assert_str_eq(recording_build(&rec, "command"), "make\tall");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 2);
	ck_assert_int_eq(recording_build_number(&rec, "command"), -1);
	ck_assert_ptr_null(recording_build(&rec, "host"));
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_str_eq(rec.instance[0].id, "a1");
	ck_assert_int_eq(rec.instance[0].open_us, 10);
	ck_assert_int_eq(rec.instance[0].close_us, 80);
	ck_assert_str_eq(rec.instance[0].tool, "make");
	ck_assert_str_eq(rec.instance[0].cwd, "/src");
	ck_assert_str_eq(rec.instance[0].command, "make all");
	ck_assert_uint_eq(rec.n_tasks, 2);
	t = &rec.task[0];
	ck_assert_str_eq(t->kind, "link");
	ck_assert_str_eq(t->key, "key");
	ck_assert_str_eq(rec.task[1].kind, "compile");
	ck_assert_int_eq(t->queued_us, 15);
	ck_assert_int_eq(t->slot, 3);
	ck_assert_int_eq(t->pid, 77);
	ck_assert_int_eq(t->user_us, 1);
	ck_assert_int_eq(t->system_us, 2);
	ck_assert_int_eq(t->max_rss_kb, 3);
	ck_assert_int_eq(t->minor_faults, 4);
	ck_assert_int_eq(t->major_faults, 5);
	ck_assert_int_eq(t->in_blocks, 6);
	ck_assert_int_eq(t->out_blocks, 7);
	ck_assert_int_eq(t->voluntary_switches, 8);
	ck_assert_int_eq(t->involuntary_switches, 9);
	ck_assert_int_eq(t->rchar, 10);
	ck_assert_int_eq(t->wchar, 11);
	ck_assert_int_eq(t->setup_us, 12);
	ck_assert_int_eq(t->setup_user_us, 13);
	ck_assert_int_eq(t->setup_system_us, 14);
	ck_assert(t->end_at_most);
	ck_assert_int_eq(t->instructions, 123456789012);
	ck_assert_int_eq(rec.task[1].instructions, -1);
	ck_assert_int_eq(t->delay_us, -1);
	ck_assert_int_eq(rec.instance[0].used_user_us, 15);
	ck_assert_int_eq(rec.instance[0].used_system_us, 16);
	ck_assert_int_eq(rec.instance[0].used_in_blocks, 17);
	ck_assert_int_eq(rec.instance[0].used_out_blocks, 18);
	ck_assert_uint_eq(t->n_after, 3);
	ck_assert_str_eq(rec.after[t->first_after], "p");
	ck_assert_str_eq(rec.after[t->first_after + 2], "r");
	ck_assert_uint_eq(rec.task[1].n_after, 1);
	ck_assert_str_eq(rec.after[rec.task[1].first_after], "y.c");
	ck_assert_int_eq(rec.task[1].state, TASK_UNFINISHED);
	ck_assert_int_eq(recording_task_end_us(&rec, &rec.task[1]), 80);
	ck_assert_uint_eq(rec.n_spans, 2);
	ck_assert_int_eq(rec.span[0].end_us, 25);
	ck_assert_uint_eq(rec.span[1].task, NO_INDEX);
	ck_assert_int_eq(rec.span[1].end_us, 80);
	ck_assert_uint_eq(rec.span[1].faults, 1u << SPAN_UNENDED);
	ck_assert_uint_eq(rec.n_notes, 2);
	ck_assert_str_eq(rec.note[1].text, "of one");
	ck_assert_uint_eq(rec.note[1].task, 0);
}

/* Sub-makes: direct, through a shell, with a reused pid, and restarted by exec. */
TEST(parents)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_dir(BUILD, TASKS OPEN
		"start\t20\ta1.1\t200\t\t\told\ndone\t30\ta1.1\t0\n"
		"start\t40\ta1.2\t200\t\t\tsub\n"
		"open\t50\tb1\t200\t1\t200,100,1\tmake\nclose\t51\tb1\n"
		"open\t52\tb2\t200\t1\t200,100,1\tmake\n"
		"start\t60\tb2.1\t300\t\t\tdeep\nopen\t70\tc1\t301\t2\t301,300,200,100,1\tmake\n"
		"open\t80\td1\t999\t0\t999,1\tmake\n"
		"done\t90\ta1.2\t0\nopen\t500000\te1\t400\t0\t400,200,1\tmake\n");

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_instances, 6);
	ck_assert_uint_eq(rec.instance[0].parent_task, NO_INDEX);
	ck_assert_uint_eq(rec.instance[1].parent_task, 1);
	ck_assert_uint_eq(rec.instance[2].parent_task, 1);
	ck_assert_uint_eq(rec.instance[3].parent_task, 2);
	ck_assert_uint_eq(rec.instance[4].parent_task, NO_INDEX);
	ck_assert_uint_eq(rec.instance[5].parent_task, NO_INDEX);
	ck_assert(!rec.task[0].hosts && rec.task[1].hosts && rec.task[2].hosts);
}

/* A writer that does not see the processes names the task instead. */
TEST(named_parents)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_dir(BUILD, TASKS OPEN "start\t20\ta1.1\t200\t\t\told\nstart\t20\ta1.2\t201\t\t\tnew\n"
		"open\t30\tb\t300\t1\t=a1.2\tmake\nopen\t30\tc\t301\t1\t=a1.3\tmake\n"
		"open\t30\td\t302\t1\t=a1\tmake\n");

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_instances, 4);
	ck_assert_uint_eq(rec.instance[1].parent_task, 1);
	ck_assert_uint_eq(rec.instance[2].parent_task, NO_INDEX);
	ck_assert_uint_eq(rec.instance[3].parent_task, NO_INDEX);
}

/* Instances inside each other's tasks are no endless loop. */
TEST(no_rings)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_dir(BUILD, TASKS
		"open\t10\ta\t1\t0\t2,1\tmake\nopen\t10\tb\t2\t0\t1,2\tmake\n"
		"start\t5\ta.1\t1\nstart\t5\tb.1\t2\n");
	uint32_t at = 0;
	unsigned steps = 0;

	recorded_open(&rec, dir, NULL);
	for (size_t i = 0; i < rec.n_instances; i++)
		for (at = (uint32_t)i; rec.instance[at].parent_task != NO_INDEX && steps < 99; steps++)
			at = rec.task[rec.instance[at].parent_task].instance;
	ck_assert_uint_lt(steps, 99);
}

/* Inverted bytes are used as compression. */
static int unpack(struct buf *out, const void *packed, size_t len, struct error *err)
{
	const char *p = packed;

	if (len && p[0] == '!')
		return error_set(err, -EINVAL, NULL, 0, 0, "damaged frame");
	for (size_t i = 0; i < len; i++)
		buf_addc(out, (char)~p[i]);
	return buf_error(out);
}

static void write_packed(const char *path, const char *text)
{
	RELEASED(buf, b = BUF_INIT);

	for (; *text; text++)
		buf_addc(&b, (char)~*text);
	support_write(path, b.data, b.len);
}

TEST(packed_and_in_parts)
{
	static const struct recording_codec codec = { unpack };
	static const struct recording_formats formats = { .codec = &codec };
	struct recording rec = RECORDING_INIT;
	const char *dir = write_dir(BUILD, "start\t20\ta1.1\t7\t\t\tx\n");

	write_packed(support_path("%s/tasks.log.zst", dir), TASKS OPEN);
	support_writes(support_path("%s/tasks-b1.log", dir), TASKS "open\t30\tb1\t9\nstart\t31\tb1.1\t\t\t\ty\n");
	write_packed(support_path("%s/proc_x.log.zst", dir), "buildbeat proc_x 1 1000 a:1:g\n1\n");
	support_writes(support_path("%s/proc_x.log", dir), "buildbeat proc_x 1 1000 a:1:g\n@1000 3\n");
	support_writes(support_path("%s/proc_y.log.zst", dir), "!");
	recorded_open(&rec, dir, &formats);
	ck_assert_str_eq(shown(&rec), "y running 31--1 -1; x running 20--1 -1");
	ck_assert_uint_eq(recording_series(&rec, "proc_x")->n, 2);
	ck_assert_int_eq(recording_series(&rec, "proc_x")->level[1], 3);
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_str_eq(rec.warning[0].text, "proc_y.log.zst: damaged frame");
	recording_release(&rec);
	recorded_open(&rec, dir, NULL);
	ck_assert_ptr_nonnull(strstr(rec.warning[0].text, "compressed, left out"));
	recording_release(&rec);
}

/* A line of 64 MB: lines around it are read, and it is not stored. */
TEST(gigantic_line)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = write_dir(BUILD, TASKS OPEN "start\t20\ta1.1\t7\t\t\tx\nstart\t21\ta1.2\t7\t\t\t");
	FILE *f = fopen(support_path("%s/tasks.log", dir), "ab");
	static char megabyte[1 << 20];

	memset(megabyte, 'n', sizeof megabyte);
	for (int i = 0; i < 64; i++)
		ck_assert_uint_eq(fwrite(megabyte, 1, sizeof megabyte, f), sizeof megabyte);
	fputs("\nstart\t22\ta1.3\t7\t\t\tz\n", f);
	ck_assert_int_eq(fclose(f), 0);
	recorded_open(&rec, dir, NULL);
	ck_assert_str_eq(shown(&rec), "x running 20--1 -1; z running 22--1 -1");
	ck_assert_uint_eq(rec.n_warnings, 2);
	ck_assert_str_eq(rec.warning[0].text, "tasks.log:4: damaged line left out");
	ck_assert_uint_eq(rec.lost.tasks, 1);
}

/* An unreadable file is an error; reading never hangs. */
static void is_unreadable(const char *dir, const char *path)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err;

	ck_assert_int_lt(recording_read(&rec, dir, NULL, &err), 0);
	ck_assert_str_eq(err.path, path);
}

TEST(odd_entries)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	const char *dir = write_dir(BUILD, TASKS OPEN), *odd = support_path("%s/proc_a.log", dir);

	ck_assert_int_eq(mkfifo(odd, 0666), 0);
	is_unreadable(dir, odd);
	ck_assert_int_eq(unlink(odd), 0);
	ck_assert_int_eq(mkdir(odd, 0777), 0);
	is_unreadable(dir, odd);
	ck_assert_int_eq(rmdir(odd), 0);
	/* a dangling link, and a file of another user */
	ck_assert_int_eq(symlink("nowhere", support_path("%s/proc_c.log", dir)), 0);
	support_writes(support_path("%s/proc_d.log", dir), "buildbeat proc_e 1 1000 a:1:g\n");
	support_writes(support_path("%s/bootchart.svg", dir), "<svg/>");
	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(rec.n_warnings, 2);
	ck_assert_uint_eq(rec.n_series, 0);
	recording_release(&rec);
	ck_assert_int_eq(recording_read(&rec, support_path("%s/none", dir), NULL, &err), -ENOENT);
	recording_release(&rec);
	ck_assert_int_eq(recording_read(&rec, support_path("%s/build", dir), NULL, &err), -ENOTDIR);
	recording_release(&rec);
	ck_assert(recording_is_here(dir, NULL));
	ck_assert(!recording_is_here(support_path("%s/proc_b.log", dir), NULL));
	ck_assert(!recording_is_here("/nonexistent", NULL));
}

/* Every part of a real recording, truncated anywhere, is readable up to there. */
TEST(cut_anywhere)
{
	char dir[128];
	RELEASED(buf, tasks);
	size_t last = 0;

	snprintf(dir, sizeof dir, "%s/gen/one", support_tmpdir());
	support_expect(NULL, 0, NULL, NULL,
		       "%s/tests/gen_recording %s 20 30 7", TOP_BUILDDIR, dir);
	support_read(&tasks, support_path("%s/tasks.log", dir));
	for (size_t len = sizeof TASKS - 1; len <= tasks.len; len += 13) {
		struct recording rec = RECORDING_INIT;

		support_write(support_path("%s/tasks.log", dir), tasks.data, len);
		recorded_open(&rec, dir, NULL);
		ck_assert_uint_ge(rec.n_tasks, last);
		ck_assert_uint_le(rec.n_warnings, 3);
		ck_assert_uint_eq(rec.n_series, 6);
		last = rec.n_tasks;
		recording_release(&rec);
	}
	ck_assert_uint_eq(last, 20);
}

/* Eight processes at once: no event is truncated or lost. */

#define WRITERS 8
#define EVENTS 5000

static void write_events(const char *dir, unsigned writer)
{
	char memory[EVENT_MAX + 1], name[2000];
	struct store s;
	struct buf b;

	if (store_join_dir(&s, dir, NULL))
		_exit(1);
	memset(name, 'a' + (int)writer, sizeof name - 1);
	for (unsigned i = 1; i <= EVENTS; i++) {
		struct event_task t = { -1, false, -1, NULL, "t", NULL, name };

		name[(i * 37) % 1999] = '\0';
		buf_init_fixed(&b, memory, sizeof memory);
		event_add_start(&b, i, s.inst, i, &t);
		store_append(&s, &b);
		name[(i * 37) % 1999] = (char)('a' + writer);
	}
	_exit(s.error ? 1 : 0);
}

TEST(many_writers)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct store s;
	unsigned n[WRITERS] = { 0 };
	int status;

	ck_assert_int_eq(store_create(&s, support_tmpdir(), "many", NULL), 0);
	for (unsigned i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid)
			write_events(s.path, i);
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	recorded_open(&rec, s.path, NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_eq(rec.n_tasks, WRITERS * EVENTS);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const char *text = recording_command(&rec, &rec.task[i]);
		unsigned writer = *text ? (unsigned)(text[0] - 'a') : WRITERS;

		ck_assert_uint_eq(strlen(text), rec.task[i].seq * 37 % 1999);
		ck_assert_uint_eq(strspn(text, (char[]){ text[0], '\0' }), strlen(text));
		ck_assert_uint_eq(rec.task[i].seq, ++n[rec.task[i].instance]);
		ck_assert(writer < WRITERS || !*text);
	}
	store_close(&s);
}

/* A task without a name is named after its command, which is read for it, with the same
 * memory as the next files. */
TEST(commands_and_other_files)
{
	const char *dir = write_dir(BUILD, TASKS OPEN "start\t20\ta1.1\t101\t\t\t\t\tsleep 1\n");
	RELEASED(recording, rec = RECORDING_INIT);
	struct buf samples = BUF_INIT;

	buf_adds(&samples, "buildbeat proc_tasks 1 1000\n");
	while (samples.len < 10000)
		buf_adds(&samples, "# nothing\n");
	support_writes(support_path("%s/proc_tasks.log", dir), buf_str(&samples));
	buf_release(&samples);
	recorded_open(&rec, dir, NULL);
	ck_assert_str_eq(recording_command(&rec, &rec.task[0]), "sleep 1");
}

/* The message is about the directory, or about the first line of a file. */
TEST(no_recording)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err = { 0 };

	ck_assert_int_eq(recording_read(&rec, support_tmpdir(), NULL, &err), -EINVAL);
	recording_release(&rec);
	ck_assert_str_eq(err.path, support_tmpdir());
	ck_assert_uint_eq(err.line, 0);
	support_writes(support_path("%s/build", support_tmpdir()), "buildbeat build 1\n");
	support_writes(support_path("%s/tasks.log", support_tmpdir()), "buildbeat tasks 2\n");
	ck_assert_int_eq(recording_read(&rec, support_tmpdir(), NULL, &err), -EINVAL);
	ck_assert_str_eq(err.path, "tasks.log");
	ck_assert_uint_eq(err.line, 1);
}

/* The kind and the program of a task are those of its command, whatever tasks precede it. */
TEST(kinds_of_commands)
{
	static const char *const commands[] = {
		"gcc -c a.c", "gcc --version", "gcc a.c -o a", "gcc -c a.c; ar r x.a a.o", "gcc -c a.c -o a\\b.o ",
		"gcc -c a.c -o a\nar r x.a", "gcc -o a b.o\nx -c y", "g++ -c a.cc", "/usr/bin/gcc-12 -c a.c", "rm -f a",
		"gcc-12 -c a.c", "/a/directory/with/a/long/name/so/that/the/word/has/more/than/64/bytes/gcc -c a.c",
		"/a/directory/with/a/long/name/so/that/the/word/has/more/than/64/bytes/gcc a.c", "python3 gcc -c x", "",
	};
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recording, rec = RECORDING_INIT);
	uint64_t seed = 1;
	unsigned which[2000];

	buf_adds(&b, TASKS OPEN);
	for (unsigned i = 0; i < ARRAY_SIZE(which); i++) {
		struct event_task t = { .pid = -1, .slot = -1, .name = "x" };

		which[i] = (unsigned)random_below(&seed, ARRAY_SIZE(commands));
		t.command = commands[which[i]];
		event_add_start(&b, 20, "a1", i + 1, &t);
	}
	recorded_open(&rec, write_dir(BUILD, buf_str(&b)), NULL);
	ck_assert_uint_eq(rec.n_tasks, ARRAY_SIZE(which));
	for (unsigned i = 0; i < ARRAY_SIZE(which); i++) {
		const char *command = commands[which[i]];
		struct slice program;

		ck_assert_msg(!strcmp(rec.task[i].kind, kind_and_program(command, strlen(command), &program)),
			      "%u %s: %s", i, command, rec.task[i].kind);
		ck_assert_msg(slice_is(program, rec.task[i].program), "%u %s: %s", i, command, rec.task[i].program);
	}
}

static const char *const whole_recordings[] = { "damaged", "edges", "generated", "processes", "results", "scripts", "spans" };

/* The lines with their times later by `by`, and at least 0 before that. */
static void move_times(struct buf *b, const char *text, int64_t by, int64_t more)
{
	for (const char *p = text, *eol; *p; p = *eol ? eol + 1 : eol) {
		const char *tab = strchr(p, '\t');
		int64_t time_us;
		char *end;

		eol = strchrnul(p, '\n');
		if (!tab || tab > eol || (time_us = strtoll(tab + 1, &end, 10)) < 0 || *end != '\t') {
			buf_add(b, p, (size_t)(eol - p));
		} else {
			time_us = time_us + by < 0 ? 0 : time_us + by;
			buf_addf(b, "%.*s%lld%.*s", (int)(tab + 1 - p), p, (long long)(time_us + more), (int)(eol - end), end);
		}
		buf_addc(b, '\n');
	}
}

static void read_moved(struct buf *to, const char *dir, const char *tasks, int64_t by, int64_t more)
{
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(buf, b = BUF_INIT);
	char path[PATH_MAX];
	struct error err;

	move_times(&b, tasks, by, more);
	support_write(support_path("%s/tasks.log", dir), b.data, b.len);
	support_writes(support_path("%s/build", dir), support_path(BUILD "status: 0\nend_us: %lld\n",
								     (long long)(99000000 + more)));
	recorded_open(&rec, dir, NULL);
	recorded_dump(to, &rec, more);
	ck_assert(!recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), "written", path, &err));
	recording_release(&rec);
	recorded_open(&rec, path, NULL);
	recorded_dump(to, &rec, more);
	support_expect(support_tmpdir(), 0, "", "", "rm -r written latest");
}

/* Time 0 is a time as any other: whichever event is at 0, all is read and written as if that were
 * later. */
TEST_EACH(time_zero, whole_recordings)
{
	const char *tasks = support_text(support_path("%s/tasks.log", recorded_unpack(whole_recordings[_i])));
	const char *dir = write_dir(NULL, NULL);
	int64_t before_us = -1;
	int n = 0;

	for (const char *p = tasks; p && n < 60; p = strchr(p + 1, '\n')) {
		const char *tab = strchr(p, '\t');
		int64_t time_us = tab ? strtoll(tab + 1, NULL, 10) : -1;
		RELEASED(buf, at_0 = BUF_INIT, later = BUF_INIT);

		if (time_us < 0 || time_us == before_us)
			continue;
		before_us = time_us;
		read_moved(&at_0, dir, tasks, -time_us, 0);
		read_moved(&later, dir, tasks, -time_us, 7);
		recorded_same(&at_0, &later, time_us);
		n++;
	}
	ck_assert_int_gt(n, 2);
}

TEST_MAIN(recording);
