/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/launched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * How often a signal reaches the command must not depend on whether it is
 * recorded. Each case runs twice, without and with the launcher, and counts.
 */

#define TRIES 60000	/* of 1 ms or more: a test that hangs */

static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 };

enum { N_SIGNALS = ARRAY_SIZE(signals) };

/* The command: this program itself, called with "count MARKER [COMMAND ...]" */

static int index_of(int sig)
{
	int i = 0;

	while (i < N_SIGNALS && signals[i] != sig)
		i++;
	return i;
}

static void say(const char *word, int a, int b, int c)
{
	char line[80];
	int n = snprintf(line, sizeof line, "%s %d %d %d\n", word, a, b, c);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(98);
}

static void start(char **command)
{
	sigset_t none;

	if (fork())
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(command[0], command);
	_exit(97);
}

/* One of its own processes sends it to the group. */
static void send_from_inside(int sig)
{
	if (sig && !fork()) {
		kill(0, sig);
		_exit(0);
	}
}

/* Counts until the marker, and its child's end where it has one. */
static int count(int marker, char **command)
{
	int n[N_SIGNALS] = { 0 }, sig;
	const char *inside = getenv("SEND_FROM_INSIDE");
	sigset_t all;

	sigemptyset(&all);
	for (int i = 0; i < N_SIGNALS; i++)
		sigaddset(&all, signals[i]);
	sigprocmask(SIG_BLOCK, &all, NULL);
	if (*command)
		start(command);
	else
		say("ready", getpid(), getppid(), 0);
	send_from_inside(inside ? atoi(inside) : 0);
	while ((sig = sigwaitinfo(&all, NULL)) != marker) {
		if (sig > 0)
			say("got", sig, ++n[index_of(sig)], !!*command);
	}
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return 5;
}

/* Running it */

struct outcome {
	int status;
	struct buf out;
};

struct target {
	pid_t main;		/* what the user started, leads its process group */
	pid_t leader;		/* of the session on a terminal: waits for main. 0: no terminal */
	int master;
	const char *dir;	/* which a forked child would not get from support_tmpdir() */
	char out[PATH_MAX];
	int marker;
	bool recorded;
};

static void read_out(struct buf *b, const struct target *t)
{
	support_read(b, t->out);
}

/* Until the output has that text. */
static void wait_for(const struct target *t, const char *text)
{
	for (int i = 0; i < TRIES; i++) {
		struct buf b;
		bool found;

		read_out(&b, t);
		found = strstr(buf_str(&b), text);
		buf_release(&b);
		if (found)
			return;
		usleep(5000);
	}
	kill(-t->main, SIGKILL);
	ck_abort_msg("no '%s' before the deadline", text);
}

static bool status_says(pid_t pid, const char *a, const char *b)
{
	struct buf text;
	bool both;

	support_read(&text, support_path("/proc/%d/status", (int)pid));
	both = strstr(buf_str(&text), a) && strstr(buf_str(&text), b);
	buf_release(&text);
	return both;
}

/* It waits for signals, not for the witness. Where that cannot be read: who knows. */
static bool waits_for_signals(pid_t pid)
{
	int fd = open(support_path("/proc/%d/syscall", (int)pid), O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	return n <= 0 || atoi(text) == SYS_rt_sigtimedwait;
}

/* Until the process has dealt with all its signals: the next one is another. */
static void wait_until_quiet(pid_t pid)
{
	for (int i = 0; i < TRIES; i++) {
		if (status_says(pid, "State:\tS", "ShdPnd:\t0000000000000000") &&
		    waits_for_signals(pid))
			return;
		usleep(1000);
	}
	ck_abort_msg("signals stay pending");
}

static char *const *words(const struct target *t, bool nested)
{
	static char marker[8], exe[PATH_MAX];
	static char *all[32];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
	int n = 0;

	exe[len > 0 ? len : 0] = '\0';
	snprintf(marker, sizeof marker, "%d", t->marker);
	if (t->recorded) {
		char *record[] = { (char *)(uintptr_t)BUILDBEAT, (char *)(uintptr_t)"record",
				   (char *)(uintptr_t)"--no-git", (char *)(uintptr_t)"-o",
				   (char *)(uintptr_t)"stats", (char *)(uintptr_t)"--" };

		memcpy(all, record, sizeof record);
		n = ARRAY_SIZE(record);
	}
	for (int i = 0; i <= nested; i++) {
		if (i && t->recorded) {
			all[n++] = (char *)(uintptr_t)BUILDBEAT;
			all[n++] = (char *)(uintptr_t)"task";
			all[n++] = (char *)(uintptr_t)"inner";
			all[n++] = (char *)(uintptr_t)"--";
		}
		all[n++] = exe;
		all[n++] = (char *)(uintptr_t)"count";
		all[n++] = marker;
	}
	all[n] = NULL;
	return all;
}

static void become(const struct target *t, char *const *command)
{
	struct rlimit no_core = { 0, 0 };
	int fd = open(t->out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);

	setrlimit(RLIMIT_CORE, &no_core);
	setpgid(0, 0);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (!chdir(t->dir))
		execvp(command[0], command);
	_exit(99);
}

/* The session's leader: puts main into the foreground, gives the terminal up when asked
 * to, and tells how main ended. */
static void lead(struct target *t, char *const *command)
{
	struct buf line = BUF_INIT;
	sigset_t all;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigfillset(&all);
	sigdelset(&all, SIGKILL);
	sigprocmask(SIG_BLOCK, &all, NULL);
	t->main = fork();
	if (!t->main) {
		sigset_t none;

		sigemptyset(&none);
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		tcsetpgrp(STDIN_FILENO, getpid());
		sigprocmask(SIG_SETMASK, &none, NULL);
		become(t, command);
	}
	buf_addf(&line, "%d\n", (int)t->main);
	support_writes(support_path("%s/main", t->dir), buf_str(&line));
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	sigaddset(&all, SIGHUP);
	while (sigwaitinfo(&all, NULL) == SIGHUP)
		ioctl(STDIN_FILENO, TIOCNOTTY);
	waitpid(t->main, &status, 0);
	buf_clear(&line);
	buf_addf(&line, "%d\n", status);
	support_writes(support_path("%s/status", t->dir), buf_str(&line));
	_exit(0);
}

/* The test's own handlers are not to run in it. */
static void fork_quietly(struct target *t, char *const *command)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	t->main = fork();
	if (!t->main) {
		for (int i = 0; i < N_SIGNALS; i++)
			signal(signals[i], SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(t, command);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void begin(struct target *t, bool recorded, bool terminal, int marker,
		  char *const *command)
{
	*t = (struct target){ .recorded = recorded, .marker = marker, .master = -1 };
	t->dir = support_tmpdir();
	snprintf(t->out, sizeof t->out, "%s/out", t->dir);
	support_writes(t->out, "");
	if (terminal) {
		unlink(support_path("%s/main", support_tmpdir()));
		t->leader = forkpty(&t->master, NULL, NULL, NULL);
		if (!t->leader)
			lead(t, command);
		return;
	}
	fork_quietly(t, command);
}

static int number_in(const char *name)
{
	struct buf b;
	int n;

	support_read(&b, support_path("%s/%s", support_tmpdir(), name));
	n = atoi(buf_str(&b));
	buf_release(&b);
	return n;
}

static void end(struct target *t, struct outcome *o)
{
	pid_t waited = t->leader ? t->leader : t->main;
	pid_t got = 0;

	for (int i = 0; i < TRIES && !got; i++) {
		got = waitpid(waited, &o->status, WNOHANG);
		if (!got)
			usleep(5000);
	}
	if (!got) {
		kill(-t->main, SIGKILL);
		ck_abort_msg("it has not ended");
	}
	if (t->leader)
		o->status = number_in("status");
	if (t->master >= 0)
		close(t->master);
	read_out(&o->out, t);
}

/* Process numbers differ. */
static void drop_ready(struct buf *out)
{
	char *at = strstr(buf_str(out), "ready "), *eol = at ? strchr(at, '\n') : NULL;

	ck_assert_ptr_nonnull(eol);
	memmove(at, eol + 1, strlen(eol + 1) + 1);
	out->len = strlen(out->data);
}

/* Ways of sending */

static void each_of_group(pid_t group, int sig)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	ck_assert_ptr_nonnull(proc);
	while ((entry = readdir(proc))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && getpgid(pid) == group)
			kill(pid, sig);
	}
	closedir(proc);
}

static void send_alone(struct target *t, int sig)
{
	kill(t->main, sig);
}

static void send_group(struct target *t, int sig)
{
	kill(-t->main, sig);
}

/* As a service manager, but so that the launcher runs only when all have it. */
static void send_each(struct target *t, int sig)
{
	if (t->recorded)
		kill(t->main, SIGSTOP);
	each_of_group(t->main, sig);
	if (t->recorded)
		kill(t->main, SIGCONT);
}

static void send_nothing(struct target *t, int sig)
{
	(void)t;
	(void)sig;
}

/* As an interactive user, with the job stopped in between. */
static void send_stopped(struct target *t, int sig)
{
	kill(-t->main, SIGSTOP);
	kill(-t->main, sig);
	kill(-t->main, SIGCONT);
}

static const struct way {
	void (*send)(struct target *t, int sig);
	bool inside;
} ways[] = {
	{ send_alone, false }, { send_group, false }, { send_each, false },
	{ send_nothing, true }, { send_stopped, false },
};

enum { N_WAYS = ARRAY_SIZE(ways) };

/* The launcher handles signals in their order: once the marker has come, nothing
 * that was sent before is still to come. */
static void send_marker(struct target *t, bool nested)
{
	struct buf out;
	int pid = 0, parent = 0;
	const char *at;

	read_out(&out, t);
	at = strstr(buf_str(&out), "ready ");
	ck_assert_int_eq(sscanf(at, "ready %d %d", &pid, &parent), 2);
	buf_release(&out);
	wait_until_quiet(t->main);
	if (nested) {
		wait_until_quiet(t->recorded ? parent : pid);
		kill(t->recorded ? parent : pid, t->marker);
	}
	kill(t->main, t->marker);
}

static void run_way(struct outcome *o, bool recorded, bool nested, const struct way *way, int sig)
{
	int marker = sig == SIGUSR2 ? SIGUSR1 : SIGUSR2;
	struct target t = { .recorded = recorded, .marker = marker };
	char text[16];

	snprintf(text, sizeof text, "%d", sig);
	if (way->inside)
		setenv("SEND_FROM_INSIDE", text, 1);
	begin(&t, recorded, false, marker, words(&t, nested));
	unsetenv("SEND_FROM_INSIDE");
	wait_for(&t, "ready");
	way->send(&t, sig);
	wait_for(&t, "got");
	send_marker(&t, nested);
	end(&t, o);
	drop_ready(&o->out);
}

/* Lines of several processes in any order. */
static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct buf *b)
{
	char *copy = strdup(buf_str(b)), *line[100], *rest;
	size_t n = 0;

	for (char *p = strtok_r(copy, "\n", &rest); p && n < 100; p = strtok_r(NULL, "\n", &rest))
		line[n++] = p;
	qsort(line, n, sizeof *line, compare_lines);
	buf_clear(b);
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%s\n", line[i]);
	free(copy);
}

static void same(struct outcome *plain, struct outcome *recorded)
{
	sort_lines(&plain->out);
	sort_lines(&recorded->out);
	ck_assert_str_eq(buf_str(&recorded->out), buf_str(&plain->out));
	ck_assert_int_eq(recorded->status, plain->status);
	buf_release(&plain->out);
	buf_release(&recorded->out);
}

START_TEST(each_way)
{
	const struct way *way = &ways[_i / N_SIGNALS];
	int sig = signals[_i % N_SIGNALS];
	struct outcome plain, recorded;

	run_way(&plain, false, false, way, sig);
	run_way(&recorded, true, false, way, sig);
	ck_assert(WIFEXITED(plain.status) && WEXITSTATUS(plain.status) == 5);
	same(&plain, &recorded);
}
END_TEST

/* A launcher inside a launcher's command, in one process group: each of both commands
 * counts for itself. What is sent to the outer one alone, only that gets. */
START_TEST(nested)
{
	const struct way *way = &ways[_i / N_SIGNALS];
	int sig = signals[_i % N_SIGNALS];
	struct outcome plain, recorded;

	if (way->inside || way->send == send_each)
		return;
	run_way(&plain, false, true, way, sig);
	run_way(&recorded, true, true, way, sig);
	same(&plain, &recorded);
}
END_TEST

/* Terminal */

static void run_terminal(struct outcome *o, bool recorded, int sig)
{
	struct target t = { .recorded = recorded, .marker = SIGUSR2 };

	begin(&t, recorded, true, SIGUSR2, words(&t, false));
	wait_for(&t, "ready");
	t.main = number_in("main");
	if (sig == SIGHUP)
		kill(t.leader, SIGHUP);
	else
		ck_assert_int_eq(write(t.master, sig == SIGINT ? "\003" : "\034", 1), 1);
	wait_for(&t, "got");
	send_marker(&t, false);
	end(&t, o);
	drop_ready(&o->out);
}

START_TEST(terminal)
{
	static const int keys[] = { SIGINT, SIGQUIT, SIGHUP };
	struct outcome plain, recorded;

	run_terminal(&plain, false, keys[_i]);
	run_terminal(&recorded, true, keys[_i]);
	same(&plain, &recorded);
}
END_TEST

/* Several */

/* Alone, to the group and alone again: three. */
static void run_repeated(struct outcome *o, bool recorded, int sig)
{
	int marker = sig == SIGUSR2 ? SIGUSR1 : SIGUSR2;
	struct target t = { .recorded = recorded, .marker = marker };
	char text[32];

	begin(&t, recorded, false, marker, words(&t, false));
	wait_for(&t, "ready");
	for (int i = 1; i <= 4; i++) {
		(i % 2 ? send_alone : send_group)(&t, sig);
		snprintf(text, sizeof text, "got %d %d ", sig, i);
		wait_for(&t, text);
		wait_until_quiet(t.main);
	}
	send_marker(&t, false);
	end(&t, o);
	drop_ready(&o->out);
}

START_TEST(repeated)
{
	struct outcome plain, recorded;

	run_repeated(&plain, false, signals[_i]);
	run_repeated(&recorded, true, signals[_i]);
	same(&plain, &recorded);
}
END_TEST

/* Different ones at once, some alone, some to the group, by the bits of a number. */
static void run_mixed(struct outcome *o, bool recorded, unsigned group)
{
	struct target t = { .recorded = recorded, .marker = SIGUSR2 };
	char text[32];

	begin(&t, recorded, false, SIGUSR2, words(&t, false));
	wait_for(&t, "ready");
	for (int i = 0; i < N_SIGNALS - 1; i++)
		(group & 1u << i ? send_group : send_alone)(&t, signals[i]);
	for (int i = 0; i < N_SIGNALS - 1; i++) {
		snprintf(text, sizeof text, "got %d 1 ", signals[i]);
		wait_for(&t, text);
	}
	send_marker(&t, false);
	end(&t, o);
	drop_ready(&o->out);
}

START_TEST(mixed)
{
	struct outcome plain, recorded;

	run_mixed(&plain, false, (unsigned)_i * 5);
	run_mixed(&recorded, true, (unsigned)_i * 5);
	same(&plain, &recorded);
}
END_TEST

/* Beginning and end */

/* Blocked and pending when the program starts, which an exec keeps. */
static void run_pending(struct outcome *o, bool recorded, int sig)
{
	int marker = sig == SIGUSR2 ? SIGUSR1 : SIGUSR2;
	struct target t = { .recorded = recorded, .marker = marker, .master = -1 };
	char *const *command = words(&t, false);
	sigset_t set;

	t.dir = support_tmpdir();
	snprintf(t.out, sizeof t.out, "%s/out", t.dir);
	support_writes(t.out, "");
	t.main = fork();
	if (!t.main) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_BLOCK, &set, NULL);
		raise(sig);
		become(&t, command);
	}
	wait_for(&t, "got");
	send_marker(&t, false);
	end(&t, o);
	drop_ready(&o->out);
}

START_TEST(pending_at_start)
{
	struct outcome plain, recorded;

	run_pending(&plain, false, signals[_i]);
	run_pending(&recorded, true, signals[_i]);
	same(&plain, &recorded);
}
END_TEST

/* At any moment while it starts: whoever has no handler yet ends by it. */
START_TEST(while_starting)
{
	char *command[] = { (char *)(uintptr_t)BUILDBEAT, (char *)(uintptr_t)"record",
			    (char *)(uintptr_t)"--no-git", (char *)(uintptr_t)"-o",
			    (char *)(uintptr_t)"stats", (char *)(uintptr_t)"--",
			    (char *)(uintptr_t)"sleep", (char *)(uintptr_t)"1000", NULL };
	struct target t;
	struct outcome o;

	begin(&t, true, false, 0, command);
	for (volatile int i = 0; i < _i * 40000; i++)
		;
	setpgid(t.main, t.main);
	kill(_i % 2 ? -t.main : t.main, SIGTERM);
	end(&t, &o);
	ck_assert_msg(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGTERM, "%x %s", o.status,
		      buf_str(&o.out));
	buf_release(&o.out);
}
END_TEST

/* Whatever becomes of the launcher, the witness goes. */
START_TEST(nothing_stays)
{
	struct target t = { .recorded = true, .marker = SIGUSR2 };
	struct outcome o;
	int left = 1;

	begin(&t, true, false, SIGUSR2, words(&t, false));
	wait_for(&t, "ready");
	kill(t.main, SIGKILL);
	kill(-t.main, SIGUSR2);
	end(&t, &o);
	for (int i = 0; i < TRIES && left; i++) {
		left = !kill(-t.main, 0);
		usleep(1000);
	}
	ck_assert(!left);
	buf_release(&o.out);
}
END_TEST

/* A witness that is killed or stopped delays, at most. */
START_TEST(witness_gone)
{
	struct target t = { .recorded = true, .marker = SIGUSR2 };
	struct outcome o;
	struct buf out, children;
	int command, first, second;

	begin(&t, true, false, SIGUSR2, words(&t, false));
	wait_for(&t, "ready");
	read_out(&out, &t);
	ck_assert_int_eq(sscanf(strstr(buf_str(&out), "ready"), "ready %d", &command), 1);
	buf_release(&out);
	support_read(&children, support_path("/proc/%d/task/%d/children", (int)t.main,
					     (int)t.main));
	if (sscanf(buf_str(&children), "%d %d", &first, &second) == 2)
		kill(first == command ? second : first, _i ? SIGSTOP : SIGKILL);
	buf_release(&children);
	kill(t.main, SIGTERM);
	wait_for(&t, "got 15 1 ");
	kill(t.main, SIGUSR2);
	end(&t, &o);
	ck_assert(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 5);
	ck_assert_ptr_null(strstr(buf_str(&o.out), "got 15 2"));
	buf_release(&o.out);
}
END_TEST

/* Build tools */

/* make's second interrupt is the end at once: it neither waits for the recipe nor
 * deletes the target. ninja's first one ends its commands itself. */
static const struct {
	const char *file, *text, *command;
} tools[] = {
	{ "Makefile", "made: ; @exec 2>/dev/null; echo x >made; trap 'sleep 0.2; echo cleaned; exit 1' INT TERM HUP; "
	  "echo ready; while :; do sleep 0.02; done\n", "make" },
	{ "build.ninja", "rule r\n command = exec 2>/dev/null; echo x >made; trap 'sleep 0.2; echo cleaned; exit 1' "
	  "INT TERM HUP; : >started; while :; do sleep 0.02; done\nbuild made: r\n", "ninja" },
};

static void run_tool(struct outcome *o, bool recorded, int tool, bool group, int sig)
{
	char *script = NULL;
	char *command[] = { (char *)(uintptr_t)"sh", (char *)(uintptr_t)"-c", NULL, NULL };
	struct target t;
	size_t i = 0;

	ck_assert_int_gt(asprintf(&script, "exec %s%s 2>&1", recorded ? RECORD : "",
				  tools[tool].command), 0);
	command[2] = script;
	support_writes(support_path("%s/%s", support_tmpdir(), tools[tool].file),
		       tools[tool].text);
	unlink(support_path("%s/made", support_tmpdir()));
	unlink(support_path("%s/started", support_tmpdir()));
	begin(&t, recorded, false, 0, command);
	while (i++ < TRIES && !support_exists(support_path("%s/started", support_tmpdir())) && tool)
		usleep(5000);
	if (!tool)
		wait_for(&t, "ready");
	(group ? send_group : send_alone)(&t, sig);
	end(&t, o);
	buf_addf(&o->out, "made %d\n", support_exists(support_path("%s/made", support_tmpdir())));
	free(script);
}

START_TEST(build_tools)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	int tool = _i / 6, group = _i / 3 % 2, sig = ending[_i % 3];
	struct outcome plain, recorded;

	if (!support_has(tools[tool].command) || !support_can_be_loaded())
		return;
	/* make itself waits for a recipe that nobody told */
	if (!tool && !group && sig != SIGTERM)
		return;
	run_tool(&plain, false, tool, group, sig);
	run_tool(&recorded, true, tool, group, sig);
	same(&plain, &recorded);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "count"))
		return count(atoi(argv[2]), argv + 3);
	for (int i = 0; i < N_SIGNALS; i++)
		signal(signals[i], SIG_DFL);
	return support_main("launch_signals",
			    TEST_GROUP("each_way"), TEST_LOOP(each_way, N_WAYS * N_SIGNALS),
			    TEST_GROUP("nested"), TEST_LOOP(nested, N_WAYS * N_SIGNALS),
			    TEST_GROUP("terminal"), TEST_LOOP(terminal, 3),
			    TEST_GROUP("repeated"), TEST_LOOP(repeated, N_SIGNALS),
			    TEST_GROUP("mixed"), TEST_LOOP(mixed, 7),
			    TEST_GROUP("pending_at_start"), TEST_LOOP(pending_at_start, N_SIGNALS),
			    TEST_GROUP("while_starting"), TEST_LOOP(while_starting, 40),
			    TEST_GROUP("nothing_stays"), TEST_LOOP(nothing_stays, 1),
			    TEST_GROUP("witness_gone"), TEST_LOOP(witness_gone, 2),
			    TEST_GROUP("build_tools"), TEST_LOOP(build_tools, 12));
}
