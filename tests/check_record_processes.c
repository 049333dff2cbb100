/* SPDX-License-Identifier: MIT */
#include "sampler/processes.h"
#include "tests/launched.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* `record --processes` of real builds. */

static void record(struct run *r, const char *prefix, const char *command)
{
	support_run(r, support_tmpdir(), "rm -rf stats; %s " RECORD "--processes -n x -- %s",
		    prefix, command);
}

static void read_recording(struct recording *rec)
{
	launched_read(rec, "x");
	ck_assert_msg(!rec->n_warnings, "%s", rec->warning[0].text);
}

static bool has_connector(void)
{
	struct recording rec;
	struct run r;
	bool has;

	record(&r, "", "true");
	read_recording(&rec);
	has = strcmp(recording_build(&rec, "processes"), PROCESSES_LOOKS) != 0;
	recording_release(&rec);
	return has;
}

static uint64_t processes_of(const struct recording *rec, const char *program)
{
	for (size_t i = 0; i < rec->n_programs; i++) {
		if (!strcmp(rec->program[i].name, program))
			return rec->program[i].n;
	}
	return 0;
}

static const struct span *find_span(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->n_spans; i++) {
		if (!strcmp(rec->span[i].name, name))
			return &rec->span[i];
	}
	ck_abort_msg("no span %s", name);
}

/* Processes that are short, so that polling would miss them. */
static const char makefile[] =
	"all: one sub\n"
	"one:\n\t@(sleep 0.15; (sleep 0.11))\n"
	"sub:\n\t@+$(MAKE) -s -f inner\n";
static const char inner[] = "all:\n\t@for i in 1 2 3 4 5; do (exit 0); done; sleep 0.12; :\n";

TEST(spans_of_tasks)
{
	struct recording rec;
	const struct span *s;
	struct run r;

	SKIP_IF(!has_connector() || !support_can_be_loaded() || !support_has("make"));
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_writes(support_path("%s/inner", support_tmpdir()), inner);
	record(&r, "", "make -s -j2");
	ck_assert_msg(r.status == 0 && !r.err.len, "%s", r.err.data);
	read_recording(&rec);
	ck_assert_uint_ge(rec.n_processes, 2 + 1 + 2 + 1 + 6);
	ck_assert_int_eq(rec.process_events_lost, 0);
	ck_assert_uint_eq(processes_of(&rec, "make"), 2);
	ck_assert_uint_eq(processes_of(&rec, "sleep"), 3);
	if (rec.n_tasks) {		/* not with a sanitizer in the plugin */
		size_t n = 0;

		for (size_t i = 0; i < rec.n_spans; i++) {
			s = &rec.span[i];
			ck_assert_uint_ne(s->task, NO_INDEX);
			ck_assert_int_ge(s->begin_us, rec.task[s->task].start_us);
			ck_assert_int_ge(s->end_us, s->begin_us);
			n += !strcmp(rec.task[s->task].name, "all");
		}
		ck_assert_uint_eq(n, 6);
		s = find_span(&rec, "sleep");
		ck_assert(!strcmp(rec.task[s->task].name, "one") ||
			  !strcmp(rec.task[s->task].name, "all"));
	}
	recording_release(&rec);
}

/* Three tasks share one processor and never sleep: they compute or wait for it. */
TEST(delays_of_tasks)
{
	int64_t cpu_us = 0, delay_us = 0, wall_us = 0;
	struct recording rec;
	struct run r;

	SKIP_IF(!has_connector() || !support_can_be_loaded() || !support_has("make") || !support_has("taskset"));
	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: a b c\na b c:\n"
		       "\t@i=0; while [ $$i -lt 200000 ]; do i=$$((i+1)); done\n");
	record(&r, "taskset -c $(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')", "make -s -j3");
	ck_assert_msg(r.status == 0 && !r.err.len, "%s", r.err.data);
	read_recording(&rec);
	for (size_t i = 0; i < rec.n_tasks && strstr(recording_build(&rec, "processes"), "taskstats"); i++) {
		const struct task *t = &rec.task[i];

		ck_assert_int_ge(t->delay_us, 0);
		ck_assert(!t->delay_at_least);
		cpu_us += t->user_us + t->system_us;
		delay_us += t->delay_us;
		wall_us += t->end_us - t->start_us;
	}
	/* make itself waits for the processor before it sees an end, so the walls are longer */
	ck_assert_msg(delay_us >= cpu_us / 2 && cpu_us + delay_us >= wall_us / 2, "CPU %lld, delay %lld, wall %lld us",
		      (long long)cpu_us, (long long)delay_us, (long long)wall_us);
	recording_release(&rec);
}

/* The first one may use the connector since Linux 6.6, the others may not. */
static const char *const unprivileged[] = {
	"setpriv --reuid=65534 --regid=65534 --clear-groups",
	"unshare --net",
	"unshare --pid --fork --mount-proc",
};

TEST_EACH(without_permission, unprivileged)
{
	const char *prefix = unprivileged[_i];
	struct recording rec;
	struct run r;

	support_run(&r, NULL, "%s true", prefix);
	SKIP_IF(r.status);
	ck_assert_int_eq(chmod(support_tmpdir(), 01777), 0);
	record(&r, prefix, "sh -c 'sleep 0.6; sleep 0.6; exit 5'");
	SKIP_IF(r.status == 126 || r.status == 127);	/* the user cannot execute our program */
	ck_assert_int_eq(r.status, 5);
	read_recording(&rec);
	ck_assert_ptr_nonnull(recording_build(&rec, "processes"));
	ck_assert_ptr_nonnull(recording_build(&rec, "processes_why"));
	ck_assert_uint_eq(processes_of(&rec, "sleep"), 2);
	if (!strcmp(recording_build(&rec, "processes"), PROCESSES_LOOKS))
		ck_assert_ptr_nonnull(strstr(r.err.data, "short processes are missing"));
	recording_release(&rec);
}

/* A killed recorder leaves the processes that it had written. */
TEST(killed_build)
{
	struct recording rec;
	struct run r;

	SKIP_IF(!has_connector());
	support_run(&r, support_tmpdir(), "rm -rf stats; " RECORD "--processes "
		    "-n x -- sh -c '(exit 1); sleep 1.4; sleep 0.1; kill -9 $PPID; exit 0'");
	ck_assert_int_eq(r.status, 128 + SIGKILL);
	read_recording(&rec);
	ck_assert_uint_ge(rec.n_processes, 1);
	ck_assert_ptr_null(recording_build(&rec, "processes_seen"));
	record(&r, "", "sh -c 'sleep 0.1; kill -9 $$'");
	ck_assert_int_eq(r.status, 128 + SIGKILL);
	recording_release(&rec);
	read_recording(&rec);
	ck_assert_str_eq(recording_build(&rec, "processes_seen"), "2");
	recording_release(&rec);
}

TEST_MAIN(record_processes);
