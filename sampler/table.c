/* SPDX-License-Identifier: MIT */
#include "sampler/table.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Larger values are nonsense; the limit keeps all sums below from overflowing. */
#define RAW_MAX (UINT64_C(1) << 58)

#define WRAP (UINT64_C(1) << 32)

uint64_t table_step(uint64_t *last, uint64_t now)
{
	uint64_t from = *last;

	*last = now;
	if (now >= from)
		return now - from;
	if (from < WRAP && from >= WRAP / 4 * 3 && now < WRAP / 4)
		return now + WRAP - from;
	return 0;
}

static bool allocate_table(struct table *t)
{
	size_t groups = t->max_groups + 1;
	size_t n = groups * t->n_columns;

	t->group = calloc(groups, sizeof *t->group);
	t->raw = calloc(n, sizeof *t->raw);
	t->level = calloc(n, sizeof *t->level);
	t->base = calloc(n, sizeof *t->base);
	t->written = calloc(n, sizeof *t->written);
	t->series = calloc(n, sizeof *t->series);
	return t->group && t->raw && t->level && t->base && t->written && t->series;
}

int table_open(struct table *t, int dir_fd, const char *name, int64_t interval_ms,
	       const struct table_column *column, size_t n_columns, size_t max_groups)
{
	int r;

	*t = (struct table){ .log = LOG_CLOSED, .name = name, .interval_ms = interval_ms,
		.column = column, .n_columns = n_columns, .max_groups = max_groups,
		.n_groups = max_groups ? 0 : 1, .want_header = true };
	r = allocate_table(t) ? log_open(&t->log, dir_fd, name) : -ENOMEM;
	if (r) {
		table_close(t);
		return r;
	}
	series_writer_init(&t->writer, t->written, t->n_groups * n_columns, interval_ms);
	if (t->log.size)
		series_lost(&t->writer);	/* of an earlier sampler: there is a gap */
	return 0;
}

void table_close(struct table *t)
{
	log_close(&t->log);
	free_all(t->group, t->raw, t->level, t->base, t->written, t->series);
	*t = (struct table){ .log = LOG_CLOSED };
}

static void set_name(char out[GROUP_NAME_MAX], struct slice name)
{
	size_t n = name.len < GROUP_NAME_MAX ? name.len : GROUP_NAME_MAX - 1;

	for (size_t i = 0; i < n; i++) {
		char c = name.p[i];

		out[i] = c > ' ' && c != ':' && c != 0x7f ? c : '_';
	}
	out[n] = '\0';
}

/*
 * The next sample needs a new header: counters go on from the last written value. Nothing to do if
 * the header before has not been written yet.
 */
static void begin_anew(struct table *t)
{
	size_t n = t->n_groups * t->n_columns;

	if (t->want_header)
		return;
	for (size_t i = 0; i < n; i++)
		if (t->column[i % t->n_columns].counter)
			t->base[i] += t->written[i];
	t->want_header = true;
}

static size_t add_group(struct table *t, struct slice name)
{
	begin_anew(t);
	set_name(t->group[t->n_groups], name);
	return t->n_groups++;
}

size_t table_group(struct table *t, struct slice name)
{
	char clean[GROUP_NAME_MAX];

	set_name(clean, name);
	for (size_t i = 0; i < t->n_groups; i++)
		if (!strcmp(t->group[i], clean))
			return i;
	if (t->n_groups < t->max_groups)
		return add_group(t, name);
	if (t->n_groups == t->max_groups)
		add_group(t, (struct slice){ "others", 6 });
	return t->max_groups;
}

void table_set(struct table *t, size_t group, size_t column, uint64_t raw)
{
	t->raw[group * t->n_columns + column] = MIN(raw, RAW_MAX);
}

void table_add(struct table *t, size_t group, size_t column, uint64_t raw)
{
	uint64_t *sum = &t->raw[group * t->n_columns + column];

	*sum = raw < RAW_MAX - *sum ? *sum + raw : RAW_MAX;
}

static void fill_columns(struct table *t)
{
	for (size_t i = 0; i < t->n_groups * t->n_columns; i++) {
		const struct table_column *f = &t->column[i % t->n_columns];
		const char *group = t->group[i / t->n_columns];
		struct series_column *c = &t->series[i];
		struct buf name;

		buf_init_fixed(&name, c->name, sizeof c->name);
		buf_adds(&name, group);
		if (*group && *f->name)
			buf_addc(&name, '.');
		buf_adds(&name, f->name);
		strcpy(c->unit, f->unit);
		c->counter = f->counter;
	}
}

/* A header and a new writer for it. A gap that is still to be marked stays. */
static void add_header(struct table *t, struct buf *b)
{
	size_t n = t->n_groups * t->n_columns;
	struct series_writer old = t->writer;

	fill_columns(t);
	series_add_header(b, t->name, t->interval_ms, t->series, n);
	series_writer_init(&t->writer, t->written, n, t->interval_ms);
	t->writer.want_key = old.want_key;
}

/* Most values are in the log's unit already, and a division is slow. */
static int64_t to_unit(const struct table_column *f, uint64_t raw)
{
	raw *= f->mul;
	if (f->div == 1)
		return (int64_t)raw;
	return (int64_t)((f->counter ? raw : raw + f->div / 2) / f->div);
}

static void fill_levels(struct table *t)
{
	size_t n = t->n_groups * t->n_columns;
	const struct table_column *f = t->column;

	for (size_t i = 0; i < n; i++, f++) {
		if (f == t->column + t->n_columns)
			f = t->column;
		t->level[i] = to_unit(f, t->raw[i]) - t->base[i];
	}
}

int table_write(struct table *t, struct buf *scratch, int64_t t_us, bool forced)
{
	bool header = t->want_header;
	int r;

	buf_clear(scratch);
	if (header)
		add_header(t, scratch);
	fill_levels(t);
	if (t->n_groups)	/* no disk or interface has appeared yet */
		series_add(&t->writer, scratch, t_us, t->level, forced || header);
	r = log_append(&t->log, scratch);
	if (r)
		series_lost(&t->writer);
	else
		t->want_header = false;
	return r;
}
