/* SPDX-License-Identifier: MIT */
/* Traces that are written while a recording grows: tests/live.py reads them strictly. */
#include "base/json.h"
#include "convert/convert.h"
#include "tests/launched.h"
#include "tests/recorded.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIVE "python3 -B " TOP_SRCDIR "/tests/live.py "
#define FOLLOW BUILDBEAT " export --to chrome --follow "
#define MAKE "make -j3 -f "

static void setup(void)
{
	unsetenv("BUILDBEAT_TRACE");
	unsetenv("MAKEFLAGS");
}

/* Tasks of all lengths in several makes; the last one fails. "many": more than fits into a pipe. */
static const char *makefile(void)
{
	const char *path = support_path("%s/Makefile", support_tmpdir());

	support_writes(path,
		"N := 1 2 3 4 5 6 7 8 9\nall: $(N:%=a%) $(N:%=b%) sub fails\n"
		"a%:\n\t@echo $@; sleep 0.0$(*F)\nb%: a%\n\t@echo $@ >&2\n"
		"sub:\n\t+@$(MAKE) --no-print-directory -f Makefile $(N:%=c%)\n"
		"c%:\n\t@sleep 0.02\nfails: $(N:%=b%) sub\n\t@exit 3\n"
		"many: $(addprefix d,$(shell seq 250))\nd%:\n\t@true $@\n");
	return path;
}

static void with_makefile(void)
{
	setup();
	makefile();
}

/* The tasks of a recording as live.py prints them. */

struct line {
	const struct recording *rec;
	const struct task *t;
};

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int64_t end = recording_task_end_us(x->rec, x->t), other = recording_task_end_us(y->rec, y->t);

	if (x->t->start_us != y->t->start_us)
		return x->t->start_us < y->t->start_us ? -1 : 1;
	if (end != other)
		return end < other ? -1 : 1;
	return strcmp(x->t->name, y->t->name);
}

static void tasks_of(struct buf *out, const struct recording *rec)
{
	static const char *const states[] = {
		[TASK_UNFINISHED] = "unfinished", [TASK_DONE] = "done", [TASK_FAILED] = "failed",
		[TASK_KILLED] = "killed",
	};
	struct line *line = calloc(rec->n_tasks + 1, sizeof *line);
	size_t n = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (rec->task[i].start_us >= 0)
			line[n++] = (struct line){ rec, &rec->task[i] };
	}
	qsort(line, n, sizeof *line, by_time);
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s %lld %lld %s\n", *line[i].t->name ? line[i].t->name : line[i].t->kind,
			 (long long)line[i].t->start_us,
			 (long long)recording_task_end_us(rec, line[i].t), states[line[i].t->state]);
	free(line);
}

/* The trace is whole and has the tasks of the recording, at their times. */
static void same_tasks(const char *trace, const char *recording)
{
	struct recording rec;
	struct buf tasks = BUF_INIT;
	struct run r;

	recorded_open(&rec, recording, &convert_formats);
	tasks_of(&tasks, &rec);
	support_run(&r, NULL, LIVE "whole %s", trace);
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert_msg(!strcmp(buf_str(&r.out), buf_str(&tasks)), "%s\n%.600s\n--\n%.600s", trace,
		      r.out.data, tasks.data);
	buf_release(&tasks);
	recording_release(&rec);
}

static const char *in_dir(const char *name)
{
	return support_path("%s/%s", support_tmpdir(), name);
}

/* Finished recordings */

/* Its tasks, for trace_reader.py. */
static void write_tasks(const char *recording)
{
	struct buf out = BUF_INIT;
	struct recording rec;
	struct json j;

	recorded_open(&rec, recording, NULL);
	json_init(&j, &out, true);
	json_array(&j, NULL);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		if (t->start_us < 0)
			continue;
		json_array(&j, NULL);
		json_int(&j, NULL, t->instance + 1);
		json_int(&j, NULL, t->start_us);
		json_int(&j, NULL, recording_task_end_us(&rec, t));
		json_str(&j, NULL, *t->name ? t->name : t->kind);
		json_array_end(&j);
	}
	json_array_end(&j);
	support_write(in_dir("t.tasks"), out.data, out.len);
	buf_release(&out);
	recording_release(&rec);
}

TEST_GROUP_WITH("finished", setup, NULL);

TEST_LOOP(finished, 5)
{
	const char *dir = support_tmpdir(), *source = in_dir("rec");
	struct recorded r;

	if (_i == 0) {
		source = TOP_SRCDIR "/tests/data/recordings/nested";
	} else if (_i == 1) {
		support_expect(NULL, 0, NULL, NULL, "%s/tests/gen_recording %s 1000 500 5",
			       TOP_BUILDDIR, source);
	} else {
		recorded_random(&r, 40u * (unsigned)_i, (uint64_t)_i);
		recorded_release(&r);
		source = dir;
	}
	support_expect(dir, 0, "", "", FOLLOW "-o t.json %s", source);
	same_tasks(in_dir("t.json"), source);
	support_expect(dir, 0, NULL, "", FOLLOW "-o - %s >u.json", source);
	support_expect(dir, 0, "", "", FOLLOW "-o t.json.gz %s && zcat t.json.gz | cmp - t.json && "
		       "cmp t.json u.json", source);
	support_expect(dir, 0, "", "", BUILDBEAT " export --to perfetto --follow -o t.pftrace %s",
		       source);
	write_tasks(source);
	support_expect(dir, 0, NULL, "", "python3 -B " TOP_SRCDIR "/tests/trace_reader.py both "
		       TOP_SRCDIR "/tests/data/perfetto/perfetto.proto t");
}

/* Live */

static void same_as_exported(const char *trace, const char *recording)
{
	support_expect(support_tmpdir(), 0, NULL, "", BUILDBEAT " export --to chrome -o exported.json "
		       "%s && cmp exported.json %s && rm exported.json", recording, trace);
}

/* The reader of a FIFO may be late. */
static bool has_end(void *path)
{
	struct buf text = BUF_INIT;
	bool ended;

	support_read(&text, path);
	ended = text.len && text.data[text.len - 1] == ']';
	buf_release(&text);
	return ended;
}

static void wait_for_end(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s", in_dir(name));
	support_wait_until(has_end, path, "the end of the trace");
}

TEST_GROUP_WITH("live", with_makefile, NULL);

/* The output of the build is the same. A file has the whole trace at the end, a FIFO the stream. */
TEST_LOOP(live, 2)
{
	const char *dir = support_tmpdir();
	struct run plain, traced;

	SKIP_IF(!support_can_be_loaded());
	support_run(&plain, dir, RECORD "-n plain -- " MAKE "Makefile");
	support_run(&traced, dir, "mkfifo f; (cat f >t.json &) ; %s" RECORD "-n live --interval 20 %s -- "
		    MAKE "Makefile", _i ? "BUILDBEAT_TRACE=f " : "", _i ? "" : "--trace f");
	ck_assert_int_eq(plain.status, 2);
	ck_assert_int_eq(traced.status, 2);
	ck_assert_uint_eq(plain.out.len, traced.out.len);
	ck_assert_uint_eq(plain.err.len, traced.err.len);
	wait_for_end("t.json");
	same_tasks(in_dir("t.json"), in_dir("stats/live"));
	support_expect(dir, 0, "", "", LIVE "cut t.json");
	/* joined late: the same */
	support_expect(dir, 0, "", "", FOLLOW "-o late.json stats/live && " LIVE
		       "same t.json late.json");
}

/* Several at once, at different times, of a recording that is packed when it ends. */
TEST(many)
{
	const char *dir = support_tmpdir();

	SKIP_IF(!support_can_be_loaded());
	support_expect(dir, 2, NULL, NULL,
		       RECORD "-n one --compress zstd --trace a.json -- sh -c '"
		       "(" FOLLOW "-o b.json stats/one </dev/null >/dev/null 2>b.err &) ; sleep 0.1; "
		       MAKE "Makefile; s=$?; "
		       "(" FOLLOW "-o c.json stats/one </dev/null >/dev/null 2>c.err &) ; exit $s'");
	wait_for_end("b.json");
	wait_for_end("c.json");
	support_expect(dir, 0, "", "", "cat b.err c.err; " LIVE "same b.json c.json");
	support_expect(dir, 0, "", "", FOLLOW "-o d.json stats/one && " LIVE "same b.json d.json");
	same_tasks(in_dir("b.json"), in_dir("stats/one"));
	same_as_exported("a.json", "stats/one");
}

/* Many tasks of real build tools: the stream has each of them, the file is the whole trace. */
TEST_LOOP(thousand, 2)
{
	static const char *const builds[] = {
		"echo 'all: $(addprefix d,$(shell seq 1000))\nd%:\n\t@true $@' >Makefile && "
		RECORD "-n one --trace $T -- make -j4",
		"{ echo 'rule t\n  command = true $out && touch $out'; "
		"for i in $(seq 1000); do echo \"build o$i: t\"; done; } >build.ninja && "
		RECORD "-n one --trace $T -- ninja -j4",
	};
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	SKIP_IF(_i && !support_has("ninja"));
	support_expect(dir, 0, NULL, NULL, "mkfifo fifo; cat fifo >s.json 2>&1 </dev/null & :");
	support_run(&r, dir, "T=fifo; %s", builds[_i]);
	ck_assert_msg(!r.status, "%s", r.err.data);
	wait_for_end("s.json");
	support_expect(dir, 0, _i ? "1000\n" : "1001\n", "", LIVE "whole s.json | wc -l");
	support_expect(dir, 0, NULL, NULL, "rm -rf stats o*");
	support_run(&r, dir, "T=t.json; %s", builds[_i]);
	same_as_exported("t.json", "stats/one");
}

/* Consumers that do not read on */

static const struct {
	const char *before, *options, *after;
	const char *report;	/* a part of the one line */
	const char *targets;
} consumers[] = {
	{ "mkfifo f; ", "--trace f", "", "f: nobody reads the trace", "all" },
	{ "mkfifo f; (head -c 100 f >head &); ", "--trace f", "", "f: its reader closed it", "many all" },
	{ "mkfifo f; (sleep 30 <f & echo $! >pid); ", "--trace f", "kill $(cat pid); ",
	  "f: it could not be written for 3 seconds", "many all" },
	{ "", "--trace /dev/full", "", "/dev/full: cannot write the trace: No space left",
	  "all" },
	{ "", "--trace none/t.json", "", "no trace is written: none/t.json: ", "all" },
	{ "mkdir d; ", "--trace d", "", "no trace is written: d: ", "all" },
	{ "mkfifo f; (while dd bs=4k count=1 2>&- | grep -q .; do sleep 0.02; done <f &); ",
	  "--trace f", "", "", "many all" },
};

TEST_EACH(consumer, consumers)
{
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_run(&r, dir, "%s" RECORD "-n one %s -- " MAKE "Makefile -k %s; s=$?; %s exit $s",
		    consumers[_i].before, consumers[_i].options,
		    consumers[_i].targets, consumers[_i].after);
	ck_assert_msg(r.status == 2, "%d: %s", r.status, r.err.data);
	if (*consumers[_i].report)
		ck_assert_msg(strstr(r.err.data, consumers[_i].report), "%s", r.err.data);
	support_expect(dir, 0, NULL, "", FOLLOW "-o t.json stats/one");
	same_tasks(in_dir("t.json"), in_dir("stats/one"));
}

/* The disk is full, or files may not grow: what was written can be read. */
TEST(full)
{
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_run(&r, dir, "unshare -m sh -c 'mkdir -p full && mount -t tmpfs -o size=8k none full || "
		    "exit 77; " RECORD "-n one --trace full/t.json -- " MAKE "Makefile; s=$?; "
		    LIVE "tasks full/t.json >read || exit 9; exit $s'");
	SKIP_IF(r.status == 77 || strstr(r.err.data, "unshare failed"));
	ck_assert_msg(r.status == 2, "%d: %s", r.status, r.err.data);
	ck_assert_msg(strstr(r.err.data, "the trace is incomplete: full/t.json: cannot write the trace: "
			     "No space left on device"), "%s", r.err.data);
	support_expect(dir, 0, NULL, "", FOLLOW "-o t.json stats/one");
	same_tasks(in_dir("t.json"), in_dir("stats/one"));
}

/* A client that ends is no error; it ends the follower although nothing is written any more. */
TEST(client)
{
	const char *dir = support_tmpdir();

	SKIP_IF(!support_can_be_loaded());
	support_expect(dir, 0, "[\n0\n", "", RECORD "-n one -- true && "
		       "sed -i /^end_us/d stats/one/build && sed -i \"s/^sampler_pid.*/sampler_pid: $$/; "
		       "s/^start_mono_ns.*/start_mono_ns: $(sed 's/ .*//; s/\\.//' /proc/uptime)0000000/\" "
		       "stats/one/build && { " FOLLOW "-o - stats/one; echo $? >status; } | head -1 && "
		       "cat status");
}

/* Killed */

static bool no_tracer(void *data)
{
	struct run r;

	(void)data;
	support_run(&r, support_tmpdir(), "%s", "for p in $(cat tracer); do test -e /proc/$p && exit 1; done; :");
	return !r.status;
}

/* The tracer is a child of record, which is the parent of the shell that make runs in. */
#define FIND_TRACER "for p in $(ps -o pid= --ppid $PPID); do " \
	"case $(cat /proc/$p/comm) in buildbeat-trac*) echo $p;; esac; done >tracer; "

TEST_LOOP(killed, 3)
{
	static const struct { const char *kill; int status; const char *report; bool whole; } kills[] = {
		{ "kill -9 $(cat tracer)", 2, "t.json: its process was killed by signal 9", false },
		{ "kill -9 $PPID", 128 + SIGKILL, "", true },
		{ "kill -INT -$$", ANY_STATUS, "", true },
	};
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_run(&r, dir, "%s setsid -w " RECORD "-n one --trace t.json -- sh -c '%s found() { " FIND_TRACER
		    "test -s tracer; }; until_true found; (sleep 0.1; %s) & " MAKE "Makefile; s=$?; wait; exit $s'; "
		    "s=$?; until_true \"! pgrep -f '^make -j3 -f $PWD'\" >/dev/null; exit $s",
		    support_poll, support_poll, kills[_i].kill);
	if (kills[_i].status != ANY_STATUS)
		ck_assert_msg(r.status == kills[_i].status, "%d: %s", r.status, r.err.data);
	if (*kills[_i].report)
		ck_assert_msg(strstr(r.err.data, kills[_i].report), "%s", r.err.data);
	support_wait_until(no_tracer, NULL, "the end of the tracer");
	if (kills[_i].whole)
		same_as_exported("t.json", "stats/one");
	else
		support_expect(dir, 0, NULL, "", LIVE "tasks t.json");
}

/* Nothing was recorded. */
TEST(nothing)
{
	const char *dir = support_tmpdir();

	support_expect(dir, 127, "", NULL, RECORD "-n one --trace t.json -- ./none");
	ck_assert(!support_exists(in_dir("stats")));
}

TEST(refused)
{
	const char *dir = support_tmpdir();

	support_refuses(dir, "export --to oe --follow", "option '--follow': 'oe' can only");
	support_refuses(dir, "export --to chrome --follow none", "none");
	support_expect(dir, 0, NULL, NULL, RECORD "-n one -- true; echo >t.json");
	support_refuses(dir, "export --to chrome --follow -o t.json stats/one",
			"t.json: already exists");
	support_writes(in_dir("buildbeat.yaml"), "trace: t.json\n");
	support_refuses(dir, "record -- true", "trace");
}

/* Where others can write, a file could be a link to one of ours. */
TEST(trusted)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_expect(dir, 0, NULL, NULL, "mkdir open && chmod 777 open");
	support_run(&r, dir, RECORD "-n one --trace open/t.json -- true");
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.err.data, "no trace is written: "), "%s", r.err.data);
	ck_assert(!support_exists(in_dir("open/t.json")));
}

TEST_MAIN(live);
