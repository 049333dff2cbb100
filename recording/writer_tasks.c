/* SPDX-License-Identifier: MIT */
#include "recording/writer.h"

#include "base/minmax.h"
#include "base/name_table.h"
#include "command/kind.h"
#include "recording/event.h"
#include "recording/results.h"

#include <stdio.h>
#include <string.h>

/*
 * tasks.log of a recording in memory: the instances first, then each task with all
 * its lines, so that both come in the order in which they are; spans and notes.
 */
struct tasks_out {
	struct writer *o;
	const struct recording *rec;
	char (*id)[INSTANCE_ID_MAX];
};

/* Ids */

int writer_ids(char (*id)[INSTANCE_ID_MAX], const struct recording *rec)
{
	struct name_table seen = NAME_TABLE_INIT;
	uint32_t unused;
	int r = 0;

	for (uint32_t i = 0; !r && i < rec->n_instances; i++) {
		uint32_t turn = i;

		snprintf(id[i], sizeof id[i], "%s", rec->instance[i].id);
		while (name_table_find(&seen, slice_of(id[i])) != NAME_TABLE_NONE)
			snprintf(id[i], sizeof id[i], "x%u", turn++);
		r = name_table_add(&seen, slice_of(id[i]), &unused);
	}
	name_table_release(&seen);
	return r;
}

/* Instances */

static void add_instance(const struct tasks_out *t, uint32_t at)
{
	const struct instance *i = &t->rec->instance[at];
	char parent[INSTANCE_ID_MAX + 32];
	struct event_open open = {
		.pid = i->pid, .level = i->level, .ancestors = i->ancestors, .tool = i->tool,
		.version = i->version, .cwd = i->cwd, .command = i->command,
	};

	if (i->parent_task != NO_INDEX && (!*i->ancestors || *i->ancestors == '=')) {
		const struct task *task = &t->rec->task[i->parent_task];

		snprintf(parent, sizeof parent, "=%s.%llu", t->id[task->instance],
			 (unsigned long long)task->seq);
		open.ancestors = parent;
	}
	event_add_open(&t->o->b, i->open_us, t->id[at], &open);
	writer_flow(t->o);
}

static void add_used(const struct tasks_out *t, uint32_t at)
{
	const struct instance *i = &t->rec->instance[at];
	struct event_end used;

	event_end_init(&used, -1);
	used.user_us = i->used_user_us;
	used.system_us = i->used_system_us;
	used.in_blocks = i->used_in_blocks;
	used.out_blocks = i->used_out_blocks;
	if (used.user_us >= 0)
		event_add_used(&t->o->b, i->close_us >= 0 ? i->close_us : i->open_us, t->id[at], &used);
}

static void add_close(const struct tasks_out *t, uint32_t at)
{
	const struct instance *i = &t->rec->instance[at];
	const struct event_children children = {
		i->children_user_us, i->children_system_us, i->reaped
	};

	event_add_close(&t->o->b, i->close_us, t->id[at], 0, &children);
}

static void add_closes(const struct tasks_out *t)
{
	for (size_t i = 0; i < t->rec->n_instances; i++) {
		add_used(t, (uint32_t)i);
		if (t->rec->instance[i].close_us >= 0)
			add_close(t, (uint32_t)i);
		writer_flow(t->o);
	}
}

/* Tasks */

/* NULL for a kind that readers find by themselves. */
static const char *kind_told(const struct task *task, const char *command)
{
	return strcmp(task->kind, kind_of_command(command, strlen(command))) ? task->kind : NULL;
}

static enum event_kind end_of(enum task_state state)
{
	return state == TASK_DONE ? EVENT_DONE : state == TASK_FAILED ? EVENT_FAIL :
	       state == TASK_KILLED ? EVENT_KILL : EVENT_GONE;
}

static void add_end(const struct tasks_out *t, const struct task *task, const char *id)
{
	struct event_end e = {
		.status = task->status, .user_us = task->user_us, .system_us = task->system_us,
		.max_rss_kb = task->max_rss_kb, .minor_faults = task->minor_faults,
		.major_faults = task->major_faults, .in_blocks = task->in_blocks,
		.out_blocks = task->out_blocks,
		.voluntary_switches = task->voluntary_switches,
		.involuntary_switches = task->involuntary_switches,
		.rchar = task->rchar, .wchar = task->wchar,
		.max_rss_at_most_kb = task->max_rss_at_most_kb, .setup_us = task->setup_us,
		.setup_user_us = task->setup_user_us, .setup_system_us = task->setup_system_us,
		.instructions = task->instructions, .at_most = task->end_at_most,
	};

	if (task->end_us >= 0)
		event_add_ended(&t->o->b, task->end_us, id, task->seq, end_of(task->state), &e);
}

static void add_place(const struct tasks_out *t, const struct task *task, const char *id)
{
	const struct pool *pool = task->pool == NO_INDEX ? NULL : &t->rec->pool[task->pool];
	struct event_place p = { .file = task->file, .line = task->line,
		.pool = pool ? pool->name : NULL, .depth = pool ? pool->depth : -1 };

	if (*task->file || pool)
		event_add_place(&t->o->b, MAX(task->start_us, 0), id, task->seq,
				&p);
}

static void add_names(const struct tasks_out *t, const struct task *task, const char *id,
		      const char *const *name, size_t n,
		      size_t (*add)(struct buf *, int64_t, const char *, uint64_t,
				    const char *const *, size_t))
{
	int64_t time_us = task->start_us >= 0 ? task->start_us : task->queued_us;

	while (n) {
		size_t taken = add(&t->o->b, MAX(time_us, 0), id, task->seq, name, n);

		name += taken;
		n -= taken;
		writer_flow(t->o);
	}
}

static void add_task(const struct tasks_out *t, const struct task *task)
{
	const struct recording *rec = t->rec;
	const char *id = t->id[task->instance];
	const char *command = recording_command(t->rec, task);
	struct event_task e = {
		.pid = task->pid, .slot = task->slot, .kind = kind_told(task, command),
		.name = task->name, .key = task->key, .command = command,
	};

	if (task->queued_us >= 0)
		event_add_queue(&t->o->b, task->queued_us, id, task->seq, &e);
	if (task->start_us >= 0)
		event_add_start(&t->o->b, task->start_us, id, task->seq, &e);
	else if (task->pid >= 0)
		event_add_pid(&t->o->b, 0, id, task->seq, &e);
	add_place(t, task, id);
	if (rec->n_after)
		add_names(t, task, id, rec->after + task->first_after, task->n_after,
			  event_add_after);
	if (rec->n_out)
		add_names(t, task, id, rec->out + task->first_out, task->n_out, event_add_out);
	add_end(t, task, id);
	writer_flow(t->o);
}

/* Spans and notes */

static uint64_t seq_of(const struct tasks_out *t, uint32_t task)
{
	return task == NO_INDEX ? 0 : t->rec->task[task].seq;
}

/* In its line, a parent is a span of the same instance and task. */
static int64_t parent_of(const struct recording *rec, const struct span *s)
{
	const struct span *p = s->parent == NO_INDEX ? NULL : &rec->span[s->parent];

	return !p || p->instance != s->instance || p->seq != s->seq ? -1 : (int64_t)p->number;
}

static void add_span(const struct tasks_out *t, size_t at)
{
	const struct span *s = &t->rec->span[at];
	const char *id = t->id[s->instance];

	const struct event_span e = {
		.number = s->number, .name = s->name, .thread = s->thread, .copy = s->copy,
		.parent = parent_of(t->rec, s), .place = s->place,
	};

	event_add_span(&t->o->b, s->begin_us, id, s->seq, &e);
	if (s->end_us >= 0)
		event_add_span_end(&t->o->b, s->end_us, id, s->seq, s->number);
	writer_flow(t->o);
}

static void add_note(const struct tasks_out *t, const struct note *n)
{
	event_add_note(&t->o->b, n->time_us, t->id[n->instance], seq_of(t, n->task), n->text);
	writer_flow(t->o);
}

static void add_group(const struct tasks_out *t, const struct target_group *g)
{
	const char *const *in = t->rec->in + g->first_in;

	for (size_t done = 0; done < g->n_in;) {
		done += event_add_group(&t->o->b, t->rec->instance[g->instance].open_us,
					t->id[g->instance], g->name, in + done, g->n_in - done);
		writer_flow(t->o);
	}
}

/* The tasks of the recording, or of its next part. */
static void write_part(const struct tasks_out *t)
{
	const struct recording *rec = t->rec;

	for (size_t i = 0; i < rec->n_groups; i++)
		add_group(t, &rec->group[i]);
	for (size_t i = 0; i < rec->n_tasks; i++)
		add_task(t, &rec->task[i]);
	for (size_t i = 0; i < rec->n_spans; i++)
		add_span(t, i);
	for (size_t i = 0; i < rec->n_notes; i++)
		add_note(t, &rec->note[i]);
}

static void write_lines(const struct tasks_out *t)
{
	const struct recording_parts *parts = t->o->parts;
	int r = 1;

	buf_adds(&t->o->b, TASKS_HEADER);
	for (size_t i = 0; i < t->rec->n_instances; i++)
		add_instance(t, (uint32_t)i);
	if (!parts)
		write_part(t);
	while (parts && !t->o->error && (r = parts->next(parts->context)) > 0)
		write_part(t);
	if (r < 0 && !t->o->error)
		t->o->error = r;
	add_closes(t);
}

void writer_add_tasks(struct writer *o, const struct recording *rec)
{
	struct tasks_out t = { .o = o, .rec = rec, .id = o->id };

	write_lines(&t);
	if (!o->error)
		o->error = recording_command_error(rec);
}

void writer_add_results(struct writer *o, const struct recording *rec)
{
	buf_adds(&o->b, RESULTS_HEADER);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		for (size_t done = 0; done < t->n_files;)
			done += results_add_files(&o->b, o->id[t->instance], t->seq,
						  rec->file + t->first_file + done,
						  t->n_files - done);
		if (t->cache)
			results_add_cache(&o->b, o->id[t->instance], t->seq,
					  (enum task_cache)t->cache);
		writer_flow(o);
	}
}
