/* SPDX-License-Identifier: MIT */
/*
 * Logs of compiler caches with any bytes, joined with tasks that have any commands. The first byte of
 * an input chooses the cache. The rest is the log up to the first NUL byte, then commands with NUL
 * bytes in between.
 */
#include "launch/cache_log.h"
#include "tests/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define TASKS_MAX 16

static void check_log(const struct cache_log *l)
{
	check(l->hits + l->misses + l->uncacheable == l->n_entries && l->names.n <= l->n_entries);
	for (size_t i = 0; i < l->n_entries; i++) {
		check(l->entry[i].name < l->names.n);
		check(l->entry[i].result > CACHE_UNKNOWN && l->entry[i].result < TASK_CACHES);
	}
}

/* A result of a task is one of the log. */
static void check_results(const struct cache_log *l, const enum task_cache *result, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool found = result[i] == CACHE_UNKNOWN;

		for (size_t k = 0; !found && k < l->n_entries; k++)
			found = l->entry[k].result == result[i];
		check(found);
	}
}

static size_t add_tasks(struct cache_log *l, struct cursor *c, struct task *task)
{
	struct slice command;
	size_t n = 0;

	while (n < TASKS_MAX && cursor_until(c, '\0', &command)) {
		char *copy = strndup(command.p, command.len);

		check(copy);
		/* some overlap, some do not */
		task[n] = (struct task){ .name = "", .kind = "other", .program = "",
			.start_us = (int64_t)(10 * n), .end_us = (int64_t)(10 * n + 5 + 10 * (command.len % 2)) };
		check(!cache_log_add_task(l, (uint32_t)n, copy, n % 2 ? "/top/dir" : "/"));
		free(copy);
		n++;
	}
	for (size_t i = 0; i < l->n_candidates; i++)
		check(l->candidate[i].name < l->names.n && l->candidate[i].task < n);
	return n;
}

FUZZ_TARGET(cache_log)
{
	enum task_cache result[TASKS_MAX] = { CACHE_UNKNOWN };
	struct task task[TASKS_MAX];
	struct recording rec = { .task = task };
	struct cache_log l = CACHE_LOG_INIT(size && *data % 2 ? CACHE_SCCACHE : CACHE_CCACHE);
	struct slice text = { "", 0 };
	struct cursor c;

	if (!size)
		return 0;
	cursor_init(&c, (const char *)data + 1, size - 1);
	cursor_until(&c, '\0', &text);
	check(!cache_log_parse(&l, text));
	check_log(&l);
	rec.n_tasks = add_tasks(&l, &c, task);
	check(!cache_log_join(&l, &rec, result));
	check_results(&l, result, rec.n_tasks);
	cache_log_release(&l);
	return 0;
}
