/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "convert/bazel_date.h"
#include "convert/builder.h"
#include "convert/converters.h"
#include "convert/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ACTION "action processing"
#define PHASE "build phase marker"
#define CRITICAL "critical path component"
#define SECOND_US 1000000
#define INTERVAL_MS 1000
#define OWN 3			/* columns of proc_bazel */
#define VALUE_MAX (INT64_C(1) << 40)

/* Counters */

/*
 * The counters of a profile, as series. "CPU usage (total)", in cores, is column user of
 * proc_stat. "Memory usage (Bazel)", "Memory usage (total)" (in MiB) and "CPU usage (Bazel)" are
 * columns memory, system_memory and cpu of proc_bazel.
 */

enum { COUNTER_CPU, COUNTER_MEMORY, COUNTER_SYSTEM_CPU, COUNTER_SYSTEM_MEMORY, COUNTERS };

struct sample {
	int64_t time_us, value;
};

struct counters {
	size_t n[COUNTERS];
	struct sample *sample[COUNTERS];
};

struct counter {
	const char *event, *value;
	int decimals;		/* the CPU unit becomes 10 ms per second; memory stays in MiB */
};

static const struct counter counters[COUNTERS] = {
	[COUNTER_CPU] = { "CPU usage (Bazel)", "cpu", 2 },
	[COUNTER_MEMORY] = { "Memory usage (Bazel)", "memory", 0 },
	[COUNTER_SYSTEM_CPU] = { "CPU usage (total)", "system cpu", 2 },
	[COUNTER_SYSTEM_MEMORY] = { "Memory usage (total)", "system memory", 0 },
};

/* Add an event with "ph":"C". 0 or -ENOMEM. */
static int add_counter(struct counters *c, const struct json_value *event)
{
	const char *name = json_member_text(event, "name");
	struct sample *sample;
	int64_t time_us, value;

	for (size_t i = 0; i < COUNTERS; i++) {
		if (strcmp(name, counters[i].event))
			continue;
		/* Bazel omits a value of 0. */
		value = json_member_number(json_member(event, "args"), counters[i].value,
					   counters[i].decimals, 0);
		if (!trace_event_us(event, &time_us) || value < 0 || value > VALUE_MAX)
			return 0;
		sample = array_add(&c->sample[i], &c->n[i], sizeof *sample);
		if (!sample)
			return -ENOMEM;
		*sample = (struct sample){ time_us, value };
		return 0;
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return array_order(x->time_us, y->time_us);
}

/* Sort the samples and remove those of the same time. */
static void sort(struct counters *c, size_t which, int64_t zero_us)
{
	struct sample *s = c->sample[which];
	size_t n = 0;

	if (c->n[which])
		qsort(s, c->n[which], sizeof *s, by_time);
	for (size_t i = 0; i < c->n[which]; i++) {
		int64_t time_us;

		if (__builtin_sub_overflow(s[i].time_us, zero_us, &time_us) || time_us < 0 ||
		    time_us > TRACE_LONGEST_US || (n && s[n - 1].time_us == time_us))
			continue;
		s[n++] = (struct sample){ time_us, s[i].value };
	}
	c->n[which] = n;
}

/* A value is valid until the time of the next sample. */
static int64_t length_us(const struct sample *s, size_t i, size_t n)
{
	return i + 1 < n ? s[i + 1].time_us - s[i].time_us : SECOND_US;
}

static void add_system_cpu(const struct counters *c, struct builder *b)
{
	static const struct series_column column = { "user", "10ms", true };
	const struct sample *s = c->sample[COUNTER_SYSTEM_CPU];
	size_t n = c->n[COUNTER_SYSTEM_CPU];
	int64_t ticks = 0, more;

	if (n)
		builder_series(b, "proc_stat", INTERVAL_MS, &column, 1);
	for (size_t i = 0; i < n && !b->error; i++) {
		builder_sample(b, s[i].time_us, &ticks);
		if (__builtin_mul_overflow(s[i].value, length_us(s, i, n), &more) ||
		    __builtin_add_overflow(ticks, more / SECOND_US, &ticks))
			return;
	}
	if (n && !b->error)
		builder_sample(b, s[n - 1].time_us + SECOND_US, &ticks);
}

static int64_t value_at(const struct counters *c, size_t which, size_t *at, int64_t time_us)
{
	while (*at < c->n[which] && c->sample[which][*at].time_us < time_us)
		++*at;
	if (*at == c->n[which] || c->sample[which][*at].time_us != time_us)
		return SERIES_ABSENT;
	return c->sample[which][*at].value;
}

/* All counters have the same times: the rows are those of the counter with most samples. */
static void add_own(const struct counters *c, struct builder *b)
{
	static const size_t own[] = { COUNTER_CPU, COUNTER_MEMORY, COUNTER_SYSTEM_MEMORY };
	static const struct series_column columns[] = {
		{ "cpu", "10ms", false }, { "memory", "1MiB", false },
		{ "system_memory", "1MiB", false },
	};
	struct series_column column[OWN];
	size_t which[OWN], at[OWN] = { 0 }, n = 0, most = 0;
	int64_t level[OWN];

	for (size_t i = 0; i < OWN; i++) {
		if (!c->n[own[i]])
			continue;
		most = !n || c->n[own[i]] > c->n[most] ? own[i] : most;
		which[n] = own[i];
		column[n++] = columns[i];
	}
	if (n)
		builder_series(b, "proc_bazel", INTERVAL_MS, column, n);
	for (size_t i = 0; n && i < c->n[most] && !b->error; i++) {
		for (size_t k = 0; k < n; k++)
			level[k] = value_at(c, which[k], &at[k], c->sample[most][i].time_us);
		builder_sample(b, c->sample[most][i].time_us, level);
	}
}

/* Add the series. zero_us is the profile's time at the recording's 0. */
static void add_counters(struct counters *c, struct builder *b, int64_t zero_us)
{
	for (size_t i = 0; i < COUNTERS; i++)
		sort(c, i, zero_us);
	add_own(c, b);
	add_system_cpu(c, b);
}

/* The profile */

/* A phase of the build. length_us -1: it ends when the next begins. */
struct phase {
	int64_t begin_us, length_us;
	uint32_t name;
};

/* A part of the critical path, and the thread it ran on. Bazel before 6.0 names the action only. */
struct critical {
	int64_t begin_us, end_us;
	uint32_t thread, name;		/* one of them is 0 */
};

struct reading {
	struct trace trace;
	struct counters counters;
	size_t n_phases, n_critical;
	struct phase *phase;
	struct critical *critical;
	bool *is_critical;		/* of each piece */
	uint32_t action;		/* the text of ACTION */
	uint32_t version, build_id, output_base;
	uint32_t date;			/* as written, if it is not understood; otherwise "" */
	int64_t start_ms;		/* of ts 0, since 1970; -1: not known */
};

/* Events */

static uint32_t keep_text(struct reading *in, const char *text)
{
	return trace_text(&in->trace, text, strlen(text));
}

/* Bazel before 6.0 wrote only the date, in whole seconds. */
static int read_start(struct reading *in, const struct json_value *data)
{
	const char *date = json_member_text(data, "date");

	in->start_ms = json_member_number(data, "profile_start_ts", 0, -1);
	if (in->start_ms >= 0 || bazel_date(date, &in->start_ms))
		return 0;
	in->date = keep_text(in, date);
	return in->date ? 0 : -ENOMEM;
}

static int read_other_data(struct reading *in, const struct json_value *data)
{
	const char *version = json_member_text(data, "bazel_version");

	if (!strncmp(version, "release ", 8))
		version += 8;
	in->version = keep_text(in, version);
	in->build_id = keep_text(in, json_member_text(data, "build_id"));
	in->output_base = keep_text(in, json_member_text(data, "output_base"));
	return in->version && in->build_id && in->output_base ? read_start(in, data) : -ENOMEM;
}

static int add_phase(struct reading *in, const struct json_value *event)
{
	uint32_t name = keep_text(in, json_member_text(event, "name"));
	struct phase *p;
	int64_t begin_us;

	if (!trace_event_us(event, &begin_us))
		return 0;
	p = name ? array_add(&in->phase, &in->n_phases, sizeof *p) : NULL;
	if (p)
		*p = (struct phase){ begin_us, json_member_number(event, "dur", 0, -1), name };
	return p ? 0 : -ENOMEM;
}

/* The name of the event is "action 'NAME OF THE ACTION'". */
static int add_critical(struct reading *in, const struct json_value *event)
{
	const struct json_value *thread = json_member(json_member(event, "args"), "tid");
	struct slice name = slice_of(json_member_text(event, "name"));
	struct critical c = { 0 }, *added;
	struct cursor text;

	cursor_init(&text, name.p, name.len);
	if (!trace_event_us(event, &c.begin_us) ||
	    __builtin_add_overflow(c.begin_us, json_member_number(event, "dur", 0, 0), &c.end_us) ||
	    (!thread && (!cursor_literal(&text, "action '") || !slice_ends(name, "'"))))
		return 0;
	if (thread)
		c.thread = trace_text(&in->trace, thread->text, thread->len);
	else
		c.name = trace_text(&in->trace, text.p, (size_t)(text.end - text.p) - 1);
	added = c.thread || c.name ? array_add(&in->critical, &in->n_critical, sizeof *added) : NULL;
	if (added)
		*added = c;
	return added ? 0 : -ENOMEM;
}

/* The name is the primary output if there is one, otherwise the action's description; the key is
 * mnemonic and target; the note is the description. */
static int add_action(struct reading *in, const struct json_value *event)
{
	const struct json_value *args = json_member(event, "args");
	const char *mnemonic = json_member_text(args, "mnemonic");
	const char *target = json_member_text(args, "target");
	const char *out = json_member_text(event, "out");
	struct trace_words words = { .category = in->action };
	struct buf key = BUF_INIT;

	buf_adds(&key, mnemonic);
	if (*mnemonic && *target)
		buf_addc(&key, ' ');
	buf_adds(&key, target);
	words.name = keep_text(in, *out ? out : json_member_text(event, "name"));
	words.key = buf_error(&key) ? 0 : keep_text(in, buf_str(&key));
	words.note = keep_text(in, json_member_text(event, "name"));
	buf_release(&key);
	return words.name && words.key && words.note ? trace_add(&in->trace, event, &words) : -ENOMEM;
}

static int add_event(struct reading *in, const struct json_value *event)
{
	const char *category = json_member_text(event, "cat");
	struct trace_words plain = { 0 };

	if (!strcmp(json_member_text(event, "ph"), "C"))
		return add_counter(&in->counters, event);
	if (!strcmp(category, ACTION))
		return add_action(in, event);
	if (!strcmp(category, PHASE))
		return add_phase(in, event);
	if (!strcmp(category, CRITICAL))
		return add_critical(in, event);
	return trace_add(&in->trace, event, &plain);
}

static int add_part(void *context, const struct json_value *value, unsigned line)
{
	struct reading *in = context;

	(void)line;
	if (!value->name)
		return add_event(in, value);
	return strcmp(value->name, "otherData") ? 0 : read_other_data(in, value);
}

/* The critical path */

static uint32_t find_thread(const struct trace *t, uint32_t id)
{
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		if (t->track[i].id == id && !t->track[i].async)
			return i;
	}
	return NO_INDEX;
}

/* The first piece of a track: pieces are sorted by track. */
static size_t first_piece(const struct trace *t, uint32_t track)
{
	struct search_range s = search_all(t->n_pieces);

	while (search_next(&s))
		search_past(&s, t->piece[s.at].track < track);
	return s.at;
}

/* How long an action overlaps with a part of the critical path. */
static int64_t overlap_us(const struct reading *in, const struct critical *c, size_t at)
{
	const struct trace *t = &in->trace;
	int64_t begin_us = t->piece[at].begin_us + t->start_us;
	int64_t end_us = trace_end_us(t, &t->piece[at]) + t->start_us;

	begin_us = MAX(begin_us, c->begin_us);
	end_us = MIN(end_us, c->end_us);
	return end_us - begin_us;
}

/* The part of the critical path is the action of its thread that overlaps most with it. */
static void mark_of_thread(struct reading *in, const struct critical *c)
{
	const struct trace *t = &in->trace;
	uint32_t track = find_thread(t, c->thread);
	size_t at = SIZE_MAX;
	int64_t most = 0;

	for (size_t i = track == NO_INDEX ? t->n_pieces : first_piece(t, track);
	     i < t->n_pieces && t->piece[i].track == track; i++) {
		if (t->piece[i].begin_us + t->start_us >= c->end_us)
			break;
		if (t->piece[i].category == in->action && overlap_us(in, c, i) > most) {
			most = overlap_us(in, c, i);
			at = i;
		}
	}
	if (at != SIZE_MAX)
		in->is_critical[at] = true;
}

/* The same of the actions with its name. These are sorted by the number of their name. */
static void mark_of_name(struct reading *in, const struct critical *c, const struct keyed *named,
			 size_t n)
{
	struct search_range s = search_all(n);
	size_t at = SIZE_MAX;
	int64_t most = 0;

	while (search_next(&s))
		search_past(&s, named[s.at].key < c->name);
	for (; s.at < n && named[s.at].key == c->name; s.at++) {
		if (overlap_us(in, c, (size_t)named[s.at].value) > most) {
			most = overlap_us(in, c, (size_t)named[s.at].value);
			at = (size_t)named[s.at].value;
		}
	}
	if (at != SIZE_MAX)
		in->is_critical[at] = true;
}

static int mark_critical(struct reading *in)
{
	const struct trace *t = &in->trace;
	struct keyed *named = array_new(t->n_pieces, sizeof *named);
	size_t n = 0;
	int r;

	in->is_critical = array_new_zero(t->n_pieces, sizeof *in->is_critical);
	for (size_t i = 0; named && i < t->n_pieces; i++) {
		if (t->piece[i].category == in->action)
			named[n++] = (struct keyed){ t->piece[i].note, (int64_t)i };
	}
	r = named && in->is_critical ? sort_keyed(named, n) : -ENOMEM;
	for (size_t i = 0; !r && i < in->n_critical; i++) {
		if (in->critical[i].thread)
			mark_of_thread(in, &in->critical[i]);
		else
			mark_of_name(in, &in->critical[i], named, n);
	}
	free(named);
	return r;
}

/* The recording */

/* The kind of an action, by the end of its mnemonic. */
static const char *kind_of(const char *mnemonic)
{
	static const struct {
		const char *end, *kind;
	} kinds[] = {
		{ "Compile", "compile" }, { "Javac", "compile" }, { "Rustc", "compile" },
		{ "CompilePkg", "compile" }, { "Assemble", "compile" }, { "Link", "link" },
		{ "Archive", "archive" }, { "JavaSourceJar", "archive" }, { "TestRunner", "test" },
		{ "Genrule", "generate" }, { "FileWrite", "generate" },
		{ "TemplateExpand", "generate" }, { "Symlink", "shell" },
		{ "SymlinkTree", "shell" }, { "CopyFile", "shell" },
	};
	struct slice word = { mnemonic, strcspn(mnemonic, " ") };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (slice_ends(word, kinds[i].end))
			return kinds[i].kind;
	}
	return "other";
}

struct building {
	struct reading *in;
	struct builder b;
	uint32_t instance;
	int64_t shift_us;	/* added to the trace's times */
	int32_t *slot;		/* of each thread that has actions, by the trace's slot */
};

/* Threads that have actions are the workers. */
static int find_workers(struct building *b)
{
	const struct trace *t = &b->in->trace;
	int32_t n = 0;

	b->slot = array_new_zero(t->n_tracks, sizeof *b->slot);
	if (!b->slot)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_pieces; i++) {
		if (t->piece[i].category == b->in->action && t->track[t->piece[i].track].slot >= 0)
			b->slot[t->track[t->piece[i].track].slot] = 1;
	}
	for (size_t i = 0; i < t->n_tracks; i++)
		b->slot[i] = b->slot[i] ? n++ : -1;
	return 0;
}

static uint32_t add_task(struct building *b, size_t at)
{
	const struct trace *t = &b->in->trace;
	const struct trace_piece *p = &t->piece[at];
	int32_t slot = t->track[p->track].slot;
	struct builder_task task;
	uint32_t index;

	builder_task_init(&task);
	task.name = trace_said(t, p->name);
	task.key = trace_said(t, p->key);
	task.kind = kind_of(task.key);
	task.start_us = p->begin_us + b->shift_us;
	task.end_us = p->end_us < 0 ? -1 : p->end_us + b->shift_us;
	task.slot = slot < 0 ? -1 : b->slot[slot];
	task.state = p->end_us < 0 ? TASK_UNFINISHED : TASK_DONE;
	index = builder_task(&b->b, b->instance, &task);
	if (b->in->is_critical[at])
		builder_note(&b->b, b->instance, index, task.start_us, "critical path");
	return index;
}

/* Actions are tasks; events inside them are their spans. All others are skipped. */
static void add_tasks(struct building *b)
{
	const struct trace *t = &b->in->trace;
	const struct trace_piece *action = NULL;
	uint32_t task = NO_INDEX;

	for (size_t i = 0; i < t->n_pieces; i++) {
		const struct trace_piece *p = &t->piece[i];

		if (action && (p->track != action->track || p->depth <= action->depth))
			action = NULL;
		if (action) {
			builder_span(&b->b, b->instance, task, p->begin_us + b->shift_us,
				     trace_end_us(t, p) + b->shift_us, trace_said(t, p->name));
		} else if (p->category == b->in->action) {
			action = p;
			task = add_task(b, i);
		}
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct phase *x = a, *y = b;

	return array_order(x->begin_us, y->begin_us);
}

static void add_phases(struct building *b, int64_t zero_us)
{
	const struct reading *in = b->in;
	int64_t last_us = in->trace.start_us;

	for (size_t i = 0; i < in->trace.n_pieces; i++) {
		int64_t end_us = trace_end_us(&in->trace, &in->trace.piece[i]) + in->trace.start_us;

		last_us = MAX(end_us, last_us);
	}
	for (size_t i = 0; i < in->n_phases; i++) {
		const struct phase *p = &in->phase[i];
		int64_t end_us = i + 1 < in->n_phases ? p[1].begin_us : last_us;

		if (p->length_us >= 0 && p->length_us < end_us - p->begin_us)
			end_us = p->begin_us + p->length_us;
		if (end_us >= p->begin_us)
			builder_span(&b->b, b->instance, NO_INDEX, p->begin_us - zero_us,
				     end_us - zero_us, trace_said(&in->trace, p->name));
	}
}

/* When the first phase or action began; INT64_MAX: there is none. */
static int64_t find_zero(const struct reading *in)
{
	const struct trace *t = &in->trace;
	int64_t zero_us = in->n_phases ? in->phase[0].begin_us : INT64_MAX;

	for (size_t i = 0; i < t->n_pieces; i++) {
		if (t->piece[i].category == in->action &&
		    t->piece[i].begin_us + t->start_us < zero_us)
			zero_us = t->piece[i].begin_us + t->start_us;
	}
	return zero_us;
}

/* NULL for an empty text. */
static const char *said(const struct reading *in, uint32_t text)
{
	const char *words = trace_said(&in->trace, text);

	return words && *words ? words : NULL;
}

static void add_build(struct building *b, int64_t zero_us)
{
	const struct reading *in = b->in;
	int64_t wall_us;

	builder_build(&b->b, "tool", "bazel");
	builder_build(&b->b, "version", said(in, in->version));
	builder_build(&b->b, "bazel_build_id", said(in, in->build_id));
	builder_build(&b->b, "bazel_output_base", said(in, in->output_base));
	if (said(in, in->date))
		builder_warn(&b->b, "the start of the build is not known: the date '%.80s' is not "
			     "understood, or its time zone has several meanings", said(in, in->date));
	if (in->start_ms > 0 && in->start_ms < INT64_MAX / 2000000 &&
	    !__builtin_add_overflow(in->start_ms * 1000, zero_us, &wall_us) && wall_us > 0)
		builder_start_wall(&b->b, wall_us * 1000);
	b->instance = builder_instance(&b->b, "bazel", said(in, in->version), NULL, NO_INDEX);
}

static int build(struct recording *rec, struct reading *in, const char *path, enum json_end end,
		 unsigned line)
{
	struct building b = { .in = in };
	int64_t zero_us = find_zero(in);
	int r = find_workers(&b);

	if (r)
		return r;
	builder_init(&b.b, rec, path);
	b.shift_us = in->trace.start_us - zero_us;
	add_build(&b, zero_us);
	add_tasks(&b);
	add_phases(&b, zero_us);
	add_counters(&in->counters, &b.b, zero_us);
	trace_warn(&in->trace, &b.b, path, end != JSON_WHOLE, line);
	free(b.slot);
	return builder_finish(&b.b);
}

static int read_profile(struct recording *rec, struct reading *in, const char *path,
			struct error *err)
{
	struct json_parts parts = { "traceEvents", add_part, in };
	enum json_end end;
	unsigned line;
	int r = trace_init(&in->trace);

	in->action = r ? 0 : keep_text(in, ACTION);
	if (!in->action)
		return -ENOMEM;
	r = json_read_parts(path, &parts, &end, &line, err);
	if (!r)
		r = trace_finish(&in->trace);
	if (r)
		return r;
	if (in->n_phases)
		qsort(in->phase, in->n_phases, sizeof *in->phase, by_begin);
	for (size_t i = 0; i < in->n_phases; i++) {
		int64_t at;

		if (__builtin_sub_overflow(in->phase[i].begin_us, in->trace.start_us, &at) ||
		    at > TRACE_LONGEST_US || at < -TRACE_LONGEST_US)
			return -ERANGE;
	}
	if (find_zero(in) == INT64_MAX)
		return error_set(err, -EINVAL, path, line, 0,
				 "no action and no phase of a build in it");
	r = mark_critical(in);
	return r ? r : build(rec, in, path, end, line);
}

int bazel_read(struct recording *rec, const char *path, struct error *err)
{
	struct reading in = { .start_ms = -1 };
	int r = read_profile(rec, &in, path, err);

	trace_release(&in.trace);
	for (size_t i = 0; i < COUNTERS; i++)
		free(in.counters.sample[i]);
	free_all(in.phase, in.critical, in.is_critical);
	return trace_error(r, path, err);
}
