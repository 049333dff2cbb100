/* SPDX-License-Identifier: MIT */
#include "launch/inspector.h"

#include "base/clock.h"
#include "launch/aside.h"
#include "launch/find_plugin.h"
#include "launch/notice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_NS INT64_C(20000000000)

/* The end of the launcher interrupts poll(). */
#define END_SIGNAL SIGUSR1

static volatile sig_atomic_t launcher_ended;

static void on_end(int sig)
{
	(void)sig;
	launcher_ended = 1;
}

static bool counts_heap(const struct watch_settings *s)
{
	for (size_t k = 0; k < s->n_rules; k++) {
		if (s->rule[k].heap)
			return true;
	}
	return false;
}

static void disarm(struct inspector *i)
{
	if (*i->heap_dir)
		watch_remove_images(i->heap_dir);
	if (i->made_base)
		rmdir(i->base);
	i->heap_dir[0] = '\0';
	arm_release(&i->arm);
	i->arm = (struct arm){ .dir = "" };
}

static void prepare_heap(struct inspector *i, const struct watch_settings *s)
{
	struct error err = { 0 };
	int r = 0;

	if (!counts_heap(s))
		return;
	i->made_base = access(s->base, F_OK);
	r = store_make_base(s->base, s->access, &err);
	if (!r && snprintf(i->heap_dir, sizeof i->heap_dir, "%s/heap.%d", s->base, (int)getpid()) >= PATH_MAX)
		r = error_sys(&err, -ENAMETOOLONG, s->base, NULL);
	if (!r && mkdir(i->heap_dir, 0700))
		r = error_sys(&err, -errno, i->heap_dir, NULL);
	if (!r && !arm_init(&i->arm, s->rule, s->n_rules, i->heap_dir, &err))
		r = -EINVAL;
	if (!r)
		return;
	notice("no allocations are counted: %s%s%s", err.path, *err.path ? ": " : "", err.message);
	disarm(i);
}

static _Noreturn void run_inspector(struct inspector *i, const struct watch_settings *given,
				    int end_fd, const sigset_t *mask, pid_t launcher)
{
	struct watch_settings s = *given;
	sigset_t set = *mask;

	sigdelset(&set, END_SIGNAL);
	s.root = s.launcher = launcher;
	s.end_fd = aside_settle("buildbeat-look", end_fd, &set);
	s.heap_dir = *i->heap_dir ? i->heap_dir : NULL;
	signal(END_SIGNAL, on_end);
	s.symbols.stop = &launcher_ended;
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, END_SIGNAL);
	_exit(watch_run(i->result, &s) < 0);
}

int inspector_begin(struct inspector *i, const struct watch_settings *given, const sigset_t *mask,
		    struct error *err)
{
	struct watch_settings s = *given;
	char symbols[PATH_MAX];
	pid_t launcher = getpid();
	struct error unused;
	int pair[2];

	*i = (struct inspector){ .end_fd = -1 };
	snprintf(i->base, sizeof i->base, "%s", s.base);
	if (find_program(symbols, FIND_SYMBOLS, &unused))
		s.symbols.program = symbols;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return error_sys(err, -errno, NULL, NULL);
	i->result = mmap(NULL, sizeof *i->result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	if (i->result == MAP_FAILED)
		i->result = NULL;
	else
		prepare_heap(i, &s);
	i->pid = i->result ? fork() : -1;
	if (!i->pid)
		run_inspector(i, &s, pair[0], mask, launcher);
	close(pair[0]);
	if (i->pid > 0) {
		i->end_fd = pair[1];
		return 0;
	}
	close(pair[1]);
	i->pid = 0;
	disarm(i);
	return error_sys(err, -ENOMEM, NULL, "no process is inspected");
}

static bool wait_until(pid_t pid, int64_t until_ns)
{
	const struct timespec pause = { 0, 2000000 };

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (clock_mono_ns() >= until_ns)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

void inspector_end(struct inspector *i, bool at_once, struct watch_result *result)
{
	char byte = 1;

	if (!i->pid)
		return;
	/* it may have been killed */
	if (!at_once && send(i->end_fd, &byte, 1, MSG_NOSIGNAL) != 1)
		at_once = true;
	close(i->end_fd);
	if (!wait_until(i->pid, clock_mono_ns() + LIMIT_NS)) {
		kill(i->pid, SIGKILL);
		waitpid(i->pid, NULL, 0);
	}
	if (result)
		*result = *i->result;
	munmap(i->result, sizeof *i->result);
	disarm(i);
	*i = (struct inspector){ .end_fd = -1 };
}
