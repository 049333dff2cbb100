/* SPDX-License-Identifier: MIT */
#include "convert/builder_series.h"

#include "base/array.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void builder_series(struct builder *b, const char *name, int64_t interval_ms,
		    const struct series_column *column, size_t n_columns)
{
	struct recording *rec = b->rec;
	struct series *grown;
	struct series s = { .name = builder_text(b, name, strlen(name)),
			    .interval_ms = interval_ms, .n_columns = n_columns };

	if (b->error)
		return;
	grown = array_grow(rec->series, rec->n_series, sizeof *grown);
	if (grown)
		rec->series = grown;
	s.column = grown ? malloc(n_columns * sizeof *s.column) : NULL;
	if (!s.column) {
		b->error = -ENOMEM;
		return;
	}
	memcpy(s.column, column, n_columns * sizeof *column);
	grown[rec->n_series++] = s;
}

/* Room for one more. */
static bool grow(struct series *s)
{
	void *time = array_grow(s->time_ms, s->n, sizeof *s->time_ms);
	void *gap = time ? array_grow(s->gap, s->n, sizeof *s->gap) : NULL;
	void *level = gap ? array_grow(s->level, s->n, s->n_columns * sizeof *s->level) : NULL;

	if (time)
		s->time_ms = time;
	if (gap)
		s->gap = gap;
	if (level)
		s->level = level;
	return level;
}

void builder_sample(struct builder *b, int64_t time_us, const int64_t *level)
{
	struct series *s = &b->rec->series[b->rec->n_series - 1];

	if (b->error || time_us < 0 || time_us > READER_TIME_MAX_US ||
	    (s->n && time_us / 1000 <= s->time_ms[s->n - 1]))
		return;
	if (!grow(s)) {
		b->error = -ENOMEM;
		return;
	}
	s->time_ms[s->n] = time_us / 1000;
	s->gap[s->n] = false;
	memcpy(&s->level[s->n++ * s->n_columns], level, s->n_columns * sizeof *level);
	if (time_us > b->rec->last_us)
		b->rec->last_us = time_us;
}
