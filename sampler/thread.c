/* SPDX-License-Identifier: MIT */
#include "sampler/thread.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_BYTES (512 * 1024)
#define TRIAL_NS 50000000	/* it usually takes microseconds */
#define SLICE_NS 100000		/* the shortest that kernels accept */

int thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	pthread_attr_t attr;
	sigset_t all, old;
	int r = pthread_attr_init(&attr);

	if (r)
		return -r;
	/* not the limit of the process, which may be a few pages */
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(thread, &attr, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return -r;
}

static void *store_number(void *tid)
{
	*(int32_t *)tid = gettid();
	return NULL;
}

int thread_is_reported(const struct netlink *n, bool (*next)(void *source, int32_t *tid),
		       void *source)
{
	int32_t own = 0, tid;
	int64_t until_ns;
	pthread_t thread;
	int r = thread_start(&thread, store_number, &own);

	if (!r)
		r = -pthread_join(thread, NULL);
	/* The thread can take long on a busy machine. The socket has the event afterwards. */
	until_ns = clock_mono_ns() + TRIAL_NS;
	while (!r) {
		while (next(source, &tid)) {
			if (tid == own)
				return 0;
		}
		if (clock_mono_ns() >= until_ns)
			return -ENOTSUP;
		netlink_wait(n, 20);
	}
	return r;
}

/* As in the kernel, whose header conflicts with the C library's: the first version. */
struct scheduling {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Since Linux 6.12 threads with short time slices run before those with long ones. */
void thread_be_prompt(void)
{
	struct scheduling attr = { .size = sizeof attr };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0))
		return;
	attr.runtime_ns = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}
