/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/oe_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS_MAX ((size_t)1 << 26)
#define NOMINAL_MS 1000		/* between samples */
#define LATE_MS 10000

/* Blocks */

void oe_rewind(struct oe_blocks *b)
{
	if (b->fd >= 0)
		lseek(b->fd, 0, SEEK_SET);
	feed_init(&b->feed, b->text.p, b->text.len, b->fd, b->o->window);
	b->pending = b->whole = b->lost = false;
	b->damage = (struct reader_damage){ 0 };
}

/* Times are rounded: one may seem to be outside the build by less than a second. */
static bool to_build(const struct oe *o, int64_t *ms)
{
	int64_t end_us = oe_end_us(o), end_ms = end_us < 0 ? INT64_MAX : end_us / 1000;

	if (*ms < 0 && *ms > -1000)
		*ms = 0;
	else if (*ms > end_ms && *ms - end_ms < 1000)
		*ms = end_ms;
	return *ms >= 0 && *ms <= EVENT_TIME_MAX_US / 1000;
}

/* A line with only a number is the time. */
static bool parse_time(struct oe_blocks *b, bool *sane)
{
	uint64_t seconds;
	int64_t us;

	if (!b->line.len || b->line.p[0] < '0' || b->line.p[0] > '9' ||
	    !cursor_slice_u64(b->line, &seconds))
		return false;
	*sane = seconds <= INT64_MAX / 4000000 &&
		oe_time(b->o, (int64_t)seconds * 1000000, &us);
	if (*sane) {
		b->time_ms = us / 1000;
		*sane = to_build(b->o, &b->time_ms);
	}
	return true;
}

static void saw(struct oe *o, int64_t time_ms)
{
	if (o->first_ms < 0 || time_ms < o->first_ms)
		o->first_ms = time_ms;
	if (time_ms > o->last_ms)
		o->last_ms = time_ms;
}

static void block_damaged(struct oe_blocks *b)
{
	reader_damaged(&b->damage, b->feed.line);
	b->lost = true;
}

/* Lines between blocks, or in a block without a valid time, are damaged. */
bool oe_block(struct oe_blocks *b)
{
	bool sane;

	b->full |= (b->s.n + 2) * (b->s.n_columns + 1) > CELLS_MAX;
	while (!b->full && (b->pending || reader_feed_line(&b->feed, &b->line, &b->damage))) {
		b->pending = false;
		if (!b->line.len)
			continue;
		if (parse_time(b, &sane) && sane) {
			b->whole = false;
			return true;
		}
		block_damaged(b);
	}
	return false;
}

bool oe_block_line(struct oe_blocks *b, struct slice *line)
{
	int64_t time_ms = b->time_ms;
	bool sane;

	if (b->whole)
		return false;
	if (!reader_feed_line(&b->feed, &b->line, &b->damage)) {
		b->whole = !b->damage.torn;
		return false;
	}
	b->pending = parse_time(b, &sane);
	b->time_ms = time_ms;
	b->whole = b->pending || !b->line.len;
	*line = b->line;
	return !b->whole;
}

bool oe_block_numbers(struct oe_blocks *b, int64_t *number, size_t n)
{
	struct slice line;
	struct cursor c;
	bool good = oe_block_line(b, &line);

	if (good) {
		cursor_init(&c, line.p, line.len);
		for (size_t i = 0; good && i < n; i++) {
			good = oe_millionths(&c, &number[i]) && number[i] >= 0;
			cursor_blanks(&c);
		}
		good &= cursor_at_end(&c);
		while (oe_block_line(b, &line))
			good = false;
	}
	if (!good || !b->whole) {
		if (!b->damage.torn)
			block_damaged(b);
		return false;
	}
	return true;
}

/* Rows */

int oe_columns(struct oe_blocks *b, const struct oe_column *column, size_t n)
{
	struct series *s = &b->s;

	s->column = array_new_zero(n + 1, sizeof *s->column);
	if (!s->column)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct series_column *to = &s->column[i];

		memcpy(to->name, column[i].name, strnlen(column[i].name, sizeof to->name - 1));
		memcpy(to->unit, column[i].unit, strnlen(column[i].unit, sizeof to->unit - 1));
		to->counter = column[i].counter;
	}
	s->n_columns = n;
	return 0;
}

bool oe_block_is_next(struct oe_blocks *b)
{
	const struct series *s = &b->s;

	saw(b->o, b->time_ms);
	if (!s->n || b->time_ms > s->time_ms[s->n - 1])
		return true;
	/* The last sample of a build may come in the same second as the one before. */
	if (b->time_ms < s->time_ms[s->n - 1]) {
		b->backwards++;
		b->lost = true;
	}
	return false;
}

int oe_add_row(struct oe_blocks *b, int64_t time_ms, const int64_t *level)
{
	struct series *s = &b->s;
	size_t gaps = s->n, rows = s->n, size = s->n_columns * sizeof *level;
	bool *gap = array_add(&s->gap, &gaps, sizeof *gap);
	int64_t *row = gap ? array_add(&s->level, &rows, size) : NULL;
	int64_t *time = row ? array_add(&s->time_ms, &s->n, sizeof *time) : NULL;

	if (!time)
		return -ENOMEM;
	*time = time_ms;
	*gap = s->n > 1 && b->lost;
	memcpy(row, level, size);
	b->lost = false;
	return 0;
}

int oe_next_increments(struct oe_blocks *b, int64_t *number, size_t n)
{
	static const int64_t zeros[OE_INCREMENTS_MAX];
	int64_t at_ms = b->o->first_ms;

	while (oe_block(b)) {
		if (!oe_block_numbers(b, number, n))
			continue;
		if (!b->s.n) {
			if (at_ms < 0 || at_ms >= b->time_ms || b->damage.n)
				at_ms = b->time_ms > NOMINAL_MS ? b->time_ms - NOMINAL_MS : 0;
			b->lost = false;
			if (oe_add_row(b, at_ms, zeros))
				return -ENOMEM;
		}
		if (oe_block_is_next(b))
			return 1;
	}
	return 0;
}

int64_t oe_next_ms(const struct oe_blocks *b)
{
	int64_t last_ms = b->s.time_ms[b->s.n - 1], next_ms = last_ms + NOMINAL_MS;
	int64_t end_us = oe_end_us(b->o);

	/* If the last sample of all is much later, this log is truncated. */
	if (b->o->last_ms > last_ms && b->o->last_ms - last_ms <= LATE_MS)
		return b->o->last_ms;
	return end_us >= 0 && end_us / 1000 > last_ms && end_us / 1000 < next_ms ?
	       end_us / 1000 : next_ms;
}

/* The interval is not in the file. Samples may be late but never early. */
static int64_t interval_ms(const struct series *s)
{
	int64_t mean_ms = s->n < 2 ? 0 : (s->time_ms[s->n - 1] - s->time_ms[0]) /
			  (int64_t)(s->n - 1);

	return mean_ms < 1500 ? NOMINAL_MS : (mean_ms + 500) / 1000 * 1000;
}

int oe_series_keep(struct oe *o, struct series *s, const char *name)
{
	struct recording *rec = o->r->rec;
	struct series *kept = s->n ? array_add(&rec->series, &rec->n_series, sizeof *kept) : NULL;

	if (!kept)
		return s->n ? -ENOMEM : 0;
	s->name = name;
	s->interval_ms = interval_ms(s);
	if (rec->interval_ms < 0)
		rec->interval_ms = s->interval_ms;
	reader_saw(o->r, s->time_ms[s->n - 1] * 1000);
	*kept = *s;
	*s = (struct series){ 0 };
	return 0;
}

void oe_series_release(struct series *s)
{
	free_all(s->column, s->time_ms, s->level, s->gap);
	*s = (struct series){ 0 };
}

/* Files */

#define PRESSURE OE_PRESSURE_DIR "/"

static const struct {
	const char *file;
	const char *series;	/* NULL: one of several that are joined */
	int (*parse)(struct oe_blocks *b);
} logs[] = {
	/* Logs with levels come first: the others need the times of samples. */
	{ "reduced_proc_meminfo.log", "proc_meminfo", oe_meminfo },
	{ "reduced_proc_net.log", "proc_net", oe_net },
	{ OE_VOLUMES_LOG, "proc_volumes", oe_volumes },
	{ "reduced_proc_stat.log", "proc_stat", oe_stat },
	{ "reduced_proc_diskstats.log", "proc_diskstats", oe_diskstats },
	{ "proc_stat.log", "proc_stat", oe_raw_stat },
	{ "proc_meminfo.log", "proc_meminfo", oe_raw_meminfo },
	{ "proc_diskstats.log", "proc_diskstats", oe_raw_diskstats },
	{ PRESSURE "cpu.log", NULL, oe_pressure },
	{ PRESSURE "io.log", NULL, oe_pressure },
	{ PRESSURE "memory.log", NULL, oe_pressure },
};

#define N_LOGS ARRAY_SIZE(logs)
#define FIRST_PRESSURE (N_LOGS - OE_PRESSURES)

static int warn(struct oe_blocks *b, const char *file)
{
	int r = reader_report_damage(b->o->r, &b->damage, file);

	if (!r && b->backwards)
		r = reader_warn(b->o->r, "%s: %u samples are earlier than those before: the "
				    "clock was set back; left out", file, b->backwards);
	if (!r && b->full)
		r = reader_warn(b->o->r, "%s: more samples than fit in memory, the rest is "
				"left out", file);
	if (!r && b->feed.error)
		r = reader_unreadable(b->o->r, b->feed.error, "%s", file);
	return r;
}

static int keep_log(struct oe_blocks *b, size_t log)
{
	struct oe *o = b->o;

	if (logs[log].series)
		return oe_series_keep(o, &b->s, logs[log].series);
	oe_series_release(&o->pressure[log - FIRST_PRESSURE]);
	o->pressure[log - FIRST_PRESSURE] = b->s;
	o->has_pressure[log - FIRST_PRESSURE] = true;
	b->s = (struct series){ 0 };
	return 0;
}

/* A copy of /proc is not read if its series exists already. */
static int read_log(struct oe *o, size_t log, const char *text, size_t len, int fd)
{
	struct oe_blocks b = { .o = o, .fd = fd, .text = { text, len } };
	int r;

	if (logs[log].series && recording_series(o->r->rec, logs[log].series))
		return 0;
	oe_rewind(&b);
	r = logs[log].parse(&b);
	if (!r)
		r = keep_log(&b, log);
	if (!r)
		r = warn(&b, logs[log].file);
	oe_series_release(&b.s);
	return r;
}

int oe_log(struct oe *o, const char *name, const char *text, size_t len, int fd)
{
	for (size_t i = 0; i < N_LOGS; i++) {
		if (!strcmp(name, logs[i].file))
			return read_log(o, i, text, len, fd);
	}
	return 0;
}

int oe_logs(struct oe *o, int dir_fd)
{
	int r = 0;

	o->window = malloc(FEED_MEMORY);
	if (!o->window)
		return -ENOMEM;
	for (size_t i = 0; i < N_LOGS; i++) {
		int fd = openat(dir_fd, logs[i].file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0) {
			r = read_log(o, i, NULL, 0, fd);
			close(fd);
		} else if (errno != ENOENT && errno != ENOTDIR) {
			r = reader_unreadable(o->r, -errno, "%s", logs[i].file);
		}
		if (r)
			return r;
	}
	return 0;
}
