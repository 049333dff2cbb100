#include "thread.h"

#include <linux/sched/types.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLICE_NS 100000		/* the shortest a kernel takes */

int thread_start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all, old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	r = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -r;
}

static void *tell_number(void *tid)
{
	*(int32_t *)tid = gettid();
	return NULL;
}

int thread_come_and_go(int32_t *tid)
{
	pthread_t thread;
	int r = thread_start(&thread, tell_number, tid);

	return r ? r : -pthread_join(thread, NULL);
}

/* Since Linux 6.12 a thread that asks for short turns comes before those with long. */
void thread_be_prompt(void)
{
	struct sched_attr attr = { .size = sizeof attr };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0))
		return;
	attr.sched_runtime = SLICE_NS;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}
