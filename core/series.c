#include "series.h"

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

void series_add_header(struct buf *b, const char *name, int64_t interval_ms,
		       const struct series_column *columns, size_t n_columns)
{
	buf_addf(b, "buildbeat %s 1 %lld", name, (long long)interval_ms);
	for (size_t i = 0; i < n_columns; i++)
		buf_addf(b, " %s:%s:%c", columns[i].name, columns[i].unit,
			 columns[i].counter ? 'c' : 'g');
	buf_addc(b, '\n');
}

/* The grid point a time belongs to: the nearest. */
static int64_t grid_of(const struct series_writer *w, int64_t t_us)
{
	int64_t interval_us = w->interval_ms * 1000;

	return (t_us + interval_us / 2) / interval_us;
}

static bool on_time(const struct series_writer *w, int64_t t_us, int64_t grid)
{
	int64_t off = t_us - grid * w->interval_ms * 1000;

	return (off < 0 ? -off : off) <= w->interval_ms * 1000 / ON_TIME_PART;
}

static void add_time(struct series_writer *w, struct buf *b, int64_t t_us,
		     int64_t grid, bool gap)
{
	int64_t steps = grid - w->grid;

	if (gap)
		buf_addf(b, "!%lld ", (long long)(t_us / 1000));
	else if (steps < 1 || !on_time(w, t_us, grid))
		buf_addf(b, "@%lld ", (long long)(t_us / 1000));
	else if (steps > 1)
		buf_addf(b, "+%lld ", (long long)steps);
}

bool series_begin(struct series_writer *w, struct buf *b, int64_t t_us, bool write, bool *key)
{
	int64_t grid = grid_of(w, t_us);
	bool gap = w->seen_grid >= 0 && grid > w->seen_grid + 1;

	w->seen_grid = grid;
	if (!write && !gap && w->grid >= 0 && !w->want_key)
		return false;
	*key = w->want_key || w->since_key >= SERIES_KEY_LINES;
	add_time(w, b, t_us, grid, gap);
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
		int64_t d = to[i] - (from ? from[i] : 0);

		if (d) {
			while (empty) {
				buf_addc(b, ',');
				empty--;
			}
			buf_addi(b, d);
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
