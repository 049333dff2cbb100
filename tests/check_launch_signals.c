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
 * How often a signal reaches the command must not depend on whether the command is
 * recorded. Each scene runs twice, without and with the launcher, and counts.
 */

static const int signals[] = { SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2 };

enum { N_SIGNALS = ARRAY_SIZE(signals) };

/* The command: this program, called with "count MARKER [COMMAND ...]" */

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

/* A process of the command sends the signal to the group. */
static void send_from_inside(int sig)
{
	if (sig && !fork()) {
		kill(0, sig);
		_exit(0);
	}
}

/* Counts until the marker arrives and the child, if any, has ended. */
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

struct target;

/* What is run, and how the signal is sent. */
struct scene {
	void (*act)(struct target *t, const struct scene *scene);
	int sig;
	const struct way *way;
	unsigned bits;
	bool nested, terminal, pending;
};

struct target {
	pid_t main;		/* what the user started; it leads its process group */
	pid_t leader;		/* of the session on a terminal: waits for main. 0: no terminal */
	int master;
	const char *dir;	/* a forked child would get another support_tmpdir() */
	char out[PATH_MAX];
	int marker;
	bool recorded;
};

/* Waiting */

struct wait {
	const struct target *target;
	const char *text;
	pid_t pid;
	int status;
};

static bool has_text(void *data)
{
	const struct wait *w = data;

	return strstr(support_text(w->target->out), w->text);
}

/* Until the output has that text. */
static void wait_for(const struct target *t, const char *text)
{
	struct wait w = { .target = t, .text = text };

	support_wait_until(has_text, &w, text);
}

/* Not for the witness. True where /proc does not show the system call. */
static bool waits_for_signals(pid_t pid)
{
	int fd = open(support_path("/proc/%d/syscall", (int)pid), O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	return n <= 0 || atoi(text) == SYS_rt_sigtimedwait;
}

static bool is_quiet(void *data)
{
	pid_t pid = *(pid_t *)data;
	const char *status = support_text(support_path("/proc/%d/status", (int)pid));

	return strstr(status, "State:\tS") && strstr(status, "ShdPnd:\t0000000000000000") &&
	       waits_for_signals(pid);
}

/* Until the process has handled all its signals, so that the next one is not merged. */
static void wait_until_quiet(pid_t pid)
{
	support_wait_until(is_quiet, &pid, "no signal is pending");
}

/* Starting */

static const char *const *words(const struct target *t, bool nested)
{
	static const char *const record[] = { BUILDBEAT, "record", "--no-git", "-o", "stats", "--" };
	static const char *const task[] = { BUILDBEAT, "task", "inner", "--" };
	static const char self[] = TOP_BUILDDIR "/tests/check_launch_signals";
	static char marker[8];
	static const char *all[32];
	int n = 0;

	snprintf(marker, sizeof marker, "%d", t->marker);
	for (size_t i = 0; t->recorded && i < ARRAY_SIZE(record); i++)
		all[n++] = record[i];
	for (int level = 0; level <= nested; level++) {
		for (size_t i = 0; level && t->recorded && i < ARRAY_SIZE(task); i++)
			all[n++] = task[i];
		all[n++] = self;
		all[n++] = "count";
		all[n++] = marker;
	}
	all[n] = NULL;
	return all;
}

static _Noreturn void become(const struct target *t, const char *const *command)
{
	struct rlimit no_core = { 0, 0 };
	int fd = open(t->out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);

	setrlimit(RLIMIT_CORE, &no_core);
	setpgid(0, 0);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	if (!chdir(t->dir))
		execvp(command[0], (char *const *)(uintptr_t)command);
	_exit(99);
}

/* The leader of the session puts main into the foreground, gives up the terminal on
 * SIGHUP, and writes the status of main to a file. */
static _Noreturn void lead(struct target *t, const char *const *command)
{
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
	support_writes(support_path("%s/main", t->dir), support_path("%d\n", (int)t->main));
	sigemptyset(&all);
	sigaddset(&all, SIGCHLD);
	sigaddset(&all, SIGHUP);
	while (sigwaitinfo(&all, NULL) == SIGHUP)
		ioctl(STDIN_FILENO, TIOCNOTTY);
	waitpid(t->main, &status, 0);
	support_writes(support_path("%s/status", t->dir), support_path("%d\n", status));
	_exit(0);
}

/* The handlers of the test must not run in the child. A signal that is blocked and pending
 * stays so across exec. */
static void fork_quietly(struct target *t, int pending, const char *const *command)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	t->main = fork();
	if (!t->main) {
		for (int i = 0; i < N_SIGNALS; i++)
			signal(signals[i], SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pending) {
			sigaddset(&before, pending);
			raise(pending);
		}
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(t, command);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static void prepare(struct target *t, bool recorded, int marker)
{
	*t = (struct target){ .recorded = recorded, .marker = marker, .master = -1,
			      .dir = support_tmpdir() };
	snprintf(t->out, sizeof t->out, "%s/out", t->dir);
	support_writes(t->out, "");
}

static void begin(struct target *t, bool recorded, int marker)
{
	prepare(t, recorded, marker);
	fork_quietly(t, 0, words(t, false));
	wait_for(t, "ready");
}

static int number_in(const char *name)
{
	return atoi(support_text(support_path("%s/%s", support_tmpdir(), name)));
}

/* The leader of a session writes its file after it has started main. */
static bool main_is_known(void *data)
{
	struct target *t = data;

	t->main = support_exists(support_path("%s/main", t->dir)) ? number_in("main") : 0;
	return t->main > 0;
}

static bool has_ended(void *data)
{
	struct wait *w = data;

	return waitpid(w->pid, &w->status, WNOHANG) == w->pid;
}

static void end(struct target *t, struct outcome *o)
{
	struct wait w = { .pid = t->leader ? t->leader : t->main };

	support_wait_until(has_ended, &w, "the command ends");
	o->status = t->leader ? number_in("status") : w.status;
	if (t->master >= 0)
		close(t->master);
	support_read(&o->out, t->out);
}

/* Process numbers differ. */
static void drop_ready(struct buf *out)
{
	char *at = out->len ? strstr(out->data, "ready ") : NULL, *eol = at ? strchr(at, '\n') : NULL;

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

/* As a service manager does. The launcher runs only when every process has the signal. */
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

/* As an interactive user does who has stopped the job. */
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

/* The number that follows the word "ready" in the output: the command's process, its parent. */
static void read_ready(const struct target *t, int *pid, int *parent)
{
	const char *ready = strstr(support_text(t->out), "ready ");

	ck_assert_int_eq(sscanf(ready, "ready %d %d", pid, parent), 2);
}

/* The launcher handles signals in their order: those that arrived before the marker are
 * counted before it. */
static void send_marker(struct target *t, bool nested)
{
	int pid, parent;

	read_ready(t, &pid, &parent);
	wait_until_quiet(t->main);
	if (nested) {
		wait_until_quiet(t->recorded ? parent : pid);
		kill(t->recorded ? parent : pid, t->marker);
	}
	kill(t->main, t->marker);
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

static void run_scene(struct outcome *o, bool recorded, const struct scene *s)
{
	struct target t;

	prepare(&t, recorded, s->sig == SIGUSR2 ? SIGUSR1 : SIGUSR2);
	if (s->way && s->way->inside)
		setenv("SEND_FROM_INSIDE", support_path("%d", s->sig), 1);
	if (s->terminal) {
		unlink(support_path("%s/main", t.dir));
		t.leader = forkpty(&t.master, NULL, NULL, NULL);
		if (!t.leader)
			lead(&t, words(&t, s->nested));
	} else {
		fork_quietly(&t, s->pending ? s->sig : 0, words(&t, s->nested));
	}
	unsetenv("SEND_FROM_INSIDE");
	wait_for(&t, "ready");
	if (s->terminal)
		support_wait_until(main_is_known, &t, "the session's leader starts the command");
	s->act(&t, s);
	send_marker(&t, s->nested);
	end(&t, o);
	drop_ready(&o->out);
}

/* Returns the status. */
static int compare(const struct scene *s)
{
	struct outcome plain, recorded;

	run_scene(&plain, false, s);
	run_scene(&recorded, true, s);
	same(&plain, &recorded);
	return plain.status;
}

static void act_once(struct target *t, const struct scene *s)
{
	if (s->way)
		s->way->send(t, s->sig);
	wait_for(t, "got");
}

TEST_GROUP("each_way");

TEST_LOOP(each_way, N_WAYS * N_SIGNALS)
{
	int status = compare(&(struct scene){ .act = act_once, .way = &ways[_i / N_SIGNALS],
					      .sig = signals[_i % N_SIGNALS] });

	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

TEST_GROUP("nested");

/* A launcher inside a launcher's command, in one process group: each of both commands
 * counts its signals. A signal to the outer process alone reaches only its command. */
TEST_LOOP(nested, N_WAYS * N_SIGNALS)
{
	const struct way *way = &ways[_i / N_SIGNALS];

	if (!way->inside && way->send != send_each)
		compare(&(struct scene){ .act = act_once, .way = way, .nested = true,
					 .sig = signals[_i % N_SIGNALS] });
}

static void act_key(struct target *t, const struct scene *s)
{
	if (s->sig == SIGHUP)
		kill(t->leader, SIGHUP);
	else
		ck_assert_int_eq(write(t->master, s->sig == SIGINT ? "\003" : "\034", 1), 1);
	wait_for(t, "got");
}

static const int keys[] = { SIGINT, SIGQUIT, SIGHUP };

TEST_GROUP("terminal");

TEST_EACH(terminal, keys)
{
	compare(&(struct scene){ .act = act_key, .sig = keys[_i], .terminal = true });
}

/* Alone and to the group in turn: four. */
static void act_repeatedly(struct target *t, const struct scene *s)
{
	for (int i = 1; i <= 4; i++) {
		(i % 2 ? send_alone : send_group)(t, s->sig);
		wait_for(t, support_path("got %d %d ", s->sig, i));
		wait_until_quiet(t->main);
	}
}

TEST_GROUP("repeated");

TEST_LOOP(repeated, N_SIGNALS)
{
	compare(&(struct scene){ .act = act_repeatedly, .sig = signals[_i] });
}

/* Different signals at once, each alone or to the group by its bit. */
static void act_mixed(struct target *t, const struct scene *s)
{
	for (int i = 0; i < N_SIGNALS - 1; i++)
		(s->bits & 1u << i ? send_group : send_alone)(t, signals[i]);
	for (int i = 0; i < N_SIGNALS - 1; i++)
		wait_for(t, support_path("got %d 1 ", signals[i]));
}

TEST_GROUP("mixed");

TEST_LOOP(mixed, 7)
{
	compare(&(struct scene){ .act = act_mixed, .bits = (unsigned)_i * 5 });
}

TEST_GROUP("pending_at_start");

/* The signal is blocked and pending when the program starts. */
TEST_LOOP(pending_at_start, N_SIGNALS)
{
	compare(&(struct scene){ .act = act_once, .sig = signals[_i], .pending = true });
}

TEST_GROUP("while_starting");

/* At any moment while it starts: a process without a handler yet is ended by the signal. */
TEST_LOOP(while_starting, 40)
{
	static const char *const command[] = {
		BUILDBEAT, "record", "--no-git", "-o", "stats", "--", "sleep", "1000", NULL,
	};
	struct target t;
	struct outcome o;

	prepare(&t, true, 0);
	fork_quietly(&t, 0, command);
	for (volatile int i = 0; i < _i * 40000; i++)
		;
	setpgid(t.main, t.main);
	kill(_i % 2 ? -t.main : t.main, SIGTERM);
	end(&t, &o);
	ck_assert_msg(WIFSIGNALED(o.status) && WTERMSIG(o.status) == SIGTERM, "%x %s", o.status,
		      buf_str(&o.out));
	buf_release(&o.out);
}

static bool group_is_gone(void *data)
{
	return kill(-*(pid_t *)data, 0);
}

TEST_GROUP("nothing_stays");

/* The witness ends with the launcher. */
TEST_LOOP(nothing_stays, 1)
{
	struct target t;
	struct outcome o;

	begin(&t, true, SIGUSR2);
	kill(t.main, SIGKILL);
	kill(-t.main, SIGUSR2);
	end(&t, &o);
	support_wait_until(group_is_gone, &t.main, "the process group is gone");
	buf_release(&o.out);
}

TEST_GROUP("witness_gone");

/* A witness that is killed or stopped only delays signals. */
TEST_LOOP(witness_gone, 2)
{
	struct target t;
	struct outcome o;
	int command, parent, first, second;

	begin(&t, true, SIGUSR2);
	read_ready(&t, &command, &parent);
	if (sscanf(support_text(support_path("/proc/%d/task/%d/children", (int)t.main,
					     (int)t.main)), "%d %d", &first, &second) == 2)
		kill(first == command ? second : first, _i ? SIGSTOP : SIGKILL);
	kill(t.main, SIGTERM);
	wait_for(&t, "got 15 1 ");
	kill(t.main, SIGUSR2);
	end(&t, &o);
	ck_assert(WIFEXITED(o.status) && WEXITSTATUS(o.status) == 5);
	ck_assert_ptr_null(strstr(buf_str(&o.out), "got 15 2"));
	buf_release(&o.out);
}

/* Build tools */

/* make ends at its second interrupt at once: it neither waits for the recipe nor deletes
 * the target. ninja ends its commands itself at the first one. */
static const struct { const char *file, *text, *command; } tools[] = {
	{ "Makefile", "made: ; @exec 2>/dev/null; echo x >made; trap 'sleep 0.2; echo cleaned; exit 1' INT TERM HUP; "
	  "echo ready; while :; do sleep 0.02; done\n", "make" },
	{ "build.ninja", "rule r\n command = exec 2>/dev/null; echo x >made; trap 'sleep 0.2; echo cleaned; exit 1' "
	  "INT TERM HUP; : >started; while :; do sleep 0.02; done\nbuild made: r\n", "ninja" },
};

static bool tool_started(void *data)
{
	const struct wait *w = data;

	return w->text ? has_text(data) : support_exists(support_path("%s/started", w->target->dir));
}

static void run_tool(struct outcome *o, bool recorded, int tool, bool group, int sig)
{
	const char *script = support_path("exec %s%s 2>&1", recorded ? RECORD : "",
					  tools[tool].command);
	const char *command[] = { "sh", "-c", strdupa(script), NULL };
	struct target t;

	prepare(&t, recorded, 0);
	support_writes(support_path("%s/%s", t.dir, tools[tool].file), tools[tool].text);
	unlink(support_path("%s/made", t.dir));
	unlink(support_path("%s/started", t.dir));
	fork_quietly(&t, 0, command);
	support_wait_until(tool_started, &(struct wait){ .target = &t, .text = tool ? NULL : "ready" },
			   "the recipe starts");
	(group ? send_group : send_alone)(&t, sig);
	end(&t, o);
	buf_addf(&o->out, "made %d\n", support_exists(support_path("%s/made", t.dir)));
}

TEST_GROUP("build_tools");

TEST_LOOP(build_tools, 12)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	int tool = _i / 6, group = _i / 3 % 2, sig = ending[_i % 3];
	struct outcome plain, recorded;

	SKIP_IF(!support_has(tools[tool].command) || !support_can_be_loaded());
	/* make itself waits for a recipe that did not get the signal */
	if (!tool && !group && sig != SIGTERM)
		return;
	run_tool(&plain, false, tool, group, sig);
	run_tool(&recorded, true, tool, group, sig);
	same(&plain, &recorded);
}

TEST_PROGRAM(launch_signals)
{
	if (argc > 2 && !strcmp(argv[1], "count"))
		return count(atoi(argv[2]), argv + 3);
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	for (int i = 0; i < N_SIGNALS; i++)
		signal(signals[i], SIG_DFL);
	return support_main();
}
