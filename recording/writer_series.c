/* SPDX-License-Identifier: MIT */
#include "recording/writer.h"

#include "base/array.h"
#include "recording/reader.h"
#include "recording/recording_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * proc_*.log of a series in memory. Other than the writer of series.h this one knows
 * what the reader is going to make of a line, and writes such that it makes what was
 * there: a sample that the reader puts in by itself is left out, and where it should
 * not the line says so ("~").
 */
struct rows {
	struct writer *o;
	const struct series *s;
	int64_t grid;		/* of the last line, -1: of none yet in this section */
	size_t last;		/* row of it */
	unsigned since_key;
	size_t n;		/* columns of this section: */
	uint32_t *column;
	int64_t *base, *level;	/* of each column of s: when the section began, in the
				   last line */
};

static const int64_t *row_values(const struct rows *w, size_t i)
{
	return w->s->level + i * w->s->n_columns;
}

/* Sections: a new one begins where the columns change. */

static bool same_columns(const struct rows *w, size_t a, size_t b)
{
	for (size_t i = 0; i < w->s->n_columns; i++) {
		if ((row_values(w, a)[i] == SERIES_ABSENT) != (row_values(w,
									  b)[i] == SERIES_ABSENT))
			return false;
	}
	return true;
}

static int begin_section(struct rows *w, size_t at)
{
	struct series_column *columns = array_new(w->s->n_columns, sizeof *columns);

	if (!columns)
		return -ENOMEM;
	for (size_t i = 0; i < w->n; i++) {
		uint32_t column = w->column[i];

		if (w->s->column[column].counter)
			w->base[column] = w->level[column];
	}
	w->n = 0;
	for (uint32_t i = 0; i < w->s->n_columns; i++) {
		if (at < w->s->n && row_values(w, at)[i] == SERIES_ABSENT)
			continue;
		w->level[i] = w->base[i];
		w->column[w->n++] = i;
	}
	for (size_t i = 0; i < w->n; i++)
		columns[i] = w->s->column[w->column[i]];
	series_add_header(&w->o->b, w->s->name, w->s->interval_ms, columns, w->n);
	free(columns);
	w->grid = -1;
	w->since_key = 0;
	return 0;
}

/* Lines */

/* Would the reader put in a sample before row i, if the line before is of row
 * `last`; its time. */
static bool puts_in(const struct rows *w, size_t last, int64_t grid, size_t i, int64_t *time_ms)
{
	int64_t next = reader_grid(w->s->time_ms[i], w->s->interval_ms);

	*time_ms = (next - 1) * w->s->interval_ms;
	return *time_ms > w->s->time_ms[last] && *time_ms < w->s->time_ms[i] &&
	       !(grid >= 0 && next - grid < 2);
}

/* Is row i, which follows the last line's, one the reader puts in by itself. */
static bool is_put_in(const struct rows *w, size_t i)
{
	const struct series *s = w->s;
	int64_t time_ms;

	if (!i || w->last != i - 1 || i + 1 == s->n || s->gap[i] || s->gap[i + 1] ||
	    memcmp(row_values(w, i), row_values(w, i - 1), s->n_columns * sizeof *s->level))
		return false;
	return puts_in(w, i - 1, same_columns(w, i, i + 1) ? w->grid : -1, i + 1, &time_ms) &&
	       time_ms == s->time_ms[i];
}

static void add_time(struct rows *w, size_t i, bool key)
{
	const struct series *s = w->s;
	int64_t time_ms = s->time_ms[i], unused;
	int64_t grid = reader_grid(time_ms, s->interval_ms);
	bool straight = i && w->last == i - 1 && puts_in(w, i - 1, w->grid, i, &unused);

	if (s->gap[i] || straight)
		buf_addf(&w->o->b, "%c%lld ", s->gap[i] ? '!' : '~', (long long)time_ms);
	else if (key || grid <= w->grid || grid * s->interval_ms != time_ms)
		buf_addf(&w->o->b, "@%lld ", (long long)time_ms);
	else if (grid - w->grid > 1)
		buf_addf(&w->o->b, "+%lld ", (long long)(grid - w->grid));
	w->grid = grid;
}

static void add_values(struct rows *w, size_t i, bool key)
{
	size_t empty = 0;

	for (size_t k = 0; k < w->n; k++) {
		uint32_t column = w->column[k];
		uint64_t now = (uint64_t)row_values(w, i)[column];
		uint64_t from = (uint64_t)(key ? w->base[column] : w->level[column]);

		if (now != from) {
			for (; empty; empty--)
				buf_addc(&w->o->b, ',');
			buf_addi(&w->o->b, (int64_t)(now - from));
		}
		empty++;
		w->level[column] = (int64_t)now;
	}
}

static void add_row(struct rows *w, size_t i)
{
	bool key = w->since_key >= SERIES_KEY_LINES;

	add_time(w, i, key);
	if (key)
		buf_addc(&w->o->b, '=');
	add_values(w, i, key);
	buf_addc(&w->o->b, '\n');
	w->last = i;
	w->since_key = key ? 0 : w->since_key + 1;
	writer_flow(w->o);
}

static int write_rows(struct rows *w)
{
	int error = begin_section(w, 0);

	for (size_t i = 0; !error && i < w->s->n; i++) {
		if (i && !same_columns(w, i - 1, i))
			error = begin_section(w, i);
		if (!error && !is_put_in(w, i))
			add_row(w, i);
	}
	return error;
}

void writer_add_series(struct writer *o, const struct series *s)
{
	size_t n = s->n_columns + 1;
	struct rows w = { .o = o, .s = s, .grid = -1 };

	w.column = calloc(n, sizeof *w.column);
	w.base = calloc(n, sizeof *w.base);
	w.level = calloc(n, sizeof *w.level);
	if (!w.column || !w.base || !w.level || write_rows(&w))
		o->error = -ENOMEM;
	free_all(w.column, w.base, w.level);
}

int recording_series_write(struct buf *text, const struct series *s)
{
	struct writer o = { .b = *text, .fd = -1 };

	writer_add_series(&o, s);
	*text = o.b;
	return o.error ? o.error : buf_error(text);
}
