/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "recording/reader.h"
#include "recording/recording_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_MS (EVENT_TIME_MAX_US / 1000)
#define COLUMNS_MAX 65536
/* A damaged file must not ask for more memory than any real recording. */
#define CELLS_MAX ((size_t)1 << 26)

/* The columns between one first line and the next. */
struct section {
	struct reader_samples d;
	uint32_t *column;	/* of each: its index in the series */
};

struct decoder {
	struct reader *r;
	struct series s;
	struct section at;
	struct name_table names;	/* of the columns of s, "c" or "g" in front */
	int64_t *base;		/* of each column of s: the value of its counter in earlier sections */
	struct reader_damage damage;
	bool full;
	size_t time_cap, gap_cap, level_cap;	/* of the arrays of s */
};

/* Columns */

static void copy(char *to, size_t size, const char *from, const char *end)
{
	size_t n = (size_t)(end - from);

	n = n < size ? n : size - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

bool reader_parse_column(struct slice word, struct series_column *column)
{
	const char *end = word.p + word.len;
	const char *kind = memrchr(word.p, ':', word.len);
	const char *unit = kind ? memrchr(word.p, ':', (size_t)(kind - word.p)) : NULL;

	if (!unit || unit == word.p || end - kind != 2 || (kind[1] != 'c' && kind[1] != 'g'))
		return false;
	copy(column->name, sizeof column->name, word.p, unit);
	copy(column->unit, sizeof column->unit, unit + 1, kind);
	column->counter = kind[1] == 'c';
	return true;
}

/* The column of that name and kind, a new one if needed and no samples are stored yet. */
static int find_column(struct decoder *d, const struct series_column *column, uint32_t *out)
{
	char name[1 + sizeof column->name];
	struct series_column *added;

	snprintf(name, sizeof name, "%c%s", column->counter ? 'c' : 'g', column->name);
	*out = name_table_find(&d->names, slice_of(name));
	if (*out != NAME_TABLE_NONE)
		return 0;
	if (d->base || d->s.n_columns >= COLUMNS_MAX)
		return -EBADMSG;
	added = array_add(&d->s.column, &d->s.n_columns, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = *column;
	return name_table_add(&d->names, slice_of(name), out);
}

void reader_samples_release(struct reader_samples *d)
{
	free_all(d->column, d->level);
}

int reader_samples_begin(struct reader_samples *d, struct slice rest)
{
	struct slice word;
	struct cursor c;

	*d = (struct reader_samples){ .grid = -1 };
	cursor_init(&c, rest.p, rest.len);
	if (!cursor_i64(&c, &d->interval_ms) || d->interval_ms < 1 ||
	    d->interval_ms > READER_INTERVAL_MAX_MS)
		return -EBADMSG;
	for (cursor_blanks(&c); !cursor_at_end(&c); cursor_blanks(&c)) {
		struct series_column *added;

		if (d->n_columns == COLUMNS_MAX || !cursor_word(&c, &word, SERIES_LINE_MAX))
			return -EBADMSG;
		added = array_add(&d->column, &d->n_columns, sizeof *added);
		if (!added)
			return -ENOMEM;
		if (!reader_parse_column(word, added))
			return -EBADMSG;
	}
	d->level = array_new_zero(d->n_columns, sizeof *d->level);
	return d->level ? 0 : -ENOMEM;
}

/* The columns of a first line among those of the series. -EBADMSG when it is damaged. */
static int parse_columns(struct decoder *d, struct slice rest, struct section *out)
{
	int error = reader_samples_begin(&out->d, rest);

	if (error)
		return error;
	out->column = array_new(out->d.n_columns, sizeof *out->column);
	if (!out->column)
		return -ENOMEM;
	for (size_t i = 0; !error && i < out->d.n_columns; i++)
		error = find_column(d, &out->d.column[i], &out->column[i]);
	return error;
}

static void section_release(struct section *at)
{
	reader_samples_release(&at->d);
	free(at->column);
}

/*
 * First all first lines, so that the number of columns is known before the
 * first sample is stored.
 */
static int collect_columns(struct decoder *d, const char *name, const char *text, size_t len)
{
	const char *p = text;
	const char *end = text + len;
	int error = 0;

	while (error != -ENOMEM && p) {
		struct section scratch = { .column = NULL };
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		struct slice rest;

		if (eol && reader_parse_header((struct slice){ p, (size_t)(eol - p) }, name, &rest))
			error = parse_columns(d, rest, &scratch);	/* damaged: reported later */
		section_release(&scratch);
		p = eol ? memmem(eol, (size_t)(end - eol), "\nbuildbeat ", 11) : NULL;
		p = p ? p + 1 : NULL;
	}
	return error == -ENOMEM ? error : 0;
}

/* Samples */

static int64_t *row(const struct decoder *d, size_t i)
{
	return d->s.level + i * d->s.n_columns;
}

static int add_row(struct decoder *d, int64_t time_ms, bool gap)
{
	struct series *s = &d->s;
	size_t n = s->n;
	int64_t *time, *level;
	bool *gaps;

	if ((n + 1) * (s->n_columns + 1) > CELLS_MAX) {
		d->full = true;
		return 0;
	}
	time = array_make_room(s->time_ms, &d->time_cap, n, sizeof *time);
	if (!time)
		return -ENOMEM;
	s->time_ms = time;
	gaps = array_make_room(s->gap, &d->gap_cap, n, sizeof *gaps);
	if (!gaps)
		return -ENOMEM;
	s->gap = gaps;
	level = array_make_room(s->level, &d->level_cap, n, s->n_columns * sizeof *level);
	if (!level)
		return -ENOMEM;
	s->level = level;
	time[n] = time_ms;
	gaps[n] = gap;
	s->n++;
	return 0;
}

static void fill_row(struct decoder *d)
{
	int64_t *to = row(d, d->s.n - 1);

	if (d->at.d.n_columns < d->s.n_columns) {
		for (size_t i = 0; i < d->s.n_columns; i++)
			to[i] = SERIES_ABSENT;
	}
	for (size_t i = 0; i < d->at.d.n_columns; i++)
		to[d->at.column[i]] = reader_plus(d->base[d->at.column[i]], d->at.d.level[i]);
}

static int64_t last_ms(const struct decoder *d)
{
	return d->s.n ? d->s.time_ms[d->s.n - 1] : -1;
}

static int add_unchanged(struct decoder *d, int64_t time_ms)
{
	int error = add_row(d, time_ms, false);

	if (!error && !d->full)
		memcpy(row(d, d->s.n - 1), row(d, d->s.n - 2),
		       d->s.n_columns * sizeof *d->s.level);
	return error;
}

/* Of two samples in one millisecond the later counts. */
static int add_sample(struct decoder *d, const struct sample_time *s)
{
	int64_t unchanged_ms = s->unchanged_ms;
	int error = unchanged_ms < 0 ? 0 : add_unchanged(d, unchanged_ms);

	if (!error && !d->full && s->time_ms > last_ms(d))
		error = add_row(d, s->time_ms, s->gap && d->s.n);
	if (error || d->full)
		return error;
	fill_row(d);
	reader_saw(d->r, s->time_ms * 1000);
	return 0;
}

int64_t reader_grid(int64_t time_ms, int64_t interval_ms)
{
	return (2 * time_ms + interval_ms) / (2 * interval_ms);
}

/* "@ms", "!ms", "~ms" or "+k" and a blank (none where the line ends); or nothing. */
static bool parse_point(struct cursor *c, int64_t interval_ms, int64_t grid,
			struct sample_time *s)
{
	int64_t n = 1;

	s->gap = cursor_byte(c, '!');
	s->even = !s->gap && cursor_byte(c, '~');
	s->absolute = s->gap || s->even || cursor_byte(c, '@');
	if (s->absolute || cursor_byte(c, '+')) {
		if (!cursor_i64(c, &n) || n < 0 || n > TIME_MAX_MS ||
		    (!cursor_byte(c, ' ') && !cursor_at_end(c)))
			return false;
	}
	if (s->absolute) {
		s->time_ms = n;
		s->grid = reader_grid(n, interval_ms);
		return true;
	}
	s->grid = grid + n;
	if (s->grid > TIME_MAX_MS / interval_ms)
		return false;
	s->time_ms = s->grid * interval_ms;
	return true;
}

bool reader_parse_time(struct cursor *c, int64_t interval_ms, int64_t grid,
		       struct sample_time *s)
{
	if (!parse_point(c, interval_ms, grid, s))
		return false;
	s->levels = cursor_byte(c, '=');
	return true;
}

/* Lines are short: nearly all numbers are too near to the end to parse eight digits at once. */
static inline const char *short_number(const char *p, const char *end, int64_t *n)
{
	const char *start = p, *limit;
	bool negative = *p == '-';
	uint32_t value = 0;
	unsigned digit;

	p += negative;
	limit = end - p > 8 ? p + 8 : end;
	for (; p < limit && (digit = (unsigned)(*p - '0')) <= 9; p++)
		value = value * 10 + digit;
	if (p == start + negative || (p < end && *p != ','))
		return cursor_pass_i64(start, end, n);
	*n = negative ? -(int64_t)value : (int64_t)value;
	return p;
}

/* Parse the changes of a line's values, or its levels, into level. False if damaged: then some may
 * have changed. */
static bool parse_values(const struct cursor *c, int64_t *level, size_t n_columns, bool levels)
{
	const char *p = c->p, *end = c->end;
	int64_t n;

	if (levels)
		memset(level, 0, n_columns * sizeof *level);
	for (size_t i = 0; p < end; i++) {
		if (i >= n_columns)
			return false;
		if (*p == ',') {
			p++;
			continue;
		}
		p = short_number(p, end, &n);
		if (!p || (p < end && *p++ != ','))
			return false;
		level[i] = reader_plus(level[i], n);
	}
	return true;
}

/* A sample on time gets the time of its point of the grid, so the next one may seem a little
 * earlier. That is allowed. */
static bool goes_back(const struct reader_samples *d, const struct sample_time *s, int64_t last_ms)
{
	if (last_ms < 0)
		return false;
	return d->grid >= 0 ? s->grid < d->grid : s->time_ms + d->interval_ms < last_ms;
}

/* Unchanged samples were left out before this one. The last of them is one point of the grid
 * earlier. */
static int64_t unchanged_ms(const struct reader_samples *d, const struct sample_time *s, int64_t last_ms)
{
	int64_t before_ms;

	if ((d->grid >= 0 && s->grid - d->grid < 2) || s->gap || s->even || last_ms < 0)
		return -1;
	before_ms = (s->grid - 1) * d->interval_ms;
	return before_ms > last_ms && before_ms < s->time_ms ? before_ms : -1;
}

int reader_samples_line(struct reader_samples *d, struct slice line, int64_t last_ms,
			struct sample_time *s)
{
	struct cursor c;

	if (d->blind)
		return -EAGAIN;
	cursor_init(&c, line.p, line.len);
	if (!reader_parse_time(&c, d->interval_ms, d->grid, s)) {
		d->lost = true;
		return -EBADMSG;
	}
	if (d->lost && !(s->levels && s->absolute))
		return -EAGAIN;
	if (goes_back(d, s, last_ms) || !parse_values(&c, d->level, d->n_columns, s->levels)) {
		d->lost = true;
		return -EBADMSG;
	}
	s->gap |= d->lost;
	d->lost = false;
	s->unchanged_ms = unchanged_ms(d, s, last_ms);
	d->grid = s->grid;
	return 0;
}

static int damaged(struct decoder *d, unsigned line)
{
	reader_damaged(&d->damage, line);
	d->at.d.lost = true;
	return 0;
}

static int read_sample(struct decoder *d, struct slice line, unsigned number)
{
	struct sample_time s;

	switch (reader_samples_line(&d->at.d, line, last_ms(d), &s)) {
	case 0:
		return add_sample(d, &s);
	case -EBADMSG:
		return damaged(d, number);
	default:
		d->damage.skipped++;
		return 0;
	}
}

/* Counters continue from their last value, levels start at 0. */
static int begin_section(struct decoder *d, struct slice rest, unsigned line)
{
	struct section next = { .column = NULL };
	int error = parse_columns(d, rest, &next);

	if (error) {
		section_release(&next);
		d->at.d.blind = true;
		return error == -EBADMSG ? damaged(d, line) : error;
	}
	for (size_t i = 0; i < d->at.d.n_columns; i++) {
		uint32_t column = d->at.column[i];

		if (d->s.column[column].counter)
			d->base[column] = reader_plus(d->base[column], d->at.d.level[i]);
	}
	section_release(&d->at);
	d->at = next;
	if (!d->s.interval_ms)
		d->s.interval_ms = next.d.interval_ms;
	return 0;
}

static int read_first_line(struct decoder *d, const char *name, struct slice line,
			   unsigned number)
{
	struct slice rest;

	if (reader_parse_header(line, name, &rest))
		return begin_section(d, rest, number);
	d->at.d.blind = true;
	return damaged(d, number);
}

static int decode(struct decoder *d, const char *name, struct cursor *c)
{
	struct slice line;
	int error = 0;

	while (!error && !d->full && reader_line(c, &line, &d->damage)) {
		if (line.len && line.p[0] == 'b')
			error = read_first_line(d, name, line, c->line);
		else
			error = read_sample(d, line, c->line);
	}
	return error;
}

static int report(struct decoder *d, const char *file)
{
	int error = reader_report_damage(d->r, &d->damage, file);

	if (!error && d->full)
		error = reader_warn(d->r, "%s: more samples than fit in memory, the rest left out",
				    file);
	return error;
}

static void trim(struct series *s)
{
	s->time_ms = array_trim(s->time_ms, s->n, sizeof *s->time_ms);
	s->gap = array_trim(s->gap, s->n, sizeof *s->gap);
	s->level = array_trim(s->level, s->n, s->n_columns * sizeof *s->level);
}

static int keep_series(struct decoder *d, const char *name)
{
	struct recording *rec = d->r->rec;
	struct series *grown = array_grow(rec->series, rec->n_series, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	rec->series = grown;
	d->s.name = arena_text(rec->arena, name, strlen(name));
	if (!d->s.name)
		return -ENOMEM;
	trim(&d->s);
	grown[rec->n_series++] = d->s;
	d->s = (struct series){ 0 };
	return 0;
}

static void decoder_release(struct decoder *d)
{
	section_release(&d->at);
	name_table_release(&d->names);
	free_all(d->base, d->s.column, d->s.time_ms, d->s.level, d->s.gap);
}

/* A line has about one sample. */
static void expect(struct decoder *d, const struct cursor *c)
{
	struct series *s = &d->s;
	size_t n = 0;

	for (const char *p = c->p; (p = memchr(p, '\n', (size_t)(c->end - p))); p++)
		n++;
	n += n / 8;
	if (n * (s->n_columns + 1) > CELLS_MAX)
		return;
	s->time_ms = array_expect(s->time_ms, &d->time_cap, n, sizeof *s->time_ms);
	s->gap = array_expect(s->gap, &d->gap_cap, n, sizeof *s->gap);
	s->level = array_expect(s->level, &d->level_cap, n, s->n_columns * sizeof *s->level);
}

static int read_series(struct decoder *d, const char *file, const char *name,
		       const char *text, size_t len)
{
	struct slice line, rest;
	struct cursor c;
	bool whole;
	int error;

	cursor_init(&c, text, len);
	whole = cursor_line(&c, &line, &whole) && whole;
	error = reader_header(d->r, whole ? &line : NULL, file, name, &rest);
	if (error <= 0)
		return error;
	error = collect_columns(d, name, text, len);
	if (error)
		return error;
	d->base = array_new_zero(d->s.n_columns, sizeof *d->base);
	if (!d->base)
		return -ENOMEM;
	error = begin_section(d, rest, 1);
	if (!error) {
		expect(d, &c);
		error = decode(d, name, &c);
	}
	if (!error && d->s.interval_ms)
		error = keep_series(d, name);
	return error ? error : report(d, file);
}

int reader_series(struct reader *r, const char *file, const char *name,
		  char *text, size_t len)
{
	struct decoder d = { .r = r, .names.arena = r->rec->arena };
	int error = read_series(&d, file, name, text, len);

	decoder_release(&d);
	return error;
}

int recording_series_read(struct recording *rec, const char *name, struct buf *text)
{
	struct reader r = { .rec = rec };

	if (buf_reserve(text, 1))
		return buf_error(text);
	return reader_series(&r, name, name, text->data, text->len);
}
