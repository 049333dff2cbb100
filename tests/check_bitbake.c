/* SPDX-License-Identifier: MIT */
/* The Python side of the bitbake host with the real plugin, driven by
 * tests/bitbake_driver.py as by bitbake. check_bitbake_build runs a real bitbake. */
#include "analyse/summary.h"
#include "base/array.h"
#include "convert/convert.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define LIB TOP_SRCDIR "/plugin/bitbake/lib"

static struct recording rec;

static void drive(struct run *r, const char *plugin, const char *more)
{
	support_run(r, support_tmpdir(), "env -u MAKEFILES python3 -B " TOP_SRCDIR
		    "/tests/bitbake_driver.py " LIB " BUILDBEAT_PLUGIN='%s' BUILDBEAT_OUTPUT=out %s",
		    plugin, more);
	ck_assert_msg(r->status == 0, "%s", r->err.data);
	ck_assert_str_eq(r->err.data ? r->err.data : "", "");
}

static void read_at(const char *name)
{
	recorded_open(&rec, support_path("%s/%s", support_tmpdir(), name), &convert_formats);
	ck_assert_uint_eq(rec.n_warnings, 0);
}

static void release(void)
{
	recording_release(&rec);
	support_cleanup();
}

static const struct task *find(const char *key, const char *name)
{
	for (size_t i = 0; i < rec.n_tasks; i++)
		if (!strcmp(rec.task[i].key, key) && !strcmp(rec.task[i].name, name))
			return &rec.task[i];
	ck_abort_msg("no %s %s", key, name);
}

static const struct {
	const char *key, *name, *kind;
	enum task_state state;
	int status;
	const char *after, *note;
} tasks[] = {
	{ "lib-1.0-r0", "do_compile", "compile", TASK_DONE, 0, "", "" },
	{ "lib-1.0-r0", "do_install", "install", TASK_DONE, 0, "lib-1.0-r0/do_compile ", "" },
	{ "app-1_2-r3", "do_sysroot_setscene", "setscene", TASK_FAILED, 1, "",
	  "failed silently, see /work/temp/log.do_sysroot_setscene." },
	{ "app-1_2-r3", "do_sysroot", "other", TASK_DONE, 0, "app-1_2-r3/do_sysroot_setscene ", "" },
	/* through lib's do_build, which runs no command */
	{ "app-1_2-r3", "do_compile", "compile", TASK_KILLED, 9,
	  "lib-1.0-r0/do_install lib-1.0-r0/do_compile ", "killed by SIGKILL" },
	{ "mc:arm:app-2-r3", "do_compile", "compile", TASK_FAILED, 1, "lib-1.0-r0/do_install ",
	  "failed, see /work/temp/log.do_compile." },
	{ "app-1_2-r3", "do_install", "other", TASK_FAILED, 3,
	  "app-1_2-r3/do_sysroot app-1_2-r3/do_compile ", "exit code 3" },
	{ "other-3", "do_what", "other", TASK_FAILED, 1, "", "no such task" },
};

static void has_after(const struct task *t, const char *expected)
{
	char text[512] = "";

	for (size_t k = 0; k < t->n_after; k++) {
		strcat(text, rec.after[t->first_after + k]);
		strcat(text, " ");
	}
	ck_assert_str_eq(text, expected);
}

static void has_note(uint32_t task, const char *expected)
{
	size_t n = 0;

	for (size_t i = 0; i < rec.n_notes; i++) {
		if (rec.note[i].task != task)
			continue;
		ck_assert_msg(!strncmp(rec.note[i].text, expected, strlen(expected)), "%s",
			      rec.note[i].text);
		n++;
	}
	ck_assert_uint_eq(n, *expected ? 1 : 0);
}

TEST_GROUP_WITH("driven", NULL, release);

TEST_EACH(each_task, tasks)
{
	const struct task *t;
	struct run r;

	drive(&r, PLUGIN, "");
	read_at("out/latest");
	ck_assert_uint_eq(rec.n_tasks, ARRAY_SIZE(tasks));
	t = find(tasks[_i].key, tasks[_i].name);
	ck_assert_int_eq(t->state, tasks[_i].state);
	ck_assert_int_eq(t->status, tasks[_i].status);
	ck_assert_int_ge(t->queued_us, 0);
	has_after(t, tasks[_i].after);
	has_note((uint32_t)(t - rec.task), tasks[_i].note);
	if (t->start_us < 0)
		return;
	ck_assert_str_eq(t->kind, tasks[_i].kind);
	ck_assert_int_ge(t->start_us, t->queued_us);
	ck_assert_int_gt(t->pid, 0);
	ck_assert_str_eq(recording_command(&rec, t),
			 support_path("/work/temp/run.%s.%d", t->name, t->pid));
	ck_assert_int_eq(t->end_at_most, t->state == TASK_KILLED || t->status == 3);
	if (t->state == TASK_KILLED) {
		ck_assert_int_eq(t->user_us, -1);
		return;
	}
	ck_assert_int_gt(t->user_us + t->system_us, 0);
	ck_assert_int_lt(t->user_us + t->system_us, t->end_us - t->start_us + 50000);
	ck_assert(t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0);
	ck_assert_int_eq(t->rchar, -1);
}

struct witness {
	char who[64];
	long long least, most;
};

/* The first line with this name. */
static struct witness witness_of(const char *who)
{
	FILE *f = fopen(support_path("%s/witness", support_tmpdir()), "r");
	struct witness w;
	bool found = false;

	ck_assert_ptr_nonnull(f);
	while (!found && fscanf(f, "%63s %lld %lld", w.who, &w.least, &w.most) == 3)
		found = !strcmp(w.who, who);
	fclose(f);
	ck_assert_msg(found, "%s", who);
	return w;
}

/* What was recorded of the CPU time is what the processes measured themselves. */
static void witnessed(const char *who, int64_t us)
{
	struct witness w = witness_of(who);

	/* each of four times is truncated to a microsecond, and rounded */
	ck_assert_int_ge(us, w.least - 8);
	ck_assert_int_le(us, w.most + 8);
}

TEST(whole_processes)
{
	static const struct { const char *key, *name; } measured[] = {
		{ "lib-1.0-r0", "do_compile" }, { "lib-1.0-r0", "do_install" },
		{ "app-1_2-r3", "do_sysroot_setscene" }, { "app-1_2-r3", "do_sysroot" },
	};
	struct witness w;
	int64_t sum = 0;
	struct run r;

	drive(&r, PLUGIN, "WITNESS=witness");
	read_at("out/latest");
	for (size_t i = 0; i < ARRAY_SIZE(measured); i++) {
		const struct task *t = find(measured[i].key, measured[i].name);

		if (strcmp(t->name, "do_compile"))	/* there are several */
			witnessed(t->name, t->setup_user_us + t->setup_system_us + t->user_us +
				  t->system_us);
		ck_assert_int_gt(t->setup_user_us + t->setup_system_us, 0);
		w = witness_of(support_path("%s.setup", t->name));
		ck_assert_int_ge(t->setup_us, (w.most - w.least) / 1000);
		/* its process may begin before the server reports it */
		ck_assert_int_ge(t->start_us - t->setup_us, rec.instance[0].open_us);
		sum += t->setup_user_us + t->user_us - 2;	/* rounded */
	}
	ck_assert_int_gt(rec.instance[0].used_user_us, sum);
}

/* Of the killed task only a bound is known: it is not among the slowest for it. */
TEST(bounds)
{
	const struct task *killed;
	struct cost sum = { 0 };
	struct summary s;
	struct run r;

	drive(&r, PLUGIN, "");
	read_at("out/latest");
	killed = find("app-1_2-r3", "do_compile");
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct cost *c = &s.nest[i].cost;

		ck_assert_int_eq(c->wall_least_us < c->wall_us, &rec.task[i] == killed);
		cost_add(&sum, c);
	}
	ck_assert_int_gt(sum.setup_cpu_us, 0);
	ck_assert_int_ge(sum.setup_us, sum.setup_cpu_us / 2);
	summary_release(&s);
	support_run(&r, support_tmpdir(), TOP_BUILDDIR "/buildbeat show --sort wall --task do_compile out/latest");
	ck_assert_ptr_nonnull(strstr(r.out.data, "< at most: nobody saw the task end"));
	ck_assert_ptr_nonnull(strstr(r.out.data, " CPU of setup"));
	ck_assert_ptr_nonnull(strstr(r.out.data, " app-1_2-r3: do_compile\nwall: "));
	support_run(&r, support_tmpdir(), TOP_BUILDDIR "/buildbeat show --json --tasks out/latest");
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"end_at_most\":true"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"setup_cpu_user_us\":"));
}

/* The launcher waits for a client only. All of the server belongs to the build that started it. */
TEST(a_server)
{
	const char *bitbake = support_path("%s/bitbake", support_tmpdir());
	struct summary s;
	int64_t used;

	support_writes(bitbake, "#!/bin/sh\npython3 -B " TOP_SRCDIR "/tests/bitbake_driver.py " LIB
		       " BUILDBEAT_PLUGIN=" PLUGIN " SERVER=1 WITNESS=witness "
		       "MAKEFILES=\"$MAKEFILES\"\n");
	chmod(bitbake, 0755);
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       TOP_BUILDDIR "/buildbeat record --output 'a dir' -- ./bitbake");
	read_at("a dir/latest");
	used = rec.instance[0].used_user_us + rec.instance[0].used_system_us;
	witnessed("server", used);
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert(s.cpu_exact);
	ck_assert_int_eq(s.cpu_us, used + recording_build_number(&rec, "user_us") +
			 recording_build_number(&rec, "system_us"));
	summary_release(&s);
	/* without what the server said */
	rec.instance[0].used_user_us = -1;
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert(!s.cpu_exact);
	ck_assert_int_lt(s.cpu_us, used);
	summary_release(&s);
}

static bool has(const char *text)
{
	for (size_t i = 0; i < rec.n_notes; i++)
		if (rec.note[i].task == NO_INDEX && !strcmp(rec.note[i].text, text))
			return true;
	return false;
}

static const char *const notes[] = {
	"parsed 3 recipe files, 1 cached, 2 skipped, 0 masked, 0 errors",
	"build name 20260102030405", "1 tasks skipped: covered",
	"disk /dev/x: 2 KiB used, 1 KiB free", "tasks held back by pressure: CPU, memory",
	"disk full: /x, inodes", "waiting for 2 running tasks to end",
};

TEST(the_build)
{
	static const char *const spans[] = {
		"parse", "prepare tree data", "build", "Initialising tasks", "setscene",
	};
	struct run r;

	drive(&r, PLUGIN, "");
	ck_assert_str_eq(r.out.data, "False\n");
	read_at("out/latest");
	ck_assert_str_eq(recording_build(&rec, "tool"), "bitbake");
	ck_assert_str_eq(recording_build(&rec, "version"), "9.9");
	ck_assert_str_eq(recording_build(&rec, "command"), "bitbake -k 'two words'");
	ck_assert_str_eq(recording_build(&rec, "targets"), "app:do_build mc:arm:app:do_build");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 1);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_int_ge(rec.instance[0].close_us, 0);
	ck_assert_uint_eq(rec.n_spans, ARRAY_SIZE(spans));
	for (size_t i = 0; i < rec.n_spans; i++) {
		ck_assert_str_eq(rec.span[i].name, spans[i]);
		ck_assert_int_ge(rec.span[i].end_us, rec.span[i].begin_us);
	}
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		ck_assert_msg(has(notes[i]), "%s", notes[i]);
	ck_assert_uint_eq(rec.instance[0].said_done, 120);
	ck_assert_uint_eq(rec.instance[0].said_total, 363);
	ck_assert_ptr_nonnull(recording_series(&rec, "proc_stat"));
}

TEST(bytes_where_asked)
{
	struct run r;

	drive(&r, PLUGIN, "BUILDBEAT_TASK_IO=1");
	read_at("out/latest");
	ck_assert_int_gt(find("lib-1.0-r0", "do_compile")->rchar, 0);
}

/* Under the launcher it joins the launcher's recording. */
TEST(launched)
{
	const char *bitbake = support_path("%s/bitbake", support_tmpdir());

	support_writes(bitbake, "#!/bin/sh\npython3 -B " TOP_SRCDIR "/tests/bitbake_driver.py " LIB
		       " BUILDBEAT_PLUGIN=" PLUGIN " BUILDBEAT_OUTPUT=out MAKEFILES=\"$MAKEFILES\"\n");
	chmod(bitbake, 0755);
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       TOP_BUILDDIR "/buildbeat record --output 'a dir' -- ./bitbake");
	ck_assert(!support_exists(support_path("%s/out", support_tmpdir())));
	read_at("a dir/latest");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 0);
	ck_assert_int_eq(find("lib-1.0-r0", "do_compile")->state, TASK_DONE);
}

static const char *const no_plugins[] = { "/nowhere/buildbeat.so", "/bin/sh", TOP_SRCDIR };

/* No plugin, or no writable directory: one warning, and the build continues. */
TEST_LOOP(no_plugin, 3)
{
	struct run r;

	drive(&r, no_plugins[_i], "");
	ck_assert_int_eq(strncmp(r.out.data, "WARNING: buildbeat: nothing is recorded: ", 41), 0);
	ck_assert_str_eq(strchr(r.out.data, '\n'), "\nFalse\n");
	ck_assert(!support_exists(support_path("%s/out", support_tmpdir())));
}

TEST(no_place)
{
	struct run r;

	support_writes(support_path("%s/out", support_tmpdir()), "");
	drive(&r, PLUGIN, "");
	ck_assert_int_eq(strncmp(r.out.data, "WARNING: buildbeat: nothing is recorded: ", 41), 0);
	ck_assert_str_eq(strchr(r.out.data, '\n'), "\nFalse\n");
}

/* The name for OpenEmbedded's tools; it may exist already. */
TEST_LOOP(layouts, 4)
{
	bool only = _i & 1, taken = _i & 2;
	struct run r;

	drive(&r, PLUGIN, support_path("TMPDIR=tmp BUILDBEAT_PROGRAM='%s' BUILDBEAT_LAYOUT=%s %s",
				       TOP_BUILDDIR "/buildbeat", only ? "oe" : "both",
				       taken ? "TAKEN=1" : ""));
	ck_assert_str_eq(r.out.data, "False\n");
	ck_assert_int_eq(support_exists(support_path("%s/out/latest/build", support_tmpdir())), !only);
	support_run(&r, support_tmpdir(), "ls out | wc -l");
	ck_assert_int_eq(atoi(r.out.data), only ? 0 : 2);
	read_at(taken ? "tmp/buildstats/20260102030405-buildbeat" : "tmp/buildstats/20260102030405");
	ck_assert(rec.source.one_core && rec.source.recipe_keys);
	ck_assert_int_eq(find("lib-1.0-r0", "do_compile")->state, TASK_DONE);
	ck_assert_int_eq(find("app-2-r3", "do_compile")->state, TASK_FAILED);
}

/* A name that does not change from build to build. */
TEST(one_name)
{
	struct run r;

	for (int i = 0; i < 3; i++) {
		drive(&r, PLUGIN, "TMPDIR=tmp BUILDBEAT_LAYOUT=both TAKEN=1 BUILDBEAT_PROGRAM="
		      TOP_BUILDDIR "/buildbeat");
		ck_assert_str_eq(r.out.data, "False\n");
	}
	support_expect(support_path("%s/tmp/buildstats", support_tmpdir()), 0,
		       "20260102030405\n20260102030405-buildbeat\n20260102030405-buildbeat-2\n"
		       "20260102030405-buildbeat-3\n", "", "ls");
}

static const struct { const char *event, *note; } failures[] = {
	{ "NoProvider", "failed: Nothing PROVIDES 'x' (but y DEPENDS on it)" },
	{ "ParseError", "failed: ParseError at x.bb:1: unparsed line" },
	{ "CommandFailed", "failed: a traceback" },
	{ "CommandExit", "failed: bitbake reported an error" },
};

/* show prints the words between those of the status and the time. */
static void shows(const char *expected)
{
	struct run r;

	support_run(&r, support_tmpdir(), TOP_BUILDDIR "/buildbeat show --all out/latest");
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.out.data, support_path("failed with exit status 1: %s, after", expected)),
		      "%s", r.out.data);
}

TEST_EACH(before_any_task, failures)
{
	struct run r;

	drive(&r, PLUGIN, support_path("FAILS=%s", failures[_i].event));
	read_at("out/latest");
	ck_assert_uint_eq(rec.n_tasks, 0);
	ck_assert_int_eq(recording_build_number(&rec, "status"), 1);
	ck_assert(has(failures[_i].note));
	shows(failures[_i].note + strlen("failed: "));
}

TEST_LOOP(interrupted, 2)
{
	struct run r;

	drive(&r, PLUGIN, _i ? "INTERRUPTED=twice" : "INTERRUPTED=once");
	read_at("out/latest");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 1);
	ck_assert(has("interrupted"));
	shows("interrupted");
}

TEST(no_layout)
{
	struct run r;

	drive(&r, PLUGIN, "TMPDIR=tmp BUILDBEAT_PROGRAM=/bin/false BUILDBEAT_LAYOUT=oe");
	ck_assert_str_eq(r.out.data, "WARNING: buildbeat: not written as OpenEmbedded's: \nFalse\n");
	read_at("out/latest");
}

/* An internal error is a line of the debugging log; recorded tasks stay. */
TEST(an_error_inside)
{
	struct run r;

	drive(&r, PLUGIN, "RAISES=1");
	ck_assert_int_eq(strncmp(r.out.data, "DEBUG: buildbeat: nothing is recorded any more: "
				 "AttributeError", 62), 0);
	ck_assert_str_eq(strchr(r.out.data, '\n'), "\nFalse\n");
	read_at("out/latest");
	ck_assert_uint_eq(rec.n_tasks, ARRAY_SIZE(tasks));
	ck_assert_int_ge(rec.instance[0].close_us, 0);
}

TEST_PROGRAM(bitbake)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !make_host_can());
	return support_main();
}
