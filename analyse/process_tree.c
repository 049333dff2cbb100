/* SPDX-License-Identifier: MIT */
#include "analyse/process_tree.h"

#include "base/array.h"
#include "base/field.h"
#include "base/index.h"
#include "recording/growing.h"

#include <errno.h>
#include <stdlib.h>

static int take_process(void *context, const struct process_line *l)
{
	struct process_tree *t = context;
	struct tree_process *p;
	char *command;

	if (l->word == PROCESS_LOST) {
		t->n_lost += l->n_lost > 0 ? (uint64_t)l->n_lost : 0;
		return 0;
	}
	if (t->n == NO_INDEX)
		return -E2BIG;
	p = array_add(&t->process, &t->n, sizeof *p);
	command = arena_text(t->arena, l->command.p, l->command.len);
	if (!p || !command)
		return -ENOMEM;
	command[field_decode(command, l->command.len, NULL)] = '\0';
	*p = (struct tree_process){
		.pid = l->pid, .parent_pid = l->parent, .parent = NO_INDEX, .task = NO_INDEX,
		.start_us = l->time_us - l->wall_us, .end_us = l->time_us, .exec_us = l->exec_us,
		.runs = l->word == PROCESS_RUNS, .command = command, .status = l->end.status,
		.user_us = l->end.user_us, .system_us = l->end.system_us,
		.max_rss_kb = l->end.max_rss_kb, .delay_us = l->delay_us,
	};
	return 0;
}

/* Parents before their children. */
static int by_start(const void *a, const void *b)
{
	const struct tree_process *p = a, *q = b;
	int r = array_order(p->start_us, q->start_us);

	r = r ? r : -array_order(p->end_us, q->end_us);
	return r ? r : array_order(p->pid, q->pid);
}

/* Tasks by the number of their process: the last of it, next[] leads to those before. */
struct by_pid {
	struct index index;
	uint32_t *next;
};

static int collect_tasks(struct by_pid *b, const struct recording *rec)
{
	int r = 0;

	b->next = array_new(rec->n_tasks, sizeof *b->next);
	if (!b->next)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (t->pid <= 0 || t->start_us < 0)
			continue;
		if (!index_find(&b->index, (uint64_t)t->pid, 0, &b->next[i]))
			b->next[i] = NO_INDEX;
		r = index_put(&b->index, (uint64_t)t->pid, 0, i);
	}
	return r;
}

/* The task whose process this is. */
static uint32_t task_of(const struct by_pid *b, const struct recording *rec,
			const struct tree_process *p)
{
	uint32_t i;

	if (!index_find(&b->index, (uint64_t)p->pid, 0, &i))
		return NO_INDEX;
	for (; i != NO_INDEX; i = b->next[i]) {
		const struct task *t = &rec->task[i];

		if (t->start_us <= p->end_us + PROCESS_TREE_SLACK_US &&
		    recording_task_end_us(rec, t) + PROCESS_TREE_SLACK_US >= p->start_us)
			break;
	}
	return i;
}

static void set_outlived(struct process_tree *t, struct tree_process *p, const struct recording *rec)
{
	int64_t end_us;

	if (p->task == NO_INDEX || rec->task[p->task].end_us < 0)
		return;
	end_us = recording_task_end_us(rec, &rec->task[p->task]);
	if (p->end_us - end_us <= PROCESS_TREE_SLACK_US)
		return;
	p->outlived_us = p->end_us - end_us;
	t->n_outlived++;
}

static int link_all(struct process_tree *t, const struct recording *rec)
{
	struct index living = INDEX_INIT;	/* the newest process of a number */
	struct by_pid tasks = { .next = NULL };
	int r = collect_tasks(&tasks, rec);

	for (uint32_t i = 0; !r && i < t->n; i++) {
		struct tree_process *p = &t->process[i];

		if (index_find(&living, (uint64_t)p->parent_pid, 0, &p->parent))
			p->task = t->process[p->parent].task;
		else
			p->parent = NO_INDEX;
		if (task_of(&tasks, rec, p) != NO_INDEX)
			p->task = task_of(&tasks, rec, p);
		set_outlived(t, p, rec);
		r = index_put(&living, (uint64_t)p->pid, 0, i);
	}
	index_release(&living);
	index_release(&tasks.index);
	free(tasks.next);
	return r;
}

int process_tree_read(struct process_tree *t, const char *path, const struct recording *rec,
		      const struct recording_codec *codec, struct error *err)
{
	static const struct growing_to to = { .process = take_process };
	struct growing *growing = NULL;
	int r;

	*t = (struct process_tree){ .arena = arena_new() };
	if (!t->arena)
		return error_sys(err, -ENOMEM, path, NULL);
	r = growing_open(&growing, path, codec, &to, t, err);
	if (!r) {
		r = growing_read(growing, err);
		growing_close(growing);
	}
	if (r < 0)
		return r;
	if (t->n)
		qsort(t->process, t->n, sizeof *t->process, by_start);
	r = link_all(t, rec);
	return r ? error_sys(err, r, path, NULL) : 0;
}

void process_tree_release(struct process_tree *t)
{
	free(t->process);
	arena_free(t->arena);
	*t = (struct process_tree){ .n = 0 };
}
