/* SPDX-License-Identifier: MIT */
#include "recording/column.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/saturate.h"

#include <string.h>

#define SECOND_MS 1000
#define SECOND_LEAST_MS 900	/* samples are never exactly a second apart */

static const struct {
	const char *name;
	int64_t scale;
} units[] = {
	{ "us", 1 }, { "ms", 1000 }, { "s", 1000000 },
	{ "B", 1 }, { "KiB", 1 << 10 }, { "MiB", 1 << 20 }, { "GiB", 1 << 30 },
};

static const struct moment unknown = { -1, -1 };

int64_t column_unit_scale(const char *unit)
{
	struct cursor c;
	int64_t n = 1;

	cursor_init(&c, unit, strlen(unit));
	if (!cursor_i64(&c, &n) || n < 1 || n > 1000000)
		n = 1;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(c.p, units[i].name))
			return n * units[i].scale;
	}
	return n;
}

static bool matches(const char *name, const char *wanted)
{
	size_t n = strlen(name), tail = strlen(wanted) - 1;

	if (wanted[0] != '*')
		return !strcmp(name, wanted);
	return n > tail && !strcmp(name + n - tail, wanted + 1);
}

static size_t samples_of_build(const struct series *s, const struct recording *rec)
{
	size_t n = s->n;

	while (n > 1 && rec->end_us >= 0 && s->time_ms[n - 2] * 1000 >= rec->end_us)
		n--;
	return n;
}

bool column_find(struct column *c, const struct recording *rec, const char *series,
		 const char *name)
{
	const struct series *s = recording_series(rec, series);

	c->series = s;
	c->n = s ? samples_of_build(s, rec) : 0;
	c->n_parts = 0;
	for (size_t i = 0; s && i < s->n_columns && c->n_parts < COLUMN_PARTS_MAX; i++) {
		if (!matches(s->column[i].name, name))
			continue;
		c->scale = column_unit_scale(s->column[i].unit);
		c->part[c->n_parts++] = (uint32_t)i;
	}
	return c->n_parts && c->n;
}

static int64_t cell(const struct column *c, size_t sample, size_t part)
{
	return c->series->level[sample * c->series->n_columns + c->part[part]];
}

int64_t column_level(const struct column *c, size_t sample)
{
	int64_t sum = SERIES_ABSENT;

	for (size_t i = 0; i < c->n_parts; i++) {
		int64_t n = cell(c, sample, i);

		if (n >= 0)
			sum = sat_add(sum == SERIES_ABSENT ? 0 : sum, sat_mul(n, c->scale));
	}
	return sum;
}

int64_t column_between(const struct column *c, size_t from, size_t to)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->n_parts; i++) {
		int64_t a = cell(c, from, i), b = cell(c, to, i);

		if (a >= 0 && b > a)
			sum = sat_add(sum, sat_mul(b - a, c->scale));
	}
	return sum;
}

static int64_t part_growth(const struct column *c, size_t part)
{
	const int64_t *level = c->series->level + c->part[part];
	int64_t before = *level, sum = 0;

	for (size_t i = 1; i < c->n; i++) {
		level += c->series->n_columns;
		if (before >= 0 && *level > before)
			sum = sat_add(sum, *level - before);
		before = *level;
	}
	return sat_mul(sum, c->scale);
}

int64_t column_growth(const struct column *c)
{
	int64_t sum = 0;

	if (!c->n_parts || !c->n)
		return -1;
	for (size_t i = 0; i < c->n_parts; i++)
		sum = sat_add(sum, part_growth(c, i));
	return sum;
}

struct moment column_peak(const struct column *c)
{
	struct moment peak = unknown;

	for (size_t i = 0; c->n_parts && i < c->n; i++) {
		int64_t n = column_level(c, i);

		if (n > peak.value)
			peak = (struct moment){ n, c->series->time_ms[i] * 1000 };
	}
	return peak;
}

/* Compares each sample with the nearest one about a second earlier, or more. */
struct moment column_busiest(const struct column *c)
{
	struct moment most = unknown;
	size_t from = 0;

	for (size_t i = 1; c->n_parts && i < c->n; i++) {
		const int64_t *time = c->series->time_ms;
		int64_t span_ms, n;

		while (from + 1 < i && time[i] - time[from + 1] >= SECOND_LEAST_MS)
			from++;
		span_ms = time[i] - time[from];
		n = column_between(c, from, i);
		if (span_ms >= SECOND_LEAST_MS)
			n = (int64_t)((double)n * SECOND_MS / (double)span_ms + 0.5);
		if (n > most.value)
			most = (struct moment){ n, time[from] * 1000 };
	}
	return most;
}
