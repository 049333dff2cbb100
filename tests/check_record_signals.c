/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/launched.h"
#include "tests/make_host.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* `buildbeat record` and signals: from the terminal, from other processes, stop and kill. */

/* A process in the background whose standard output we read. */
struct background {
	pid_t pid;
	FILE *out;
};

static void begin(struct background *b, const char *script)
{
	const char *top = support_tmpdir();
	int fds[2];

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	b->pid = fork();
	if (b->pid == 0) {
		dup2(fds[1], 1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!chdir(top))
			execl(BUILDBEAT, "buildbeat", "record", "--no-git", "-o", "stats", "-n",
			      "one", "--interval", "20", "--", "sh", "-c", script, (char *)NULL);
		_exit(99);
	}
	close(fds[1]);
	b->out = fdopen(fds[0], "r");
}

static void expect_line(struct background *b, const char *line)
{
	char got[64] = "";

	ck_assert_ptr_nonnull(fgets(got, sizeof got, b->out));
	ck_assert_str_eq(got, line);
}

static int end(struct background *b)
{
	int status;

	ck_assert_int_eq(waitpid(b->pid, &status, 0), b->pid);
	fclose(b->out);
	return status;
}

/* Until the recording has that many more bytes of samples. */
static size_t bytes_of_samples(void)
{
	struct stat st;

	ck_assert_int_eq(stat(support_path("%s/stats/one/proc_stat.log", support_tmpdir()), &st), 0);
	return (size_t)st.st_size;
}

static bool is_longer(void *than)
{
	return bytes_of_samples() > *(size_t *)than;
}

static void wait_for_samples(void)
{
	size_t than = bytes_of_samples() + 20;

	support_wait_until(is_longer, &than, "samples");
}

static const int forwarded[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 };

/* To the launcher alone: the command gets the signal, and its exit status is returned. */
TEST_EACH(signal_is_passed_on, forwarded)
{
	char script[160];
	struct background b;
	int status;

	snprintf(script, sizeof script, "trap 'echo got; exit 3' %d; echo ready; "
		 "while :; do sleep 0.02; done", forwarded[_i]);
	begin(&b, script);
	expect_line(&b, "ready\n");
	kill(b.pid, forwarded[_i]);
	expect_line(&b, "got\n");
	status = end(&b);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 3);
}

/* Everything written before is there; the end of the build is not. */
TEST(launcher_killed)
{
	struct recording rec;
	struct background b;
	const struct series *s;

	begin(&b, "echo ready; while :; do sleep 0.02; done");
	expect_line(&b, "ready\n");
	wait_for_samples();
	kill(b.pid, SIGKILL);
	end(&b);
	launched_read(&rec, "one");
	ck_assert_int_eq(rec.end_us, -1);
	s = recording_series(&rec, "proc_stat");
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_ge(s->n, 2);
	ck_assert_int_ge(rec.last_us, s->time_ms[s->n - 1] * 1000);
	ck_assert_uint_eq(rec.n_warnings, 0);
	recording_release(&rec);
}

/* A launcher that was stopped marks the gap and continues. */
TEST(stopped_and_continued)
{
	struct recording rec;
	struct background b;
	const struct series *s;
	size_t gaps = 0;
	int status;

	begin(&b, "trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done");
	expect_line(&b, "ready\n");
	wait_for_samples();
	kill(b.pid, SIGSTOP);
	ck_assert_int_eq(waitpid(b.pid, &status, WUNTRACED), b.pid);
	ck_assert(WIFSTOPPED(status));
	usleep(500000);		/* at least: the missed time is the gap */
	kill(b.pid, SIGCONT);
	wait_for_samples();
	kill(b.pid, SIGTERM);
	ck_assert_int_eq(end(&b), 0);
	launched_read(&rec, "one");
	s = recording_series(&rec, "proc_stat");
	for (size_t i = 0; i < s->n; i++)
		gaps += s->gap[i];
	ck_assert_uint_ge(gaps, 1);
	recording_release(&rec);
}

/* ^C on a terminal, with and without recording: same output, same status. */
static int interrupt(struct buf *out, const char *command)
{
	const char *top = support_tmpdir();
	char chunk[1024];
	int master, status;
	ssize_t n;
	pid_t pid = forkpty(&master, NULL, NULL, NULL);
	bool sent = false;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (!chdir(top))
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(99);
	}
	buf_init(out);
	while ((n = read(master, chunk, sizeof chunk)) > 0) {
		buf_add(out, chunk, (size_t)n);
		if (!sent && strstr(buf_str(out), "working"))
			sent = write(master, "\003", 1) == 1;
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	close(master);
	return status;
}

/* If its child ends by the interrupt at the same moment, make itself miscounts and ends with
 * an error: then again. */
static void interrupt_until_signal(struct buf *out, const char *command)
{
	int status = interrupt(out, command);

	for (int i = 0; i < 20 && WIFEXITED(status) && WEXITSTATUS(status) == 2; i++) {
		buf_release(out);
		status = interrupt(out, command);
	}
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGINT);
}

TEST(interrupt_from_terminal)
{
	struct recording rec;
	struct buf with, without;

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: ; @echo working; read line\n");
	interrupt_until_signal(&without, "exec make 2>without");
	interrupt_until_signal(&with, "rm -rf stats; exec " RECORD "-n one make 2>with");
	ck_assert_str_eq(buf_str(&with), buf_str(&without));
	support_expect(support_tmpdir(), ANY_STATUS, "", NULL, "diff with without");
	buf_release(&with);
	buf_release(&without);
	launched_read(&rec, "one");
	ck_assert_int_eq(recording_build_number(&rec, "signal"), SIGINT);
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_int_eq(rec.task[0].state, TASK_KILLED);
	recording_release(&rec);
}

/* The end is announced on a terminal. */
TEST(summary_on_terminal)
{
	struct buf out;
	int status = interrupt(&out, RECORD "-n one " BUILDBEAT " task x true");

	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "buildbeat: recorded in stats/one\r\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "buildbeat show stats/one"));
	buf_release(&out);
}

TEST_MAIN(record_signals);
