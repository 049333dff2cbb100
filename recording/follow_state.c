/* SPDX-License-Identifier: MIT */
#include "recording/follow.h"

#include "base/array.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Instances */

/* An id is shorter than 16 bytes, so two numbers hold it, length included: they are never both 0. */
static inline void instance_key(struct slice id, uint64_t key[2])
{
	uint32_t half[2];

	key[0] = 0;
	key[1] = (uint64_t)id.len << 56;
	if (id.len >= 8) {
		uint64_t tail;

		memcpy(&key[0], id.p, sizeof key[0]);
		memcpy(&tail, id.p + id.len - 8, sizeof tail);
		key[1] |= le64toh(tail) >> 8;
	} else if (id.len >= 4) {
		memcpy(&half[0], id.p, sizeof half[0]);
		memcpy(&half[1], id.p + id.len - 4, sizeof half[1]);
		key[0] = (uint64_t)half[0] << 32 | half[1];
	} else {
		memcpy(&key[0], id.p, id.len);
	}
}

/* Most lines are about the instance of the line before. */
static inline uint32_t find_instance(struct follow *f, struct slice id)
{
	struct recent_instance *recent;
	uint64_t key[2];

	instance_key(id, key);
	if (f->last.key[0] == key[0] && f->last.key[1] == key[1])
		return f->last.instance;
	recent = &f->recent[(key[0] ^ key[0] >> 32 ^ key[1] >> 40) * 0x9e3779b97f4a7c15u >> 58];
	if (recent->key[0] != key[0] || recent->key[1] != key[1]) {
		uint32_t at;

		if (!index_find(&f->instances, key[0], key[1], &at))
			return NO_INDEX;
		*recent = (struct recent_instance){ { key[0], key[1] }, at };
	}
	f->last = *recent;
	return f->last.instance;
}

int follow_add_instance(struct follow *f, struct slice id, int64_t time_us)
{
	struct recording *rec = f->rec;
	uint32_t at = (uint32_t)rec->n_instances;
	struct instance *grown = array_grow(rec->instance, at, sizeof *grown);
	struct follow_instance *more;
	uint64_t key[2];

	if (!grown)
		return -ENOMEM;
	rec->instance = grown;
	more = array_grow(f->instance, at, sizeof *more);
	if (!more)
		return -ENOMEM;
	f->instance = more;
	grown[at] = (struct instance){ .id = arena_text(rec->arena, id.p, id.len),
		.open_us = time_us, .close_us = -1, .pid = -1, .level = -1,
		.parent_task = NO_INDEX, .parent_span = NO_INDEX, .used_user_us = -1,
		.used_system_us = -1, .used_in_blocks = -1, .used_out_blocks = -1,
		.children_user_us = -1, .children_system_us = -1, .reaped = -1,
		.ancestors = "", .tool = "",
		.version = "", .cwd = "", .command = "" };
	more[at] = (struct follow_instance){ .host = NO_INDEX };
	instance_key(id, key);
	if (!grown[at].id || index_put(&f->instances, key[0], key[1], at))
		return -ENOMEM;
	rec->n_instances++;
	memset(f->recent, 0, sizeof f->recent);
	f->last = (struct recent_instance){ .instance = NO_INDEX };
	return 0;
}

/* Another first line of an id belongs to another process than the one before, which has ended. */
int follow_instance_of(struct follow *f, const struct event *e, uint32_t *at)
{
	bool opens = e->kind == EVENT_OPEN;
	int r;

	*at = find_instance(f, e->inst);
	if (*at != NO_INDEX && !opens)
		return 0;
	if (*at == NO_INDEX || !f->instance[*at].made_up) {
		*at = (uint32_t)f->rec->n_instances;
		r = follow_add_instance(f, e->inst, e->time_us);
		if (r)
			return r;
	}
	f->instance[*at].made_up = !opens;
	if (opens)
		f->rec->instance[*at].open_us = e->time_us;
	return 0;
}

/* Tasks */

static uint32_t find_task(const struct follow *f, uint32_t instance, uint64_t seq)
{
	const struct follow_instance *list = &f->instance[instance];
	uint32_t at;

	if (seq < list->n && list->task[seq] != NO_INDEX)
		return list->task[seq];
	return index_find(&f->tasks, instance, seq, &at) ? at : NO_INDEX;
}

uint32_t follow_task(const struct follow *f, uint32_t instance, uint64_t seq)
{
	uint32_t at = instance == NO_INDEX ? NO_INDEX : find_task(f, instance, seq);

	return at == FOLLOW_FORGOTTEN ? NO_INDEX : at;
}

uint32_t follow_find_task(struct follow *f, struct slice inst, uint64_t seq)
{
	/* An event has no empty id, but other files may have one. */
	return follow_task(f, inst.len && inst.len < INSTANCE_ID_MAX ? find_instance(f, inst) : NO_INDEX,
			   seq);
}

static int number_task(struct follow *f, uint32_t instance, uint64_t seq, uint32_t task)
{
	struct follow_instance *list = &f->instance[instance];
	size_t n = list->n;
	uint32_t *grown;

	list->n_tasks++;
	if (seq >= n && seq <= 2 * list->n_tasks + 14) {
		n = 2 * (list->n_tasks + 8);
		grown = realloc(list->task, n * sizeof *grown);
		if (!grown)
			return -ENOMEM;
		for (size_t i = list->n; i < n; i++)
			grown[i] = NO_INDEX;
		list->task = grown;
		list->n = n;
	}
	if (seq >= n)
		return index_put(&f->tasks, instance, seq, task);
	list->task[seq] = task;
	return 0;
}

static int new_index(struct follow *f, uint32_t *out)
{
	struct recording *rec = f->rec;
	struct task *grown;
	uint32_t *list;

	if (f->n_free) {
		*out = f->free_task[--f->n_free];
		return 0;
	}
	grown = array_make_room(rec->task, &f->task_cap, rec->n_tasks, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	rec->task = grown;
	if (f->forgets) {
		list = array_grow(f->free_task, rec->n_tasks, sizeof *list);
		if (!list)
			return -ENOMEM;
		f->free_task = list;
	}
	*out = (uint32_t)rec->n_tasks++;
	return 0;
}

static int add_task(struct follow *f, uint32_t instance, uint64_t seq, uint32_t *out)
{
	struct recording *rec = f->rec;

	if (new_index(f, out))
		return -ENOMEM;
	rec->task[*out] = (struct task){ .instance = instance, .seq = seq, .name = "",
		.kind = "", .key = "", .queued_us = -1, .start_us = -1,
		.end_us = -1, .pid = -1, .slot = -1, .state = TASK_QUEUED, .status = -1,
		.user_us = -1, .system_us = -1, .max_rss_kb = -1, .max_rss_at_most_kb = -1,
		.minor_faults = -1, .major_faults = -1, .in_blocks = -1, .out_blocks = -1,
		.voluntary_switches = -1, .involuntary_switches = -1, .rchar = -1,
		.wchar = -1, .peak_ms = -1, .pool = NO_INDEX, .line = -1, .file = "",
		.program = "", .files_bytes = -1, .instructions = -1, .delay_us = -1 };
	if (number_task(f, instance, seq, *out))
		return -ENOMEM;
	return f->to->changed ? f->to->changed(f->context, *out, FOLLOW_NEW, (struct slice){ "", 0 }) : 0;
}

int follow_task_of(struct follow *f, uint32_t instance, uint64_t seq, uint32_t *at)
{
	*at = find_task(f, instance, seq);
	return *at == NO_INDEX ? add_task(f, instance, seq, at) : 0;
}

static void free_texts(struct task *t)
{
	if (*t->name)
		free((char *)(uintptr_t)t->name);
	if (*t->key)
		free((char *)(uintptr_t)t->key);
}

void follow_forget(struct follow *f, uint32_t task)
{
	struct task *t = &f->rec->task[task];
	struct follow_instance *list = &f->instance[t->instance];
	uint32_t at;

	if (t->pid >= 0 && index_find(&f->pids, (uint64_t)t->pid, 0, &at) && at == task)
		index_remove(&f->pids, (uint64_t)t->pid, 0);
	if (t->seq < list->n && list->task[t->seq] == task)
		list->task[t->seq] = FOLLOW_FORGOTTEN;
	else
		index_put(&f->tasks, t->instance, t->seq, FOLLOW_FORGOTTEN);	/* it is there */
	free_texts(t);
	*t = (struct task){ .seq = 0 };
	f->free_task[f->n_free++] = task;
}

/* The whole */

void follow_init(struct follow *f, struct recording *rec, const struct follow_to *to, void *context)
{
	*f = (struct follow){ .rec = rec, .to = to, .context = context };
}

int follow_growing(struct follow *f, struct recording *rec, const struct follow_to *to, void *context)
{
	follow_init(f, rec, to, context);
	f->forgets = true;
	*rec = (struct recording){ .end_us = -1, .arena = arena_new() };
	return rec->arena ? 0 : -ENOMEM;
}

void follow_release(struct follow *f)
{
	for (size_t i = 0; f->instance && i < f->rec->n_instances; i++)
		free(f->instance[i].task);
	for (size_t i = 0; f->forgets && i < f->rec->n_tasks; i++) {
		if (follow_is_used(f, (uint32_t)i))
			free_texts(&f->rec->task[i]);
	}
	free_all(f->instance, f->free_task, f->orphan);
	for (size_t i = 0; i < FOLLOW_TEXTS; i++)
		buf_release(&f->text[i]);
	buf_release(&f->scratch);
	name_table_release(&f->kinds);
	index_release(&f->instances);
	index_release(&f->tasks);
	index_release(&f->pids);
	if (f->forgets)
		recording_release(f->rec);
}
