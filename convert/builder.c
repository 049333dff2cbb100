/* SPDX-License-Identifier: MIT */
#include "convert/builder.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "base/sort.h"
#include "base/texts.h"
#include "command/command_name.h"
#include "command/kind.h"
#include "recording/event.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARNINGS_MAX 100

/* A name in a list of a task. */
struct listed {
	uint32_t task;
	const char *name;
};

struct list {
	size_t n;
	struct listed *item;
};

struct builder_part {
	struct list after, out;
	struct name_table kinds;
};

/* Room for one more item of an array of the recording; NULL after an error. */
static void *add_item(struct builder *b, void *array, size_t *n, size_t item_size)
{
	void *item = b->error ? NULL : array_add(array, n, item_size);

	if (!item && !b->error)
		b->error = -ENOMEM;
	return item;
}

void builder_init(struct builder *b, struct recording *rec, const char *path)
{
	*rec = (struct recording){ .start_wall_ns = -1, .start_mono_ns = -1, .end_us = -1,
		.interval_ms = -1 };
	*b = (struct builder){ .rec = rec, .part = calloc(1, sizeof *b->part) };
	rec->path = strdup(path);
	rec->arena = arena_new();
	rec->texts = texts_new(-1);
	if (!b->part || !rec->path || !rec->arena || !rec->texts)
		b->error = -ENOMEM;
}

const char *builder_text(struct builder *b, const char *text, size_t len)
{
	const char *copy = text && !b->error ? arena_text(b->rec->arena, text, len) : NULL;

	if (text && !copy)
		b->error = -ENOMEM;
	return copy;
}

static const char *keep_text(struct builder *b, const char *text)
{
	const char *copy = text && *text ? builder_text(b, text, strlen(text)) : NULL;

	return copy ? copy : "";
}

static const char *keep_long(struct builder *b, const char *text)
{
	return !b->lent ? keep_text(b, text) : text ? text : "";
}

void builder_take(struct builder *b, void *memory)
{
	if (b->error)
		free(memory);
	else
		b->error = arena_keep(b->rec->arena, memory);
}

/* `build` */

void builder_build(struct builder *b, const char *key, const char *value)
{
	struct build_line *line = value ?
		add_item(b, &b->rec->build, &b->rec->n_build, sizeof *line) : NULL;

	if (line)
		*line = (struct build_line){ keep_text(b, key), keep_text(b, value) };
}

void builder_build_number(struct builder *b, const char *key, int64_t value)
{
	char text[32];

	snprintf(text, sizeof text, "%lld", (long long)value);
	builder_build(b, key, text);
}

void builder_start_wall(struct builder *b, int64_t wall_ns)
{
	b->rec->start_wall_ns = wall_ns;
}

/* Instances: they get their times in builder_finish(). */

uint32_t builder_instance(struct builder *b, const char *tool, const char *version,
			  const char *command, uint32_t parent_task)
{
	struct recording *rec = b->rec;
	struct instance *in = add_item(b, &rec->instance, &rec->n_instances, sizeof *in);
	char id[INSTANCE_ID_MAX];

	if (!in)
		return NO_INDEX;
	snprintf(id, sizeof id, "%zu", rec->n_instances);
	*in = (struct instance){ .id = keep_text(b, id), .open_us = INT64_MAX, .close_us = -1,
		.pid = -1, .level = -1, .parent_task = parent_task, .parent_span = NO_INDEX,
		.used_user_us = -1, .used_system_us = -1, .used_in_blocks = -1, .used_out_blocks = -1,
		.children_user_us = -1, .children_system_us = -1, .reaped = -1,
		.ancestors = "",
		.tool = keep_text(b, tool), .version = keep_text(b, version), .cwd = "",
		.command = keep_text(b, command) };
	return (uint32_t)rec->n_instances - 1;
}

void builder_servers_included(struct builder *b)
{
	for (size_t i = 0; i < b->rec->n_instances; i++) {
		struct instance *server = &b->rec->instance[i];

		server->used_user_us = server->used_system_us = 0;
		server->used_in_blocks = server->used_out_blocks = 0;
	}
}

/* Tasks */

void builder_task_init(struct builder_task *task)
{
	*task = (struct builder_task){ .queued_us = -1, .start_us = -1, .end_us = -1,
		.user_us = -1, .system_us = -1, .max_rss_kb = -1, .in_blocks = -1,
		.out_blocks = -1, .rchar = -1, .wchar = -1, .pid = -1, .slot = -1,
		.status = -1, .state = TASK_DONE };
}

/* Kinds and programs are few: each has one text. */
static const char *shared(struct builder *b, struct slice text)
{
	struct name_table *kinds = &b->part->kinds;
	uint32_t at;

	kinds->arena = b->rec->arena;
	if (!b->error)
		b->error = name_table_add(kinds, text, &at);
	return b->error ? "" : kinds->name[at].p;
}

static void set_kind(struct builder *b, struct task *t, const struct builder_task *task)
{
	const char *command = task->command ? task->command : "";
	struct slice program;
	const char *kind = kind_and_program(command, strlen(command), &program);

	t->kind = shared(b, slice_of(task->kind && *task->kind ? task->kind : kind));
	t->program = shared(b, program);
}

static uint64_t keep_command(struct builder *b, const char *command)
{
	uint64_t place;

	if (!command || !*command)
		return 0;
	place = texts_keep(b->rec->texts, command, strlen(command));
	if (!place)
		b->error = -ENOMEM;
	return place;
}

/* Without a name, a task is called after its command or its key. */
static const char *name_of(struct builder *b, const struct builder_task *task)
{
	struct buf called = BUF_INIT;
	const char *name;

	if (task->name && *task->name)
		return keep_long(b, task->name);
	if (task->command)
		command_name_add(&called, task->command, strlen(task->command));
	if (buf_error(&called))
		b->error = -ENOMEM;
	name = called.len ? keep_text(b, buf_str(&called)) : keep_long(b, task->key);
	buf_release(&called);
	return name;
}

uint32_t builder_task(struct builder *b, uint32_t instance, const struct builder_task *task)
{
	struct recording *rec = b->rec;
	struct task *t = add_item(b, &rec->task, &rec->n_tasks, sizeof *t);
	int32_t status = task->status;

	if (!t)
		return NO_INDEX;
	if (status >= 0)	/* WEXITSTATUS() or WTERMSIG(), as the reader stores them */
		status = status & 0x7f ? status & 0x7f : status >> 8 & 0xff;
	*t = (struct task){ .instance = instance, .seq = b->tasks_before + rec->n_tasks,
		.name = name_of(b, task), .key = keep_long(b, task->key),
		.command = keep_command(b, task->command),
		.queued_us = task->queued_us, .start_us = task->start_us,
		.end_us = task->end_us, .user_us = task->user_us,
		.system_us = task->system_us, .max_rss_kb = task->max_rss_kb,
		.in_blocks = task->in_blocks, .out_blocks = task->out_blocks,
		.max_rss_at_most_kb = -1, .rchar = task->rchar, .wchar = task->wchar,
		.minor_faults = -1, .major_faults = -1, .voluntary_switches = -1,
		.involuntary_switches = -1, .pid = task->pid, .slot = task->slot,
		.status = status, .state = task->state, .peak_ms = -1, .instructions = -1, .delay_us = -1,
		.pool = NO_INDEX, .line = -1, .file = "" };
	set_kind(b, t, task);
	return (uint32_t)rec->n_tasks - 1;
}

static void add_listed(struct builder *b, struct list *l, uint32_t task, const char *name)
{
	struct listed *item = task != NO_INDEX && *name ?
			      add_item(b, &l->item, &l->n, sizeof *item) : NULL;

	if (item)
		*item = (struct listed){ task, keep_text(b, name) };
}

void builder_after(struct builder *b, uint32_t task, const char *name)
{
	if (!b->error)
		add_listed(b, &b->part->after, task, name);
}

void builder_out(struct builder *b, uint32_t task, const char *name)
{
	if (!b->error)
		add_listed(b, &b->part->out, task, name);
}

void builder_group(struct builder *b, uint32_t instance, const char *name)
{
	struct target_group *g = add_item(b, &b->rec->group, &b->rec->n_groups, sizeof *g);

	if (g)
		*g = (struct target_group){ instance, (uint32_t)b->rec->n_in, 0, keep_text(b, name) };
}

void builder_in(struct builder *b, const char *name)
{
	struct recording *rec = b->rec;
	const char **in = add_item(b, &rec->in, &rec->n_in, sizeof *in);

	if (!in)
		return;
	*in = keep_text(b, name);
	rec->group[rec->n_groups - 1].n_in++;
}

static uint32_t find_pool(struct builder *b, uint32_t instance, const char *name, int64_t depth)
{
	struct recording *rec = b->rec;
	struct pool *pool;

	for (size_t i = 0; i < rec->n_pools; i++) {
		if (rec->pool[i].instance == instance && !strcmp(rec->pool[i].name, name))
			return (uint32_t)i;
	}
	pool = add_item(b, &rec->pool, &rec->n_pools, sizeof *pool);
	if (!pool)
		return NO_INDEX;
	*pool = (struct pool){ instance, keep_text(b, name), depth };
	return (uint32_t)rec->n_pools - 1;
}

void builder_place(struct builder *b, uint32_t task, const struct event_place *place)
{
	struct task *t = task == NO_INDEX || b->error ? NULL : &b->rec->task[task];

	if (!t)
		return;
	if (place->file && *place->file) {
		t->file = keep_text(b, place->file);
		t->line = place->line;
	}
	if (place->pool && *place->pool && place->depth > 0)
		t->pool = find_pool(b, t->instance, place->pool, place->depth);
}

/* Spans, notes, warnings and samples */

void builder_span(struct builder *b, uint32_t instance, uint32_t task, int64_t begin_us,
		  int64_t end_us, const char *name)
{
	struct span *span = add_item(b, &b->rec->span, &b->rec->n_spans, sizeof *span);

	if (span)
		*span = (struct span){ .instance = instance, .task = task, .begin_us = begin_us,
			.end_us = end_us, .name = keep_long(b, name),
			.number = b->spans_before + b->rec->n_spans,
			.seq = task == NO_INDEX ? 0 : b->tasks_before + task + 1, .parent = NO_INDEX, .thread = -1, .place = "" };
}

void builder_note(struct builder *b, uint32_t instance, uint32_t task, int64_t time_us,
		  const char *text)
{
	struct note *note = add_item(b, &b->rec->note, &b->rec->n_notes, sizeof *note);

	if (note)
		*note = (struct note){ time_us, instance, task, keep_long(b, text) };
}

void builder_warn(struct builder *b, const char *format, ...)
{
	struct recording *rec = b->rec;
	struct warning *warning = rec->n_warnings >= WARNINGS_MAX ? NULL :
		add_item(b, &rec->warning, &rec->n_warnings, sizeof *warning);
	va_list ap;

	if (!warning)
		return;
	va_start(ap, format);
	vsnprintf(warning->text, sizeof warning->text, format, ap);
	va_end(ap);
}

void builder_series(struct builder *b, const char *name, int64_t interval_ms,
		    const struct series_column *column, size_t n_columns)
{
	struct series s = { .name = keep_text(b, name), .interval_ms = interval_ms,
		.n_columns = n_columns, .column = array_new(n_columns, sizeof *s.column) };
	struct series *series = s.column ?
		add_item(b, &b->rec->series, &b->rec->n_series, sizeof *series) : NULL;

	if (!series) {
		b->error = -ENOMEM;
		free(s.column);
		return;
	}
	memcpy(s.column, column, n_columns * sizeof *column);
	*series = s;
}

void builder_sample(struct builder *b, int64_t time_us, const int64_t *level)
{
	struct series *s = &b->rec->series[b->rec->n_series - 1];
	size_t at = s->n, gaps = at, rows = at;
	int64_t *row;
	bool *gap;

	if (b->error || time_us < 0 || time_us > EVENT_TIME_MAX_US ||
	    (at && time_us / 1000 <= s->time_ms[at - 1]))
		return;
	row = array_add(&s->level, &rows, s->n_columns * sizeof *row);
	gap = row ? array_add(&s->gap, &gaps, sizeof *gap) : NULL;
	if (!gap || !add_item(b, &s->time_ms, &s->n, sizeof *s->time_ms)) {
		b->error = -ENOMEM;
		return;
	}
	s->time_ms[at] = time_us / 1000;
	*gap = false;
	memcpy(row, level, s->n_columns * sizeof *level);
	if (time_us > b->rec->last_us)
		b->rec->last_us = time_us;
}

/* At the end: times */

static int64_t first_us(const struct task *t)
{
	return t->queued_us >= 0 && (t->start_us < 0 || t->queued_us < t->start_us) ?
	       t->queued_us : t->start_us;
}

/* The first time of all. Unknown times are -1: therefore no known time is negative. */
static int64_t earliest(const struct recording *rec)
{
	int64_t us = INT64_MAX;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		int64_t first = first_us(&rec->task[i]);

		if (first >= 0 && first < us)
			us = first;
	}
	for (size_t i = 0; i < rec->n_spans; i++)
		us = MIN(rec->span[i].begin_us, us);
	for (size_t i = 0; i < rec->n_notes; i++)
		us = MIN(rec->note[i].time_us, us);
	return us < INT64_MAX ? us : 0;
}

static void move(int64_t *us, int64_t by)
{
	if (*us >= 0)
		*us -= by;
}

static void move_all(struct recording *rec, int64_t by)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		move(&t->queued_us, by);
		move(&t->start_us, by);
		move(&t->end_us, by);
	}
	for (size_t i = 0; i < rec->n_spans; i++) {
		move(&rec->span[i].begin_us, by);
		move(&rec->span[i].end_us, by);
	}
	for (size_t i = 0; i < rec->n_notes; i++)
		move(&rec->note[i].time_us, by);
}

static void widen(struct recording *rec, uint32_t at, int64_t from_us, int64_t to_us)
{
	struct instance *i = &rec->instance[at];

	if (from_us >= 0 && from_us < i->open_us)
		i->open_us = from_us;
	if (to_us > i->close_us)
		i->close_us = to_us;
	if (i->close_us > rec->last_us)
		rec->last_us = i->close_us;
}

/* An instance begins with its first task or span and ends with its last. A task that ran an
 * instance has a lower index than it, and so has that task's own instance. */
static void set_instance_times(struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		widen(rec, t->instance, first_us(t), first_us(t));
		widen(rec, t->instance, t->end_us, t->end_us);
	}
	for (size_t i = 0; i < rec->n_spans; i++)
		widen(rec, rec->span[i].instance, rec->span[i].begin_us, rec->span[i].end_us);
	for (size_t i = rec->n_instances; i-- > 0;) {
		struct instance *in = &rec->instance[i];

		if (in->open_us == INT64_MAX)
			in->open_us = in->close_us = 0;
		if (in->parent_task == NO_INDEX)
			continue;
		rec->task[in->parent_task].hosts = true;
		widen(rec, rec->task[in->parent_task].instance, in->open_us, in->close_us);
	}
}

/* At the end: order */

static bool is_in_order(const struct recording *rec)
{
	for (size_t i = 1; i < rec->n_tasks; i++) {
		if (first_us(&rec->task[i]) < first_us(&rec->task[i - 1]))
			return false;
	}
	return true;
}

/* The new index of each task: by its first time, otherwise by its index. The caller frees it;
 * NULL: out of memory. */
static uint32_t *find_order(const struct recording *rec)
{
	struct keyed *place = array_new(rec->n_tasks, sizeof *place);
	uint32_t *to = array_new(rec->n_tasks, sizeof *to);

	for (size_t i = 0; place && to && i < rec->n_tasks; i++)
		place[i] = (struct keyed){ (uint64_t)first_us(&rec->task[i]) + 1, (int64_t)i };
	if (place && to && !sort_keyed(place, rec->n_tasks)) {
		for (size_t i = 0; i < rec->n_tasks; i++)
			to[place[i].value] = (uint32_t)i;
	} else {
		free(to);
		to = NULL;
	}
	free(place);
	return to;
}

static void redirect(uint32_t *task, const uint32_t *to)
{
	if (*task != NO_INDEX)
		*task = to[*task];
}

static int move_tasks(struct builder *b, const uint32_t *to)
{
	struct recording *rec = b->rec;
	struct task *sorted = array_new(rec->n_tasks, sizeof *sorted);

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		sorted[to[i]] = rec->task[i];
		sorted[to[i]].seq = to[i] + 1;
	}
	free(rec->task);
	rec->task = sorted;
	for (size_t i = 0; i < rec->n_instances; i++)
		redirect(&rec->instance[i].parent_task, to);
	for (size_t i = 0; i < rec->n_spans; i++) {
		redirect(&rec->span[i].task, to);
		if (rec->span[i].task != NO_INDEX)
			rec->span[i].seq = rec->span[i].task + 1;
	}
	for (size_t i = 0; i < rec->n_notes; i++)
		redirect(&rec->note[i].task, to);
	for (size_t i = 0; i < b->part->after.n; i++)
		redirect(&b->part->after.item[i].task, to);
	for (size_t i = 0; i < b->part->out.n; i++)
		redirect(&b->part->out.item[i].task, to);
	return 0;
}

/* The names by task; those of one task in the order in which they were added. */
static const char **lay_out(const struct list *l, size_t n_tasks, uint32_t *first, uint32_t *n)
{
	const char **names = array_new(l->n, sizeof *names);
	uint32_t at = 0;

	if (!names)
		return NULL;
	memset(n, 0, n_tasks * sizeof *n);
	for (size_t i = 0; i < l->n; i++)
		n[l->item[i].task]++;
	for (size_t i = 0; i < n_tasks; i++) {
		first[i] = at;
		at += n[i];
		n[i] = 0;
	}
	for (size_t i = 0; i < l->n; i++) {
		uint32_t task = l->item[i].task;

		names[first[task] + n[task]++] = l->item[i].name;
	}
	return names;
}

static int set_order(struct builder *b)
{
	struct recording *rec = b->rec;
	bool in_order = is_in_order(rec);
	uint32_t *to = in_order ? NULL : find_order(rec);
	uint32_t *first = array_new(rec->n_tasks + 1, sizeof *first);
	uint32_t *n = array_new(rec->n_tasks, sizeof *n);
	int r = (to || in_order) && first && n ? 0 : -ENOMEM;

	if (!r && to)
		r = move_tasks(b, to);
	if (!r)
		rec->after = lay_out(&b->part->after, rec->n_tasks, first, n);
	for (size_t i = 0; rec->after && i < rec->n_tasks; i++) {
		rec->task[i].first_after = first[i];
		rec->task[i].n_after = n[i];
	}
	if (rec->after)
		rec->out = lay_out(&b->part->out, rec->n_tasks, first, n);
	for (size_t i = 0; rec->out && i < rec->n_tasks; i++) {
		rec->task[i].first_out = first[i];
		rec->task[i].n_out = n[i];
	}
	rec->n_after = rec->after ? b->part->after.n : 0;
	rec->n_out = rec->out ? b->part->out.n : 0;
	free_all(to, first, n);
	return rec->out ? 0 : -ENOMEM;
}

/* At the end: keys of `build` that our own recordings have */

static void add_times(struct builder *b)
{
	struct recording *rec = b->rec;
	char memory[64];
	struct buf iso;

	rec->end_us = recording_build_number(rec, "end_us");
	if (rec->end_us < 0) {
		rec->end_us = rec->last_us;
		builder_build_number(b, "end_us", rec->end_us);
	}
	if (rec->end_us > rec->last_us)
		rec->last_us = rec->end_us;
	if (rec->start_wall_ns < 0)
		return;
	buf_init_fixed(&iso, memory, sizeof memory);
	clock_add_iso(&iso, rec->start_wall_ns);
	builder_build_number(b, "start_wall_ns", rec->start_wall_ns);
	builder_build(b, "start", buf_str(&iso));
}

int builder_parts(struct builder *b)
{
	if (!b->error)
		add_times(b);
	b->in_parts = true;
	return b->error;
}

void builder_next_part(struct builder *b)
{
	struct recording *rec = b->rec;

	b->tasks_before += rec->n_tasks;
	b->spans_before += rec->n_spans;
	rec->n_tasks = rec->n_spans = rec->n_notes = rec->n_groups = rec->n_in = 0;
}

int builder_finish(struct builder *b)
{
	struct recording *rec = b->rec;

	if (b->in_parts && !b->error)
		b->error = -ECANCELED;
	if (!b->error && rec->start_wall_ns < 0)
		move_all(rec, earliest(rec));
	if (!b->error) {
		set_instance_times(rec);
		b->error = set_order(b);
		add_times(b);
	}
	if (b->part) {
		free_all(b->part->after.item, b->part->out.item);
		name_table_release(&b->part->kinds);
	}
	free(b->part);
	b->part = NULL;
	if (b->error)
		recording_release(rec);
	return b->error;
}

int builder_end(struct builder *b, int r, const char *path, struct error *err)
{
	if (r) {
		b->error = r;
		builder_finish(b);
		return r;
	}
	r = builder_finish(b);
	return r ? error_sys(err, r, path, NULL) : 0;
}
