/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/bazel_counters.h"
#include "convert/formats.h"
#include "convert/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ACTION "action processing"
#define PHASE "build phase marker"
#define CRITICAL "critical path component"

/* A phase of the build; length -1: until the next. */
struct phase {
	int64_t begin_us, length_us;
	const char *name;
};

/* A part of the critical path, and the thread it ran on. */
struct critical {
	int64_t begin_us, end_us;
	const char *thread;
};

struct reading {
	struct trace trace;
	struct bazel_counters counters;
	size_t n_phases, n_critical;
	struct phase *phase;
	struct critical *critical;
	bool *is_critical;		/* of each piece */
	const char *action;		/* the text of ACTION */
	const char *version, *build_id, *output_base;
	int64_t start_ms;		/* of ts 0, since 1970; -1: not known */
};

/* Events */

static const char *keep(struct reading *r, const char *text)
{
	return trace_text(&r->trace, text, strlen(text));
}

static int read_other_data(struct reading *r, const struct json_value *data)
{
	const char *version = json_member_text(data, "bazel_version");

	if (!strncmp(version, "release ", 8))
		version += 8;
	r->version = keep(r, version);
	r->build_id = keep(r, json_member_text(data, "build_id"));
	r->output_base = keep(r, json_member_text(data, "output_base"));
	r->start_ms = json_member_number(data, "profile_start_ts", 0, -1);
	return r->version && r->build_id && r->output_base ? 0 : -ENOMEM;
}

static int add_phase(struct reading *r, const struct json_value *event)
{
	struct phase p = { .length_us = json_member_number(event, "dur", 0, -1),
			   .name = keep(r, json_member_text(event, "name")) };
	struct phase *grown;

	if (!trace_event_us(event, &p.begin_us))
		return 0;
	grown = array_grow(r->phase, r->n_phases, sizeof *grown);
	if (!grown || !p.name)
		return -ENOMEM;
	r->phase = grown;
	grown[r->n_phases++] = p;
	return 0;
}

static int add_critical(struct reading *r, const struct json_value *event)
{
	const struct json_value *thread = json_member(json_member(event, "args"), "tid");
	int64_t length_us = json_member_number(event, "dur", 0, 0);
	struct critical c, *grown;

	if (!thread || !trace_event_us(event, &c.begin_us) ||
	    __builtin_add_overflow(c.begin_us, length_us, &c.end_us))
		return 0;
	c.thread = trace_text(&r->trace, thread->text, thread->len);
	grown = array_grow(r->critical, r->n_critical, sizeof *grown);
	if (!grown || !c.thread)
		return -ENOMEM;
	r->critical = grown;
	grown[r->n_critical++] = c;
	return 0;
}

/* The name is the primary output if there is one, otherwise the action's description; the key is
 * mnemonic and target. */
static int add_action(struct reading *r, const struct json_value *event)
{
	const struct json_value *args = json_member(event, "args");
	const char *mnemonic = json_member_text(args, "mnemonic");
	const char *target = json_member_text(args, "target");
	const char *out = json_member_text(event, "out");
	struct trace_words words = { .category = r->action };
	struct buf key = BUF_INIT;

	buf_adds(&key, mnemonic);
	if (*mnemonic && *target)
		buf_addc(&key, ' ');
	buf_adds(&key, target);
	words.name = keep(r, *out ? out : json_member_text(event, "name"));
	words.key = buf_error(&key) ? NULL : keep(r, buf_str(&key));
	buf_release(&key);
	return words.name && words.key ? trace_add(&r->trace, event, &words) : -ENOMEM;
}

static int add_event(struct reading *r, const struct json_value *event)
{
	const char *category = json_member_text(event, "cat");
	struct trace_words plain = { 0 };

	if (!strcmp(json_member_text(event, "ph"), "C"))
		return bazel_counters_add(&r->counters, event);
	if (!strcmp(category, ACTION))
		return add_action(r, event);
	if (!strcmp(category, PHASE))
		return add_phase(r, event);
	if (!strcmp(category, CRITICAL))
		return add_critical(r, event);
	return trace_add(&r->trace, event, &plain);
}

static int add_part(void *context, const struct json_value *value, unsigned line)
{
	struct reading *r = context;

	(void)line;
	if (!value->name)
		return add_event(r, value);
	return strcmp(value->name, "otherData") ? 0 : read_other_data(r, value);
}

/* The critical path */

static uint32_t find_thread(const struct trace *t, const char *id)
{
	for (uint32_t i = 0; i < t->n_tracks; i++)
		if (t->track[i].id == id && !t->track[i].async)
			return i;
	return NO_INDEX;
}

/* The first piece of a track; pieces are by track. */
static size_t first_piece(const struct trace *t, uint32_t track)
{
	size_t low = 0, high = t->n_pieces;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->piece[middle].track < track)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The action of that thread that has most of its time in common with it. */
static void mark_critical(struct reading *r, const struct critical *c)
{
	const struct trace *t = &r->trace;
	uint32_t track = find_thread(t, c->thread);
	size_t at = SIZE_MAX;
	int64_t most = 0;

	for (size_t i = track == NO_INDEX ? t->n_pieces : first_piece(t, track);
	     i < t->n_pieces && t->piece[i].track == track; i++) {
		const struct trace_piece *p = &t->piece[i];
		int64_t begin_us = p->begin_us + t->start_us, end_us = trace_end_us(t, p) + t->start_us;

		if (begin_us >= c->end_us)
			break;
		if (p->category != r->action)
			continue;
		begin_us = begin_us > c->begin_us ? begin_us : c->begin_us;
		end_us = end_us < c->end_us ? end_us : c->end_us;
		if (end_us - begin_us > most) {
			most = end_us - begin_us;
			at = i;
		}
	}
	if (at != SIZE_MAX)
		r->is_critical[at] = true;
}

/* The recording */

struct kind {
	const char *end, *kind;
};

/* What mnemonics end with. */
static const char *kind_of(const char *mnemonic)
{
	static const struct kind kinds[] = {
		{ "Compile", "compile" }, { "Javac", "compile" }, { "Rustc", "compile" },
		{ "CompilePkg", "compile" }, { "Assemble", "compile" }, { "Link", "link" },
		{ "Archive", "archive" }, { "JavaSourceJar", "archive" }, { "TestRunner", "test" },
		{ "Genrule", "generate" }, { "FileWrite", "generate" },
		{ "TemplateExpand", "generate" }, { "Symlink", "shell" },
		{ "SymlinkTree", "shell" }, { "CopyFile", "shell" },
	};
	size_t n = strcspn(mnemonic, " ");

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t end = strlen(kinds[i].end);

		if (n >= end && !memcmp(mnemonic + n - end, kinds[i].end, end))
			return kinds[i].kind;
	}
	return "other";
}

struct building {
	struct reading *r;
	struct builder b;
	uint32_t instance;
	int64_t shift_us;	/* to the trace's times */
	int32_t *slot;		/* of each thread that has actions, by the trace's slot */
};

/* Threads that have actions are the workers. */
static int find_workers(struct building *b)
{
	const struct trace *t = &b->r->trace;
	int32_t n = 0;

	b->slot = calloc(t->n_tracks + 1, sizeof *b->slot);
	if (!b->slot)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_pieces; i++)
		if (t->piece[i].category == b->r->action && t->track[t->piece[i].track].slot >= 0)
			b->slot[t->track[t->piece[i].track].slot] = 1;
	for (size_t i = 0; i < t->n_tracks; i++)
		b->slot[i] = b->slot[i] ? n++ : -1;
	return 0;
}

static uint32_t add_task(struct building *b, size_t at)
{
	const struct trace *t = &b->r->trace;
	const struct trace_piece *p = &t->piece[at];
	int32_t slot = t->track[p->track].slot;
	struct builder_task task;
	uint32_t index;

	builder_task_init(&task);
	task.name = p->name;
	task.key = p->key;
	task.kind = kind_of(p->key);
	task.start_us = p->begin_us + b->shift_us;
	task.end_us = p->end_us < 0 ? -1 : p->end_us + b->shift_us;
	task.slot = slot < 0 ? -1 : b->slot[slot];
	task.state = p->end_us < 0 ? TASK_UNFINISHED : TASK_DONE;
	index = builder_task(&b->b, b->instance, &task);
	if (b->r->is_critical[at])
		builder_note(&b->b, b->instance, index, task.start_us, "critical path");
	return index;
}

/* Actions are tasks, what is in them are their spans; the rest is passed. */
static void add_tasks(struct building *b)
{
	const struct trace *t = &b->r->trace;
	const struct trace_piece *action = NULL;
	uint32_t task = NO_INDEX;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (action && (p->track != action->track || p->depth <= action->depth))
			action = NULL;
		if (action) {
			builder_span(&b->b, b->instance, task, p->begin_us + b->shift_us,
				     trace_end_us(t, p) + b->shift_us, p->name);
		} else if (p->category == b->r->action) {
			action = p;
			task = add_task(b, i);
		}
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct phase *x = a, *y = b;

	return x->begin_us < y->begin_us ? -1 : x->begin_us > y->begin_us;
}

static void add_phases(struct building *b, int64_t zero_us)
{
	const struct reading *r = b->r;
	int64_t last_us = r->trace.start_us;

	for (size_t i = 0; i < r->trace.n_pieces; i++)
		if (trace_end_us(&r->trace, &r->trace.piece[i]) + r->trace.start_us > last_us)
			last_us = trace_end_us(&r->trace, &r->trace.piece[i]) + r->trace.start_us;
	for (size_t i = 0; i < r->n_phases; i++) {
		const struct phase *p = &r->phase[i];
		int64_t end_us = i + 1 < r->n_phases ? p[1].begin_us : last_us;

		if (p->length_us >= 0 && p->length_us < end_us - p->begin_us)
			end_us = p->begin_us + p->length_us;
		if (end_us >= p->begin_us)
			builder_span(&b->b, b->instance, NO_INDEX, p->begin_us - zero_us,
				     end_us - zero_us, p->name);
	}
}

/* When the first phase or action began. */
static int64_t find_zero(const struct reading *r)
{
	const struct trace *t = &r->trace;
	int64_t zero_us = r->n_phases ? r->phase[0].begin_us : INT64_MAX;

	for (size_t i = 0; i < t->n_pieces; i++)
		if (t->piece[i].category == r->action && t->piece[i].begin_us + t->start_us < zero_us)
			zero_us = t->piece[i].begin_us + t->start_us;
	return zero_us;
}

static void add_build(struct building *b, int64_t zero_us)
{
	const struct reading *r = b->r;
	int64_t wall_us;

	builder_build(&b->b, "tool", "bazel");
	builder_build(&b->b, "version", r->version);
	builder_build(&b->b, "bazel_build_id", r->build_id);
	builder_build(&b->b, "bazel_output_base", r->output_base);
	if (r->start_ms > 0 && r->start_ms < INT64_MAX / 2000000 &&
	    !__builtin_add_overflow(r->start_ms * 1000, zero_us, &wall_us) && wall_us > 0)
		builder_start_wall(&b->b, wall_us * 1000);
	b->instance = builder_instance(&b->b, "bazel", r->version, NULL, NO_INDEX);
}

static int build(struct recording *rec, struct reading *r, const char *path, enum json_end end,
		 unsigned line)
{
	struct building b = { .r = r };
	int64_t zero_us = find_zero(r);
	int error = find_workers(&b);

	if (error)
		return error;
	builder_init(&b.b, rec, path);
	b.shift_us = r->trace.start_us - zero_us;
	add_build(&b, zero_us);
	add_tasks(&b);
	add_phases(&b, zero_us);
	bazel_counters_give(&r->counters, &b.b, zero_us);
	trace_tell(&r->trace, &b.b, path, end != JSON_WHOLE, line);
	free(b.slot);
	return builder_finish(&b.b);
}

/* All times must fit into the longest recording. */
static bool is_sane(const struct reading *r)
{
	int64_t at;

	for (size_t i = 0; i < r->n_phases; i++)
		if (__builtin_sub_overflow(r->phase[i].begin_us, r->trace.start_us, &at) ||
		    at > TRACE_LONGEST_US || at < -TRACE_LONGEST_US)
			return false;
	return true;
}

static int finish(struct recording *rec, struct reading *r, const char *path, enum json_end end,
		  unsigned line, struct error *err)
{
	int error = trace_finish(&r->trace);

	if (error)
		return error;
	if (r->n_phases)
		qsort(r->phase, r->n_phases, sizeof *r->phase, by_begin);
	if (!is_sane(r))
		return -ERANGE;
	if (find_zero(r) == INT64_MAX)
		return error_set(err, -EINVAL, path, line, 0, "no action and no phase of a build in it");
	r->is_critical = calloc(r->trace.n_pieces + 1, sizeof *r->is_critical);
	if (!r->is_critical)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_critical; i++)
		mark_critical(r, &r->critical[i]);
	return build(rec, r, path, end, line);
}

static int read_profile(struct recording *rec, struct reading *r, const char *path,
			struct error *err)
{
	struct json_parts parts = { "traceEvents", add_part, r };
	enum json_end end;
	unsigned line;
	int error = trace_init(&r->trace);

	r->version = r->build_id = r->output_base = "";
	r->action = error ? NULL : keep(r, ACTION);
	if (!r->action)
		return -ENOMEM;
	error = json_read_parts(path, &parts, &end, &line, err);
	return error ? error : finish(rec, r, path, end, line, err);
}

int bazel_read(struct recording *rec, const char *path, struct error *err)
{
	struct reading r = { .start_ms = -1 };
	int error = read_profile(rec, &r, path, err);

	trace_release(&r.trace);
	bazel_counters_release(&r.counters);
	free(r.phase);
	free(r.critical);
	free(r.is_critical);
	return trace_error(error, path, err);
}
