/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/heap.h"
#include "recording/reader.h"
#include "recording/usage_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIAS_MAX 65535
#define NOT_OURS USAGE_COLUMNS	/* a column of a later version */
#define FORGET_EVERY 65536	/* samples */
/* A process that sleeps in a loop uses less than this part of a core, one that works uses more. The kernel counts
 * CPU time in ticks. */
#define STILL_PART 200
#define STILL_TICK_MS 10

/* Since when a task uses next to nothing, and what it had used by then. */
struct usage_still {
	uint32_t ms, cpu_ms, disk_kb;
};

/* A running task under its number in the file. */
struct usage_alias {
	uint32_t task;		/* NO_INDEX: free, or not in tasks.log; without a reader what `sampled` returned */
	uint32_t era;		/* the decoder's when it was given out; free in another one */
	int64_t level[USAGE_COLUMNS];	/* in the columns' units */
	uint32_t amount[USAGE_COLUMNS];	/* the same in KiB, ms, 1 */
};

/* First lines */

/* "10ms" -> 10: how many KiB, ms or ones. 0: not known. */
static int64_t unit_factor(const char *unit)
{
	static const struct { const char *name; int64_t factor; } units[] = {
		{ "KiB", 1 }, { "MiB", 1024 }, { "GiB", 1048576 },
		{ "ms", 1 }, { "s", 1000 }, { "", 1 },
	};
	struct cursor c;
	int64_t n;

	cursor_init(&c, unit, strlen(unit));
	if (!cursor_i64(&c, &n) || n < 1 || n > 1000000)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(c.p, units[i].name))
			return n * units[i].factor;
	}
	return 0;
}

static void map_column(struct usage_decoder *d, const struct series_column *column)
{
	unsigned char at = NOT_OURS;

	for (unsigned char i = 0; i < USAGE_COLUMNS; i++) {
		int64_t factor = unit_factor(column->unit);

		if (!strcmp(column->name, usage_columns[i].name) && factor) {
			at = i;
			d->factor[i] = factor;
		}
	}
	d->has_delay |= at == USAGE_DELAY;
	d->column[d->n_columns++] = at;
}

static bool parse_columns(struct usage_decoder *d, struct slice rest)
{
	struct series_column column;
	struct slice word;
	struct cursor c;
	int64_t interval_ms;

	cursor_init(&c, rest.p, rest.len);
	d->n_columns = d->n_given = 0;
	d->has_delay = false;
	d->era++;
	d->kb = 0;
	d->grid = -1;
	if (!cursor_i64(&c, &interval_ms) || interval_ms < 1 ||
	    interval_ms > READER_INTERVAL_MAX_MS)
		return false;
	d->interval_ms = interval_ms;
	for (cursor_blanks(&c); !cursor_at_end(&c); cursor_blanks(&c)) {
		if (d->n_columns == USAGE_FILE_COLUMNS ||
		    !cursor_word(&c, &word, SERIES_LINE_MAX) ||
		    !reader_parse_column(word, &column))
			return false;
		map_column(d, &column);
	}
	return true;
}

/* Samples */

/* Proportional memory counts shared pages once, so it is used if it was measured, otherwise the
 * resident memory. */
static uint32_t best_kb(const struct task_usage *u)
{
	return u->pss_kb ? u->pss_kb : u->rss_kb;
}

static int64_t alias_kb(const struct usage_alias *a)
{
	return a->amount[USAGE_PSS] ? a->amount[USAGE_PSS] : a->amount[USAGE_RSS];
}

static void count(struct task *t, const struct task_usage *u)
{
	if (!t->n_usage++ || best_kb(u) > t->peak_kb) {
		t->peak_kb = best_kb(u);
		t->peak_ms = u->time_ms;
	}
}

/* Store the newest sample of a task, which does not change any more. */
static int settle(struct reader *r, uint32_t task)
{
	struct recording *rec = r->rec;
	size_t n = rec->n_usage;
	struct task_usage *usage;
	uint32_t *of;

	count(&rec->task[task], &r->newest[task]);
	if (r->sums_only)
		return 0;
	usage = n < UINT32_MAX ? array_make_room(rec->usage, &r->usage_cap, n, sizeof *usage) : NULL;
	if (!usage)
		return -ENOMEM;
	rec->usage = usage;
	of = array_make_room(r->usage_task, &r->usage_task_cap, n, sizeof *of);
	if (!of)
		return -ENOMEM;
	r->usage_task = of;
	usage[n] = r->newest[task];
	of[n] = task;
	rec->n_usage++;
	return 0;
}

/* Equal memory after the end of the task is a change, because the task still existed. */
static int change_memory(struct usage_decoder *d, uint32_t task, const struct task_usage *u,
			 int64_t before_kb)
{
	struct recording *rec = d->r->rec;
	struct memory_change *grown;

	if (best_kb(u) == before_kb &&
	    recording_task_end_us(rec, &rec->task[task]) > u->time_ms * 1000)
		return 0;
	grown = array_make_room(rec->memory, &d->r->memory_cap, rec->n_memory, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	rec->memory = grown;
	if (d->time_ms < u->time_ms)
		d->time_ms = u->time_ms;
	grown[rec->n_memory++] = (struct memory_change){ d->time_ms, task, best_kb(u) };
	return 0;
}

/* The task was unchanged up to one point before this one. */
static int add_unchanged(struct usage_decoder *d, uint32_t task, const struct sample_time *s)
{
	struct task_usage *last = d->r ? &d->r->newest[task] : NULL;
	int64_t before_ms = (s->grid - 1) * d->interval_ms;

	if (!last)
		return 0;
	/* The newest sample is at a point of the grid earlier still. */
	if (last->time_ms < 0 || s->gap || s->even || before_ms >= s->time_ms ||
	    2 * last->time_ms >= 2 * before_ms - d->interval_ms)
		return 0;
	if (settle(d->r, task))
		return -ENOMEM;
	last->time_ms = before_ms;
	return change_memory(d, task, last, best_kb(last));
}

static struct task_usage usage_of(const struct usage_alias *a, int64_t time_ms)
{
	return (struct task_usage){
		.time_ms = time_ms,
		.rss_kb = a->amount[USAGE_RSS], .pss_kb = a->amount[USAGE_PSS],
		.cpu_ms = a->amount[USAGE_CPU], .read_kb = a->amount[USAGE_READ],
		.written_kb = a->amount[USAGE_WRITTEN],
		.processes = a->amount[USAGE_PROCESSES],
	};
}

static void follow_still(struct usage_still *still, const struct task_usage *u)
{
	uint32_t ms = u->time_ms < UINT32_MAX ? (uint32_t)u->time_ms : UINT32_MAX;
	uint32_t disk_kb = u->read_kb + u->written_kb;

	if (disk_kb != still->disk_kb || u->cpu_ms < still->cpu_ms || ms < still->ms ||
	    u->cpu_ms - still->cpu_ms > STILL_TICK_MS + (ms - still->ms) / STILL_PART)
		*still = (struct usage_still){ ms, u->cpu_ms, disk_kb };
}

static int add_sample(struct usage_decoder *d, const struct usage_alias *a, const struct sample_time *s)
{
	struct task_usage *last = &d->r->newest[a->task];
	int64_t before_kb = last->time_ms < 0 ? -1 : (int64_t)best_kb(last);
	int64_t time_ms = s->time_ms;

	if (last->time_ms >= time_ms)
		time_ms = last->time_ms;
	else if (last->time_ms >= 0 && (add_unchanged(d, a->task, s) || settle(d->r, a->task)))
		return -ENOMEM;
	*last = usage_of(a, time_ms);
	if (d->has_delay) {
		d->r->rec->task[a->task].delay_us = (int64_t)a->amount[USAGE_DELAY] * 1000;
		d->r->rec->task[a->task].delay_at_least = true;
	}
	if (before_kb < 0)
		d->r->still[a->task] = (struct usage_still){ .ms = UINT32_MAX };
	follow_still(&d->r->still[a->task], last);
	return change_memory(d, a->task, last, before_kb);
}

/* Entries. -EBADMSG: damaged. */

static int grow_aliases(struct usage_decoder *d, size_t n)
{
	struct usage_alias *grown = realloc(d->alias, n * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	memset(grown + d->n_alias, 0, (n - d->n_alias) * sizeof *grown);
	d->alias = grown;
	d->n_alias = n;
	return 0;
}

static int find_alias(struct usage_decoder *d, struct cursor *c, struct usage_alias **out)
{
	const char *behind = cursor_at_end(c) || *c->p == '-' ? NULL : c->p;
	int64_t n;

	if (behind)
		behind = cursor_pass_i64(behind, c->end, &n);
	if (!behind || n > ALIAS_MAX)
		return -EBADMSG;
	c->p = behind;
	if ((size_t)n >= d->n_alias && grow_aliases(d, 2 * (size_t)n + 16))
		return -ENOMEM;
	*out = &d->alias[n];
	if ((*out)->era != d->era)
		**out = (struct usage_alias){ .task = NO_INDEX, .era = d->era };
	return 0;
}

static int give_out(struct usage_decoder *d, const struct usage_alias *a)
{
	uint32_t *grown = array_grow(d->given, d->n_given, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	d->given = grown;
	grown[d->n_given++] = (uint32_t)(a - d->alias);
	return 0;
}

/*
 * INST.SEQ, up to the colon. Tasks come nearly in the order of their numbers, and each brings
 * memory that nobody has touched for long: that of a task a little later is fetched ahead. Not
 * in a function of its own: gcc drops one that only prefetches.
 */
static bool parse_task(struct usage_decoder *d, struct cursor *c, struct usage_alias *a)
{
	const struct reader *r = d->r;
	const size_t ahead = 32;
	struct slice inst;
	uint64_t seq;

	if (!cursor_until(c, '.', &inst) || !cursor_u64(c, &seq) || !cursor_byte(c, ':'))
		return false;
	*a = (struct usage_alias){ .task = NO_INDEX, .era = d->era };
	if (!r && d->sampled)
		a->task = d->sampled(d->context, inst, seq);
	if (!r)
		return true;
	a->task = follow_find_task(&d->r->follow, inst, seq);
	d->strangers += a->task == NO_INDEX;
	if (a->task < NO_INDEX - ahead && a->task + ahead < r->rec->n_tasks) {
		__builtin_prefetch(&r->rec->task[a->task + ahead].end_us);
		__builtin_prefetch(&r->rec->task[a->task + ahead].peak_ms);
		__builtin_prefetch(&r->newest[a->task + ahead]);
	}
	return true;
}

static uint32_t amount(int64_t level, int64_t factor)
{
	int64_t n;

	if (level < 0 || __builtin_mul_overflow(level, factor, &n))
		return 0;
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void change(const struct usage_decoder *d, struct usage_alias *a, unsigned char column, int64_t by)
{
	if (column == NOT_OURS)
		return;
	a->level[column] = reader_plus(a->level[column], by);
	a->amount[column] = amount(a->level[column], d->factor[column]);
}

/* Up to the ";" (passed) or the end. */
static bool parse_values(const struct usage_decoder *d, struct cursor *rest, struct usage_alias *a)
{
	const char *p = rest->p, *end = rest->end;
	size_t n_columns = d->n_columns;
	int64_t n;

	for (size_t i = 0; p < end && *p != ';'; i++) {
		if (i == n_columns)
			return false;
		if (*p == ',') {
			p++;
			continue;
		}
		p = cursor_pass_i64(p, end, &n);
		if (!p)
			return false;
		change(d, a, d->column[i], n);
		if (p < end && *p != ';' && *p++ != ',')
			return false;
	}
	rest->p = p + (p < end);
	return true;
}

static int read_entry(struct usage_decoder *d, struct cursor *c, const struct sample_time *s)
{
	struct usage_alias *a;
	int64_t before_kb;
	int error = find_alias(d, c, &a);

	if (error)
		return error;
	before_kb = d->r ? 0 : alias_kb(a);
	if (cursor_byte(c, '-')) {
		error = a->task == NO_INDEX ? 0 : add_unchanged(d, a->task, s);
		a->task = NO_INDEX;
		a->era = 0;
		d->kb -= before_kb;
		return !error && !cursor_byte(c, ';') && !cursor_at_end(c) ? -EBADMSG : error;
	}
	if (cursor_byte(c, '=')) {
		if (!parse_task(d, c, a))
			return -EBADMSG;
		if (give_out(d, a))
			return -ENOMEM;
	} else if (!cursor_byte(c, ':')) {
		return -EBADMSG;
	}
	if (!parse_values(d, c, a))
		return -EBADMSG;
	if (!d->r)
		d->kb += alias_kb(a) - before_kb;
	if (a->task == NO_INDEX)
		return 0;
	if (!d->r) {
		struct task_usage usage = usage_of(a, s->time_ms);

		d->usage(d->context, a->task, &usage);
		return 0;
	}
	return add_sample(d, a, s);
}

/* Called before a line with levels of all running tasks. */
static int forget_aliases(struct usage_decoder *d, const struct sample_time *s)
{
	int error = 0;

	for (size_t i = 0; !error && i < d->n_given && !d->lost; i++) {
		const struct usage_alias *a = &d->alias[d->given[i]];

		if (a->task != NO_INDEX)
			error = add_unchanged(d, a->task, s);
	}
	d->n_given = 0;
	d->era++;
	d->kb = 0;
	return error;
}

static int read_line(struct usage_decoder *d, struct slice line, struct sample_time *s)
{
	struct cursor c;
	int error = 0;

	cursor_init(&c, line.p, line.len);
	if (!reader_parse_time(&c, d->interval_ms, d->grid, s))
		return -EBADMSG;
	if (d->lost && !(s->levels && s->absolute))
		return -EAGAIN;
	if (s->grid < d->grid)
		return -EBADMSG;
	s->gap |= d->lost;
	if (s->levels)
		error = forget_aliases(d, s);
	d->lost = false;
	d->grid = s->grid;
	if (d->r)
		reader_saw(d->r, s->time_ms * 1000);
	while (!error && !cursor_at_end(&c))
		error = read_entry(d, &c, s);
	return error;
}

/* Without its columns, the following lines cannot be read. */
static int read_first_line(struct usage_decoder *d, struct slice line)
{
	struct slice rest;

	d->n_columns = 0;
	if (reader_parse_header(line, USAGE_LOG_NAME, &rest) && parse_columns(d, rest))
		return 0;
	d->n_columns = 0;
	return -EBADMSG;
}

int reader_usage_line(struct usage_decoder *d, struct slice line, int64_t *time_ms)
{
	struct sample_time s = { .time_ms = -1 };
	int error = line.len && line.p[0] == 'b' ? read_first_line(d, line) : read_line(d, line, &s);

	d->lost |= error == -EBADMSG;
	*time_ms = s.time_ms;
	return error;
}

void reader_usage_release(struct usage_decoder *d)
{
	free_all(d->alias, d->given);
}

/* After the first part of the file. */
static void expect(struct reader *r, const struct feed *f)
{
	struct recording *rec = r->rec;

	rec->usage = array_expect(rec->usage, &r->usage_cap, feed_expect(f, rec->n_usage),
				  sizeof *rec->usage);
	r->usage_task = array_expect(r->usage_task, &r->usage_task_cap,
				     feed_expect(f, rec->n_usage), sizeof *r->usage_task);
	rec->memory = array_expect(rec->memory, &r->memory_cap, feed_expect(f, rec->n_memory),
				   sizeof *rec->memory);
}

static int decode(struct usage_decoder *d, struct feed *f)
{
	uint64_t soon = f->size / FEED_EXPECT;
	struct slice line;
	int64_t time_ms;
	int error = 0;

	while (!error && reader_feed_line(f, &line, &d->damage)) {
		error = reader_usage_line(d, line, &time_ms);
		if (error == -EBADMSG)
			reader_damaged(&d->damage, f->line);
		d->damage.skipped += error == -EAGAIN;
		error = error == -ENOMEM ? error : 0;
		if (f->offset > soon) {
			expect(d->r, f);
			soon = UINT64_MAX;
		}
	}
	return error;
}

static int report(struct usage_decoder *d, const char *file)
{
	int error = reader_report_damage(d->r, &d->damage, file);

	if (!error && d->strangers)
		error = reader_warn(d->r, "%s: %u samples of tasks that no tasks.log has "
				    "left out", file, d->strangers);
	return error;
}

static int no_usage_yet(struct reader *r)
{
	size_t n = r->rec->n_tasks;

	if (r->newest)
		return 0;
	r->newest = array_new(n, sizeof *r->newest);
	r->still = array_new(n, sizeof *r->still);
	if (!r->newest || !r->still)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		r->newest[i].time_ms = -1;
	return 0;
}

int reader_usage(struct reader *r, const char *file, struct feed *f)
{
	struct usage_decoder d = { .r = r, .interval_ms = 1 };
	struct slice line, rest;
	bool whole = feed_line(f, &line) == FEED_WHOLE;
	int error = reader_header(r, whole ? &line : NULL, file, USAGE_LOG_NAME, &rest);

	if (error <= 0)
		return error;
	if (!parse_columns(&d, rest))
		return reader_warn(r, "%s:1: damaged line, the file is left out", file);
	error = no_usage_yet(r);
	if (!error)
		error = decode(&d, f);
	if (!error)
		error = report(&d, file);
	reader_usage_release(&d);
	return error;
}

/* After all files */

/* The newest samples are the last ones. */
static int sum_up(struct reader *r)
{
	struct recording *rec = r->rec;

	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task_usage *u = &r->newest[i];
		struct task *t = &rec->task[i];

		if (u->time_ms < 0)
			continue;
		t->cpu_ms = u->cpu_ms;
		t->read_kb = u->read_kb;
		t->written_kb = u->written_kb;
		t->still_ms = r->still[i].ms;
		if (t->start_us >= 0)
			t->delay_us = event_sane_delay(t->delay_us, recording_task_end_us(rec, t) - t->start_us);
		if (settle(r, i))
			return -ENOMEM;
	}
	return 0;
}

/* From the order in which they came to task by task. Both orders are nearly that of time, so the
 * memory of one shrinks while the other grows. */
static int sort_samples(struct recording *rec, const uint32_t *of)
{
	struct task_usage *sorted = array_new(rec->n_usage, sizeof *sorted);
	uint32_t first = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		rec->task[i].first_usage = first;
		first += rec->task[i].n_usage;
		rec->task[i].n_usage = 0;
	}
	for (size_t i = 0; i < rec->n_usage; i++) {
		struct task *t = &rec->task[of[i]];

		sorted[t->first_usage + t->n_usage++] = rec->usage[i];
		if (!((i + 1) % FORGET_EVERY))
			heap_forget(rec->usage + i + 1 - FORGET_EVERY, FORGET_EVERY * sizeof *sorted);
	}
	free(rec->usage);
	rec->usage = sorted;
	return 0;
}

int reader_finish_usage(struct reader *r)
{
	struct recording *rec = r->rec;

	if (!r->newest)
		return 0;
	if (sum_up(r) || (!r->sums_only && sort_samples(rec, r->usage_task)))
		return -ENOMEM;
	rec->memory = array_trim(rec->memory, rec->n_memory, sizeof *rec->memory);
	return 0;
}
