/* SPDX-License-Identifier: MIT */
#include "symbols/stack_threads.h"

#include "base/clock.h"
#include "base/cursor.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define PASSES 3		/* threads can begin while others are stopped */
#define WAIT_NS INT64_C(1000000000)

static bool is_known_thread(const struct stack_threads *t, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->thread[i].tid == tid)
			return true;
	}
	return false;
}

/* A thread may end at any time, which is no error. */
static int seize(struct stack_threads *t, pid_t tid)
{
	if (t->n == STACK_THREADS_MAX || is_known_thread(t, tid))
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return errno == ESRCH ? 0 : -errno;
	t->thread[t->n++] = (struct stack_stopped){ .tid = tid };
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

static int seize_all(struct stack_threads *t, pid_t pid)
{
	char path[32];
	struct dirent *entry;
	DIR *dir;
	int r = 0;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!r && (entry = readdir(dir))) {
		uint64_t tid;

		if (cursor_slice_u64(slice_of(entry->d_name), &tid) && tid <= INT32_MAX)
			r = seize(t, (pid_t)tid);
	}
	closedir(dir);
	return r;
}

static bool try_stopped(struct stack_stopped *s)
{
	int status;

	if (s->stopped || waitpid(s->tid, &status, __WALL | WNOHANG) != s->tid)
		return s->stopped;
	s->stopped = WIFSTOPPED(status);
	/* not our interruption but a signal, which it gets when it runs on */
	if (s->stopped && status >> 16 != PTRACE_EVENT_STOP)
		s->signal = WSTOPSIG(status);
	return s->stopped;
}

static void wait_all(struct stack_threads *t)
{
	int64_t until_ns = clock_mono_ns() + WAIT_NS;
	struct timespec pause = { 0, 100000 };
	size_t n;

	do {
		n = 0;
		for (size_t i = 0; i < t->n; i++)
			n += !try_stopped(&t->thread[i]);
		if (n)
			nanosleep(&pause, NULL);
	} while (n && clock_mono_ns() < until_ns);
}

int stack_threads_stop(struct stack_threads *t, pid_t pid)
{
	size_t before;
	int r;

	t->n = 0;
	for (int pass = 0; pass < PASSES; pass++) {
		before = t->n;
		r = seize_all(t, pid);
		if (r)
			return r;
		wait_all(t);
		if (t->n == before)
			break;
	}
	return t->n ? 0 : -ESRCH;
}

void stack_threads_release(struct stack_threads *t)
{
	for (size_t i = 0; i < t->n; i++)
		ptrace(PTRACE_DETACH, t->thread[i].tid, NULL, (void *)(long)t->thread[i].signal);
	t->n = 0;
}
