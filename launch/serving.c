/* SPDX-License-Identifier: MIT */
#include "launch/serving.h"

#include "base/clock.h"
#include "launch/aside.h"
#include "launch/find_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A machine may be so busy, but a build does not wait for longer. */
#define URL_NS INT64_C(5000000000)

#define URL_FD "3"	/* of aside_settle() */
#define OPTIONS_MAX 64

static _Noreturn void run_server(const char *program, const char *const *options, const char *path,
				 pid_t launcher, int fd, const sigset_t *mask)
{
	const char *argv[OPTIONS_MAX + 8] = { "buildbeat-serve", "-f", URL_FD, "-p" };
	char pid[16];
	size_t n = 4;

	snprintf(pid, sizeof pid, "%d", (int)launcher);
	argv[n++] = pid;
	for (size_t i = 0; options[i] && i < OPTIONS_MAX; i++)
		argv[n++] = options[i];
	argv[n++] = "--";
	argv[n] = path;
	fcntl(aside_settle("buildbeat-serve", fd, mask), F_SETFD, 0);
	execv(program, (char **)argv);
	_exit(127);
}

/* A line, without its end. */
static int read_line(struct buf *out, int fd)
{
	int64_t until_ns = clock_mono_ns() + URL_NS;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left_ns = until_ns - clock_mono_ns();
		char part[512];
		ssize_t n;

		n = left_ns <= 0 ? 0 : poll(&p, 1, (int)(left_ns / 1000000) + 1);
		if (!n)
			return -ETIMEDOUT;
		n = n < 0 ? n : read(fd, part, sizeof part);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EPIPE;
		buf_add(out, part, (size_t)n);
		if (buf_error(out) || part[n - 1] == '\n')
			break;
	}
	if (!buf_error(out))
		buf_cut(out, out->len - 1);
	return buf_error(out);
}

pid_t serving_begin(const char *const *options, const char *path, pid_t launcher, const sigset_t *mask,
		    struct buf *url, struct error *err)
{
	char program[PATH_MAX];
	int ends[2], r;
	pid_t pid;

	if (!find_program(program, FIND_SERVER, err))
		return -ENOENT;
	if (pipe2(ends, O_CLOEXEC))
		return error_sys(err, -errno, NULL, NULL);
	pid = fork();
	if (!pid)
		run_server(program, options, path, launcher, ends[1], mask);
	r = pid < 0 ? -errno : 0;
	close(ends[1]);
	r = r ? r : read_line(url, ends[0]);
	close(ends[0]);
	if (!r && strncmp(buf_str(url), "error ", 6))
		return pid;
	if (!r)
		return error_say(err, -EINVAL, "%s", buf_str(url) + 6);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	return error_sys(err, r, program, "the server does not begin");
}
