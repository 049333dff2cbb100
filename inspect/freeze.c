/* SPDX-License-Identifier: MIT */
#include "inspect/freeze.h"

#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOPPED_WITHIN_NS INT64_C(1000000000)
#define POLL_NS 200000

static int send_signal(int pid_fd, int sig)
{
	return (int)syscall(SYS_pidfd_send_signal, pid_fd, sig, NULL, 0) ? -errno : 0;
}

/* What matters of a process before it is stopped. */
struct state {
	char letter;
	int32_t parent, group, session;
};

/* "PID (NAME) S PARENT GROUP SESSION ...", where NAME may have any bytes. */
static bool read_state(struct state *s, const char *path)
{
	char text[512], *end;
	int64_t n[3];
	struct cursor c;

	if (readfile_start(AT_FDCWD, path, text, sizeof text) < 0)
		return false;
	end = strrchr(text, ')');
	if (!end || end[1] != ' ' || !end[2])
		return false;
	cursor_init(&c, end + 3, strlen(end + 3));
	for (int i = 0; i < 3; i++) {
		if (c.p == c.end || *c.p++ != ' ' || !cursor_i64(&c, &n[i]))
			return false;
	}
	*s = (struct state){ end[2], (int32_t)n[0], (int32_t)n[1], (int32_t)n[2] };
	return true;
}

static bool state_of(struct state *s, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return read_state(s, path);
}

static bool has_debugger(pid_t pid)
{
	char path[64], text[4096], *line;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	if (readfile_start(AT_FDCWD, path, text, sizeof text) < 0)
		return false;
	line = strstr(text, "\nTracerPid:");
	return line && strncmp(line, "\nTracerPid:\t0\n", 14) != 0;
}

/* A shell with job control, or sudo, runs a command in a process group of its own and waits for it
 * to stop: it would take the terminal back. */
static bool has_job_control(const struct state *s)
{
	struct state parent;

	return s->parent > 1 && state_of(&parent, s->parent) && parent.session == s->session &&
	       parent.group != s->group;
}

static bool is_stopped(char letter)
{
	return letter == 'T' || letter == 't';
}

/* A thread that waits in the kernel, or has ended, runs no code of the program either. */
static bool cannot_run(char letter)
{
	return is_stopped(letter) || letter == 'D' || letter == 'Z' || letter == 'X';
}

static bool threads_stopped(pid_t pid)
{
	char path[sizeof "/proc//task//stat" + 2 * 256];
	struct dirent *entry;
	struct state s;
	bool stopped = true;
	DIR *dir;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = file_open_dir_at(AT_FDCWD, path);
	while (dir && stopped && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%s/stat", (int)pid, entry->d_name);
		stopped = !read_state(&s, path) || cannot_run(s.letter);
	}
	if (dir)
		closedir(dir);
	return stopped;
}

static bool wait_for_threads(pid_t pid)
{
	const struct timespec pause = { 0, POLL_NS };
	int64_t until_ns = clock_mono_ns() + STOPPED_WITHIN_NS;

	while (!threads_stopped(pid)) {
		if (clock_mono_ns() > until_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* All signals are blocked. Descriptors of others would keep their pipes open. */
static _Noreturn void guard(int pid_fd, int socket, int64_t until_ns)
{
	struct pollfd end = { .events = 0 };
	int64_t left_ns;
	char ready = 1;

	setsid();
	dup2(pid_fd, 0);
	dup2(socket, 1);
	if (syscall(SYS_close_range, 2, ~0U, 0)) {
		for (int fd = 2; fd < 1024; fd++)
			close(fd);
	}
	end.fd = 1;
	if (send(1, &ready, 1, MSG_NOSIGNAL) != 1)
		_exit(1);
	while ((left_ns = until_ns - clock_mono_ns()) > 0) {
		if (poll(&end, 1, (int)(left_ns / 1000000) + 1))
			break;
	}
	send_signal(0, SIGCONT);
	_exit(0);
}

/* Both descriptors must survive dup2() to 0 and 1. */
static int start_guard(struct freeze *f, int pid_fd)
{
	int pair[2], high[3], r = 0;
	sigset_t all, old;
	char ready;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	high[0] = file_copy(pair[0]);
	high[1] = file_copy(pair[1]);
	high[2] = file_copy(pid_fd);
	close(pair[0]);
	close(pair[1]);
	if (high[0] < 0 || high[1] < 0 || high[2] < 0)
		r = -EMFILE;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	f->guard = r ? -1 : fork();
	if (!f->guard)
		guard(high[2], high[1], f->until_ns);
	if (!r && f->guard < 0)
		r = -errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	file_close(high[1]);
	file_close(high[2]);
	f->socket = high[0];
	/* in its session, where a signal to our group does not reach it */
	while (!r && recv(f->socket, &ready, 1, 0) != 1) {
		if (errno != EINTR)
			r = -ECHILD;
	}
	return r;
}

/* The guard continues the process once more, which has no effect. */
static void stop_guard(struct freeze *f)
{
	file_close(f->socket);
	f->socket = -1;
	while (f->guard > 0 && waitpid(f->guard, NULL, 0) < 0 && errno == EINTR)
		;
	f->guard = 0;
}

static int refuse(pid_t pid, const struct state *s, int64_t expected_us, struct error *err)
{
	if (expected_us > FREEZE_MAX_US)
		return error_set(err, -ETIME, NULL, 0, 0, "process %d is not stopped: a snapshot takes "
				 "%.1f s, more than 5 s", (int)pid, (double)expected_us / 1e6);
	if (has_debugger(pid))
		return error_set(err, -EBUSY, NULL, 0, 0, "process %d is not stopped: a debugger "
				 "controls it", (int)pid);
	if (has_job_control(s))
		return error_set(err, -EBUSY, NULL, 0, 0, "process %d is not stopped: the shell that "
				 "started it would suspend it", (int)pid);
	return 0;
}

int freeze_begin(struct freeze *f, pid_t pid, int pid_fd, int64_t expected_us, struct error *err)
{
	struct state s;
	int r;

	*f = (struct freeze){ .pid_fd = pid_fd, .socket = -1,
			      .until_ns = clock_mono_ns() + FREEZE_MAX_US * 1000 };
	if (pid_fd < 0)
		return error_set(err, -ENOSYS, NULL, 0, 0, "process %d is not stopped: this kernel has "
				 "no pidfds (Linux 5.3)", (int)pid);
	if (!state_of(&s, pid))
		return error_sys(err, -ESRCH, NULL, "a process cannot be stopped");
	if (is_stopped(s.letter) && !has_debugger(pid))
		return 0;
	r = refuse(pid, &s, expected_us, err);
	if (r)
		return r;
	r = start_guard(f, pid_fd);
	if (!r)
		r = send_signal(pid_fd, SIGSTOP);
	if (!r && !wait_for_threads(pid))
		r = -ETIMEDOUT;
	if (!r)
		return 0;
	send_signal(pid_fd, SIGCONT);
	stop_guard(f);
	return error_set(err, r, NULL, 0, 0, "process %d cannot be stopped: %s", (int)pid,
			 strerror(-r));
}

bool freeze_end(struct freeze *f)
{
	bool in_time;

	if (!f->guard)
		return true;
	in_time = clock_mono_ns() < f->until_ns;
	send_signal(f->pid_fd, SIGCONT);
	stop_guard(f);
	return in_time;
}
