/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/name_table.h"
#include "recording/growing_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 65536

/* First lines */

void growing_series_release(struct growing_series *s)
{
	free(s->column);
	free(s->level);
	free(s->newest);
	free(s->before);
}

static int parse_columns(struct growing_series *s, struct slice rest)
{
	struct slice word;
	struct cursor c;

	cursor_init(&c, rest.p, rest.len);
	if (!cursor_i64(&c, &s->interval_ms) || s->interval_ms < 1 ||
	    s->interval_ms > READER_INTERVAL_MAX_MS)
		return -EBADMSG;
	for (cursor_blanks(&c); !cursor_at_end(&c); cursor_blanks(&c)) {
		struct series_column *added;

		if (s->n_columns == COLUMNS_MAX || !cursor_word(&c, &word, SERIES_LINE_MAX))
			return -EBADMSG;
		added = array_add(&s->column, &s->n_columns, sizeof *added);
		if (!added)
			return -ENOMEM;
		if (!reader_parse_column(word, added))
			return -EBADMSG;
	}
	return 0;
}

/* The newest sample is the one before the first with the new columns. Counters go on from where
 * they were, and are now counted from there. */
static int take_over(struct growing_series *s, const struct growing_series *old)
{
	struct name_table names = NAME_TABLE_INIT;
	uint32_t at;
	int r = 0;

	for (size_t i = 0; !r && i < old->n_columns; i++)
		r = name_table_add(&names, slice_of(old->column[i].name), &at);
	for (size_t i = 0; !r && i < s->n_columns; i++) {
		at = name_table_find(&names, slice_of(s->column[i].name));
		s->newest[i] = at < old->n_columns && old->time_ms >= 0 &&
			       old->column[at].counter == s->column[i].counter ?
			       (s->column[i].counter ? 0 : old->newest[at]) : SERIES_ABSENT;
	}
	name_table_release(&names);
	return r;
}

int growing_series_begin(struct growing_series *s, struct slice rest)
{
	struct growing_series next = { .grid = -1, .time_ms = s->time_ms,
		.section = s->section + 1 };
	int r = parse_columns(&next, rest);

	if (!r) {
		next.level = calloc(next.n_columns + 1, sizeof *next.level);
		next.newest = calloc(next.n_columns + 1, sizeof *next.newest);
		next.before = calloc(next.n_columns + 1, sizeof *next.before);
		r = next.level && next.newest && next.before ? take_over(&next, s) : -ENOMEM;
	}
	if (r) {
		growing_series_release(&next);
		s->blind = true;
		return r;
	}
	growing_series_release(s);
	*s = next;
	return 0;
}

/* Samples */

struct delivery {
	const char *name;
	const struct growing_to *to;
	void *context;
};

static int deliver(const struct growing_series *s, const struct delivery *d, int64_t before_ms,
		   const int64_t *before, bool again)
{
	struct growing_sample out = {
		.series = d->name, .time_ms = s->time_ms, .before_ms = before_ms, .again = again,
		.n_columns = s->n_columns, .column = s->column,
		.section = s->section, .level = s->newest, .before = before,
	};

	return d->to->sample ? d->to->sample(d->context, &out) : 0;
}

/* As in reader_samples.c: samples up to one point before this one were the same. */
static int add_unchanged(struct growing_series *s, const struct delivery *d,
			 const struct sample_time *at)
{
	int64_t last_ms = s->time_ms, unchanged_ms = (at->grid - 1) * s->interval_ms;

	if (last_ms < 0 || unchanged_ms <= last_ms || unchanged_ms >= at->time_ms ||
	    (s->grid >= 0 && at->grid - s->grid < 2))
		return 0;
	s->time_ms = unchanged_ms;
	return deliver(s, d, last_ms, s->newest, false);
}

static int add_sample(struct growing_series *s, const struct delivery *d,
		      const struct sample_time *at, bool gap)
{
	bool again = s->time_ms >= 0 && at->time_ms <= s->time_ms;
	int64_t *oldest = s->before;

	if (!again) {
		s->before = s->newest;
		s->newest = oldest;
		s->before_ms = gap ? -1 : s->time_ms;
		s->time_ms = at->time_ms;
	}
	memcpy(s->newest, s->level, s->n_columns * sizeof *s->newest);
	s->grid = at->grid;
	return deliver(s, d, s->before_ms, s->before, again);
}

static bool goes_back(const struct growing_series *s, const struct sample_time *at)
{
	if (s->time_ms < 0)
		return false;
	return s->grid >= 0 ? at->grid < s->grid : at->time_ms + s->interval_ms < s->time_ms;
}

/* -EBADMSG: damaged; -EAGAIN: must be skipped. */
static int parse(struct growing_series *s, struct slice line, struct sample_time *at)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	if (!reader_parse_time(&c, s->interval_ms, s->grid, at))
		return -EBADMSG;
	if (s->lost && !(at->levels && at->absolute))
		return -EAGAIN;
	if (goes_back(s, at) || !reader_parse_values(&c, s->level, s->n_columns, at->levels))
		return -EBADMSG;
	return 0;
}

int growing_series_line(struct growing_series *s, const char *name, struct slice line,
		     const struct growing_to *to, void *context)
{
	struct delivery d = { name, to, context };
	struct sample_time at;
	bool gap;
	int r = s->blind ? -EAGAIN : parse(s, line, &at);

	s->lost |= r == -EBADMSG;
	if (r)
		return r == -EAGAIN ? 0 : r;
	gap = at.gap || s->lost;
	s->lost = false;
	if (!gap && !at.even)
		r = add_unchanged(s, &d, &at);
	return r ? r : add_sample(s, &d, &at, gap);
}
