/* SPDX-License-Identifier: MIT */
#include "convert/trace.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/index.h"
#include "base/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_MAX 160
#define DETAIL_MAX 400
#define ROUNDING_US 2		/* an inner piece may end this much later than the outer one */

struct trace_part {
	struct arena *arena;
	struct name_table texts;
	struct index processes, tracks;
	int64_t *newest_us;	/* of each track, after trace_finish() */
};

int trace_init(struct trace *t)
{
	*t = (struct trace){ .part = calloc(1, sizeof *t->part) };
	if (t->part)
		t->part->arena = arena_new();
	return t->part && t->part->arena ? 0 : -ENOMEM;
}

void trace_release(struct trace *t)
{
	if (t->part) {
		arena_free(t->part->arena);
		name_table_release(&t->part->texts);
		index_release(&t->part->processes);
		index_release(&t->part->tracks);
		free(t->part->newest_us);
	}
	free(t->part);
	free(t->piece);
	free(t->track);
	free(t->process);
	*t = (struct trace){ 0 };
}

/* Texts, each once */

const char *trace_text(struct trace *t, const char *text, size_t len)
{
	struct name_table *texts = &t->part->texts;
	uint32_t at;

	texts->arena = t->part->arena;
	return name_table_add(texts, (struct slice){ text, strnlen(text, len) }, &at) ? NULL :
	       texts->name[at].p;
}

/* Processes and tracks are found by the addresses of their texts. */

static uint32_t find_process(struct trace *t, const char *id)
{
	struct trace_process *grown;
	uint32_t at;

	if (index_find(&t->part->processes, (uintptr_t)id, 0, &at))
		return at;
	grown = array_grow(t->process, t->n_processes, sizeof *grown);
	if (grown)
		t->process = grown;
	at = (uint32_t)t->n_processes;
	if (!grown || index_put(&t->part->processes, (uintptr_t)id, 0, at))
		return NO_INDEX;
	grown[t->n_processes++] = (struct trace_process){ id, NULL, NO_INDEX };
	return at;
}

static uint32_t find_track(struct trace *t, uint32_t process, const char *id, bool async)
{
	uint64_t owner = (uint64_t)process << 1 | async;
	struct trace_track *grown;
	uint32_t at;

	if (index_find(&t->part->tracks, (uintptr_t)id, owner, &at))
		return at;
	grown = array_grow(t->track, t->n_tracks, sizeof *grown);
	if (grown)
		t->track = grown;
	at = (uint32_t)t->n_tracks;
	if (!grown || index_put(&t->part->tracks, (uintptr_t)id, owner, at))
		return NO_INDEX;
	grown[t->n_tracks++] = (struct trace_track){ .process = process, .id = id, .async = async,
		.slot = -1, .open = NO_INDEX };
	return at;
}

/* Events */

struct event {
	const struct json_value *value;
	const struct trace_words *words;
	char phase;
	int64_t ns;
	uint32_t process, thread;
};

/* An id may be a number or a text. */
static const char *id_text(struct trace *t, const struct json_value *v)
{
	return v ? trace_text(t, v->text, v->len) : trace_text(t, "", 0);
}

/* An id is unique in its category and, unless it is marked as global, in its process. */
static uint32_t async_track(struct trace *t, const struct event *e)
{
	const struct json_value *id = json_member(e->value, "id");
	const struct json_value *id2 = json_member(e->value, "id2");
	struct buf b = BUF_INIT;
	const char *text;

	if (!id)
		id = json_member(id2, "local");
	if (!id)
		id = json_member(id2, "global");
	buf_adds(&b, json_member_text(e->value, "cat"));
	buf_addc(&b, ' ');
	if (id)
		buf_add(&b, id->text, id->len);
	text = buf_error(&b) ? NULL : trace_text(t, b.data, b.len);
	buf_release(&b);
	return text ? find_track(t, e->process, text, true) : NO_INDEX;
}

/* "name=value ..." of plain values; NULL if that is too long. */
static const char *note_of(struct trace *t, const struct json_value *args)
{
	char memory[NOTE_MAX];
	struct buf b;

	if (!args || args->type != JSON_OBJECT || !args->first)
		return NULL;
	buf_init_fixed(&b, memory, sizeof memory);
	for (const struct json_value *v = args->first; v; v = v->next) {
		if (v->type != JSON_NUMBER && v->type != JSON_TEXT)
			continue;
		if (b.len)
			buf_addc(&b, ' ');
		buf_adds(&b, v->name);
		buf_addc(&b, '=');
		buf_add(&b, v->text, v->len);
	}
	return buf_error(&b) || !b.len ? NULL : trace_text(t, b.data, b.len);
}

/* The "detail" of clang and others becomes part of the name. */
static const char *name_of(struct trace *t, const struct event *e, bool *detailed)
{
	const struct json_value *name = json_member(e->value, "name");
	const char *detail = json_member_text(json_member(e->value, "args"), "detail");
	struct buf b = BUF_INIT;
	const char *text;

	*detailed = *detail && strlen(detail) <= DETAIL_MAX;
	if (!*detailed)
		return id_text(t, name);
	buf_adds(&b, json_text(name));
	buf_addc(&b, ' ');
	buf_adds(&b, detail);
	text = buf_error(&b) ? NULL : trace_text(t, b.data, b.len);
	buf_release(&b);
	return text;
}

static int describe(struct trace *t, const struct event *e, struct trace_piece *p)
{
	const char *category = json_member_text(e->value, "cat");
	bool detailed;

	if (e->words) {
		p->category = e->words->category;
		p->key = e->words->key;
		p->note = e->words->note;
		p->name = e->words->name ? e->words->name : name_of(t, e, &detailed);
		return p->name ? 0 : -ENOMEM;
	}
	p->name = name_of(t, e, &detailed);
	p->category = *category ? trace_text(t, category, strcspn(category, ",")) : NULL;
	p->note = detailed ? NULL : note_of(t, json_member(e->value, "args"));
	return p->name && (p->category || !*category) ? 0 : -ENOMEM;
}

static int add_piece(struct trace *t, const struct event *e, uint32_t track, int64_t end_ns)
{
	struct trace_piece *p = track == NO_INDEX ? NULL :
		array_add(&t->piece, &t->n_pieces, sizeof *p);

	if (!p)
		return -ENOMEM;
	*p = (struct trace_piece){ .begin_us = e->ns / 1000,
		.end_us = end_ns == INT64_MAX ? INT64_MAX : end_ns / 1000, .track = track };
	return describe(t, e, p);
}

static int complete(struct trace *t, const struct event *e)
{
	int64_t ns = 0, end;

	if (!json_number(json_member(e->value, "dur"), 3, &ns) || ns < 0)
		ns = 0;
	if (__builtin_add_overflow(e->ns, ns, &end)) {
		t->n_damaged++;
		return 0;
	}
	return add_piece(t, e, e->thread, end);
}

/* Until a piece ends, its depth is the index of the open piece around it. */
static int begin(struct trace *t, const struct event *e, uint32_t track)
{
	uint32_t at = (uint32_t)t->n_pieces;
	int r = track == NO_INDEX ? -ENOMEM : 0;

	if (!r)
		r = add_piece(t, e, t->threads_only ? e->thread : track, INT64_MAX);
	if (r)
		return r;
	t->piece[at].depth = t->track[track].open;
	t->track[track].open = at;
	return 0;
}

/* A piece that began before the trace has no beginning. */
static int end(struct trace *t, const struct event *e, uint32_t track)
{
	struct trace_piece *p;

	if (track == NO_INDEX)
		return -ENOMEM;
	if (t->track[track].open == NO_INDEX) {
		t->n_damaged++;
		return 0;
	}
	p = &t->piece[t->track[track].open];
	t->track[track].open = p->depth;
	p->end_us = e->ns / 1000 > p->begin_us ? e->ns / 1000 : p->begin_us;
	return 0;
}

static int name_process(struct trace *t, const struct event *e)
{
	const char *word = json_member_text(e->value, "name");
	const struct json_value *name = json_member(json_member(e->value, "args"), "name");
	const char *text;

	if (!name || name->type != JSON_TEXT || !name->len ||
	    (strcmp(word, "process_name") && strcmp(word, "thread_name")))
		return 0;
	text = trace_text(t, name->text, name->len);
	if (!text)
		return -ENOMEM;
	if (*word == 'p')
		t->process[e->process].name = text;
	else
		t->track[e->thread].name = text;
	return 0;
}

bool trace_event_us(const struct json_value *event, int64_t *us)
{
	return json_number(json_member(event, "ts"), 0, us);
}

static int add_event(struct trace *t, struct event *e)
{
	const char *pid = id_text(t, json_member(e->value, "pid"));
	const char *tid = id_text(t, json_member(e->value, "tid"));

	e->process = pid ? find_process(t, pid) : NO_INDEX;
	e->thread = tid && e->process != NO_INDEX ?
		find_track(t, e->process, tid, false) : NO_INDEX;
	if (e->thread == NO_INDEX)
		return -ENOMEM;
	switch (e->phase) {
	case 'M':
		return name_process(t, e);
	case 'X':
		return complete(t, e);
	case 'B':
		return begin(t, e, e->thread);
	case 'E':
		return end(t, e, e->thread);
	case 'b':
	case 'S':
		return begin(t, e, async_track(t, e));
	case 'e':
	case 'F':
		return end(t, e, async_track(t, e));
	default:
		return 0;
	}
}

int trace_add(struct trace *t, const struct json_value *event, const struct trace_words *words)
{
	const char *phase = json_member_text(event, "ph");
	struct event e = { .value = event, .words = words, .phase = *phase };
	bool timed = json_number(json_member(event, "ts"), 3, &e.ns);

	if (event->type == JSON_OBJECT && *phase && !strchr("XBEbeSFM", *phase))
		return 0;
	if (event->type != JSON_OBJECT || !*phase || phase[1] || (!timed && *phase != 'M')) {
		t->n_damaged++;
		return 0;
	}
	return add_event(t, &e);
}

/* At the end */

static int by_track(const void *a, const void *b)
{
	const struct trace_piece *x = a, *y = b;
	int order = array_order(x->track, y->track);

	order = order ? order : array_order(x->begin_us, y->begin_us);
	order = order ? order : array_order(y->end_us, x->end_us);
	return order ? order : array_order(x->depth, y->depth);
}

static bool is_inside(const struct trace_piece *p, const struct trace_piece *outer)
{
	if (outer->end_us == INT64_MAX)
		return true;
	if (p->begin_us >= outer->end_us && p->end_us != p->begin_us)
		return false;
	return p->begin_us <= outer->end_us &&
	       (p->end_us == INT64_MAX || p->end_us - ROUNDING_US <= outer->end_us);
}

/* An inner piece ends with the outer one at the latest. stack has room for all pieces. */
static void nest(struct trace *t, uint32_t *stack)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < t->n_pieces; i++) {
		struct trace_piece *p = &t->piece[i];

		if (!i || p->track != p[-1].track)
			depth = 0;
		while (depth && !is_inside(p, &t->piece[stack[depth - 1]]))
			depth--;
		if (depth && p->end_us > t->piece[stack[depth - 1]].end_us)
			p->end_us = t->piece[stack[depth - 1]].end_us;
		p->depth = depth;
		stack[depth++] = (uint32_t)i;
	}
}

/* Make times relative to the first; newest gets the newest time of each track. */
static int shift(struct trace *t, int64_t *newest)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];
		int64_t end_us = p->end_us == INT64_MAX ? p->begin_us : p->end_us;

		first = p->begin_us < first ? p->begin_us : first;
		last = end_us > last ? end_us : last;
		newest[p->track] = end_us > newest[p->track] ? end_us : newest[p->track];
	}
	if (!t->n_pieces)
		return 0;
	if ((uint64_t)last - (uint64_t)first > TRACE_LONGEST_US)
		return -ERANGE;
	t->start_us = first;
	for (size_t i = 0; i < t->n_pieces; i++) {
		struct trace_piece *p = &t->piece[i];

		p->begin_us -= first;
		p->end_us = p->end_us == INT64_MAX ? -1 : p->end_us - first;
	}
	for (size_t i = 0; i < t->n_tracks; i++)
		newest[i] = newest[i] < first ? 0 : newest[i] - first;
	return 0;
}

/* Threads by process, then by number. */

struct numbered {
	uint32_t track, process;
	int64_t tid;
};

static int by_tid(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	int order = array_order(x->process, y->process);

	order = order ? order : array_order(x->tid, y->tid);
	return order ? order : array_order(x->track, y->track);
}

static int number_threads(struct trace *t)
{
	struct numbered *thread = malloc((t->n_tracks + 1) * sizeof *thread);
	uint32_t track = NO_INDEX;
	size_t n = 0;

	if (!thread)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_track *of = &t->track[t->piece[i].track];
		struct json_value id = { .type = JSON_TEXT, .text = of->id, .len = strlen(of->id) };

		if (t->piece[i].track == track || of->async)
			continue;
		track = t->piece[i].track;
		thread[n] = (struct numbered){ track, of->process, INT64_MAX };
		json_number(&id, 0, &thread[n++].tid);
	}
	qsort(thread, n, sizeof *thread, by_tid);
	for (size_t i = 0; i < n && i < INT32_MAX; i++)
		t->track[thread[i].track].slot = (int32_t)i;
	free(thread);
	return 0;
}

int trace_finish(struct trace *t)
{
	uint32_t *stack = malloc((t->n_pieces + 1) * sizeof *stack);
	int r = stack ? 0 : -ENOMEM;

	t->part->newest_us = malloc((t->n_tracks + 1) * sizeof *t->part->newest_us);
	for (size_t i = 0; t->part->newest_us && i < t->n_tracks; i++)
		t->part->newest_us[i] = INT64_MIN;
	if (!r && !t->part->newest_us)
		r = -ENOMEM;
	if (!r) {
		/* Order of pieces with equal times: those without an end as they came, the others
		 * in reverse, because of those that ended the outer one came last. */
		for (size_t i = 0; i < t->n_pieces; i++)
			t->piece[i].depth = t->piece[i].end_us == INT64_MAX ? (uint32_t)i :
					    (uint32_t)(t->n_pieces - i);
		if (t->n_pieces)
			qsort(t->piece, t->n_pieces, sizeof *t->piece, by_track);
		nest(t, stack);
		r = shift(t, t->part->newest_us);
	}
	free(stack);
	return r ? r : number_threads(t);
}

int64_t trace_end_us(const struct trace *t, const struct trace_piece *p)
{
	return p->end_us >= 0 ? p->end_us : t->part->newest_us[p->track];
}

int trace_error(int r, const char *path, struct error *err)
{
	if (r == -ENOMEM)
		return error_sys(err, r, path, "cannot read");
	if (r == -ERANGE)
		return error_set(err, -EINVAL, path, 0, 0, "times are more than ten years apart");
	return r;
}

void trace_warn(const struct trace *t, struct builder *b, const char *path, bool cut,
		unsigned line)
{
	if (cut)
		builder_warn(b, "%s:%u: truncated", path, line);
	if (t->n_damaged)
		builder_warn(b, "%s: %zu damaged events left out", path, t->n_damaged);
}

uint32_t trace_instance(struct trace *t, struct builder *b, uint32_t track, const char *tool,
			const char *version)
{
	struct trace_process *p = &t->process[t->track[track].process];

	if (p->instance == NO_INDEX)
		p->instance = builder_instance(b, p->name ? p->name : tool, version, NULL,
					       NO_INDEX);
	return p->instance;
}
