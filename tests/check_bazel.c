/* SPDX-License-Identifier: MIT */
/* Profiles of Bazel before 6.0, which do not have its version. */
#include "base/array.h"
#include "convert/bazel_date.h"
#include "convert/convert.h"
#include "tests/paths.h"
#include "tests/support.h"

#include <inttypes.h>

#define OLD TOP_SRCDIR "/tests/data/convert/bazel/profile-2022.json"

static const char *converter_for(const char *text)
{
	const char *path = support_path("%s/trace.json", support_tmpdir());
	const struct converter *c;
	struct error err;

	support_writes(path, text);
	c = converter_of(path, &err);
	return c ? c->name : "";
}

/* Recognised; each action is a task; the critical path is found by the names of its actions. */
TEST(old_profile)
{
	static const char *const tasks[] = {
		"Compiling app/one.cc CppCompile compile 460000-860000 !",
		"Compiling app/two.cc CppCompile compile 465000-565000",
		"Linking app/app CppLink link 870000-1020000 !",
		"Linking app/app CppLink link 1150000-1151000",
	};
	const struct series *s;
	const char *path = OLD;
	RELEASED(recording, rec);
	struct error err;

	ck_assert_str_eq(converter_of(path, &err)->name, "bazel");
	ck_assert(!converter_read(converter_named("bazel"), &rec, &path, 1, &err));
	ck_assert_uint_eq(rec.n_tasks, ARRAY_SIZE(tasks));
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];
		bool critical = false;

		for (size_t k = 0; k < rec.n_notes; k++)
			critical |= rec.note[k].task == i && !strcmp(rec.note[k].text, "critical path");
		ck_assert_str_eq(support_path("%s %s %s %" PRId64 "-%" PRId64 "%s", t->name, t->key,
					      t->kind, t->start_us, t->end_us, critical ? " !" : ""),
				 tasks[i]);
	}
	ck_assert_uint_eq(rec.n_spans, 5);	/* two inside actions, three phases */
	ck_assert_ptr_null(recording_build(&rec, "version"));
	/* 09:33:36 UTC; the launch was a quarter of a second earlier. */
	ck_assert_int_eq(rec.start_wall_ns, INT64_C(1647336815750000000));
	s = recording_series(&rec, "proc_bazel");
	ck_assert(s && s->n == 1 && s->time_ms[0] == 450 && s->level[0] == 150 && s->level[1] == 96);
	ck_assert_uint_eq(rec.n_warnings, 0);
}

/* What a profile of any version has, and traces that only have similar names. */
#define NAMED(thread) "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"" thread "\"}}"
#define OF(cat) "{\"cat\":\"" cat "\",\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}"

static const struct { const char *text, *format; } traces[] = {
	{ "{\"traceEvents\":[" NAMED("Critical Path") "," OF("build phase marker") "]}", "bazel" },
	{ "{\"traceEvents\":[" NAMED("skyframe-evaluator 12") "," OF("action processing") "]}", "bazel" },
	{ "{\"traceEvents\":[" NAMED("skyframe evaluator 3") "," OF("skyframe evaluator") "]}", "bazel" },
	{ "{\"traceEvents\":[" NAMED("grpc-command-0") "," OF("complete action execution") "]}", "bazel" },
	{ "{ \"otherData\" : { \"build_id\" : \"1\", \"output_base\" : \"/o\" },\n\"traceEvents\" : [\n"
	  "{ \"cat\" :\n\"build phase marker\", \"ph\" : \"i\", \"ts\" : 1, \"name\" : \"b\" } ] }", "bazel" },
	{ "{\"otherData\":{\"bazel_version\":\"release 9.0.0\"},\"traceEvents\":[]}", "bazel" },
	/* the same words elsewhere */
	{ "{\"traceEvents\":[" NAMED("Main Thread") "," OF("action processing") "]}", "chrome" },
	{ "{\"traceEvents\":[" NAMED("Critical Path") "," OF("general information") "]}", "chrome" },
	{ "{\"traceEvents\":[{\"name\":\"action processing\",\"ph\":\"X\",\"ts\":1,\"dur\":1},"
	  NAMED("Critical Path") "]}", "chrome" },
	{ "{\"traceEvents\":[{\"name\":\"Critical Path\",\"ph\":\"X\",\"ts\":1,\"dur\":1},"
	  OF("action processing") "]}", "chrome" },
	{ "{\"otherData\":{\"build_id\":\"1\"},\"traceEvents\":[" OF("action processing") "]}", "chrome" },
	{ "{\"otherData\":{\"build_id\":\"1\",\"output_base\":\"/o\"},\"traceEvents\":[" OF("x") "]}", "chrome" },
	{ "{\"traceEvents\":[{\"cat\":\"build phase markers\",\"ph\":\"X\",\"ts\":1},"
	  NAMED("Critical Path") "]}", "chrome" },
	{ "[" NAMED("Critical Path") "," OF("build phase marker") "]", "chrome" },
};

TEST_EACH(recognised, traces)
{
	ck_assert_str_eq(converter_for(traces[_i].text), traces[_i].format);
}

static const struct { const char *text; int64_t ms; } dates[] = {
	{ "Tue Mar 15 10:33:36 CET 2022", 1647336816000 },
	{ "Tue Aug 16 13:08:05 CEST 2022", 1660648085000 },
	{ "Wed Aug 03 17:35:01 MDT 2022", 1659569701000 },
	{ "Mon Aug 08 15:01:48 UTC 2022", 1659970908000 },
	{ "Mon Aug  8 15:01:48 UTC 2022", 1659970908000 },
	{ "Thu Jan 01 00:00:00 GMT 1970", 0 },
	{ "Fri Feb 28 23:59:59 GMT-03:00 2020", 1582945199000 },
	{ "Fri Feb 28 23:59:59 GMT+05:30 2020", 1582914599000 },
	{ "2026-02-09T17:07:35.206537Z", 1770656855206 },
	{ "2026-02-09T17:07:35Z", 1770656855000 },
	{ "2026-02-09T18:07:35.5+01:00", 1770656855500 },
	{ "2026-02-09T18:07:35.5+0100", 1770656855500 },
	/* nobody can say */
	{ "", -1 }, { "yesterday", -1 }, { "2026-02-09", -1 }, { "2026-02-09T17:07:35", -1 },
	{ "Tue Mar 15 10:33:36 CST 2022", -1 }, { "Tue Mar 15 10:33:36 IST 2022", -1 },
	{ "Tue Mar 15 10:33:36 2022", -1 }, { "Tue Foo 15 10:33:36 UTC 2022", -1 },
	{ "Tue Mar 15 10:33:36 UTC 2022 or so", -1 }, { "Tue Mar 155 10:33:36 UTC 2022", -1 },
	{ "Tue Mar 15 10:33:36.5 UTC 2022", -1 }, { "Tue Mar 15 10:33 UTC 2022", -1 },
	{ "Tue Mar 15 10:33:36 GMT+99:00 2022", -1 }, { "2026-02-09T17:07:35+01:0", -1 },
	{ "Tue Mar 15 10:33:36 UTC 99999999999999999999", -1 },
};

TEST_EACH(date, dates)
{
	int64_t ms = -1;

	ck_assert_int_eq(bazel_date(dates[_i].text, &ms), dates[_i].ms >= 0);
	ck_assert_int_eq(ms, dates[_i].ms);
}

/* An action without a description is called after its mnemonic and target. */
TEST(unnamed)
{
	const char *path = support_path("%s/trace.json", support_tmpdir());
	RELEASED(recording, rec);
	struct error err;

	support_writes(path, "{\"traceEvents\":[{\"cat\":\"action processing\",\"ph\":\"X\",\"ts\":1,\"dur\":1,"
		       "\"args\":{\"mnemonic\":\"CppLink\",\"target\":\"//a\"}}]}");
	ck_assert(!converter_read(converter_named("bazel"), &rec, &path, 1, &err));
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_str_eq(rec.task[0].name, "CppLink //a");
}

/* An unknown zone: no start, and a warning that says why. */
TEST(unknown_date)
{
	const char *path = support_path("%s/trace.json", support_tmpdir());
	RELEASED(recording, rec);
	struct error err;

	support_writes(path, "{\"otherData\":{\"build_id\":\"1\",\"output_base\":\"/o\",\"date\":"
		       "\"Tue Mar 15 10:33:36 CST 2022\"},\"traceEvents\":[" OF("action processing") "]}");
	ck_assert(!converter_read(converter_of(path, &err), &rec, &path, 1, &err));
	ck_assert_int_eq(rec.start_wall_ns, -1);
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(rec.warning[0].text, "'Tue Mar 15 10:33:36 CST 2022'"));
}

TEST_MAIN(bazel);
