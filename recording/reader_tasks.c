/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "command/command_name.h"
#include "command/kind.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The tasks of one instance by their number: hosts count from 1, so nearly all
 * are in an array of at most twice the number of tasks. The others are in the hash table of the
 * reader. */
struct numbered {
	uint32_t *task;		/* NO_INDEX: none */
	size_t n;
	size_t n_tasks;
	bool made_up;		/* the instance: its first line was not read yet */
};

/* Instances */

/* An id is shorter than 16 bytes, so two numbers hold it, length included. */
static void instance_key(struct slice id, uint64_t key[2])
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

static bool is_last(const struct reader *r, struct slice id)
{
	return r->last_instance != NO_INDEX && r->last_id.len == id.len &&
	       !memcmp(r->last_id.p, id.p, id.len);
}

uint32_t reader_find_instance(struct reader *r, struct slice id)
{
	struct recent_instance *recent;
	uint64_t key[2];
	uint32_t at;

	if (is_last(r, id))
		return r->last_instance;
	instance_key(id, key);
	/* a key is never 0: the length is in it */
	recent = &r->recent[(key[0] ^ key[0] >> 32 ^ key[1] >> 40) * 0x9e3779b97f4a7c15u >> 58];
	if (recent->key[0] == key[0] && recent->key[1] == key[1]) {
		at = recent->instance;
	} else {
		if (!index_find(&r->instances, key[0], key[1], &at))
			return NO_INDEX;
		*recent = (struct recent_instance){ { key[0], key[1] }, at };
	}
	r->last_instance = at;
	r->last_id = (struct slice){ r->rec->instance[at].id, id.len };
	return at;
}

int reader_add_instance(struct reader *r, struct slice id, int64_t time_us)
{
	struct recording *rec = r->rec;
	uint32_t at = (uint32_t)rec->n_instances;
	struct instance *grown = array_grow(rec->instance, at, sizeof *grown);
	struct numbered *numbered;
	uint64_t key[2];

	if (!grown)
		return -ENOMEM;
	rec->instance = grown;
	numbered = array_grow(r->numbered, at, sizeof *numbered);
	if (!numbered)
		return -ENOMEM;
	r->numbered = numbered;
	grown[at] = (struct instance){ .id = arena_text(rec->arena, id.p, id.len),
		.open_us = time_us, .close_us = -1, .pid = -1, .level = -1,
		.parent_task = NO_INDEX, .parent_span = NO_INDEX, .used_user_us = -1,
		.used_system_us = -1, .used_in_blocks = -1, .used_out_blocks = -1,
		.children_user_us = -1, .children_system_us = -1, .reaped = -1,
		.ancestors = "", .tool = "",
		.version = "", .cwd = "", .command = "" };
	numbered[at] = (struct numbered){ 0 };
	instance_key(id, key);
	if (!grown[at].id || index_put(&r->instances, key[0], key[1], at))
		return -ENOMEM;
	rec->n_instances++;
	memset(r->recent, 0, sizeof r->recent);
	r->last_instance = NO_INDEX;
	return 0;
}

int reader_make_up_instance(struct reader *r, struct slice id, int64_t time_us)
{
	int error = reader_add_instance(r, id, time_us);

	if (!error)
		r->numbered[r->rec->n_instances - 1].made_up = true;
	return error;
}

int reader_open_instance(struct reader *r, struct slice id, int64_t time_us, uint32_t *at)
{
	struct instance *i;

	*at = reader_find_instance(r, id);
	if (*at == NO_INDEX || !r->numbered[*at].made_up) {
		*at = (uint32_t)r->rec->n_instances;
		return reader_add_instance(r, id, time_us);
	}
	i = &r->rec->instance[*at];
	i->open_us = time_us;
	r->numbered[*at].made_up = false;
	return 0;
}

/* Tasks */

static uint32_t find_task(struct reader *r, uint32_t instance, uint64_t seq)
{
	const struct numbered *list = &r->numbered[instance];
	uint32_t at;

	if (seq < list->n && list->task[seq] != NO_INDEX)
		return list->task[seq];
	return index_find(&r->tasks, instance, seq, &at) ? at : NO_INDEX;
}

uint32_t reader_find_task(struct reader *r, struct slice inst, uint64_t seq)
{
	/* An event has no empty id, but other files may have one. */
	uint32_t instance = inst.len && inst.len < INSTANCE_ID_MAX ? reader_find_instance(r, inst) :
			    NO_INDEX;

	return instance == NO_INDEX ? NO_INDEX : find_task(r, instance, seq);
}

static int number_task(struct reader *r, uint32_t instance, uint64_t seq, uint32_t task)
{
	struct numbered *list = &r->numbered[instance];
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
		return index_put(&r->tasks, instance, seq, task);
	list->task[seq] = task;
	return 0;
}

static int add_task(struct reader *r, uint32_t instance, uint64_t seq, uint32_t *out)
{
	struct recording *rec = r->rec;
	struct task *grown = array_make_room(rec->task, &r->task_cap, rec->n_tasks,
					     sizeof *grown);

	if (!grown)
		return -ENOMEM;
	rec->task = grown;
	*out = (uint32_t)rec->n_tasks;
	grown[*out] = (struct task){ .instance = instance, .seq = seq, .name = "",
		.kind = "", .key = "", .queued_us = -1, .start_us = -1,
		.end_us = -1, .pid = -1, .slot = -1, .state = TASK_QUEUED, .status = -1,
		.user_us = -1, .system_us = -1, .max_rss_kb = -1, .max_rss_at_most_kb = -1,
		.minor_faults = -1, .major_faults = -1, .in_blocks = -1, .out_blocks = -1,
		.voluntary_switches = -1, .involuntary_switches = -1, .rchar = -1,
		.wchar = -1, .peak_ms = -1, .pool = NO_INDEX, .line = -1, .file = "",
		.program = "", .files_bytes = -1 };
	rec->n_tasks++;
	return number_task(r, instance, seq, *out);
}

int reader_task(struct reader *r, uint32_t instance, uint64_t seq, uint32_t *task)
{
	*task = find_task(r, instance, seq);
	return *task == NO_INDEX ? add_task(r, instance, seq, task) : 0;
}

/* Kinds are few: one text for each. */

/* The unescaped text, valid until the next call. */
static struct slice scratch_text(struct reader *r, struct slice field)
{
	struct buf *b = &r->scratch;

	if (!memchr(field.p, '\\', field.len))
		return field;
	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b)) {
		r->no_memory = true;
		return (struct slice){ "", 0 };
	}
	return (struct slice){ b->data, field_decode(b->data, b->len, NULL) };
}

static const char *find_kind(struct reader *r, struct slice text)
{
	uint32_t at;

	r->kinds.arena = r->rec->arena;
	if (name_table_add(&r->kinds, text, &at)) {
		r->no_memory = true;
		return "";
	}
	return r->kinds.name[at].p;
}

const char *reader_kind(struct reader *r, struct slice field)
{
	struct slice text = field.len ? scratch_text(r, field) : field;

	text.len = strnlen(text.p, text.len);
	return text.len ? find_kind(r, text) : "";
}

/* Programs and kinds: most are like those of the command before. */

static const char *program_text(struct reader *r, struct slice program)
{
	if (!program.len)
		return "";
	if (program.len != r->last_program_len ||
	    memcmp(program.p, r->last_program, program.len)) {
		r->last_program = find_kind(r, program);
		r->last_program_len = program.len;
	}
	return r->last_program;
}

/* Is every backslash one that stands for itself? */
static bool is_plain(struct slice field)
{
	const char *p = field.p, *end = field.p + field.len;

	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		if (p + 1 == end || p[1] != '\\')
			return false;
		p += 2;
	}
	return true;
}

static void keep_compiler(struct reader *r, struct slice command, const char *program)
{
	struct slice word = kind_compiler(command);

	if (word.len > sizeof r->compiler || !kind_compiles(command, word))
		word.len = 0;
	memcpy(r->compiler, word.p, word.len);
	r->compiler_len = word.len;
	r->compiler_kind = r->last_kind_text;
	r->compiler_program = program;
}

const char *reader_kind_of_command(struct reader *r, struct slice field, const char **program)
{
	struct slice command, name;
	const char *kind;

	if (kind_compiles(field, (struct slice){ r->compiler, r->compiler_len }) &&
	    is_plain(field)) {
		*program = r->compiler_program;
		return r->compiler_kind;
	}
	command = scratch_text(r, field);
	kind = kind_and_program(command.p, command.len, &name);
	*program = program_text(r, name);
	if (kind != r->last_kind) {
		r->last_kind = kind;
		r->last_kind_text = find_kind(r, slice_of(kind));
	}
	keep_compiler(r, command, *program);
	return r->last_kind_text;
}

/* Lists of names of tasks. All names of one sort are in one array, where each task has a stretch. */

enum sort { AFTER, OUT };

struct names {
	const char ***name;	/* the array */
	size_t *cap, *n;
	uint32_t **task;	/* of each, once they are out of order; until then NULL */
	enum sort sort;
};

static struct names names_of(struct reader *r, enum sort sort)
{
	if (sort == AFTER)
		return (struct names){ &r->rec->after, &r->after_cap, &r->rec->n_after,
			&r->after_task, sort };
	return (struct names){ &r->rec->out, &r->out_cap, &r->rec->n_out, &r->out_task, sort };
}

struct stretch {
	uint32_t *first, *n;
};

static struct stretch stretch_of(struct task *t, enum sort sort)
{
	if (sort == AFTER)
		return (struct stretch){ &t->first_after, &t->n_after };
	return (struct stretch){ &t->first_out, &t->n_out };
}

/* The lists of two tasks are mixed, so the task of each name is stored. */
static int scatter(struct recording *rec, const struct names *l)
{
	size_t cap = ARRAY_FIRST;

	while (cap < *l->n)
		cap *= 2;
	*l->task = malloc(cap * sizeof **l->task);
	if (!*l->task)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct stretch s = stretch_of(&rec->task[i], l->sort);

		for (size_t k = 0; k < *s.n; k++)
			(*l->task)[*s.first + k] = (uint32_t)i;
	}
	return 0;
}

static int add_name(struct recording *rec, const struct names *l, uint32_t task,
		    const char *name)
{
	struct stretch s = stretch_of(&rec->task[task], l->sort);
	const char **names;
	uint32_t *tasks;

	if (!*s.n)
		*s.first = (uint32_t)*l->n;
	if (*l->n == UINT32_MAX)
		return -ENOMEM;
	if (*s.first + *s.n != *l->n && !*l->task && scatter(rec, l))
		return -ENOMEM;
	names = array_make_room(*l->name, l->cap, *l->n, sizeof *names);
	if (!names)
		return -ENOMEM;
	*l->name = names;
	if (*l->task) {
		tasks = array_grow(*l->task, *l->n, sizeof *tasks);
		if (!tasks)
			return -ENOMEM;
		*l->task = tasks;
		tasks[*l->n] = task;
	}
	names[(*l->n)++] = name;
	++*s.n;
	return 0;
}

static int add_names(struct reader *r, enum sort sort, uint32_t task, struct slice names)
{
	struct names list = names_of(r, sort);
	char *p = arena_text(r->rec->arena, names.p, names.len);
	const char *end = p + names.len;
	bool escaped = p && memchr(p, '\\', names.len);
	int error = p ? 0 : -ENOMEM;

	while (!error && p < end) {
		char *tab = memchr(p, '\t', (size_t)(end - p));
		size_t len = (size_t)((tab ? tab : end) - p);

		p[escaped ? field_decode(p, len, NULL) : len] = '\0';
		if (*p)
			error = add_name(r->rec, &list, task, p);
		p += len + 1;
	}
	return error;
}

int reader_after(struct reader *r, uint32_t task, struct slice names)
{
	return add_names(r, AFTER, task, names);
}

int reader_out(struct reader *r, uint32_t task, struct slice names)
{
	return add_names(r, OUT, task, names);
}

/* The names of a line, each terminated in place. */
static int add_in(struct recording *rec, size_t *cap, struct target_group *g, const char *name)
{
	const char **in;

	if (!g->name) {
		g->name = name;
		return 0;
	}
	if (rec->n_in == UINT32_MAX)
		return -ENOMEM;
	in = array_make_room(rec->in, cap, rec->n_in, sizeof *in);
	if (!in)
		return -ENOMEM;
	rec->in = in;
	in[rec->n_in++] = name;
	g->n_in++;
	return 0;
}

int reader_group(struct reader *r, uint32_t instance, struct slice names)
{
	struct recording *rec = r->rec;
	struct target_group *g = array_add(&rec->group, &rec->n_groups, sizeof *g);
	char *p = g ? arena_text(rec->arena, names.p, names.len) : NULL;
	const char *end = p + names.len;
	int error = p ? 0 : -ENOMEM;

	if (g)
		*g = (struct target_group){ instance, (uint32_t)rec->n_in, 0, NULL };
	while (!error && p < end) {
		char *tab = memchr(p, '\t', (size_t)(end - p));
		size_t len = (size_t)((tab ? tab : end) - p);

		p[field_decode(p, len, NULL)] = '\0';
		if (*p)
			error = add_in(rec, &r->in_cap, g, p);
		p += len + 1;
	}
	if (g && (!g->name || !g->n_in))
		rec->n_groups--;
	return error;
}

/* Sort names by task; those of a task keep their order. */
static int sort_names(struct recording *rec, const struct names *l)
{
	const char **sorted;
	size_t at = 0;

	if (!*l->task)
		return 0;
	sorted = malloc((*l->n + 1) * sizeof *sorted);
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct stretch s = stretch_of(&rec->task[i], l->sort);

		*s.first = (uint32_t)at;
		at += *s.n;
		*s.n = 0;
	}
	for (size_t i = 0; i < *l->n; i++) {
		struct stretch s = stretch_of(&rec->task[(*l->task)[i]], l->sort);

		sorted[*s.first + (*s.n)++] = (*l->name)[i];
	}
	free(*l->name);
	*l->name = sorted;
	return 0;
}

static int sort_all_names(struct reader *r)
{
	struct names after = names_of(r, AFTER), out = names_of(r, OUT);
	int error = sort_names(r->rec, &after);

	return error ? error : sort_names(r->rec, &out);
}

/* After all files */

/* A task without a name is called after its command. */
static void name_by_command(struct reader *r, struct task *t)
{
	const char *command = recording_command(r->rec, t), *name;
	struct buf *b = &r->scratch;

	buf_clear(b);
	command_name_add(b, command, strlen(command));
	if (!b->len && !buf_error(b))
		return;
	name = buf_error(b) ? NULL : arena_text(r->rec->arena, b->data, b->len);
	if (name)
		t->name = name;
	else
		r->no_memory = true;
}

int reader_finish_tasks(struct reader *r)
{
	struct recording *rec = r->rec;
	unsigned backwards = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		if (!*t->kind)
			t->kind = reader_kind_of_command(r, (struct slice){ "", 0 }, &t->program);
		if (!*t->name && t->command && (!r->sums_only || r->waits))
			name_by_command(r, t);
		if (t->end_us >= 0 && t->end_us < t->start_us) {
			t->end_us = t->start_us;
			backwards++;
		}
	}
	if (r->no_memory || recording_command_error(rec))
		return -ENOMEM;
	if (backwards && reader_warn(r, LAYOUT_TASKS ": %u tasks end before they start; "
				     "taken as ending at once", backwards))
		return -ENOMEM;
	rec->task = array_trim(rec->task, rec->n_tasks, sizeof *rec->task);
	return sort_all_names(r);
}

void reader_release(struct reader *r)
{
	for (size_t i = 0; r->numbered && i < r->rec->n_instances; i++)
		free(r->numbered[i].task);
	free(r->numbered);
	free(r->reported_lost);
	free(r->last_task);
	free(r->after_task);
	free(r->out_task);
	free(r->newest);
	free(r->usage_task);
	buf_release(&r->scratch);
	name_table_release(&r->kinds);
	index_release(&r->instances);
	index_release(&r->tasks);
	index_release(&r->spans);
	free(r->span_parent);
	free(r->span_end);
	index_release(&r->pools);
	name_table_release(&r->programs);
	free(r->process);
}
