/* SPDX-License-Identifier: MIT */
#include "recording/growing_files.h"
#include "recording/usage_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIAS_MAX 65535
#define NO_COLUMN SIZE_MAX

/* proc_tasks.log (usage_log.h): how much memory all running tasks have together. */

/* A running task under its number. In another era than the current one it has ended. */
struct growing_alias {
	uint32_t era;
	int64_t rss_kb, pss_kb;
};

void growing_usage_release(struct growing_usage *u)
{
	growing_series_release(&u->clock);
	free(u->alias);
}

/* "1MiB" and the like. 0: unknown. */
static int64_t unit_kb(const char *unit)
{
	struct cursor c;
	int64_t n;

	cursor_init(&c, unit, strlen(unit));
	if (!cursor_i64(&c, &n) || n < 1 || n > 1000000)
		return 0;
	return !strcmp(c.p, "KiB") ? n : !strcmp(c.p, "MiB") ? n * 1024 :
	       !strcmp(c.p, "GiB") ? n * 1048576 : 0;
}

static size_t find_column(const struct growing_series *s, const char *name)
{
	for (size_t i = 0; i < s->n_columns; i++) {
		if (!strcmp(s->column[i].name, name) && unit_kb(s->column[i].unit))
			return i;
	}
	return NO_COLUMN;
}

int growing_usage_begin(struct growing_usage *u, struct slice rest)
{
	int r = growing_series_begin(&u->clock, rest);

	u->era++;
	u->kb = 0;
	u->rss = find_column(&u->clock, usage_columns[USAGE_RSS].name);
	u->pss = find_column(&u->clock, usage_columns[USAGE_PSS].name);
	return r;
}

/* As in the reader: the proportional memory if it was measured. */
static int64_t best_kb(const struct growing_alias *a)
{
	return a->pss_kb > 0 ? a->pss_kb : a->rss_kb;
}

static int64_t scaled(const struct growing_usage *u, size_t column, int64_t n)
{
	int64_t kb;

	return __builtin_mul_overflow(n, unit_kb(u->clock.column[column].unit), &kb) ? 0 : kb;
}

static int grow_aliases(struct growing_usage *u, size_t n)
{
	struct growing_alias *grown = realloc(u->alias, n * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	memset(grown + u->n_alias, 0, (n - u->n_alias) * sizeof *grown);
	u->alias = grown;
	u->n_alias = n;
	return 0;
}

static int find_alias(struct growing_usage *u, struct cursor *c, struct growing_alias **out)
{
	uint64_t n;

	if (!cursor_u64(c, &n) || n > ALIAS_MAX)
		return -EBADMSG;
	if (n >= u->n_alias && grow_aliases(u, 2 * (size_t)n + 16))
		return -ENOMEM;
	*out = &u->alias[n];
	if ((*out)->era != u->era)
		**out = (struct growing_alias){ .era = u->era };
	return 0;
}

/* Up to the ";" (passed) or the end. */
static bool parse_values(const struct growing_usage *u, struct cursor *c, struct growing_alias *a)
{
	for (size_t i = 0; !cursor_at_end(c) && !cursor_byte(c, ';'); i++) {
		int64_t n = 0;

		if (i == u->clock.n_columns)
			return false;
		if (cursor_byte(c, ','))
			continue;
		if (!cursor_i64(c, &n))
			return false;
		if (i == u->rss)
			a->rss_kb = reader_plus(a->rss_kb, scaled(u, i, n));
		if (i == u->pss)
			a->pss_kb = reader_plus(a->pss_kb, scaled(u, i, n));
		if (!cursor_at_end(c) && *c->p != ';' && !cursor_byte(c, ','))
			return false;
	}
	return true;
}

static int read_entry(struct growing_usage *u, struct cursor *c)
{
	struct growing_alias *a;
	struct slice task;
	int64_t before_kb;
	int r = find_alias(u, c, &a);

	if (r)
		return r;
	before_kb = best_kb(a);
	if (cursor_byte(c, '-')) {
		u->kb = reader_plus(u->kb, -before_kb);
		a->era = 0;
		return cursor_byte(c, ';') || cursor_at_end(c) ? 0 : -EBADMSG;
	}
	if (cursor_byte(c, '=')) {
		if (!cursor_until(c, ':', &task))
			return -EBADMSG;
		*a = (struct growing_alias){ .era = u->era };
	} else if (!cursor_byte(c, ':')) {
		return -EBADMSG;
	}
	if (!parse_values(u, c, a))
		return -EBADMSG;
	u->kb = reader_plus(u->kb, best_kb(a) - before_kb);
	return 0;
}

static int read_line(struct growing_usage *u, struct slice line, struct sample_time *at)
{
	struct growing_series *s = &u->clock;
	struct cursor c;
	int r = 0;

	cursor_init(&c, line.p, line.len);
	if (!reader_parse_time(&c, s->interval_ms, s->grid, at))
		return -EBADMSG;
	if (s->lost && !(at->levels && at->absolute))
		return -EAGAIN;
	if (at->grid < s->grid)
		return -EBADMSG;
	if (at->levels) {
		u->era++;
		u->kb = 0;
	}
	s->lost = false;
	s->grid = at->grid;
	while (!r && !cursor_at_end(&c))
		r = read_entry(u, &c);
	return r;
}

/* The memory was the same up to one point before this one. */
int growing_usage_line(struct growing_usage *u, struct slice line, const struct growing_to *to,
		    void *context)
{
	struct sample_time at;
	int64_t before_kb = u->kb;
	int r = u->clock.blind ? -EAGAIN : read_line(u, line, &at);

	u->clock.lost |= r == -EBADMSG;
	if (r)
		return r == -EAGAIN ? 0 : r;
	if (u->kb == before_kb || !to->memory)
		return 0;
	return to->memory(context, at.time_ms, u->kb > 0 ? u->kb : 0);
}
