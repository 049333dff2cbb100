/* SPDX-License-Identifier: MIT */
/* Recordings as OTLP: the JSON and the protobuf form, read by Python and by protoc. */
#include "base/array.h"
#include "tests/nomem.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "trace/otlp.h"
#include "trace/trace_formats.h"

static struct recorded r;

static void without_settings(void)
{
	unsetenv("OTEL_RESOURCE_ATTRIBUTES");
	unsetenv("OTEL_SERVICE_NAME");
}

/* What otlp.py prints about files in the test's directory. */
static const char *python(const char *what, const char *names)
{
	static struct run out;

	support_run(&out, support_tmpdir(), "python3 -B %s/tests/otlp.py %s/tests/data/otlp/otlp.proto %s %s",
		    TOP_SRCDIR, TOP_SRCDIR, what, names);
	ck_assert_msg(!out.status, "%s", out.err.data);
	return out.out.data;
}

static const char *file(const char *name)
{
	return support_path("%s/%s", support_tmpdir(), name);
}

static void write_with(int (*write)(const struct recording *, const char *, struct error *),
		       const char *name)
{
	struct error err = { 0 };

	ck_assert_msg(!write(&r.rec, file(name), &err), "%s", err.message);
}

static void write_all(void)
{
	write_with(otlp_write, "t.json");
	write_with(otlp_write, "t.pb");
	write_with(otlp_write_metrics, "metrics.json");
	write_with(otlp_write_metrics, "metrics.pb");
}

static size_t count_spans(void)
{
	size_t n = 1 + r.rec.n_spans;

	for (size_t i = 0; i < r.rec.n_instances; i++)
		n += !r.rec.instance[i].only_spans;
	for (size_t i = 0; i < r.rec.n_tasks; i++)
		n += r.rec.task[i].start_us >= 0;
	return n;
}

/* Everything that can be in a recording: failed, killed and unfinished tasks, spans, notes, bytes
 * that are no UTF-8. */
static const char whole_build[] =
	"command: make -j2 \"all\"\ncwd: /home/me/project\nhost: box\nkernel: 6.1\n"
	"run_url: https://ci/job/7\nmachine: x86_64\ncores: 2\nrevision: 0123abc\nbranch: main\n"
	"end_us: 9000000\nstatus: 2\nuser_us: 100\nsystem_us: 50\nmax_rss_kb: 7\n";
static const char whole_tasks[] =
	"open\t1000\ta\t10\t0\t10\tmake\t4.3\t/home/me/project\tmake -j2\n"
	"queue\t1500\ta.1\tcompile\tlib.o\n"
	"start\t2000\ta.1\t11\t0\n"
	"note\t2100\ta.1\tfirst \\x01 \"note\"\n"
	"note\t2200\ta\tof the build\n"
	"note\t2300\ta.1\tsecond\n"
	"done\t3000000\ta.1\t0\t500\t600\t700\t1\t2\t3\t4\t5\t6\n"
	"start\t3000500\ta.2\t12\t1\tlink\tprog \xff\xe4\t\tcc -o prog lib.o\n"
	"after\t3000500\ta.2\tlib.o\tlib.o\n"
	"fail\t4000000\ta.2\t2\n"
	"start\t4000000\ta.3\t13\t\ttest\tcheck\t\tmake check\n"
	"kill\t5000000\ta.3\t11\n"
	"start\t5000000\ta.4\t14\t\tinstall\tstopped\t\tinstall prog\n"
	"kill\t6000000\ta.4\t15\n"
	"start\t6000000\ta.5\t15\t\t\tlost\t\t\tsleep 9\n";

TEST_GROUP_WITH("forms", without_settings, NULL);

TEST(whole)
{
	static const char *const parts[] = {
		"\"name\":\"BUILD project\",\"kind\":2,\"startTimeUnixNano\":\"1000000000\","
		"\"endTimeUnixNano\":\"10000000000\"",
		"\"key\":\"cicd.pipeline.name\",\"value\":{\"stringValue\":\"project\"}",
		"\"key\":\"cicd.pipeline.result\",\"value\":{\"stringValue\":\"failure\"}",
		"\"key\":\"error.type\",\"value\":{\"stringValue\":\"2\"}",
		"\"key\":\"vcs.ref.head.revision\",\"value\":{\"stringValue\":\"0123abc\"}",
		"\"key\":\"vcs.ref.head.name\",\"value\":{\"stringValue\":\"main\"}",
		"\"key\":\"cicd.pipeline.run.url.full\",\"value\":{\"stringValue\":\"https://ci/job/7\"}",
		"\"key\":\"cicd.pipeline.task.run.url.full\",\"value\":{\"stringValue\":\"https://ci/job/7\"}",
		"\"key\":\"host.arch\",\"value\":{\"stringValue\":\"amd64\"}",
		"\"key\":\"cicd.worker.name\",\"value\":{\"stringValue\":\"box\"}",
		"{\"timeUnixNano\":\"1002200000\",\"name\":\"of the build\"}",
		"\"events\":[{\"timeUnixNano\":\"1002100000\",\"name\":\"first \\u0001 \\\"note\\\"\"},"
		"{\"timeUnixNano\":\"1002300000\",\"name\":\"second\"}]",
		"\"key\":\"buildbeat.user_us\",\"value\":{\"intValue\":\"100\"}",
		"\"key\":\"buildbeat.queue_us\",\"value\":{\"intValue\":\"500\"}",
		"\"key\":\"cicd.pipeline.task.run.id\",\"value\":{\"stringValue\":\"a.2\"}",
		"\"stringValue\":\"prog \xef\xbf\xbd\xef\xbf\xbd\"",
		"\"key\":\"process.exit.code\",\"value\":{\"intValue\":\"2\"}",
		"\"stringValue\":\"SIGSEGV\"", "\"stringValue\":\"SIGTERM\"",
		"\"stringValue\":\"cancellation\"", "\"stringValue\":\"unfinished\"",
		"\"key\":\"cicd.pipeline.task.type\",\"value\":{\"stringValue\":\"test\"}",
		"\"key\":\"cicd.pipeline.task.type\",\"value\":{\"stringValue\":\"deploy\"}",
		"\"status\":{\"code\":2}",
	};
	const char *text;

	recorded_make(&r, whole_build, whole_tasks, NULL);
	write_all();
	python("same", "t metrics");
	ck_assert_str_eq(python("nested", "t"), "7\n");
	text = support_text(file("t.json"));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(text, parts[i]), "missing: %s", parts[i]);
	text = strstr(text, "\"links\":");
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(strstr(text + 1, "\"links\":"));
	recorded_release(&r);
}

/* The launcher measures the client of BitBake only. */
TEST_LOOP(servers, 2)
{
	static const char open[] = "open\t1000\ta\t10\t0\t10\tbitbake\t2.8\t/src\tbitbake x\n";
	static const struct { const char *used, *user, *system; } builds[] = {
		{ "used\t8000000\ta\t7000\t900\t\t\t\t0\t0\n", "7100", "950" }, { "", NULL, NULL },
	};
	const char *text;

	recorded_make(&r, whole_build, support_path("%s%s", open, builds[_i].used), NULL);
	write_with(otlp_write, "t.json");
	text = support_text(file("t.json"));
	if (builds[_i].user) {
		ck_assert_ptr_nonnull(strstr(text, support_path(
			"\"buildbeat.user_us\",\"value\":{\"intValue\":\"%s\"}", builds[_i].user)));
		ck_assert_ptr_nonnull(strstr(text, support_path(
			"\"buildbeat.system_us\",\"value\":{\"intValue\":\"%s\"}", builds[_i].system)));
	} else {
		ck_assert_ptr_null(strstr(text, "buildbeat.user_us"));
	}
	recorded_release(&r);
}

TEST_LOOP(random_ones, 8)
{
	char count[32];

	recorded_random(&r, 1 + (unsigned)_i * 40, (uint64_t)_i);
	write_all();
	python("same", "t metrics");
	snprintf(count, sizeof count, "%zu\n", count_spans());
	ck_assert_str_eq(python("spans", "t"), count);
	recorded_release(&r);
}

/* A large build in requests of a limited size: together they have each span once. */
TEST(requests)
{
	RELEASED(buf, out = BUF_INIT, all = BUF_INIT);
	size_t n = 0;
	RELEASED(otlp, o);
	char count[32];

	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "%s/tests/gen_recording ./rec 2000 60 7", TOP_BUILDDIR);
	recorded_read(&r, file("rec"));
	ck_assert_int_eq(otlp_open(&o, &r.rec, OTLP_JSON), 0);
	while (otlp_next_traces(&o, &out, 100000)) {
		ck_assert_int_eq(buf_error(&out), 0);
		ck_assert_uint_gt(out.len, 0);
		ck_assert_uint_lt(out.len, 110000);
		buf_add(&all, out.data, out.len);
		n++;
	}
	ck_assert_uint_ge(n, 10);
	support_write(file("all.json"), all.data, all.len);
	snprintf(count, sizeof count, "%zu\n", count_spans());
	ck_assert_str_eq(python("nested", "all"), count);
	write_all();
	python("same", "t metrics");
	ck_assert_str_eq(python("nested", "t"), count);
	recorded_release(&r);
}

/* Each line of the output is a log record with its time, in the span of its task or the build. */
TEST(logs)
{
	static const char *const parts[] = {
		"{\"timeUnixNano\":\"1001500000\",\"body\":{\"stringValue\":\"cc \xef\xbf\xbd\\u0001\"},"
		"\"attributes\":[{\"key\":\"log.iostream\",\"value\":{\"stringValue\":\"stdout\"}}],",
		"\"stringValue\":\"warning\"},\"attributes\":[{\"key\":\"log.iostream\","
		"\"value\":{\"stringValue\":\"stderr\"}}]",
		"\"stringValue\":\"no newline\"},\"traceId\"",
	};
	struct error err = { 0 };
	const char *text;

	recorded_make(&r, whole_build, whole_tasks, NULL);
	ck_assert_int_eq(otlp_write_logs(&r.rec, file("logs.json"), &err), -ENOENT);
	ck_assert_str_eq(err.message, "has no output of the build: record it with --log");
	ck_assert(!support_exists(file("logs.json")));
	support_writes(file("output.log"), "cc \xff\x01\nwarning\nno newline");
	support_writes(file("output_index.log"), "buildbeat output 1\n1500 0 1 6\n"
		       "2500000 100 2 14\n2600000 100 12 24\n");
	write_with(otlp_write_logs, "logs.json");
	write_with(otlp_write_logs, "logs.pb");
	write_with(otlp_write, "t.json");
	python("same", "logs");
	ck_assert_str_eq(python("logs", "t logs"), "3 2\n");
	text = support_text(file("logs.json"));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(text, parts[i]), "missing: %s", parts[i]);
	recorded_release(&r);
}

/* The same recording has the same ids, also elsewhere; a build in a trace has that trace's. */
TEST(parents)
{
	static const char trace[] = "0af7651916cd43dd8448eb211c80319c";
	struct buf first;

	recorded_make(&r, whole_build, whole_tasks, NULL);
	write_with(otlp_write, "t.pb");
	support_read(&first, file("t.pb"));
	write_with(otlp_write, "u.binpb");
	ck_assert_mem_eq(first.data, support_text(file("u.binpb")), first.len);
	buf_release(&first);
	recorded_release(&r);
	recorded_make(&r, "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\n",
		      whole_tasks, NULL);
	write_with(otlp_write, "t.json");
	python("spans", "t");
	ck_assert_ptr_nonnull(strstr(support_text(file("t.json")), trace));
	ck_assert_ptr_nonnull(strstr(support_text(file("t.json")),
				     "\"parentSpanId\":\"b7ad6b7169203331\",\"name\":\"BUILD "));
	recorded_release(&r);
}

TEST(resource)
{
	const char *text;

	setenv("OTEL_RESOURCE_ATTRIBUTES", "cicd.pipeline.name=ni%67htly, a=1,x,=y,host.name=%zz,"
	       "cicd.pipeline.run.url.full=http://ci/7", 1);
	setenv("OTEL_SERVICE_NAME", "mine", 1);
	recorded_make(&r, whole_build, whole_tasks, NULL);
	write_all();
	python("same", "t metrics");
	text = support_text(file("t.json"));
	ck_assert_ptr_nonnull(strstr(text, "\"BUILD nightly\""));
	ck_assert_ptr_nonnull(strstr(text, "{\"key\":\"a\",\"value\":{\"stringValue\":\"1\"}}"));
	ck_assert_ptr_nonnull(strstr(text, "{\"key\":\"host.name\",\"value\":{\"stringValue\":\"%zz\"}}"));
	ck_assert_ptr_nonnull(strstr(text, "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"mine\"}}"));
	ck_assert_ptr_null(strstr(text, "\"stringValue\":\"buildbeat\""));
	ck_assert_ptr_nonnull(strstr(text, "http://ci/7"));
	ck_assert_ptr_null(strstr(support_text(file("metrics.json")), "cicd.pipeline.run.url"));
	recorded_release(&r);
}

/* Without memory at any allocation there is an error and no file. */
TEST_LOOP(nth_fails, 6)
{
	bool failed = true;
	long n = 0;

	recorded_make(&r, whole_build, whole_tasks, NULL);
	support_writes(file("output.log"), "one\n");
	support_writes(file("output_index.log"), "buildbeat output 1\n1500 0 1 4\n");
	recorded_release(&r);
	for (; failed; n++) {
		const char *path = file(_i % 2 ? "x.pb" : "x.json");
		struct error err = { 0 };
		int error;

		recorded_read(&r, support_tmpdir());
		nomem_after(n);
		error = (_i < 2 ? otlp_write : _i < 4 ? otlp_write_metrics : otlp_write_logs)
			(&r.rec, path, &err);
		failed = nomem_failed();
		nomem_after(-1);
		ck_assert_msg(error == (failed ? -ENOMEM : 0), "%ld: %d %s", n, error, err.message);
		ck_assert_int_eq(support_exists(path), !failed);
		recorded_release(&r);
	}
	ck_assert_int_gt(n, 20);
}

TEST_PROGRAM(otlp)
{
	SKIP_PROGRAM_IF(!support_has("protoc"));
	return support_main();
}
