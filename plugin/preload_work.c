/* SPDX-License-Identifier: MIT */
#include "plugin/preload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Work memory. Its pid says that it is in use, and by which process. A vfork child, whose memory
 * is its parent's, takes its own and cannot give it back if its exec succeeds. The thread that
 * made the child has the same pthread_self() and does not run before the exec: it knows afterwards
 * that the memory is free. Other threads know it when the child has been waited for.
 */
static struct preload_work pool[PRELOAD_WORKS];
static struct preload_work *_Atomic more;

static bool claim(struct preload_work *w, pid_t was, pid_t pid)
{
	if (!atomic_compare_exchange_strong(&w->pid, &was, pid))
		return false;
	atomic_store(&w->owner, (uintptr_t)pthread_self());
	return true;
}

/* A child of this thread left it. A vfork child that a signal handler started does not take the
 * memory that its parent is using. */
static bool is_left_here(const struct preload_work *w, pid_t was, pid_t pid)
{
	return was != pid && atomic_load(&w->owner) == (uintptr_t)pthread_self() &&
	       was != getppid();
}

static bool try(struct preload_work *w, pid_t pid)
{
	pid_t was = atomic_load(&w->pid);

	return (!was || is_left_here(w, was, pid)) && claim(w, was, pid);
}

static struct preload_work *try_all(bool (*function)(struct preload_work *, pid_t), pid_t pid)
{
	for (size_t i = 0; i < PRELOAD_WORKS; i++) {
		if (function(&pool[i], pid))
			return &pool[i];
	}
	for (struct preload_work *w = atomic_load(&more); w; w = w->next) {
		if (function(w, pid))
			return w;
	}
	return NULL;
}

/* Nobody waited for the child that left it, and the child has gone. */
static bool try_dead(struct preload_work *w, pid_t pid)
{
	pid_t was = atomic_load(&w->pid);

	return was && was != pid && kill(was, 0) && errno == ESRCH && claim(w, was, pid);
}

/* It stays for later use. */
static struct preload_work *make_another(pid_t pid)
{
	struct preload_work *w = mmap(NULL, sizeof *w, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (w == MAP_FAILED)
		return NULL;
	claim(w, 0, pid);
	w->next = atomic_load(&more);
	while (!atomic_compare_exchange_weak(&more, &w->next, w))
		;
	return w;
}

struct preload_work *preload_work_take(pid_t pid)
{
	struct preload_work *w = try_all(try, pid);

	if (!w)
		w = try_all(try_dead, pid);
	return w ? w : make_another(pid);
}

void preload_work_give(struct preload_work *w)
{
	if (!w)
		return;
	atomic_store(&w->owner, 0);
	atomic_store(&w->pid, 0);
}

static bool free_if_of(struct preload_work *w, pid_t pid)
{
	if (atomic_load(&w->pid) == pid)
		preload_work_give(w);
	return false;
}

void preload_work_reaped(pid_t pid)
{
	try_all(free_if_of, pid);
}
