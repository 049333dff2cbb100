/* SPDX-License-Identifier: MIT */
#include "convert/trace.h"

#include "base/array.h"
#include "base/heap.h"
#include "base/index.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_MAX 160
#define DETAIL_MAX 400
#define ROUNDING_US 2		/* an inner piece may end this much later than the outer one */

#define PIECES_FIRST 1024

/* A number of a process or thread as the event before had it. */
struct last_id {
	uint32_t text;
	size_t len;
};

struct trace_part {
	struct index processes, tracks;
	struct last_id pid, tid;
	uint32_t empty;		/* the text "" */
	size_t cap;		/* of the pieces */
	int64_t *newest_us;	/* of each track, after trace_finish() */
};

int trace_init(struct trace *t)
{
	*t = (struct trace){ .part = calloc(1, sizeof *t->part) };
	if (t->part)
		t->part->empty = trace_text(t, "", 0);
	return t->part && t->part->empty ? 0 : -ENOMEM;
}

void trace_release(struct trace *t)
{
	if (t->part) {
		index_release(&t->part->processes);
		index_release(&t->part->tracks);
		free(t->part->newest_us);
		heap_unmap(t->piece, t->part->cap * sizeof *t->piece);
	}
	trace_texts_release(&t->texts);
	free_all(t->part, t->track, t->process);
	*t = (struct trace){ 0 };
}

uint32_t trace_text(struct trace *t, const char *text, size_t len)
{
	return trace_texts_once(&t->texts, text, len);
}

/* Processes and tracks are found by the numbers of their texts. */

static uint32_t process_of_id(struct trace *t, uint32_t id)
{
	struct trace_process *grown;
	uint32_t at;

	if (index_find(&t->part->processes, id, 0, &at))
		return at;
	grown = array_grow(t->process, t->n_processes, sizeof *grown);
	if (grown)
		t->process = grown;
	at = (uint32_t)t->n_processes;
	if (!grown || index_put(&t->part->processes, id, 0, at))
		return NO_INDEX;
	grown[t->n_processes++] = (struct trace_process){ id, 0, NO_INDEX };
	return at;
}

static uint32_t find_track(struct trace *t, uint32_t process, uint32_t id, bool async)
{
	uint64_t owner = (uint64_t)process << 1 | async;
	struct trace_track *grown;
	uint32_t at;

	if (index_find(&t->part->tracks, id, owner, &at))
		return at;
	grown = array_grow(t->track, t->n_tracks, sizeof *grown);
	if (grown)
		t->track = grown;
	at = (uint32_t)t->n_tracks;
	if (!grown || index_put(&t->part->tracks, id, owner, at))
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

/* An id may be a number or a text. Most events have those of the one before. */
static uint32_t id_text(struct trace *t, const struct json_value *v, struct last_id *last)
{
	if (!v)
		return t->part->empty;
	if (!last->text || last->len != v->len ||
	    memcmp(trace_said(t, last->text), v->text, v->len)) {
		last->text = trace_text(t, v->text, v->len);
		last->len = strnlen(v->text, v->len) == v->len ? v->len : SIZE_MAX;
	}
	return last->text;
}

/* An id is unique in its category and, unless it is marked as global, in its process. */
static uint32_t async_track(struct trace *t, const struct event *e)
{
	const struct json_value *id = json_member(e->value, "id");
	const struct json_value *id2 = json_member(e->value, "id2");
	struct buf b = BUF_INIT;
	uint32_t text;

	if (!id)
		id = json_member(id2, "local");
	if (!id)
		id = json_member(id2, "global");
	buf_adds(&b, json_member_text(e->value, "cat"));
	buf_addc(&b, ' ');
	if (id)
		buf_add(&b, id->text, id->len);
	text = buf_error(&b) ? 0 : trace_text(t, b.data, b.len);
	buf_release(&b);
	return text ? find_track(t, e->process, text, true) : NO_INDEX;
}

/* "name=value ..." of plain values; 0 if that is too long. */
static int note_of(struct trace *t, const struct json_value *args, uint32_t *note)
{
	char memory[NOTE_MAX];
	struct buf b;

	*note = 0;
	if (!args || args->type != JSON_OBJECT || !args->first)
		return 0;
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
	if (buf_error(&b) || !b.len)
		return 0;
	*note = trace_texts_add(&t->texts, b.data, b.len);
	return *note ? 0 : -ENOMEM;
}

/* The "detail" of clang and others becomes part of the name. */
static uint32_t name_of(struct trace *t, const struct event *e, bool *detailed)
{
	const struct json_value *name = json_member(e->value, "name");
	const char *detail = json_member_text(json_member(e->value, "args"), "detail");
	struct buf b = BUF_INIT;
	uint32_t text;

	*detailed = *detail && strlen(detail) <= DETAIL_MAX;
	if (!*detailed)
		return name ? trace_text(t, name->text, name->len) : t->part->empty;
	buf_adds(&b, json_text(name));
	buf_addc(&b, ' ');
	buf_adds(&b, detail);
	text = buf_error(&b) ? 0 : trace_text(t, b.data, b.len);
	buf_release(&b);
	return text;
}

static int describe_piece(struct trace *t, const struct event *e, struct trace_piece *p)
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
	if (*category)
		p->category = trace_text(t, category, strcspn(category, ","));
	if (!p->name || (!p->category && *category))
		return -ENOMEM;
	return detailed ? 0 : note_of(t, json_member(e->value, "args"), &p->note);
}

/* The pieces are outside of the heap: they grow without being copied. NULL: out of memory. */
static struct trace_piece *new_piece(struct trace *t)
{
	size_t more = t->part->cap ? 2 * t->part->cap : PIECES_FIRST;
	struct trace_piece *grown;

	if (t->n_pieces == UINT32_MAX - 1)
		return NULL;
	if (t->n_pieces == t->part->cap) {
		grown = heap_map(t->piece, t->part->cap * sizeof *grown, more * sizeof *grown);
		if (!grown)
			return NULL;
		t->piece = grown;
		t->part->cap = more;
	}
	return &t->piece[t->n_pieces++];
}

static int add_piece(struct trace *t, const struct event *e, uint32_t track, int64_t end_ns)
{
	struct trace_piece *p = track == NO_INDEX ? NULL : new_piece(t);

	if (!p)
		return -ENOMEM;
	*p = (struct trace_piece){ .begin_us = e->ns / 1000,
		.end_us = end_ns == INT64_MAX ? INT64_MAX : end_ns / 1000, .track = track };
	return describe_piece(t, e, p);
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
static int begin_piece(struct trace *t, const struct event *e, uint32_t track)
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
static int end_piece(struct trace *t, const struct event *e, uint32_t track)
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
	p->end_us = MAX(e->ns / 1000, p->begin_us);
	return 0;
}

static int name_process(struct trace *t, const struct event *e)
{
	const char *word = json_member_text(e->value, "name");
	const struct json_value *name = json_member(json_member(e->value, "args"), "name");
	uint32_t text;

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
	uint32_t pid = id_text(t, json_member(e->value, "pid"), &t->part->pid);
	uint32_t tid = id_text(t, json_member(e->value, "tid"), &t->part->tid);

	e->process = pid ? process_of_id(t, pid) : NO_INDEX;
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
		return begin_piece(t, e, e->thread);
	case 'E':
		return end_piece(t, e, e->thread);
	case 'b':
	case 'S':
		return begin_piece(t, e, async_track(t, e));
	case 'e':
	case 'F':
		return end_piece(t, e, async_track(t, e));
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

static int order(const struct trace_piece *x, const struct trace_piece *y)
{
	int order = array_order(x->track, y->track);

	order = order ? order : array_order(x->begin_us, y->begin_us);
	order = order ? order : array_order(y->end_us, x->end_us);
	return order ? order : array_order(x->depth, y->depth);
}

static int by_order(const void *a, const void *b, void *piece)
{
	return order((struct trace_piece *)piece + *(const uint32_t *)a,
		     (struct trace_piece *)piece + *(const uint32_t *)b);
}

static bool is_sorted(const struct trace *t)
{
	for (size_t i = 1; i < t->n_pieces; i++) {
		if (order(&t->piece[i - 1], &t->piece[i]) > 0)
			return false;
	}
	return true;
}

/* Sort by indices, in the memory that index has for all pieces: qsort() of the pieces would need
 * twice as much. Then each piece is moved once, along the cycles of the indices. */
static void sort(struct trace *t, uint32_t *index)
{
	if (is_sorted(t))
		return;
	for (uint32_t i = 0; i < t->n_pieces; i++)
		index[i] = i;
	qsort_r(index, t->n_pieces, sizeof *index, by_order, t->piece);
	for (uint32_t i = 0; i < t->n_pieces; i++) {
		struct trace_piece first = t->piece[i];
		uint32_t at = i, from;

		for (; index[at] != i; at = from) {
			from = index[at];
			t->piece[at] = t->piece[from];
			index[at] = at;
		}
		t->piece[at] = first;
		index[at] = at;
	}
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

		first = MIN(p->begin_us, first);
		last = MAX(end_us, last);
		newest[p->track] = MAX(end_us, newest[p->track]);
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
	struct numbered *thread = array_new(t->n_tracks, sizeof *thread);
	uint32_t track = NO_INDEX;
	size_t n = 0;

	if (!thread)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_track *of = &t->track[t->piece[i].track];
		const char *text = trace_said(t, of->id);
		struct json_value id = { .type = JSON_TEXT, .text = text, .len = strlen(text) };

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
	uint32_t *stack = array_new(t->n_pieces, sizeof *stack);
	int r = stack ? 0 : -ENOMEM;

	trace_texts_close(&t->texts);
	t->part->newest_us = array_new(t->n_tracks, sizeof *t->part->newest_us);
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
		sort(t, stack);
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
		p->instance = builder_instance(b, p->name ? trace_said(t, p->name) : tool,
					       version, NULL, NO_INDEX);
	return p->instance;
}

void trace_give_texts(struct trace *t, struct builder *b)
{
	for (size_t i = 0; i < t->texts.n_chunks; i++)
		builder_take(b, t->texts.chunk[i]);
	t->texts.n_chunks = 0;
}
