/* SPDX-License-Identifier: MIT */
/* examples/bitbake, built by a real bitbake: that of BUILDBEAT_BITBAKE, or that in PATH. */
#include "analyse/summary.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

static struct recording rec;
static char bitbake[4096];

static void release(void)
{
	recording_release(&rec);
	support_cleanup();
}

static void sh(const char *command)
{
	support_expect(support_tmpdir(), 0, NULL, NULL, "%s", command);
}

static void configure(const char *more)
{
	support_writes(support_path("%s/bitbake/conf/local.conf", support_tmpdir()),
		       support_path("BUILDBEAT_PLUGIN = \"" PLUGIN "\"\n%s", more));
}

static void setup(void)
{
	sh("mkdir layer && cp -r " TOP_SRCDIR "/examples/make " TOP_SRCDIR "/examples/bitbake . && "
	   "cp -r " TOP_SRCDIR "/plugin/bitbake/lib " TOP_BUILDDIR "/plugin/bitbake/classes layer && "
	   "chmod -R u+w .");
	configure("");
}

/* The exit status, after its server has ended. The output of the build is not compared. */
static int build(const char *launcher, const char *targets)
{
	struct run r;
	int status;

	support_run(&r, support_path("%s/bitbake", support_tmpdir()),
		    "unset MAKEFILES; PATH='%s':\"$PATH\" BBPATH=\"$PWD:$PWD/../layer\" "
		    "BB_SERVER_TIMEOUT=0 %s bitbake %s; status=$?; flock -w 600 bitbake.lock true; "
		    "exit $status", bitbake, launcher, targets);
	status = r.status;
	ck_assert_msg(!strstr(r.out.data, "buildbeat:"), "%s", r.out.data);
	return status;
}

static void read_at(const char *name)
{
	recording_release(&rec);
	rec = (struct recording)RECORDING_INIT;
	recorded_open(&rec, support_path("%s/bitbake/%s", support_tmpdir(), name), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_str_eq(recording_build(&rec, "tool"), "bitbake");
}

static const struct task *find(const char *key, const char *name)
{
	for (size_t i = 0; i < rec.n_tasks; i++)
		if (!strcmp(rec.task[i].key, key) && !strcmp(rec.task[i].name, name))
			return &rec.task[i];
	return NULL;
}

static bool waits(const struct task *t, const char *name)
{
	for (size_t k = 0; k < t->n_after; k++)
		if (!strcmp(rec.after[t->first_after + k], name))
			return true;
	return false;
}

static bool has_note(const struct task *t, const char *text)
{
	for (size_t i = 0; i < rec.n_notes; i++)
		if (rec.note[i].task == (uint32_t)(t - rec.task) &&
		    !strncmp(rec.note[i].text, text, strlen(text)))
			return true;
	return false;
}

static bool has_span(const char *name)
{
	for (size_t i = 0; i < rec.n_spans; i++)
		if (!strcmp(rec.span[i].name, name))
			return rec.span[i].end_us >= rec.span[i].begin_us;
	return false;
}

TEST_GROUP_WITH("example", setup, release);

/* Two multiconfigs, from scratch. */
TEST(good)
{
	const struct task *t;

	ck_assert_int_eq(build("", "index mc:small:index"), 0);
	read_at("tmp/buildbeat/latest");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 0);
	ck_assert_str_eq(recording_build(&rec, "command"), "bitbake index mc:small:index");
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_uint_eq(rec.n_tasks, 20);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		t = &rec.task[i];
		ck_assert_int_eq(t->state, TASK_DONE);
		ck_assert_int_ge(t->queued_us, 0);
		ck_assert_int_gt(t->start_us, t->queued_us);
		ck_assert_int_gt(t->end_us, t->start_us);
		ck_assert_int_gt(t->pid, 0);
		ck_assert_int_gt(t->setup_us, 0);
		ck_assert_int_gt(t->setup_user_us + t->setup_system_us, 0);
		ck_assert(!t->end_at_most);
		ck_assert(t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0);
		ck_assert_ptr_nonnull(strstr(t->key, "-1.0-r0"));
	}
	t = find("mc:small:ixtools-1.0-r0", "do_compile");
	ck_assert_ptr_nonnull(t);
	ck_assert_str_eq(t->kind, "compile");
	ck_assert(waits(t, "mc:small:libix-1.0-r0/do_populate_sysroot"));
	ck_assert(waits(t, "mc:small:ixtools-1.0-r0/do_unpack"));
	ck_assert_uint_eq(t->n_after, 2);
	ck_assert_ptr_nonnull(strstr(recording_command(&rec, t), "/run.do_compile."));
	ck_assert(has_span("parse") && has_span("build") && has_span("Initialising tasks"));
	ck_assert_ptr_nonnull(recording_series(&rec, "proc_stat"));
}

/* A failed task, a killed task, reused results, and an invalid result. */
TEST(bad)
{
	const struct task *t;

	ck_assert_int_eq(build("", "-k broken killed stale index"), 1);
	read_at("tmp/buildbeat/latest");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 1);
	t = find("broken-1.0-r0", "do_compile");
	ck_assert_int_eq(t->state, TASK_FAILED);
	ck_assert(has_note(t, "failed, see "));
	ck_assert(t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0);
	t = find("killed-1.0-r0", "do_compile");
	ck_assert_int_eq(t->state, TASK_KILLED);
	ck_assert_int_eq(t->status, 9);
	ck_assert(has_note(t, "killed by SIGKILL"));
	sh("rm -r bitbake/tmp/stamps");
	build("", "-k stale index");
	read_at("tmp/buildbeat/latest");
	t = find("stale-1.0-r0", "do_populate_sysroot_setscene");
	ck_assert_int_eq(t->state, TASK_FAILED);
	ck_assert_str_eq(t->kind, "setscene");
	ck_assert(has_note(t, "failed silently, see "));
	t = find("stale-1.0-r0", "do_populate_sysroot");
	ck_assert_int_eq(t->state, TASK_DONE);
	ck_assert(waits(t, "stale-1.0-r0/do_populate_sysroot_setscene"));
	t = find("index-1.0-r0", "do_report");
	ck_assert(waits(t, "index-1.0-r0/do_populate_sysroot_setscene"));
	ck_assert(!find("index-1.0-r0", "do_compile"));
	ck_assert(has_span("setscene"));
}

TEST(launched)
{
	struct cost sum = { 0 };
	RELEASED(summary, s);

	ck_assert_int_eq(build(TOP_BUILDDIR "/buildbeat record --", "-k libix killed"), 1);
	ck_assert(!support_exists(support_path("%s/bitbake/tmp/buildbeat", support_tmpdir())));
	recording_release(&rec);
	rec = (struct recording)RECORDING_INIT;
	recorded_open(&rec, support_path("%s/bitbake/buildstats/latest", support_tmpdir()), NULL);
	ck_assert_int_eq(recording_build_number(&rec, "status"), 1);
	ck_assert_int_eq(find("libix-1.0-r0", "do_compile")->state, TASK_DONE);
	ck_assert_int_eq(find("killed-1.0-r0", "do_compile")->state, TASK_KILLED);
	ck_assert(find("killed-1.0-r0", "do_compile")->end_at_most);
	ck_assert_int_eq(summary_make(&s, &rec), 0);
	ck_assert(s.cpu_exact);
	for (size_t i = 0; i < rec.n_tasks; i++)
		cost_add(&sum, &s.nest[i].cost);
	ck_assert_int_gt(s.cpu_us, sum.cpu_us + sum.setup_cpu_us +
			 recording_build_number(&rec, "user_us"));
}

/* A class with a directory of the same name, as OpenEmbedded's. build() allows no warning. */
TEST(beside_another_class)
{
	support_writes(support_path("%s/layer/other.bbclass", support_tmpdir()),
		       "addhandler other_handler\nother_handler[eventmask] = \"bb.event.BuildStarted\"\n"
		       "python other_handler() {\n    bb.utils.mkdirhier(d.expand("
		       "\"${TMPDIR}/buildstats/${BUILDNAME}\"))\n}\n");
	sh("mkdir -p bitbake/classes && cp layer/other.bbclass bitbake/classes");
	configure("INHERIT += \"other\"\nBUILDBEAT_LAYOUT = \"both\"\nBUILDBEAT_PROGRAM = \""
		  TOP_BUILDDIR "/buildbeat\"\n");
	ck_assert_int_eq(build("", "libix"), 0);
	sh("test $(ls bitbake/tmp/buildstats | wc -l) = 2 && "
	   "test -s bitbake/tmp/buildstats/*-buildbeat/libix-1.0-r0/do_compile");
}

/* Nothing provides a target: the build fails before its first task. */
TEST(before_any_task)
{
	bool found = false;

	build("", "no-such-recipe");
	read_at("tmp/buildbeat/latest");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 1);
	for (size_t i = 0; i < rec.n_notes; i++)
		found |= !strcmp(rec.note[i].text, "failed: Nothing PROVIDES 'no-such-recipe'");
	ck_assert(found);
}

/* The lines of the console that name a task are of it. */
#define LOG TOP_BUILDDIR "/buildbeat log -d bitbake/buildstats --task "
TEST(lines)
{
	ck_assert_int_eq(build(TOP_BUILDDIR "/buildbeat record --log --", "-k libix broken"), 1);
	sh(LOG "'libix-1.0-r0: do_compile' >lines; "
	   "grep -q 'Running task .*do_compile)' lines && "
	   "grep -q 'recipe libix-1.0-r0: task do_compile: Started' lines && "
	   "grep -q 'recipe libix-1.0-r0: task do_compile: Succeeded' lines && "
	   "! grep -v libix lines");
	sh(LOG "'broken-1.0-r0: do_compile' >lines && "
	   "grep -q 'Logfile of failure' lines && grep -q \"(.*do_compile) failed\" lines");
}

/* The class does not change the hash of a task. */
TEST(without)
{
	ck_assert_int_eq(build("", "libix"), 0);
	configure("INHERIT:remove = \"buildbeat\"\nTMPDIR = \"${TOPDIR}/plain\"\n"
		  "SSTATE_DIR = \"${TOPDIR}/other\"\n");
	ck_assert_int_eq(build("", "libix"), 0);
	ck_assert(!support_exists(support_path("%s/bitbake/plain/buildbeat", support_tmpdir())));
	sh("ls bitbake/tmp/stamps >a && ls bitbake/plain/stamps >b && cmp a b && test -s a");
}

/* The directory of a working program, or false. */
static bool find_bitbake(void)
{
	FILE *f = popen("b=$(command -v \"${BUILDBEAT_BITBAKE:-bitbake}\") && b=$(readlink -f \"$b\") && "
			"PATH=\"${b%/*}:$PATH\" && bitbake --version >/dev/null 2>&1 && echo \"${b%/*}\"", "r");
	bool works = f && fgets(bitbake, sizeof bitbake, f);

	if (works)
		bitbake[strcspn(bitbake, "\n")] = '\0';
	if (f)
		pclose(f);
	return works;
}

TEST_PROGRAM(bitbake_build)
{
	SKIP_PROGRAM_IF(!make_host_can() || !find_bitbake());
	return support_main();
}
