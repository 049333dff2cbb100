/* SPDX-License-Identifier: MIT */
#include "plugin/preload_count.h"

#include "plugin/pidtable.h"
#include "plugin/preload.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* In memory that the host shares with its forks. The descriptors are of the process that started the
 * child, and that alone can wait for it. */
struct counters {
	struct pidtable table;		/* descriptor, and the low half of the event's id */
	struct counting_missed missed;
};

static struct counters *counters;	/* NULL: nothing is counted */
static enum counter_event event;
static atomic_flag receiving = ATOMIC_FLAG_INIT;
static struct counting_post own = COUNTING_POST_CLOSED;	/* of the children of this process */
static struct counting_post parents = COUNTING_POST_CLOSED;	/* of a fork */

void preload_count_begin(enum counter_event e)
{
	void *memory;

	if (e == COUNTER_OFF)
		return;
	memory = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return;
	event = e;
	counters = memory;
	counting_post_open(&own);
}

bool preload_counts(void)
{
	return counters;
}

int preload_count_spawn(struct counting *c)
{
	struct preload_guest guest = preload_enter();
	struct preload_work *w = preload_work_take(getpid());
	int r;

	preload_leave(guest);
	c->event = event;
	if (w) {
		r = counting_spawn(c, w->stack);
	} else {
		c->counter = (struct counter)COUNTER_CLOSED;
		c->error = -ENOMEM;
		r = c->function(c->pid, c->file, c->actions, c->attr, c->argv, c->envp);
	}
	preload_work_give(w);
	return r;
}

static bool take(struct counter *c, pid_t pid)
{
	uint64_t value;

	if (!pidtable_take(&counters->table, pid, &value))
		return false;
	*c = (struct counter){ (int)(value >> 32), (uint32_t)value };
	return true;
}

/* The process that waits for pid keeps its counter. */
static void keep(pid_t pid, struct counter *c)
{
	struct counter old;

	if (take(&old, pid))	/* nobody waited for that one */
		counter_close(&old);
	if (c->fd >= 0 && !pidtable_put(&counters->table, pid, (uint64_t)c->fd << 32 | c->id)) {
		counter_close(c);
		counting_miss(&counters->missed, -EMFILE);
	}
}

void preload_count_started(pid_t pid, struct counting *c)
{
	if (c->counter.fd < 0)
		counting_miss(&counters->missed, c->error);
	keep(pid, &c->counter);
}

/* What children have sent until now. A counter that was received is in the table before any other thread,
 * or a signal handler of this one, looks for it. */
static void receive(void)
{
	sigset_t all, before;
	struct counter c;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (atomic_flag_test_and_set(&receiving))
		sched_yield();
	while (counting_post_take(&own, &pid, &c)) {
		if (c.fd < 0)
			counting_miss(&counters->missed, -EMFILE);
		keep(pid, &c);
	}
	atomic_flag_clear(&receiving);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void preload_count_forking(void)
{
	if (counters)
		receive();
}

/* It may call vfork() next, of which we do not learn before. */
void preload_count_forked(void)
{
	if (!counters)
		return;
	atomic_flag_clear(&receiving);
	counting_post_close(&parents);
	parents = own;
	counting_post_leave(&parents);
	counting_post_open(&own);
}

/* A child of vfork() has the memory of its parent. */
void preload_count_executing(void)
{
	bool vforked = own.pid != getpid();
	int r;

	if (!counters)
		return;
	r = counting_post_send(vforked ? &own : &parents, event);
	if (r)
		counting_miss(&counters->missed, r);
}

int64_t preload_count_take(pid_t pid)
{
	struct counter c;

	if (!counters)
		return -1;
	receive();
	return take(&c, pid) ? counting_take(&c, event, &counters->missed) : -1;
}

void preload_count_add_missed(struct buf *b)
{
	if (counters && counters->missed.n)
		counting_add_missed(b, &counters->missed);
}
