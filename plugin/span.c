/* SPDX-License-Identifier: MIT */
#include "plugin/span.h"

#include "base/hash.h"
#include "base/tls.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES 20000		/* to get the table, before a thread goes on without it */
#define TRIES_A_YIELD 50

static __thread struct { int32_t pid, thread; } self TLS_QUICK;

int32_t span_thread(int32_t pid)
{
	if (self.pid != pid) {
		self.thread = (int32_t)syscall(SYS_gettid);
		self.pid = pid;
	}
	return self.thread;
}

/* The table is held for some hundred instructions. Its lock is not a mutex, because another
 * thread may have it when this process is forked. */
static bool hold(struct span_table *t, int32_t pid)
{
	for (int i = 1; i <= TRIES; i++) {
		int32_t was = atomic_load_explicit(&t->lock, memory_order_relaxed);

		if (was != pid && atomic_compare_exchange_weak(&t->lock, &was, pid))
			break;
		if (i == TRIES)
			return false;
		if (i % TRIES_A_YIELD == 0)
			sched_yield();
	}
	if (t->pid != pid) {
		memset(t->slot, 0, t->n * sizeof *t->slot);
		t->n = 0;
		t->pid = pid;
	}
	return true;
}

static void let_go(struct span_table *t)
{
	atomic_store_explicit(&t->lock, 0, memory_order_release);
}

__attribute__((cold)) void span_table_clear(struct span_table *t)
{
	memset(t->slot, 0, t->n * sizeof *t->slot);
	t->n = 0;
	t->pid = 0;
	t->watch = (struct span_watch){ 0 };
	for (size_t i = 0; i < SPAN_TASKS; i++)
		t->task[i].task = 0;
	atomic_store(&t->lock, 0);
}

static void keep_name(char to[SPAN_NAME_SIZE], const char *name)
{
	size_t len = strnlen(name, SPAN_NAME_SIZE - 1);

	memcpy(to, name, len);
	to[len] = '\0';
}

/* The innermost span is the newest one. */
static const struct span_open *innermost(const struct span_table *t, int32_t thread,
					 const uint64_t *task)
{
	const struct span_open *found = NULL;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct span_open *s = &t->slot[i];

		if (s->span && s->thread == thread && (!task || s->task == *task) &&
		    (!found || s->span > found->span))
			found = s;
	}
	return found;
}

static uint32_t free_copy(const struct span_table *t, uint64_t name_hash)
{
	uint64_t taken[SPAN_SLOTS / 64 + 1] = { 0 };
	uint32_t i = 0;

	for (uint32_t k = 0; k < t->n; k++) {
		if (t->slot[k].span && t->slot[k].name_hash == name_hash)
			taken[t->slot[k].copy / 64] |= UINT64_C(1) << t->slot[k].copy % 64;
	}
	taken[0] |= 1;		/* they count from 1 */
	while (!~taken[i])
		i++;
	return i * 64 + (uint32_t)__builtin_ctzll(~taken[i]);
}

static struct span_open *free_slot(struct span_table *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (!t->slot[i].span)
			return &t->slot[i];
	}
	return t->n < SPAN_SLOTS ? &t->slot[t->n++] : NULL;
}

bool span_table_add(struct span_table *t, int32_t pid, struct span_open *s, const char *name)
{
	uint64_t hash = hash_fnv64(name, strlen(name));
	const struct span_open *around;
	struct span_open *slot;

	if (!hold(t, pid))
		return false;
	around = s->parent ? NULL : innermost(t, s->thread, &s->task);
	slot = free_slot(t);
	if (slot) {
		s->name_hash = hash;
		s->copy = free_copy(t, hash);
		s->parent = around ? around->span : s->parent;
		keep_name(s->name, name);
		*slot = *s;
	}
	let_go(t);
	return slot != NULL;
}

/* And those inside it. */
static void free_tree(struct span_table *t, struct span_open *s)
{
	uint64_t span = s->span, task = s->task;

	s->span = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->slot[i].span && t->slot[i].parent == span && t->slot[i].task == task)
			free_tree(t, &t->slot[i]);
	}
}

static void shrink(struct span_table *t)
{
	while (t->n && !t->slot[t->n - 1].span)
		t->n--;
}

static struct span_open *find_span(struct span_table *t, uint64_t task, uint64_t span)
{
	for (uint32_t i = t->n; i-- > 0;) {
		if (t->slot[i].span == span && t->slot[i].task == task)
			return &t->slot[i];
	}
	return NULL;
}

bool span_table_remove(struct span_table *t, int32_t pid, uint64_t task, uint64_t span,
		       struct span_open *s)
{
	struct span_open *found;

	if (!hold(t, pid))
		return false;
	found = find_span(t, task, span);
	if (found) {
		*s = *found;
		free_tree(t, found);
		shrink(t);
	}
	let_go(t);
	return found != NULL;
}

void span_table_add_task(struct span_table *t, int32_t pid, uint64_t task, const char *name)
{
	struct span_task *kept = &t->task[task % SPAN_TASKS];

	if (!hold(t, pid))
		return;
	kept->task = task;
	keep_name(kept->name, name);
	let_go(t);
}

void span_table_remove_task(struct span_table *t, int32_t pid, uint64_t task)
{
	if (!hold(t, pid))
		return;
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->slot[i].task == task)
			t->slot[i].span = 0;
	}
	shrink(t);
	let_go(t);
}

__attribute__((cold)) void span_table_set_watch(struct span_table *t, int32_t pid, struct span_watch watch)
{
	if (!hold(t, pid))
		return;
	t->watch = watch;
	let_go(t);
}

__attribute__((cold)) struct span_watch span_table_watch(struct span_table *t, int32_t pid)
{
	struct span_watch watch = { 0 };

	if (!hold(t, pid))
		return watch;
	watch = t->watch;
	let_go(t);
	return watch;
}

__attribute__((cold)) size_t span_table_stack(struct span_table *t, int32_t pid, int32_t thread,
			struct span_open stack[SPAN_DEPTH_MAX], struct span_task *task)
{
	const struct span_open *s;
	size_t n = 0;

	if (!hold(t, pid))
		return 0;
	for (s = innermost(t, thread, NULL); s && n < SPAN_DEPTH_MAX;
	     s = s->parent ? find_span(t, s->task, s->parent) : NULL)
		stack[n++] = *s;
	if (n) {
		*task = t->task[stack[0].task % SPAN_TASKS];
		if (task->task != stack[0].task)
			*task = (struct span_task){ .task = stack[0].task };
	}
	let_go(t);
	for (size_t i = 0; i < n / 2; i++) {
		struct span_open swapped = stack[i];

		stack[i] = stack[n - 1 - i];
		stack[n - 1 - i] = swapped;
	}
	return n;
}
