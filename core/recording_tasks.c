#include "event.h"
#include "field.h"
#include "kind.h"
#include "layout.h"
#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The tasks of one instance by their number: hosts count from 1, so nearly all
 * are in an array; what does not fit one twice as long as there are tasks goes
 * into the hash table of the reader. */
struct numbered {
	uint32_t *task;		/* NO_INDEX: none */
	size_t n;
	size_t n_tasks;
};

/* Instances */

/* An id is shorter than 16 bytes, so two numbers hold it, length included. */
static void instance_key(struct slice id, uint64_t key[2])
{
	unsigned char bytes[16] = { 0 };

	memcpy(bytes, id.p, id.len);
	bytes[15] = (unsigned char)id.len;
	memcpy(key, bytes, sizeof bytes);
}

static bool is_last(const struct reader *r, struct slice id)
{
	return r->last_instance != NO_INDEX && r->last_id.len == id.len &&
	       !memcmp(r->last_id.p, id.p, id.len);
}

static uint32_t find_instance(struct reader *r, struct slice id)
{
	uint64_t key[2];
	uint32_t at;

	if (is_last(r, id))
		return r->last_instance;
	instance_key(id, key);
	if (!index_find(&r->instances, key[0], key[1], &at))
		return NO_INDEX;
	r->last_instance = at;
	r->last_id = (struct slice){ r->rec->instance[at].id, id.len };
	return at;
}

static int add_instance(struct reader *r, struct slice id, int64_t time_us)
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
		.parent_task = NO_INDEX, .ancestors = "", .tool = "", .version = "",
		.cwd = "", .command = "" };
	numbered[at] = (struct numbered){ 0 };
	instance_key(id, key);
	if (!grown[at].id || index_put(&r->instances, key[0], key[1], at))
		return -ENOMEM;
	rec->n_instances++;
	r->last_instance = NO_INDEX;
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
	uint32_t instance = inst.len < INSTANCE_ID_MAX ? find_instance(r, inst) : NO_INDEX;

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
	struct task *grown = array_grow(rec->task, rec->n_tasks, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	rec->task = grown;
	*out = (uint32_t)rec->n_tasks;
	grown[*out] = (struct task){ .instance = instance, .seq = seq, .name = "",
		.kind = "", .key = "", .queued_us = -1, .start_us = -1,
		.end_us = -1, .pid = -1, .slot = -1, .state = TASK_QUEUED, .status = -1,
		.user_us = -1, .system_us = -1, .max_rss_kb = -1, .minor_faults = -1,
		.major_faults = -1, .in_blocks = -1, .out_blocks = -1,
		.voluntary_switches = -1, .involuntary_switches = -1, .rchar = -1,
		.wchar = -1, .peak_ms = -1 };
	rec->n_tasks++;
	return number_task(r, instance, seq, *out);
}

/* Lines. Each gives 0, -ENOMEM, or -EBADMSG for a line to be left out. */

/* A copy of a text as it was before it was escaped. */
static const char *text_field(struct reader *r, struct event *e)
{
	struct slice field = event_field(e);
	char *copy;

	if (!field.len)
		return "";
	copy = arena_text(r->rec->arena, field.p, field.len);
	if (!copy) {
		r->no_memory = true;
		return "";
	}
	copy[field_decode(copy, field.len, NULL)] = '\0';
	return copy;
}

/* A text for a moment only. */
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

/* A pid, a slot, a status: at least -1 and small. */
static int32_t small_number(struct event *e)
{
	int64_t n = event_number(e);

	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

static int64_t count_field(struct event *e)
{
	int64_t n = event_number(e);

	return n >= 0 ? n : -1;
}

static int32_t small_count(struct event *e)
{
	int64_t n = count_field(e);

	return n <= INT32_MAX ? (int32_t)n : INT32_MAX;
}

/* Kinds are few: one text for each. */

static uint64_t hash_text(struct slice s)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
	return h;
}

static const char *add_kind(struct reader *r, struct slice text, uint64_t hash, uint64_t turn)
{
	const char **grown = array_grow(r->kind, r->n_kinds, sizeof *grown);
	char *copy = arena_text(r->rec->arena, text.p, text.len);

	if (grown)
		r->kind = grown;
	if (!grown || !copy || index_put(&r->kinds, hash, turn, (uint32_t)r->n_kinds)) {
		r->no_memory = true;
		return "";
	}
	grown[r->n_kinds++] = copy;
	return copy;
}

static const char *find_kind(struct reader *r, struct slice text)
{
	uint64_t hash = hash_text(text);
	uint32_t at;

	for (uint64_t turn = 0;; turn++) {
		if (!index_find(&r->kinds, hash, turn, &at))
			return add_kind(r, text, hash, turn);
		if (slice_is(text, r->kind[at]))
			return r->kind[at];
	}
}

static const char *kind_field(struct reader *r, struct event *e)
{
	struct slice text = scratch_text(r, event_field(e));

	text.len = strnlen(text.p, text.len);
	return text.len ? find_kind(r, text) : "";
}

/* Most are like the one before. */
static const char *kind_of_field(struct reader *r, struct slice field)
{
	struct slice command = scratch_text(r, field);
	const char *kind = kind_of_command(command.p, command.len);

	if (kind != r->last_kind) {
		r->last_kind = kind;
		r->last_kind_text = find_kind(r, (struct slice){ kind, strlen(kind) });
	}
	return r->last_kind_text;
}

/* An id that was already there belonged to a process that is no more. */
static int read_open(struct reader *r, struct event *e)
{
	struct instance *i;
	int error = add_instance(r, e->inst, e->time_us);

	if (error)
		return error;
	i = &r->rec->instance[r->rec->n_instances - 1];
	i->pid = small_number(e);
	i->level = small_number(e);
	i->ancestors = text_field(r, e);
	i->tool = text_field(r, e);
	i->version = text_field(r, e);
	i->cwd = text_field(r, e);
	i->command = text_field(r, e);
	return 0;
}

static int read_queue(struct reader *r, struct task *t, struct event *e)
{
	if (t->queued_us >= 0)
		return -EBADMSG;
	t->queued_us = e->time_us;
	if (t->start_us >= 0)
		return 0;
	t->kind = kind_field(r, e);
	t->name = text_field(r, e);
	t->key = text_field(r, e);
	return 0;
}

static void set_text(const char **to, const char *text)
{
	if (*text)
		*to = text;
}

static int read_start(struct reader *r, struct task *t, struct event *e)
{
	struct slice command;
	int32_t pid;

	if (t->start_us >= 0)
		return -EBADMSG;
	t->start_us = e->time_us;
	pid = small_number(e);
	if (pid >= 0)
		t->pid = pid;
	t->slot = small_number(e);
	set_text(&t->kind, kind_field(r, e));
	set_text(&t->name, text_field(r, e));
	set_text(&t->key, text_field(r, e));
	command = event_field(e);
	t->command = command.len ? r->place : 0;
	if (!*t->kind)
		t->kind = kind_of_field(r, command);
	if (t->state == TASK_QUEUED)
		t->state = TASK_RUNNING;
	return 0;
}

static int read_end(struct task *t, struct event *e, enum task_state state)
{
	if (t->end_us >= 0)
		return -EBADMSG;
	t->state = state;
	t->end_us = e->time_us;
	t->status = small_number(e);
	t->user_us = count_field(e);
	t->system_us = count_field(e);
	t->max_rss_kb = count_field(e);
	t->minor_faults = small_count(e);
	t->major_faults = small_count(e);
	t->in_blocks = count_field(e);
	t->out_blocks = count_field(e);
	t->voluntary_switches = small_count(e);
	t->involuntary_switches = small_count(e);
	t->rchar = count_field(e);
	t->wchar = count_field(e);
	return 0;
}

static int read_pid(struct task *t, struct event *e)
{
	int32_t pid = small_number(e);

	if (pid < 0)
		return -EBADMSG;
	t->pid = pid;
	return 0;
}

/* The lists of two tasks are mixed: from here on each name knows its task. */
static int scatter_after(struct reader *r)
{
	struct recording *rec = r->rec;
	size_t cap = 16;

	while (cap < rec->n_after)
		cap *= 2;
	r->after_task = malloc(cap * sizeof *r->after_task);
	if (!r->after_task)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		for (size_t k = 0; k < t->n_after; k++)
			r->after_task[t->first_after + k] = (uint32_t)i;
	}
	return 0;
}

static int add_after(struct reader *r, uint32_t task, const char *name)
{
	struct recording *rec = r->rec;
	struct task *t = &rec->task[task];
	const char **names;
	uint32_t *tasks;

	if (!t->n_after)
		t->first_after = (uint32_t)rec->n_after;
	if (rec->n_after == UINT32_MAX)
		return -ENOMEM;
	if (t->first_after + t->n_after != rec->n_after && !r->after_task && scatter_after(r))
		return -ENOMEM;
	names = array_grow(rec->after, rec->n_after, sizeof *names);
	if (!names)
		return -ENOMEM;
	rec->after = names;
	if (r->after_task) {
		tasks = array_grow(r->after_task, rec->n_after, sizeof *tasks);
		if (!tasks)
			return -ENOMEM;
		r->after_task = tasks;
		tasks[rec->n_after] = task;
	}
	names[rec->n_after++] = name;
	t->n_after++;
	return 0;
}

static int read_after(struct reader *r, uint32_t task, struct event *e)
{
	int error = 0;

	while (!error && !r->sums_only && !cursor_at_end(&e->rest)) {
		const char *name = text_field(r, e);

		if (*name)
			error = add_after(r, task, name);
	}
	return error;
}

/* Spans of tasks and of instances in one number. */
static uint64_t span_owner(uint32_t instance, uint32_t task)
{
	return (uint64_t)instance << 32 | task;
}

static int read_begin(struct reader *r, uint32_t instance, uint32_t task, struct event *e)
{
	struct recording *rec = r->rec;
	int64_t number = event_number(e);
	struct span *grown;

	if (number < 0)
		return -EBADMSG;
	grown = array_grow(rec->span, rec->n_spans, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	rec->span = grown;
	grown[rec->n_spans] = (struct span){ instance, task, e->time_us, -1,
		text_field(r, e) };
	return index_put(&r->spans, span_owner(instance, task), (uint64_t)number,
			 (uint32_t)rec->n_spans++);
}

static int read_span_end(struct reader *r, uint32_t instance, uint32_t task, struct event *e)
{
	int64_t number = event_number(e);
	struct span *s;
	uint32_t at;

	if (number < 0 || !index_find(&r->spans, span_owner(instance, task),
				      (uint64_t)number, &at))
		return -EBADMSG;
	s = &r->rec->span[at];
	if (s->end_us >= 0 || e->time_us < s->begin_us)
		return -EBADMSG;
	s->end_us = e->time_us;
	return 0;
}

static int read_note(struct reader *r, uint32_t instance, uint32_t task, struct event *e)
{
	struct recording *rec = r->rec;
	struct note *grown = array_grow(rec->note, rec->n_notes, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	rec->note = grown;
	grown[rec->n_notes++] = (struct note){ e->time_us, instance, task,
		text_field(r, e) };
	return 0;
}

static int read_task_line(struct reader *r, uint32_t instance, uint32_t task,
			  struct event *e)
{
	struct task *t = task == NO_INDEX ? NULL : &r->rec->task[task];

	switch (e->kind) {
	case EVENT_BEGIN: return read_begin(r, instance, task, e);
	case EVENT_END: return read_span_end(r, instance, task, e);
	case EVENT_NOTE: return read_note(r, instance, task, e);
	default: break;
	}
	if (!t)
		return -EBADMSG;
	switch (e->kind) {
	case EVENT_QUEUE: return read_queue(r, t, e);
	case EVENT_START: return read_start(r, t, e);
	case EVENT_PID: return read_pid(t, e);
	case EVENT_DONE: return read_end(t, e, TASK_DONE);
	case EVENT_FAIL: return read_end(t, e, TASK_FAILED);
	case EVENT_KILL: return read_end(t, e, TASK_KILLED);
	case EVENT_AFTER: return read_after(r, task, e);
	default: return -EBADMSG;
	}
}

/* An instance or task whose first line was lost is made up from what its later
 * lines tell. */
static int read_event(struct reader *r, struct event *e)
{
	uint32_t task = NO_INDEX;
	uint32_t instance;

	if (e->kind == EVENT_OPEN)
		return e->seq ? -EBADMSG : read_open(r, e);
	instance = find_instance(r, e->inst);
	if (instance == NO_INDEX) {
		if (add_instance(r, e->inst, e->time_us))
			return -ENOMEM;
		instance = (uint32_t)r->rec->n_instances - 1;
	}
	if (e->kind == EVENT_CLOSE) {
		if (e->seq)
			return -EBADMSG;
		r->rec->instance[instance].close_us = e->time_us;
		return 0;
	}
	if (e->seq) {
		task = find_task(r, instance, e->seq);
		if (task == NO_INDEX && add_task(r, instance, e->seq, &task))
			return -ENOMEM;
	}
	return read_task_line(r, instance, task, e);
}

/* The header again: files were joined. */
static bool is_header(struct slice line)
{
	return line.len == strlen(TASKS_HEADER) - 1 &&
	       !memcmp(line.p, TASKS_HEADER, line.len);
}

struct tasks_damage {
	struct damage damaged, unknown;
	char word[32];		/* the first unknown */
};

static int read_line(struct reader *r, struct slice line, unsigned number,
		     struct tasks_damage *d)
{
	struct event e;
	int error = -EBADMSG;

	switch (event_parse(line, &e)) {
	case EVENT_PARSED:
		if (e.time_us >= 0 && e.time_us <= READER_TIME_MAX_US) {
			reader_saw(r, e.time_us);
			error = read_event(r, &e);
			error = r->no_memory ? -ENOMEM : error;
		}
		break;
	case EVENT_UNKNOWN:
		if (!d->unknown.n) {
			size_t n = strcspn(line.p, "\t");

			n = n < sizeof d->word ? n : sizeof d->word - 1;
			memcpy(d->word, line.p, n);
			d->word[n] = '\0';
		}
		damage_add(&d->unknown, number);
		return 0;
	case EVENT_DAMAGED:
		break;
	}
	if (error != -EBADMSG || is_header(line))
		return error == -ENOMEM ? error : 0;
	damage_add(&d->damaged, number);
	return 0;
}

int reader_tasks(struct reader *r, const char *file, struct feed *f)
{
	struct tasks_damage d = { 0 };
	struct slice line, rest;
	bool whole = feed_line(f, &line) == FEED_WHOLE;
	int error = reader_header(r, whole ? &line : NULL, file, "tasks", &rest);

	if (error <= 0)
		return error;
	error = 0;
	while (!error && reader_feed_line(f, &line, &d.damaged)) {
		r->place = texts_place(r->rec->texts, f->offset - line.len - 1);
		error = read_line(r, line, f->line, &d);
	}
	if (!error && d.unknown.n)
		error = reader_warn(r, "%s:%u: %u lines of kinds this program does not "
				    "know left out, the first is \"%s\"", file,
				    d.unknown.first_line, d.unknown.n, d.word);
	return error ? error : damage_tell(r, &d.damaged, file);
}

/* After all files */

/* Names in the order of their tasks, each task's in the order they came. */
static int sort_after(struct reader *r)
{
	struct recording *rec = r->rec;
	const char **sorted = malloc((rec->n_after + 1) * sizeof *sorted);
	size_t at = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		rec->task[i].first_after = (uint32_t)at;
		at += rec->task[i].n_after;
		rec->task[i].n_after = 0;
	}
	for (size_t i = 0; i < rec->n_after; i++) {
		struct task *t = &rec->task[r->after_task[i]];

		sorted[t->first_after + t->n_after++] = rec->after[i];
	}
	free(rec->after);
	rec->after = sorted;
	return 0;
}

int reader_finish_tasks(struct reader *r)
{
	struct recording *rec = r->rec;
	unsigned backwards = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		if (!*t->kind)
			t->kind = kind_of_field(r, (struct slice){ "", 0 });
		if (t->end_us >= 0 && t->end_us < t->start_us) {
			t->end_us = t->start_us;
			backwards++;
		}
	}
	if (r->no_memory)
		return -ENOMEM;
	if (backwards && reader_warn(r, LAYOUT_TASKS ": %u tasks end before they start; "
				     "taken as ending at once", backwards))
		return -ENOMEM;
	return r->after_task ? sort_after(r) : 0;
}

void reader_release(struct reader *r)
{
	for (size_t i = 0; r->numbered && i < r->rec->n_instances; i++)
		free(r->numbered[i].task);
	free(r->numbered);
	free(r->after_task);
	free(r->newest);
	free(r->kind);
	buf_release(&r->scratch);
	index_release(&r->kinds);
	index_release(&r->instances);
	index_release(&r->tasks);
	index_release(&r->spans);
}
