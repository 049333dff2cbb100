/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/search.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A task in which instances may have run; see follow_hosts.c. */
struct host {
	int32_t pid;
	uint32_t task;
	int64_t start_us;
};

static int by_pid(const void *a, const void *b)
{
	const struct host *x = a, *y = b;
	int order = array_order(x->pid, y->pid);

	if (!order)
		order = array_order(x->start_us, y->start_us);
	return order ? order : array_order(x->task, y->task);
}

/* The last pids, as bits: most tasks have a pid that is not wanted, which these show at once. */
#define PID_BITS (1u << 16)

struct wanted {
	struct index pids;
	uint64_t bits[PID_BITS / 64];
};

static int want(struct wanted *w, int32_t pid)
{
	w->bits[(uint32_t)pid % PID_BITS / 64] |= UINT64_C(1) << (pid & 63);
	return index_put(&w->pids, (uint64_t)pid, 0, 0);
}

static bool is_wanted(const struct wanted *w, int32_t pid)
{
	uint32_t unused;

	return w->bits[(uint32_t)pid % PID_BITS / 64] >> (pid & 63) & 1 &&
	       index_find(&w->pids, (uint64_t)pid, 0, &unused);
}

static int collect_wanted(const struct recording *rec, struct wanted *wanted)
{
	for (size_t i = 0; i < rec->n_instances; i++) {
		struct cursor c;
		int32_t pid;

		cursor_init(&c, rec->instance[i].ancestors, strlen(rec->instance[i].ancestors));
		while (follow_next_pid(&c, &pid)) {
			if (want(wanted, pid))
				return -ENOMEM;
		}
	}
	return 0;
}

/* The tasks with a wanted pid, sorted. */
static int collect_hosts(const struct recording *rec, const struct wanted *wanted,
			 struct host **out, size_t *n)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		struct host *added;

		if (t->pid < 0 || t->start_us < 0 || !is_wanted(wanted, t->pid))
			continue;
		added = array_add(out, n, sizeof *added);
		if (!added)
			return -ENOMEM;
		*added = (struct host){ t->pid, (uint32_t)i, t->start_us };
	}
	if (*n)
		qsort(*out, *n, sizeof **out, by_pid);
	return 0;
}

/* The last task of that process that started before the time. */
static uint32_t task_at(const struct host *host, size_t n, int32_t pid, int64_t time_us)
{
	struct search_range s = search_all(n);

	while (search_next(&s))
		search_past(&s, host[s.at].pid < pid ||
				    (host[s.at].pid == pid && host[s.at].start_us <= time_us));
	return s.at && host[s.at - 1].pid == pid ? host[s.at - 1].task : NO_INDEX;
}

static void link_instance(struct recording *rec, uint32_t at, const struct host *host,
			  size_t n)
{
	struct instance *i = &rec->instance[at];
	struct cursor c;
	int32_t pid;

	cursor_init(&c, i->ancestors, strlen(i->ancestors));
	while (i->parent_task == NO_INDEX && follow_next_pid(&c, &pid))
		follow_set_parent(rec, at, task_at(host, n, pid, i->open_us + FOLLOW_SLACK_US));
}

int reader_link(struct reader *r)
{
	struct recording *rec = r->rec;
	struct wanted wanted = { .pids = INDEX_INIT };
	struct host *host = NULL;
	size_t n = 0;
	int error = collect_wanted(rec, &wanted);

	reader_mark_scripts(r);
	if (!error)
		error = collect_hosts(rec, &wanted, &host, &n);
	for (uint32_t i = 0; !error && i < rec->n_instances; i++) {
		link_instance(rec, i, host, n);
		follow_set_parent(rec, i, follow_named_parent(&r->follow, rec->instance[i].ancestors));
	}
	free(host);
	index_release(&wanted.pids);
	return error ? error : reader_finish_spans(r);
}
