/* SPDX-License-Identifier: MIT */
#include "recording/series.h"

#include <string.h>

/* A sample this close to its grid point counts as on it: a hundredth. */
#define ON_TIME_PART 100

void series_writer_init(struct series_writer *w, int64_t *level, size_t n_columns,
			int64_t interval_ms)
{
	if (n_columns)
		memset(level, 0, n_columns * sizeof *level);
	*w = (struct series_writer){ .n_columns = n_columns, .level = level,
		.interval_ms = interval_ms, .grid = -1, .seen_grid = -1 };
}

/* A blank or a line break in a name would end it. */
static void add_name(struct buf *b, const char *name)
{
	for (; *name; name++)
		buf_addc(b, (unsigned char)*name > ' ' ? *name : '_');
}

void series_add_header(struct buf *b, const char *name, int64_t interval_ms,
		       const struct series_column *columns, size_t n_columns)
{
	buf_addf(b, "buildbeat %s 1 %lld", name, (long long)interval_ms);
	for (size_t i = 0; i < n_columns; i++) {
		buf_addc(b, ' ');
		add_name(b, columns[i].name);
		buf_addc(b, ':');
		add_name(b, columns[i].unit);
		buf_adds(b, columns[i].counter ? ":c" : ":g");
	}
	buf_addc(b, '\n');
}

/* The grid point a time belongs to: the nearest. From milliseconds, as the
 * reader has no more. */
static int64_t grid_of(const struct series_writer *w, int64_t t_us)
{
	return (2 * (t_us / 1000) + w->interval_ms) / (2 * w->interval_ms);
}

static bool on_time(const struct series_writer *w, int64_t t_us, int64_t grid)
{
	int64_t off = t_us - grid * w->interval_ms * 1000;

	return (off < 0 ? -off : off) <= w->interval_ms * 1000 / ON_TIME_PART;
}

static void add_mark(struct buf *b, char mark, int64_t n)
{
	buf_addc(b, mark);
	buf_addi(b, n);
	buf_addc(b, ' ');
}

static void add_time(const struct series_writer *w, struct buf *b, int64_t t_us,
		     int64_t grid, bool absolute)
{
	int64_t steps = grid - w->grid;

	if (absolute || steps < 1 || !on_time(w, t_us, grid))
		add_mark(b, '@', t_us / 1000);
	else if (steps > 1)
		add_mark(b, '+', steps);
}

/* Samples were left out as unchanged, then some were missed: say where the
 * unchanged ones ended. */
static void end_unchanged(struct series_writer *w, struct buf *b)
{
	if (w->want_key || w->seen_grid <= w->grid)
		return;
	if (w->seen_grid - w->grid > 1)
		buf_addf(b, "+%lld", (long long)(w->seen_grid - w->grid));
	buf_addc(b, '\n');
	w->grid = w->seen_grid;
	w->since_key++;
}

bool series_begin(struct series_writer *w, struct buf *b, int64_t t_us, bool write, bool *key)
{
	int64_t grid = grid_of(w, t_us);
	bool missed = w->seen_grid >= 0 && grid > w->seen_grid + 1;

	if (missed)
		end_unchanged(w, b);
	w->seen_grid = grid;
	if (!write && !missed && w->grid >= 0 && !w->want_key)
		return false;
	*key = w->want_key || w->since_key >= SERIES_KEY_LINES;
	if (missed || w->want_key)
		add_mark(b, '!', t_us / 1000);
	else
		add_time(w, b, t_us, grid, *key);
	if (*key)
		buf_addc(b, '=');
	w->grid = grid;
	w->since_key = *key ? 0 : w->since_key + 1;
	w->want_key = false;
	return true;
}

void series_add_values(struct buf *b, const int64_t *from, const int64_t *to, size_t n)
{
	size_t empty = 0;	/* commas not written yet */

	for (size_t i = 0; i < n; i++) {
		uint64_t d = (uint64_t)to[i] - (from ? (uint64_t)from[i] : 0);

		if (d) {
			while (empty) {
				buf_addc(b, ',');
				empty--;
			}
			buf_addi(b, (int64_t)d);
		}
		empty++;
	}
}

void series_add(struct series_writer *w, struct buf *b, int64_t t_us,
		const int64_t *level, bool force)
{
	size_t size = w->n_columns * sizeof *level;
	bool write = force || memcmp(w->level, level, size);
	bool key;

	if (!series_begin(w, b, t_us, write, &key))
		return;
	series_add_values(b, key ? NULL : w->level, level, w->n_columns);
	buf_addc(b, '\n');
	memcpy(w->level, level, size);
}

void series_lost(struct series_writer *w)
{
	w->want_key = true;
}
