/* SPDX-License-Identifier: MIT */
/* Traces of Chrome, clang and Bazel, read and written. */
#include "base/array.h"
#include "convert/convert.h"
#include "convert/json_reader.h"
#include "convert/trace.h"
#include "recording/layout.h"
#include "recording/recording_write.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "trace/trace_formats.h"

#include <inttypes.h>
#include <limits.h>

#define DATA TOP_SRCDIR "/tests/data/convert/"

static struct recording rec;
static struct error err;

static int read_with(const char *format, const char *path)
{
	const struct converter *c = format ? converter_named(format) : converter_of(path, &err);

	ck_assert_ptr_nonnull(c);
	rec = (struct recording)RECORDING_INIT;
	memset(&err, 0, sizeof err);
	return converter_read(c, &rec, &path, 1, &err);
}

static void read_one(const char *format, const char *path)
{
	ck_assert_msg(!read_with(format, path), "%s:%u: %s", err.path, err.line, err.message);
}

static const char *file_of(const char *text)
{
	const char *path = support_path("%s/trace.json", support_tmpdir());

	support_writes(path, text);
	return path;
}

/* A recording in a few lines: tasks with their spans and notes, spans of instances. */

static void add_spans(struct buf *b, uint32_t instance, uint32_t task)
{
	for (size_t i = 0; i < rec.n_spans; i++) {
		const struct span *s = &rec.span[i];

		if (s->instance == instance && s->task == task)
			buf_addf(b, " (%s %" PRId64 "-%" PRId64 ")", s->name, s->begin_us, s->end_us);
	}
	for (size_t i = 0; i < rec.n_notes; i++)
		if (rec.note[i].instance == instance && rec.note[i].task == task)
			buf_addf(b, " !%s", rec.note[i].text);
	buf_addc(b, '\n');
}

static const char *said(void)
{
	static struct buf b;

	buf_clear(&b);
	for (uint32_t i = 0; i < rec.n_instances; i++) {
		buf_addf(&b, "%s:", rec.instance[i].tool);
		add_spans(&b, i, NO_INDEX);
	}
	for (uint32_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		buf_addf(&b, "%s %d %s [%s] %s %" PRId64 "-%" PRId64, rec.instance[t->instance].tool,
			 t->slot, t->name, t->kind, t->key, t->start_us, t->end_us);
		add_spans(&b, t->instance, i);
	}
	for (size_t i = 0; i < rec.n_warnings; i++) {
		const char *colon = strrchr(rec.warning[i].text, ':');

		buf_addf(&b, "?%s\n", colon ? colon + 1 : rec.warning[i].text);
	}
	return buf_str(&b);
}

/* Chrome */

struct events {
	const char *text, *said;
};

static const struct events chrome[] = {
	/* A top-level event of a thread is a task, an event inside it a span. */
	{ "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":50,\"name\":\"a\",\"cat\":\"c,d\","
	  "\"args\":{\"n\":1,\"s\":\"t\",\"l\":[]}},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":110.5,\"dur\":10.75,\"name\":\"b\",\"args\":{\"n\":2}},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":112,\"dur\":1,\"name\":\"c\"},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":150,\"dur\":5,\"name\":\"d\"}]",
	  "trace:\ntrace 0 a [c]  0-50 (b 10-21) (c 12-13) !n=1 s=t\ntrace 0 d [other]  50-55\n" },
	/* Inner events may come first, and end a little late. */
	{ "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":16,\"name\":\"in\"},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":20,\"name\":\"out\"}]}",
	  "trace:\ntrace 0 out [other]  0-20 (in 5-20)\n" },
	/* Overlapping events are not nested. */
	{ "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10,\"name\":\"a\"},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":10,\"name\":\"b\"}]",
	  "trace:\ntrace 0 a [other]  0-10\ntrace 0 b [other]  5-15\n" },
	/* Begin and end; names of processes and threads; threads by their numbers. */
	{ "[{\"ph\":\"M\",\"pid\":7,\"tid\":9,\"name\":\"process_name\",\"args\":{\"name\":\"maker\"}},"
	  "{\"ph\":\"M\",\"pid\":7,\"tid\":9,\"name\":\"thread_name\",\"args\":{\"name\":\"first\"}},"
	  "{\"ph\":\"B\",\"pid\":7,\"tid\":10,\"ts\":0,\"name\":\"a\"},"
	  "{\"ph\":\"B\",\"pid\":7,\"tid\":9,\"ts\":1,\"name\":\"b\"},"
	  "{\"ph\":\"B\",\"pid\":7,\"tid\":9,\"ts\":2,\"name\":\"c\"},"
	  "{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":3},{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":4},"
	  "{\"ph\":\"E\",\"pid\":7,\"tid\":10,\"ts\":9}]",
	  "maker:\nmaker 1 a [other]  0-9\nmaker 0 b [other] first 1-4 (c 2-3)\n" },
	/* An event without a name is called after its category, or its thread. */
	{ "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5,\"cat\":\"io\"},"
	  "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"net\"}},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"\"}]",
	  "trace:\ntrace 0 io [io]  0-5\ntrace 1 net [other] net 1-6\n" },
	/* Ids have tracks of their own, in a process or global. */
	{ "[{\"ph\":\"b\",\"cat\":\"net\",\"id\":\"0x1\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"get\"},"
	  "{\"ph\":\"b\",\"cat\":\"net\",\"id2\":{\"local\":\"0x1\"},\"pid\":2,\"tid\":1,\"ts\":1,\"name\":\"put\"},"
	  "{\"ph\":\"n\",\"cat\":\"net\",\"id\":\"0x1\",\"pid\":1,\"tid\":1,\"ts\":2,\"name\":\"hop\"},"
	  "{\"ph\":\"b\",\"cat\":\"net\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"dns\"},"
	  "{\"ph\":\"e\",\"cat\":\"net\",\"id\":\"0x1\",\"pid\":1,\"tid\":3,\"ts\":3,\"name\":\"dns\"},"
	  "{\"ph\":\"e\",\"cat\":\"net\",\"id\":\"0x1\",\"pid\":1,\"tid\":3,\"ts\":5,\"name\":\"get\"},"
	  "{\"ph\":\"e\",\"cat\":\"net\",\"id2\":{\"local\":\"0x1\"},\"pid\":2,\"tid\":1,\"ts\":8,\"name\":\"put\"}]",
	  "trace:\ntrace:\ntrace -1 get [net]  0-5 (dns 2-3)\ntrace -1 put [net]  1-8\n" },
	/* Truncated between two events: no warning; within one: a warning. */
	{ "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10,\"name\":\"a\"},\n",
	  "trace:\ntrace 0 a [other]  0-10\n" },
	{ "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":10,\"name\":\"a\"},\n{\"ph\":\"X\"",
	  "trace:\ntrace 0 a [other]  0-10\n? truncated\n" },
	/* Events without an end, and events in them. */
	{ "[{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":0,\"name\":\"a\"},"
	  "{\"ph\":\"B\",\"pid\":1,\"tid\":1,\"ts\":3,\"name\":\"b\"},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":5,\"name\":\"c\"}]",
	  "trace:\ntrace 0 a [other]  0--1 (b 3-9) (c 4-9)\n" },
	/* Other objects are left out; unknown phases have no effect. */
	{ "[7,null,{},{\"ph\":\"X\",\"name\":\"no time\"},{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":4},"
	  "{\"ph\":\"s\",\"id\":1},{\"ph\":\"C\",\"ts\":1,\"args\":{\"n\":1}},{\"ph\":\"i\",\"ts\":3},"
	  "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":\"5\",\"dur\":-3,\"name\":\"a\"}]",
	  "trace:\ntrace 0 a [other]  0-0\n? 5 damaged events left out\n" },
	/* A detail belongs to the name. */
	{ "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1,\"name\":\"a\",\"args\":{\"detail\":\"b.h\"}}]",
	  "trace:\ntrace 0 a b.h [other]  0-1\n" },
};

TEST_EACH(chrome_events, chrome)
{
	read_one("chrome", file_of(chrome[_i].text));
	ck_assert_str_eq(said(), chrome[_i].said);
	recording_release(&rec);
}

static size_t spans_of(const char *task, const char *span)
{
	size_t n = 0;

	for (size_t i = 0; i < rec.n_spans; i++)
		n += rec.span[i].task != NO_INDEX && !strcmp(rec.task[rec.span[i].task].name, task) &&
		     !strncmp(rec.span[i].name, span, strlen(span));
	return n;
}

/* Chromium's own. */
TEST(chromium)
{
	read_one(NULL, DATA "chrome/startup.json");
	ck_assert_uint_eq(rec.n_instances, 7);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_eq(spans_of("BrowserMainRunnerImpl::Initialize", "BrowserMainLoop::PreMainMessageLoopRun"), 1);
	ck_assert_uint_eq(spans_of("BrowserMainRunnerImpl::Initialize", "PostCreateThreads::Subsystem:"), 3);
	recording_release(&rec);
}

/* clang */

TEST(clang_later)
{
	read_one(NULL, DATA "clang/later.json");
	ck_assert_ptr_nonnull(strstr(said(), "later.o [compile]  0-100000 (ExecuteCompiler 0-100000)"
		" (Frontend 1000-71000) (Source first.h 1500-9500) (Source second.h 10500-60500)"
		" (3 short phases 11000-13100) (InstantiateFunction f<int> 30000-60000)"
		" (Backend 71000-100000)\n"));
	ck_assert_str_eq(rec.instance[0].tool, "clang-20");
	ck_assert_int_eq(rec.start_wall_ns, INT64_C(1763719200000000000));
	recording_release(&rec);
}

/* Spans of a hundredth of the task and a millisecond or more, and none outside the task. */
TEST_LOOP(clang_genuine, 2)
{
	static const char *const paths[] = { DATA "clang/hello.json", DATA "clang/shapes.json" };
	const struct task *t;
	int64_t least_us;

	read_one(NULL, paths[_i]);
	ck_assert_uint_eq(rec.n_tasks, 1);
	t = &rec.task[0];
	least_us = t->end_us / 100 > 1000 ? t->end_us / 100 : 1000;
	ck_assert_uint_eq(spans_of(t->name, "ExecuteCompiler"), 1);
	ck_assert_uint_ge(spans_of(t->name, "Frontend"), 1);
	ck_assert_uint_eq(spans_of(t->name, "Backend"), 1);
	ck_assert_uint_eq(spans_of(t->name, "Total"), 0);
	ck_assert_uint_ge(spans_of(t->name, "Source /usr/"), 1);
	ck_assert_uint_le(rec.n_spans, 150);
	for (size_t i = 0; i < rec.n_spans; i++) {
		ck_assert_int_ge(rec.span[i].end_us - rec.span[i].begin_us, least_us);
		ck_assert_int_le(rec.span[i].end_us, t->end_us);
	}
	recording_release(&rec);
}

TEST(clang_directory)
{
	const char *dir = support_path("%s/objects", support_tmpdir());
	const char *empty = support_path("%s/empty", support_tmpdir());

	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "mkdir -p empty objects/sub && cp " DATA "clang/hello.json objects && "
		       "cp " DATA "clang/shapes.json objects/sub && echo '[{}]' > objects/compile_commands.json");
	read_one("clang", dir);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_ptr_nonnull(strstr(rec.task[0].name, "objects/hello.o"));
	ck_assert_ptr_nonnull(strstr(rec.task[1].name, "objects/sub/shapes.o"));
	ck_assert_int_gt(rec.task[1].start_us, rec.task[0].end_us);
	ck_assert_int_gt(rec.start_wall_ns, INT64_C(1763000000000000000));
	recording_release(&rec);
	ck_assert_int_eq(read_with("clang", empty), -EINVAL);
	ck_assert_str_eq(err.message, "no trace of clang in it");
}

static void must_run(const char *dir, const char *command)
{
	struct run r;

	support_run(&r, dir, "%s", command);
	ck_assert_msg(!r.status, "%s: %s%s", command, r.out.data, r.err.data);
}

/* make does not load a plugin that needs the sanitizers' libraries. */
static bool can_record(void)
{
	return support_can_be_loaded() && support_has("make");
}

/* Added to the tasks of a real build: two of one name in two directories; once only. */
TEST(clang_into)
{
	static const char *const objects[] = { "a/x.o", "b/x.o", "a/y.o" };
	const char *dir = support_path("%s/build", support_tmpdir());
	size_t n_spans;

	SKIP_IF(!support_has("clang") || !can_record());
	must_run(support_tmpdir(), "mkdir -p build/a build/b");
	support_writes(support_path("%s/a/x.c", dir), "#include <stdio.h>\nint a(void) { return puts(\"\"); }\n");
	support_writes(support_path("%s/b/x.c", dir), "#include <stdlib.h>\nint b(void) { return rand(); }\n");
	support_writes(support_path("%s/a/y.c", dir), "#include <string.h>\nint y(void) { return 1; }\n");
	support_writes(support_path("%s/Makefile", dir), "all: a/x.o b/x.o a/y.o\n%.o: %.c\n"
		       "\tclang -ftime-trace -ftime-trace-granularity=0 -c $< -o $@\n");
	must_run(dir, TOP_BUILDDIR "/buildbeat record -n one -- make -s -j2");
	must_run(dir, TOP_BUILDDIR "/buildbeat import --into one --from clang .");
	recorded_open(&rec, support_path("%s/buildstats/one", dir), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(spans_of(objects[i], "ExecuteCompiler"), 1);
	ck_assert_uint_eq(spans_of("b/x.o", "Source /usr/include/stdlib.h") +
			  spans_of("a/x.o", "Source /usr/include/stdlib.h"),
			  spans_of("b/x.o", "Source /usr/include/stdlib.h"));
	for (size_t i = 0; i < rec.n_spans; i++) {
		const struct span *s = &rec.span[i];

		ck_assert_uint_ne(s->task, NO_INDEX);
		ck_assert_int_ge(s->begin_us, rec.task[s->task].start_us);
		ck_assert_int_le(s->end_us, rec.task[s->task].end_us);
		ck_assert_int_ge(s->end_us, s->begin_us);
	}
	n_spans = rec.n_spans;
	recording_release(&rec);
	must_run(dir, TOP_BUILDDIR "/buildbeat import --into one --from clang a/x.json .");
	recorded_open(&rec, support_path("%s/buildstats/one", dir), NULL);
	ck_assert_uint_eq(rec.n_spans, n_spans);
	recording_release(&rec);
}

/* A trace of another time is not of this build. */
TEST(clang_into_other)
{
	const char *dir = support_path("%s/other", support_tmpdir());
	struct run r;

	SKIP_IF(!can_record());
	must_run(support_tmpdir(), "mkdir -p other && cp " DATA "clang/hello.json other");
	support_writes(support_path("%s/Makefile", dir), "hello.o:\n\t@sleep 0.1\n");
	must_run(dir, TOP_BUILDDIR "/buildbeat record -n one -- make");
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat import --into one hello.json");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, ": 0 of its tasks"));
}

/* A recording that is written in parts is the one that is read whole. */

static int write_it(void *context, struct recording *from, const struct recording_parts *parts,
		    struct error *e)
{
	return recording_write_parts(from, parts, STORE_ACCESS_USER, support_tmpdir(), NULL, context, e);
}

static void check_parts(const char *path)
{
	RELEASED(buf, whole = BUF_INIT);
	char to[PATH_MAX];

	read_one("chrome", path);
	buf_adds(&whole, said());
	recording_release(&rec);
	ck_assert_msg(!converter_pass(converter_named("chrome"), &path, 1, write_it, to, &err), "%s", err.message);
	recorded_open(&rec, to, NULL);
	ck_assert_str_eq(said(), buf_str(&whole));
	ck_assert_str_eq(recording_build(&rec, LAYOUT_IMPORTED), "chrome");
	recording_release(&rec);
}

TEST_EACH(in_parts, chrome)
{
	check_parts(file_of(chrome[_i].text));
}

/* Several parts; the events of three threads in any order, inner ones before the outer one. */
TEST(many_parts)
{
	const char *path = support_path("%s/many.json", support_tmpdir());
	struct buf text = BUF_INIT;
	uint32_t n = 0;

	buf_adds(&text, "[");
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t tid = i * 7919 % 3, at = i * 40 + i % 11;

		for (uint32_t k = 0; k < i % 4; k++)
			buf_addf(&text, "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":3,\"name\":\"in %u\"},",
				 tid, at + 5 * k, n++ % 100);
		buf_addf(&text, "{\"ph\":\"X\",\"pid\":1,\"tid\":%u,\"ts\":%u,\"dur\":25,\"name\":\"out %u\","
			 "\"args\":{\"n\":%u}},", tid, at, i % 50, i);
	}
	buf_adds(&text, "{\"ph\":\"B\",\"pid\":2,\"tid\":1,\"ts\":7,\"name\":\"open\"}]");
	support_write(path, text.data, text.len);
	buf_release(&text);
	check_parts(path);
}

/* Bazel */

static const char bazel_said[] =
	"bazel: (Launch Blaze 0-1306000) (Initialize command 1306000-1486000)"
	" (Evaluate target patterns 1486000-1706000) (Build artifacts 1706000-5706000)"
	" (Complete build 5706000-5736000)\n"
	"bazel 0 bazel-out/k8-fastbuild/bin/src/_objs/a/a.o [compile] CppCompile //src:a 1716000-3716000"
	" (sandbox.createFileSystem 1726000-1796000) (subprocess.run 1806000-3606000) !critical path\n"
	"bazel 1 Compiling src/b.cc [compile] CppCompile //src:a 1718000-2618000 (queue 1726000-2026000)\n"
	"bazel 1 bazel-out/k8-fastbuild/bin/src/a [link] CppLink 3726000-4126000 !critical path\n"
	"bazel 0 Testing //src:a_test [test] TestRunner //src:a_test 4136000-5636000 !critical path\n";

static void check_bazel(const char *path)
{
	const struct series *s;

	read_one(NULL, path);
	ck_assert_str_eq(said(), bazel_said);
	ck_assert_str_eq(recording_build(&rec, "version"), "7.4.1");
	ck_assert_str_eq(recording_build(&rec, "bazel_build_id"), "7f0c1d9e-3a52-4c1b-9a53-0f3b6d0a2c11");
	ck_assert_int_eq(rec.start_wall_ns, INT64_C(1763719200000000000));
	s = recording_series(&rec, "proc_stat");
	ck_assert(s && s->n == 4 && s->time_ms[0] == 1400 && s->time_ms[3] == 4400);
	ck_assert_int_eq(s->level[1], 0);
	ck_assert_int_eq(s->level[2], 150);
	ck_assert_int_eq(s->level[3], 225);
	s = recording_series(&rec, "proc_bazel");
	ck_assert(s && s->n == 2 && s->n_columns == 3 && !strcmp(s->column[1].name, "memory"));
	ck_assert_int_eq(s->level[1], 120);
	ck_assert_int_eq(s->level[4], 184);
	ck_assert_int_eq(s->level[5], SERIES_ABSENT);
	recording_release(&rec);
}

TEST(bazel)
{
	check_bazel(DATA "bazel/profile.json");
	must_run(support_tmpdir(), "gzip -c " DATA "bazel/profile.json > command.profile.gz");
	check_bazel(support_path("%s/command.profile.gz", support_tmpdir()));
}

/* The build was killed: its events are kept, with a warning. */
TEST(bazel_cut)
{
	must_run(support_tmpdir(), "head -c 3300 " DATA "bazel/profile.json > cut");
	read_one(NULL, support_path("%s/cut", support_tmpdir()));
	ck_assert_uint_eq(rec.n_tasks, 4);
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(rec.warning[0].text, "/cut:"));
	ck_assert_ptr_nonnull(strstr(rec.warning[0].text, ": truncated"));
	recording_release(&rec);
}

/* Unreadable files */

static const struct { const char *format, *text; unsigned line; const char *message; } bad[] = {
	{ "chrome", "", 1, "no data" },
	{ "chrome", "ninja log v5\n", 1, "not JSON: expected a list or an object" },
	{ "chrome", "[]", 1, "no event with a duration in it" },
	{ "chrome", "{\"traceEvents\":\n{}}", 2, "no event with a duration in it" },
	{ "chrome", "[{\"ph\":\"X\",\"ts\":1,\n\"dur\":1 \"name\"]", 2, "not JSON: expected ',' or '}'" },
	{ "chrome", "[{\"ph\":\"X\",\"ts\":0},{\"ph\":\"X\",\"ts\":1e15}]", 0, "times are more than ten years apart" },
	{ "clang", "{\"traceEvents\":[", 1, "the JSON text is truncated" },
	{ "clang", "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":0,\"name\":\"Total Source\",\"dur\":9}],\n"
	  "\"beginningOfTime\":1}", 2, "no phase of a compilation in it" },
	{ "bazel", "{\"otherData\":{\"bazel_version\":\"release 9\"},\n\"traceEvents\":[]}", 2,
	  "no action and no phase of a build in it" },
	{ "bazel", "{\"traceEvents\":[{\"cat\":\"build phase marker\",\"ph\":\"i\",\"ts\":-9223372036854775807},"
	  "{\"ph\":\"X\",\"ts\":9,\"dur\":1}]}", 0, "times are more than ten years apart" },
	{ "bazel", "\x1f\x8b\x08zzzzzzzzzzzzzzzzzzzz", 0, "damaged gzip data" },
};

TEST_EACH(damage, bad)
{
	const char *path = file_of(bad[_i].text);

	ck_assert_int_eq(read_with(bad[_i].format, path), -EINVAL);
	ck_assert_str_eq(err.message, bad[_i].message);
	ck_assert_str_eq(err.path, path);
	ck_assert_uint_eq(err.line, bad[_i].line);
	ck_assert_uint_eq(rec.n_tasks, 0);
}

/* A trace truncated anywhere is read or reported as an error. */
TEST_LOOP(every_cut, 2)
{
	static const char *const files[] = { "bazel/profile.json", "clang/later.json" };
	static const char *const formats[] = { "bazel", "clang" };
	const char *path = support_path("%s/cut.json", support_tmpdir());
	RELEASED(buf, text);

	support_read(&text, support_path("%s%s", DATA, files[_i]));
	for (size_t n = 0; n < text.len; n += 23) {
		support_write(path, text.data, n);
		if (read_with(formats[_i], path))
			ck_assert_msg(*err.message && !strcmp(err.path, path) && !rec.n_tasks, "%zu", n);
		recording_release(&rec);
	}
}

/* Writing */

static const struct json_value *event_of(const struct json_value *events, const char *phase,
					 const char *name)
{
	for (const struct json_value *e = events->first; e; e = e->next)
		if (!strcmp(json_member_text(e, "ph"), phase) && !strcmp(json_member_text(e, "name"), name))
			return e;
	return NULL;
}

static int64_t number(const struct json_value *event, const char *name)
{
	return json_member_number(event, name, 0, -1);
}

static bool is_task(const struct json_value *event)
{
	const char *category = json_member_text(event, "cat");

	return !strcmp(json_member_text(event, "ph"), "X") && strcmp(category, TRACE_INSTANCE) &&
	       strcmp(category, TRACE_SPAN) && strcmp(category, TRACE_PATH);
}

/* At most one task on a thread at a time. */
static void check_threads(const struct json_value *events)
{
	for (const struct json_value *a = events->first; a; a = a->next) {
		if (!is_task(a))
			continue;
		for (const struct json_value *b = a->next; b; b = b->next) {
			if (!is_task(b) ||
			    number(a, "pid") != number(b, "pid") || number(a, "tid") != number(b, "tid"))
				continue;
			ck_assert(number(a, "ts") + number(a, "dur") <= number(b, "ts") ||
				  number(b, "ts") + number(b, "dur") <= number(a, "ts"));
		}
	}
}

static bool is_ascii(const char *s)
{
	while (*s > 0)
		s++;
	return !*s;
}

static void check_task(const struct json_value *events, const struct task *t)
{
	const struct json_value *e = events->first;

	if (!is_ascii(t->name))
		return;
	while (e && (!is_task(e) || strcmp(json_member_text(e, "name"), *t->name ? t->name : t->kind)))
		e = e->next;
	ck_assert_msg(e != NULL, "%s", t->name);
	ck_assert_int_eq(number(e, "pid"), t->instance + 1);
	if (t->user_us >= 0)
		ck_assert_int_ge(number(json_member(e, "args"), "user_us"), 0);
}

static const char *const written[] = {
	TOP_SRCDIR "/tests/data/recordings/nested", TOP_SRCDIR "/tests/data/recordings/cut",
	TOP_SRCDIR "/tests/data/chart/queued",
};

TEST_EACH(write_trace, written)
{
	const char *path = support_path("%s/out%d.json", support_tmpdir(), _i);
	struct json_document doc;
	const struct json_value *events;
	size_t n_ran = 0, n_events = 0;

	recorded_open(&rec, written[_i], NULL);
	ck_assert_msg(!tracefile_chrome(&rec, path, &err), "%s", err.message);
	ck_assert_msg(!json_read_file(&doc, path, &err), "%s", err.message);
	events = doc.root;
	for (size_t i = 0; i < rec.n_tasks; i++) {
		if (rec.task[i].start_us < 0)
			continue;
		check_task(events, &rec.task[i]);
		n_ran++;
	}
	for (const struct json_value *e = events->first; e; e = e->next)
		n_events += is_task(e);
	ck_assert_uint_eq(n_events, n_ran);
	check_threads(events);
	for (size_t i = 0; i < rec.n_series; i++)
		ck_assert_ptr_nonnull(event_of(events, "C", support_path("%s %s%s", rec.series[i].name,
			rec.series[i].column[0].name, rec.series[i].column[0].counter ? " a second" : "")));
	json_document_release(&doc);
	recording_release(&rec);
	if (n_ran) {
		read_one(NULL, path);
		ck_assert_uint_eq(rec.n_tasks, n_ran);
	}
	recording_release(&rec);
}

/* A task's spans are on its thread, overlapping ones in another row; an instance's are beside them.
 * A counter that grew by 25 in half a second is 50 a second. */
TEST(write_parts)
{
	const char *dir = support_path("%s/parts", support_tmpdir());
	const char *path = support_path("%s/parts.json", support_tmpdir());
	const struct json_value *events, *e;
	RELEASED(json_document, doc);

	must_run(support_tmpdir(), "mkdir -p parts");
	support_writes(support_path("%s/build", dir), "buildbeat build 1\ncwd: /src\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\nopen\t0\tx\t1\t\t\tninja\n"
		       "start\t10\tx.1\t2\t3\tcompile\ta.o\tcc\tcc -c a.c\nbegin\t12\tx.1\t1\tpart\n"
		       "end\t15\tx.1\t1\nbegin\t14\tx.1\t2\tbeside\nend\t18\tx.1\t2\nbegin\t5\tx\t1\tload\nend\t9\tx\t1\nnote\t11\tx.1\tslow\n"
		       "fail\t20\tx.1\t1\t7\t3\t900\nclose\t30\tx\n");
	support_writes(support_path("%s/proc_stat.log", dir), "buildbeat proc_stat 1 500 user:10ms:c running:1:g\n"
		       "0,2\n25,1\n");
	recorded_open(&rec, dir, NULL);
	ck_assert(!tracefile_chrome(&rec, path, &err));
	ck_assert(!json_read_file(&doc, path, &err));
	events = doc.root;
	e = event_of(events, "X", "a.o");
	ck_assert(number(e, "tid") == 5 && number(e, "ts") == 10 && number(e, "dur") == 10);
	ck_assert_str_eq(json_member_text(json_member(e, "args"), "state"), "failed");
	ck_assert_int_eq(number(json_member(e, "args"), "max_rss_kb"), 900);
	ck_assert_str_eq(json_member_text(json_member(e, "args"), "command"), "cc -c a.c");
	e = event_of(events, "X", "part");
	ck_assert(number(e, "tid") == 5 && number(e, "ts") == 12 && number(e, "dur") == 3);
	e = event_of(events, "X", "beside");
	ck_assert(number(e, "tid") == 6 && number(e, "ts") == 14 && number(e, "dur") == 4);
	e = event_of(events, "X", "load");
	ck_assert(number(e, "tid") == 1 && number(e, "ts") == 5 && number(e, "pid") == 1);
	ck_assert_int_eq(number(event_of(events, "i", "slow"), "ts"), 11);
	e = event_of(events, "C", "proc_stat user a second");
	ck_assert(number(e, "ts") == 0 && number(json_member(e, "args"), "10ms") == 50);
	e = event_of(events, "C", "proc_stat running");
	ck_assert(number(e, "ts") == 0 && number(json_member(e, "args"), "1") == 2);
	e = event_of(events, "i", "build");
	ck_assert_str_eq(json_member_text(json_member(e, "args"), "cwd"), "/src");
	recording_release(&rec);
}

/* A trace of ours that ends anywhere after its first task. */
TEST(own_cut)
{
	const char *path = support_path("%s/own.json", support_tmpdir());
	size_t first;
	RELEASED(buf, text);

	recorded_open(&rec, written[0], NULL);
	ck_assert(!tracefile_chrome(&rec, path, &err));
	recording_release(&rec);
	support_read(&text, path);
	first = (size_t)(strstr(text.data, "\"cat\":\"compile\"") - text.data);
	first += strcspn(text.data + first, "\n");
	for (size_t n = first; n < text.len; n += 37) {
		support_write(path, text.data, n);
		ck_assert_msg(!read_with("chrome", path), "%zu: %s", n, err.message);
		ck_assert_uint_ge(rec.n_tasks, 1);
		recording_release(&rec);
	}
}

TEST_MAIN(traces);
