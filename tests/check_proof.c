/* SPDX-License-Identifier: MIT */
/* Does a recording notice that something is missing in it, and only then? */
#include "base/array.h"
#include "tests/launched.h"
#include "tests/make_host.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNACCOUNTED "that no task has"
#define UNCLOSED "never ended its part"

static size_t n_warnings(const struct recording *rec, const char *part)
{
	size_t n = 0;

	for (size_t i = 0; i < rec->n_warnings; i++)
		n += strstr(rec->warning[i].text, part) != NULL;
	return n;
}

/* Made recordings */

#define MAKE "open\t1\ta\t7\t0\t7\tmake\t4.3\t/\tmake\n"
#define SUB "open\t3\tb\t9\t1\t9,7\tmake\t4.3\t/\tmake\n"
#define NINJA "open\t1\ta\t7\t\t7\tninja\t\t/\tninja\n"
#define HOST "open\t1\ta\t7\t\t7\tscons\t4\t/\tscons\n"
#define START(task) "start\t2\t" task "\t9\t\t\tx\t\tcc\n"
#define DONE(task, us) "done\t8\t" task "\t0\t" us "\t0\n"
#define OK "status: 0\n"

static const struct {
	const char *build, *lines;
	int64_t cpu_us, processes;
	int unaccounted, unclosed;	/* warnings */
} made[] = {
	/* all is there */
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\t1\t500000\t1\t1\n", 0, 0, 0, 0 },
	/* no values: an older version, a host that has none */
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\t1\n", -1, -1, 0, 0 },
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\n", -1, -1, 0, 0 },
	{ OK, HOST START("a.1") DONE("a.1", "500000") "close\t9\ta\n", -1, -1, 0, 0 },
	/* a process that no task has; an end that is missing */
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\t1\t900000\t0\t2\n", 400000, 1, 1, 0 },
	{ OK, MAKE START("a.1") "close\t9\ta\t1\t900000\t0\t1\n", 900000, 1, 1, 0 },
	/* little CPU time, but a process */
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\t1\t500900\t0\t2\n", 900, 1, 1, 0 },
	/* a program that could not be executed: libc waited for the process */
	{ OK, MAKE START("a.1") "fail\t8\ta.1\t127\n" "close\t9\ta\t1\t30000\t0\t0\n", 0, 0, 0, 0 },
	/* the same and another process */
	{ OK, MAKE START("a.1") "fail\t8\ta.1\t127\n" "close\t9\ta\t1\t30000\t0\t1\n", 30000, 1, 1, 0 },
	/* nothing was followed */
	{ OK, MAKE "close\t9\ta\t\t300000\t0\t0\n", 300000, 0, 1, 0 },
	{ OK, MAKE "close\t9\ta\t\t9000\t0\t0\n", 9000, 0, 0, 0 },
	/* each level has its own */
	{ OK, MAKE START("a.1") SUB START("b.1") DONE("b.1", "300000")
	  "close\t7\tb\t1\t300000\t0\t1\n" DONE("a.1", "310000") "close\t9\ta\t1\t310000\t0\t1\n", 0, 0, 0, 0 },
	{ OK, MAKE START("a.1") SUB START("b.1") DONE("b.1", "300000")
	  "close\t7\tb\t1\t600000\t0\t2\n" DONE("a.1", "610000") "close\t9\ta\t1\t610000\t0\t1\n", 300000, 1, 1, 0 },
	/* the number of processes is not known: 2 % of the CPU time, of the whole build */
	{ OK, MAKE START("a.1") DONE("a.1", "985000") "close\t9\ta\t1\t1000000\t0\n", 15000, 0, 0, 0 },
	{ OK, MAKE START("a.1") DONE("a.1", "975000") "close\t9\ta\t1\t1000000\t0\n", 25000, 0, 1, 0 },
	{ OK, MAKE START("a.1") SUB "start\t4\tb.1\t10\t\t\tx\t\tcc\n" DONE("b.1", "1000000") "close\t7\tb\t1\t1030000\t0\n"
	  DONE("a.1", "1030000") "close\t9\ta\t1\t1030000\t0\n", 30000, 0, 1, 0 },
	/* less than 2 % of the build */
	{ OK "user_us: 90000000\nsystem_us: 0\n", MAKE START("a.1") DONE("a.1", "500000")
	  "close\t9\ta\t1\t900000\t0\t1\n", 0, 0, 0, 0 },
	/* lines that are known to be lost are reason enough */
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\t3\t900000\t0\t3\n", 400000, 2, 0, 0 },
	/* an instance without an end: in a build that failed, or a server, this says nothing */
	{ OK, MAKE START("a.1") DONE("a.1", "500000"), -1, -1, 0, 1 },
	{ OK, NINJA START("a.1") DONE("a.1", "500000"), -1, -1, 0, 1 },
	{ OK, HOST START("a.1") DONE("a.1", "500000"), -1, -1, 0, 0 },
	{ "status: 2\n", MAKE START("a.1") DONE("a.1", "500000"), -1, -1, 0, 0 },
	{ "signal: 2\n", MAKE START("a.1") DONE("a.1", "500000"), -1, -1, 0, 0 },
	{ "", MAKE START("a.1") DONE("a.1", "500000"), -1, -1, 0, 0 },
	{ OK "imported: ninja\n", MAKE START("a.1") DONE("a.1", "500000"), -1, -1, 0, 0 },
	/* it was killed as its task shows; or it was not */
	{ OK, MAKE START("a.1") SUB "kill\t8\ta.1\t9\t1000\t0\n" "close\t9\ta\t1\t1000\t0\t1\n", 0, 0, 0, 0 },
	{ OK, MAKE START("a.1") SUB "fail\t8\ta.1\t2\t1000\t0\n" "close\t9\ta\t1\t1000\t0\t1\n", 0, 0, 0, 0 },
	{ OK, MAKE START("a.1") SUB DONE("a.1", "1000") "close\t9\ta\t1\t1000\t0\t1\n", 0, 0, 0, 1 },
	/* another make after exec */
	{ OK, MAKE "close\t2\ta\t\t0\t0\t0\n" "open\t3\tb\t7\t0\t7\tmake\t4.3\t/\tmake\n" START("b.1")
	  DONE("b.1", "40000") "close\t9\tb\t1\t40000\t0\t1\n", 0, 0, 0, 0 },
	/* damaged */
	{ OK, MAKE START("a.1") DONE("a.1", "500000") "close\t9\ta\t1\t-3\tx\t99999999999999999999\n", -1, -1, 0, 0 },
};

TEST_EACH(made_recordings, made)
{
	const char *dir = support_path("%s/stats/made", support_tmpdir());
	struct recording rec;
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir -p stats/made");
	support_writes(support_path("%s/build", dir),
		       support_path("buildbeat build 1\nend_us: 900\n%s", made[_i].build));
	support_writes(support_path("%s/tasks.log", dir),
		       support_path("buildbeat tasks 1\n%s", made[_i].lines));
	launched_read(&rec, "made");
	ck_assert_int_eq(rec.proof.known ? rec.proof.cpu_us : -1, made[_i].cpu_us);
	ck_assert_int_eq(rec.proof.known ? rec.proof.processes : -1, made[_i].processes);
	ck_assert_uint_eq(n_warnings(&rec, UNACCOUNTED), made[_i].unaccounted);
	ck_assert_uint_eq(n_warnings(&rec, UNCLOSED), made[_i].unclosed);
	recording_release(&rec);
}

/* Real builds */

static void write_subject(void)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "SPIN = python3 -c \"sum(range($(1)))\"\n"
		       "V := $(shell python3 -c \"print(sum(range(10**6)))\")\n"
		       "all: a b c d e\n\t@$(MAKE) -s -f sub.mk\n"
		       "a b: ; @$(call SPIN,10**6)\n"
		       "c: ; @$(call SPIN,3*10**6)\n\t@$(call SPIN,10**6)\n"
		       "d: ; -@sh -c '$(call SPIN,10**6); exit 3'\n"
		       "e: ; @true\n");
	support_writes(support_path("%s/sub.mk", support_tmpdir()),
		       "all: f g\nf: ; @python3 -c \"sum(range(10**6))\"\n"
		       "g: ; @python3 -c \"sum(range(3*10**6))\"\n");
}

/* tasks.log without the lines of a task that begin with one of the words; the numbers after it are
 * one less, so that there is no gap. */
static void cut(const char *inst, uint64_t seq, bool all)
{
	support_expect(support_tmpdir(), 0, "", NULL,
		       "rm -rf stats/cut; cp -r stats/one stats/cut; awk -F '\\t' -v OFS='\\t' "
		       "-v inst=%s -v seq=%llu -v all=%d '"
		       "{ n = split($3, id, \".\") } "
		       "$3 == inst \".\" seq { if (all || $1 == \"done\" || $1 == \"fail\") next } "
		       "all && id[1] == inst && n == 2 && id[2] > seq { $3 = inst \".\" (id[2] - 1) } "
		       "all && id[1] == inst && $1 == \"close\" { $4 = $4 - 1 } "
		       "{ print }' stats/one/tasks.log >stats/cut/tasks.log",
		       inst, (unsigned long long)seq, all);
}

static int64_t cpu_us(const struct task *t)
{
	return t->user_us < 0 ? 0 : t->user_us + t->system_us;
}

/* Each task of more than 2 % is missed if its lines, or only its end, are removed. */
TEST(every_task_is_missed)
{
	struct recording rec, less;
	size_t n_large = 0;
	int64_t build_us;

	SKIP_IF(!make_host_can() || !support_has("python3"));
	write_subject();
	support_expect(support_tmpdir(), 0, "", NULL, RECORD "-n one -- make -s -j2");
	launched_read(&rec, "one");
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_int_eq(rec.proof.processes, 0);
	ck_assert_int_lt(rec.proof.cpu_us, 1000);
	ck_assert_uint_eq(rec.n_tasks, 10);
	build_us = recording_build_number(&rec, "user_us") + recording_build_number(&rec, "system_us");
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];
		bool large = cpu_us(t) * 50 > build_us;

		n_large += large;
		for (int all = 0; all < 2; all++) {
			cut(rec.instance[t->instance].id, t->seq, all);
			launched_read(&less, "cut");
			ck_assert_int_eq(less.lost.reason, 0);
			ck_assert_int_ge(less.proof.cpu_us, cpu_us(t));
			ck_assert_int_lt(less.proof.cpu_us, cpu_us(t) + 1000);
			ck_assert_int_eq(less.proof.processes, 1);
			ck_assert_uint_eq(n_warnings(&less, UNACCOUNTED), 1);
			recording_release(&less);
		}
	}
	ck_assert_uint_ge(n_large, 6);
	recording_release(&rec);
}

/* The end of make's part is missing. */
TEST(missing_end)
{
	struct recording rec;

	SKIP_IF(!make_host_can());
	write_subject();
	support_expect(support_tmpdir(), 0, "", NULL, RECORD "-n one -- make -s -j2 && cp -r stats/one stats/cut && "
		       "sed -i 2,/^close/\\{/^close/d\\;\\} stats/cut/tasks.log");
	launched_read(&rec, "cut");
	ck_assert_uint_eq(n_warnings(&rec, UNCLOSED), 1);
	ck_assert_uint_eq(rec.proof.n_unclosed, 1);
	recording_release(&rec);
}

/* A make that breaks off in silence, as if the plugin were at fault; said by all outputs. */
TEST(said_by_all)
{
	struct run r;

	SKIP_IF(!make_host_can() || !support_has("python3"));
	/* a process that make inherits, and that it waits for */
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: ; @sleep 0.01; python3 -c \"sum(range(10**6))\"; while test ! -e over; do sleep 0.01; done\n");
	support_run(&r, support_tmpdir(), RECORD "-n one -- env -u BUILDBEAT_X sh -c '"
		    "(python3 -c \"sum(range(3*10**6))\"; : >over) & exec make'");
	ck_assert_int_eq(r.status, 0);
	ck_assert_msg(strstr(r.err.data, UNACCOUNTED) != NULL, "%s", r.err.data);
	support_expect(support_tmpdir(), 0, "1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n", NULL,
		       BUILDBEAT " list stats | grep -c ' incomplete .*make'; "
		       BUILDBEAT " list stats | grep -c '^  [0-9.]* m*s of CPU time .*" UNACCOUNTED "$'; "
		       BUILDBEAT " list --json stats | grep -c '\"unaccounted\": *\".*" UNACCOUNTED ": '; "
		       BUILDBEAT " show stats/one | grep -c '" UNACCOUNTED "'; "
		       BUILDBEAT " show --markdown stats/one | grep -c '" UNACCOUNTED "'; "
		       BUILDBEAT " show --json stats/one >json; grep -c '" UNACCOUNTED "' json; "
		       "grep -c '\"processes_unaccounted\": *1,' json; "
		       "grep -c '\"cpu_unaccounted_us\": *[0-9]' json; "
		       "sed -n 's/.*\"instances_unclosed\": *0.*/1/p' json; "
		       BUILDBEAT " archive --repo a.git stats/one >&2; "
		       BUILDBEAT " check --repo a.git | grep -c 'Not recorded: .*" UNACCOUNTED "'; "
		       BUILDBEAT " check --repo a.git --markdown | grep -c 'Not recorded: .*" UNACCOUNTED "'; "
		       BUILDBEAT " check --repo a.git --json | grep -c '\"unaccounted\": *\".*" UNACCOUNTED "'");
}

/* Nothing is missing, whatever the build does. */
static const struct {
	const char *what, *needs, *command;
	bool unknown;		/* the tool's children are not known to be tasks */
} sound[] = {
	{ "make", "make", "make -s -f sub.mk -j2", false },
	{ "nothing to do", "make", "make -s -f some.mk nothing", false },
	{ "one task", "make", "make -s -f some.mk one", false },
	{ "parse", "make", "make -s -f some.mk X='$(shell python3 -c \"sum(range(10**6))\")' parse", false },
	{ "failing", "make", "sh -c 'make -k -s -j2 -f some.mk fail one; exit 0'", false },
	{ "below a make", "make", "make -s -f some.mk sub -j2", false },
	{ "remade", "make", "make -s -f remade.mk", false },
	{ "no program", "make", "make -s -f some.mk absent", false },
	{ "no first line", "make", "make -s -f some.mk bare", false },
	{ "output", "make", "make -s -O -j2 -f some.mk sub one", false },
	{ "exec", "make", "sh -c 'python3 -c \"sum(range(10**6))\"; exec make -s -f some.mk one'", false },
	{ "left", "make", "make -s -f some.mk left", false },
	{ "killed task", "make", "make -s -f some.mk killed", false },
	{ "killed make", "make", "make -s -f some.mk killedmake", false },
	{ "loaded", "make", "make -s -f load.mk", false },
	{ "remake", "remake", "remake -s -f sub.mk", false },
	{ "ninja", "ninja", "ninja --quiet", false },
	{ "samurai", "samu", "samu", false },
	{ "script", "sh", "sh ./plain.sh", false },
	{ "subshells", "sh", "sh ./forks.sh", true },
	{ "bash", "bash", "bash ./forks.sh", true },
	{ "python", "python3", "python3 ./host.py", false },
	{ "scons", "scons", "scons -Q --quiet", false },
	{ "cargo", "cargo", "cargo build --quiet --offline", false },
	{ "task", "make", "make -s -f some.mk nested", false },
};

static void write_sound(void)
{
	static const struct { const char *name, *text; } files[] = {
		{ "some.mk", "SPIN = python3 -c \"sum(range(10**6))\"\n"
		  "nothing: some.mk\none: ; @$(SPIN)\nparse: ; @$(SPIN)$(X)\n"
		  "fail: ; @$(SPIN); exit 3\nsub: one ; @$(MAKE) -s -f sub.mk\n"
		  "absent: ; -@./absent\n\t@$(SPIN)\nbare: ; @i=0; while [ $$i -lt 5 ]; do i=$$((i+1)); done\n"
		  "\t@./bare.sh\n\t@./bare.sh\n"
		  "left: ; @(sleep 0.2; $(SPIN)) >/dev/null 2>&1 & $(SPIN)\n"
		  "killed: ; -@$(SPIN); kill -9 $$$$\n\t@$(SPIN)\n"
		  "killedmake: ; -@sh -c '$(MAKE) -s -f some.mk kills'\nkills: ; @$(SPIN); kill -9 $$PPID\n"
		  "nested: ; @" BUILDBEAT " task x -- $(SPIN)\n" },
		{ "bare.sh", "python3 -c \"sum(range(10**6))\"\n" },
		{ "remade.mk", "include made.mk\nall: ; @python3 -c \"sum(range(10**6))\"\n"
		  "made.mk: ; @python3 -c \"sum(range(10**6))\"; echo X=1 >$@\n" },
		{ "load.mk", "X := $(shell python3 -c \"sum(range(10**6))\")\n-load " PLUGIN "\n"
		  "include sub.mk\n" },
		{ "build.ninja", "rule r\n  command = python3 -c \"sum(range(10**6))\" && touch $out\n"
		  "build a: r\nbuild b: r\nbuild c: r a\n" },
		{ "plain.sh", "python3 -c \"sum(range(10**6))\"\npython3 -c \"sum(range(10**6))\"\nexit 0\n" },
		{ "forks.sh", "i=0\n( while [ $i -lt 100000 ]; do i=$((i+1)); done; /bin/true; : )\n"
		  "python3 -c \"sum(range(10**6))\"\nexit 0\n" },
		{ "host.py", "import subprocess\nsubprocess.run(['true'])\n"
		  "subprocess.run('sum=1; python3 -c \"sum(range(10**6))\"; true', shell=True)\n" },
		{ "SConstruct", "Command('a', [], 'python3 -c \"sum(range(10**6))\" > a')\n" },
		{ "Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2018\"\n" },
		{ "src/main.rs", "fn main() {}\n" },
	};
	struct run r;

	write_subject();
	support_run(&r, support_tmpdir(), "mkdir src");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		support_writes(support_path("%s/%s", support_tmpdir(), files[i].name), files[i].text);
	support_run(&r, support_tmpdir(), "chmod +x bare.sh");
}

TEST_EACH(no_false_alarm, sound)
{
	struct recording rec;
	struct run r;
	bool known = false;

	SKIP_IF(!make_host_can() || !support_has("python3") || !support_has(sound[_i].needs));
	write_sound();
	support_run(&r, support_tmpdir(), RECORD "-n one -- %s", sound[_i].command);
	ck_assert_msg(r.status == 0, "%s: %s", sound[_i].what, r.err.data);
	ck_assert_msg(!strstr(r.err.data, UNACCOUNTED) && !strstr(r.err.data, UNCLOSED), "%s: %s",
		      sound[_i].what, r.err.data);
	launched_read(&rec, "one");
	for (size_t i = 0; i < rec.n_warnings; i++)
		ck_abort_msg("%s: %s", sound[_i].what, rec.warning[i].text);
	for (size_t i = 0; i < rec.n_instances; i++)
		known |= rec.instance[i].reaped >= 0;
	ck_assert_msg(known != sound[_i].unknown, "%s", sound[_i].what);
	recording_release(&rec);
}

/* A build that is killed does not end its parts, and that is no news. */
TEST_LOOP(killed_builds, 3)
{
	static const char *const signals[] = { "INT", "TERM", "KILL" };
	struct recording rec;
	struct run r;

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: a b\na: ; @true\nb: ; @echo $$$$ >task; : >here; exec sleep 60\n");
	/* A shell's background job ignores SIGINT. */
	support_run(&r, support_tmpdir(), "%s env --default-signal=INT " RECORD
		    "-n one -- make -s -j2 >/dev/null 2>&1 & until_true 'test -e here'; "
		    "kill -%s $(pgrep -x -P $! make); kill $(cat task) 2>/dev/null; wait $!",
		    support_poll, signals[_i]);
	ck_assert_int_ne(r.status, 0);
	launched_read(&rec, "one");
	ck_assert_uint_eq(rec.n_warnings, 0);
	recording_release(&rec);
}

TEST_MAIN(proof);
