/* SPDX-License-Identifier: MIT */
#include "bisect/tool.h"

#include "base/file.h"
#include "base/readfile.h"
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
	const struct tool *tool;
	pid_t parent;
	int null, out;
};

/* In the new process. A build tool ends its commands on SIGTERM. */
static void enter(void *context)
{
	const struct place *p = context;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != p->parent)
		_exit(127);
	dup2(p->null, STDIN_FILENO);
	dup2(p->out, STDOUT_FILENO);
	dup2(p->tool->log_fd, STDERR_FILENO);
	if (p->tool->directory && chdir(p->tool->directory))
		_exit(126);
}

/* A shell reports a signal in its exit status. */
static bool is_interrupted(int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - 128;

	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

int tool_read(struct buf *text, int fd)
{
	return lseek(fd, 0, SEEK_SET) ? -errno : readfile_fd(text, fd, SIZE_MAX);
}

static int run_in(const struct tool *t, struct place *p, int *status)
{
	struct launch l = { .argv = (char **)t->argv, .entered = enter, .context = p };
	int r = launch_run(&l);

	if (r)
		return r;
	*status = l.status;
	if (is_interrupted(l.status))
		return -EINTR;
	return t->out ? tool_read(t->out, p->out) : 0;
}

int tool_run(const struct tool *t, int *status)
{
	struct place p = { .tool = t, .parent = getpid(), .out = t->log_fd };
	int r;

	p.null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (t->out)
		p.out = memfd_create("buildbeat", MFD_CLOEXEC);
	r = p.null < 0 || p.out < 0 ? -errno : run_in(t, &p, status);
	if (t->out && p.out >= 0)
		close(p.out);
	file_close(p.null);
	return r;
}
