/* SPDX-License-Identifier: MIT */
#include "plugin/pidtable.h"

#include <stdatomic.h>
#include <stddef.h>

#define FILLING ((pid_t)-1)

static size_t home_of(pid_t pid)
{
	return (size_t)pid & (PIDTABLE_SLOTS - 1);
}

bool pidtable_take(struct pidtable *t, pid_t pid, uint64_t *value)
{
	size_t home = home_of(pid);

	for (size_t i = home; i < home + PIDTABLE_REACH; i++) {
		pid_t expected = pid;

		if (atomic_load(&t->pid[i]) != pid ||
		    !atomic_compare_exchange_strong(&t->pid[i], &expected, FILLING))
			continue;
		*value = t->value[i];
		atomic_store(&t->pid[i], 0);
		return true;
	}
	return false;
}

bool pidtable_put(struct pidtable *t, pid_t pid, uint64_t value)
{
	size_t home = home_of(pid);
	uint64_t stale;

	pidtable_take(t, pid, &stale);
	for (size_t i = home; i < home + PIDTABLE_REACH; i++) {
		pid_t expected = 0;

		if (atomic_load_explicit(&t->pid[i], memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&t->pid[i], &expected, FILLING))
			continue;
		t->value[i] = value;
		atomic_store(&t->pid[i], pid);
		return true;
	}
	return false;
}

bool pidtable_has(struct pidtable *t, pid_t pid)
{
	size_t home = home_of(pid);

	for (size_t i = home; i < home + PIDTABLE_REACH; i++) {
		if (atomic_load(&t->pid[i]) == pid)
			return true;
	}
	return false;
}
