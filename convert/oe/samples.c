/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1000000
#define BYTES_MAX 1e18

/* Parts of all processors' time since the sample before, as time of one. */

static const struct oe_column stat_columns[] = {
	{ "user", "1us", true }, { "system", "1us", true }, { "iowait", "1us", true },
};

#define STAT_COLUMNS ARRAY_SIZE(stat_columns)

static int64_t last_ms(const struct oe_blocks *b)
{
	return b->s.time_ms[b->s.n - 1];
}

int oe_stat(struct oe_blocks *b)
{
	int64_t part[STAT_COLUMNS], level[STAT_COLUMNS] = { 0 }, *row;

	if (oe_columns(b, stat_columns, STAT_COLUMNS))
		return -ENOMEM;
	while (oe_block(b)) {
		if (!oe_block_numbers(b, part, STAT_COLUMNS))
			continue;
		if (!b->s.n && oe_begin_rows(b))
			return -ENOMEM;
		if (!oe_block_is_next(b))
			continue;
		for (size_t i = 0; i < STAT_COLUMNS; i++) {
			int64_t share = part[i] < MILLION ? part[i] : MILLION;

			level[i] += share * (b->time_ms - last_ms(b)) / 1000;
		}
		row = oe_add_row(b, b->time_ms);
		if (!row)
			return -ENOMEM;
		memcpy(row, level, sizeof level);
	}
	return 0;
}

/* Levels in KiB, in the order they stand there; swap_total free behind. */

enum { TOTAL, FREE, BUFFERS, CACHED, SWAP_TOTAL, SWAP_FREE, MEMINFO_NUMBERS };

static const struct oe_column meminfo_columns[] = {
	{ "free", "1KiB", false }, { "buffers", "1KiB", false }, { "cached", "1KiB", false },
	{ "swap", "1KiB", false }, { "total", "1KiB", false }, { "swap_total", "1KiB", false },
};

#define MEMINFO_COLUMNS ARRAY_SIZE(meminfo_columns)

int oe_meminfo(struct oe_blocks *b)
{
	int64_t kb[MEMINFO_NUMBERS], *row;

	if (oe_columns(b, meminfo_columns, MEMINFO_COLUMNS))
		return -ENOMEM;
	while (oe_block(b)) {
		if (!oe_block_numbers(b, kb, MEMINFO_NUMBERS) || !oe_block_is_next(b))
			continue;
		for (size_t i = 0; i < MEMINFO_NUMBERS; i++)
			kb[i] /= MILLION;
		row = oe_add_row(b, b->time_ms);
		if (!row)
			return -ENOMEM;
		row[0] = kb[FREE];
		row[1] = kb[BUFFERS];
		row[2] = kb[CACHED];
		row[3] = kb[SWAP_TOTAL] > kb[SWAP_FREE] ? kb[SWAP_TOTAL] - kb[SWAP_FREE] : 0;
		row[4] = b->o->memory_kb = kb[TOTAL];
		row[5] = kb[SWAP_TOTAL];
	}
	return 0;
}

/*
 * What was read and written in KiB a second, 100 times too much, from the time of
 * the block until the next one; and the utilisation, which was cut off at what is
 * 1 % in truth and says nothing.
 */

#define RATE_TOO_LARGE 100

static const struct oe_column disk_columns[] = {
	{ "disk.written", "1B", true }, { "disk.read", "1B", true },
};

enum { READ, WRITTEN, BUSY, DISK_NUMBERS };

static double disk_bytes(const struct oe *o, int64_t rate, int64_t ms)
{
	return (double)rate / MILLION / (o->exact ? 1 : RATE_TOO_LARGE) * 1024 *
	       ((double)ms / 1000);
}

static int add_disk_row(struct oe_blocks *b, int64_t time_ms, double *bytes, const int64_t *rate)
{
	int64_t ms = b->s.n ? time_ms - last_ms(b) : 0, *row = oe_add_row(b, time_ms);

	if (!row)
		return -ENOMEM;
	for (int i = READ; i <= WRITTEN; i++) {
		bytes[i] += disk_bytes(b->o, rate[i], ms);
		bytes[i] = bytes[i] < BYTES_MAX ? bytes[i] : BYTES_MAX;
	}
	row[0] = (int64_t)bytes[WRITTEN];
	row[1] = (int64_t)bytes[READ];
	return 0;
}

int oe_diskstats(struct oe_blocks *b)
{
	int64_t number[DISK_NUMBERS], rate[DISK_NUMBERS] = { 0 };
	double bytes[DISK_NUMBERS] = { 0 };

	if (oe_columns(b, disk_columns, 2))
		return -ENOMEM;
	while (oe_block(b)) {
		if (!oe_block_numbers(b, number, DISK_NUMBERS) || !oe_block_is_next(b))
			continue;
		if (add_disk_row(b, b->time_ms, bytes, rate))
			return -ENOMEM;
		memcpy(rate, number, sizeof rate);
	}
	return b->s.n ? add_disk_row(b, oe_next_ms(b), bytes, rate) : 0;
}

/* Pressure: three averages, and the microseconds waited since the sample before. */

#define PRESSURE_NUMBERS 4

static const struct oe_column pressure_columns[OE_PRESSURES] = {
	{ "cpu.some", "1us", true }, { "io.some", "1us", true }, { "memory.some", "1us", true },
};

int oe_pressure(struct oe_blocks *b)
{
	int64_t number[PRESSURE_NUMBERS], level = 0, *row;

	if (oe_columns(b, pressure_columns, 1))
		return -ENOMEM;
	while (oe_block(b)) {
		if (!oe_block_numbers(b, number, PRESSURE_NUMBERS))
			continue;
		if (!b->s.n && oe_begin_rows(b))
			return -ENOMEM;
		if (!oe_block_is_next(b))
			continue;
		level = reader_plus(level, number[PRESSURE_NUMBERS - 1] / MILLION);
		row = oe_add_row(b, b->time_ms);
		if (!row)
			return -ENOMEM;
		*row = level;
	}
	return 0;
}

/* The next time there is in any of them behind *time_ms. */
static bool next_time(const struct oe *o, const size_t *at, int64_t *time_ms)
{
	bool found = false;

	for (size_t i = 0; i < OE_PRESSURES; i++) {
		const struct series *s = &o->pressure[i];

		if (at[i] < s->n && (!found || s->time_ms[at[i]] < *time_ms)) {
			*time_ms = s->time_ms[at[i]];
			found = true;
		}
	}
	return found;
}

/* A log that is empty is of something nobody ever waited for. */
static int join(struct oe *o, struct oe_blocks *b, const size_t *which)
{
	size_t at[OE_PRESSURES] = { 0 };
	int64_t level[OE_PRESSURES] = { 0 }, time_ms = 0, *row;

	while (next_time(o, at, &time_ms)) {
		for (size_t i = 0; i < OE_PRESSURES; i++) {
			const struct series *s = &o->pressure[i];

			if (at[i] == s->n || s->time_ms[at[i]] != time_ms)
				continue;
			b->lost |= s->gap[at[i]];
			level[i] = s->level[at[i]++];
		}
		row = oe_add_row(b, time_ms);
		if (!row)
			return -ENOMEM;
		for (size_t i = 0; i < b->s.n_columns; i++)
			row[i] = level[which[i]];
	}
	return 0;
}

int oe_join_pressure(struct oe *o)
{
	struct oe_column column[OE_PRESSURES];
	size_t which[OE_PRESSURES], n = 0;
	struct oe_blocks b = { .o = o };
	int error;

	for (size_t i = 0; i < OE_PRESSURES; i++) {
		if (!o->has_pressure[i])
			continue;
		which[n] = i;
		column[n++] = pressure_columns[i];
	}
	error = oe_columns(&b, column, n);
	if (!error)
		error = join(o, &b, which);
	if (!error)
		error = oe_series_keep(o, &b.s, "proc_pressure");
	oe_series_release(&b.s);
	return error;
}
