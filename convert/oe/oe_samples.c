/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "convert/oe/oe_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MILLION 1000000
#define BYTES_MAX 1e18

/* Shares of all processors' time since the sample before, as time of one processor. */

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
	int64_t share[STAT_COLUMNS], level[STAT_COLUMNS] = { 0 };
	int r = oe_columns(b, stat_columns, STAT_COLUMNS);

	while (!r && (r = oe_next_increments(b, share, STAT_COLUMNS)) > 0) {
		for (size_t i = 0; i < STAT_COLUMNS; i++)
			level[i] += MIN(share[i], MILLION) *
				    (b->time_ms - last_ms(b)) / 1000;
		r = oe_add_row(b, b->time_ms, level);
	}
	return r;
}

/* Levels in KiB, in the order of the file. */

enum { TOTAL, FREE, BUFFERS, CACHED, SWAP_TOTAL, SWAP_FREE, MEMINFO_NUMBERS };

static const struct oe_column meminfo_columns[] = {
	{ "free", "1KiB", false }, { "buffers", "1KiB", false }, { "cached", "1KiB", false },
	{ "swap", "1KiB", false }, { "total", "1KiB", false }, { "swap_total", "1KiB", false },
};

#define MEMINFO_COLUMNS ARRAY_SIZE(meminfo_columns)

int oe_meminfo(struct oe_blocks *b)
{
	int64_t kb[MEMINFO_NUMBERS];

	if (oe_columns(b, meminfo_columns, MEMINFO_COLUMNS))
		return -ENOMEM;
	while (oe_block(b)) {
		if (!oe_block_numbers(b, kb, MEMINFO_NUMBERS) || !oe_block_is_next(b))
			continue;
		for (size_t i = 0; i < MEMINFO_NUMBERS; i++)
			kb[i] /= MILLION;
		b->o->memory_kb = kb[TOTAL];
		if (oe_add_row(b, b->time_ms, (int64_t[MEMINFO_COLUMNS]){
				kb[FREE], kb[BUFFERS], kb[CACHED],
				kb[SWAP_TOTAL] > kb[SWAP_FREE] ? kb[SWAP_TOTAL] - kb[SWAP_FREE] : 0,
				kb[TOTAL], kb[SWAP_TOTAL] }))
			return -ENOMEM;
	}
	return 0;
}

/*
 * Bytes read and written, in KiB per second, from the time of the block until the next one; 100
 * times too large unless we wrote the file. Then the utilisation, which is not used: it was limited
 * to 1, which it reaches at 1 %.
 */

#define RATE_TOO_LARGE 100

static const struct oe_column disk_columns[] = {
	{ "disk.written", "1B", true }, { "disk.read", "1B", true },
};

enum { READ, WRITTEN, BUSY, DISK_NUMBERS };

static int add_disk_row(struct oe_blocks *b, int64_t time_ms, double *bytes, const int64_t *rate)
{
	double s = b->s.n ? (double)(time_ms - last_ms(b)) / 1000 : 0;

	for (int i = READ; i <= WRITTEN; i++) {
		bytes[i] += (double)rate[i] / MILLION /
			    (b->o->exact ? 1 : RATE_TOO_LARGE) * 1024 * s;
		bytes[i] = MIN(bytes[i], BYTES_MAX);
	}
	return oe_add_row(b, time_ms, (int64_t[]){ (int64_t)bytes[WRITTEN], (int64_t)bytes[READ] });
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

/* Pressure: three averages, and the microseconds of waiting since the sample before. */

#define PRESSURE_NUMBERS 4

static const struct oe_column pressure_columns[OE_PRESSURES] = {
	{ "cpu.some", "1us", true }, { "io.some", "1us", true }, { "memory.some", "1us", true },
};

int oe_pressure(struct oe_blocks *b)
{
	int64_t number[PRESSURE_NUMBERS], level = 0;
	int r = oe_columns(b, pressure_columns, 1);

	while (!r && (r = oe_next_increments(b, number, PRESSURE_NUMBERS)) > 0) {
		level = reader_plus(level, number[PRESSURE_NUMBERS - 1] / MILLION);
		r = oe_add_row(b, b->time_ms, &level);
	}
	return r;
}

/* The earliest time of the next rows of the three. False: there are no more. */
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

/* An empty log means that nothing ever waited. */
static int join_blocks(struct oe *o, struct oe_blocks *b, const size_t *which)
{
	size_t at[OE_PRESSURES] = { 0 };
	int64_t level[OE_PRESSURES] = { 0 }, row[OE_PRESSURES], time_ms = 0;

	while (next_time(o, at, &time_ms)) {
		for (size_t i = 0; i < OE_PRESSURES; i++) {
			const struct series *s = &o->pressure[i];

			if (at[i] == s->n || s->time_ms[at[i]] != time_ms)
				continue;
			b->lost |= s->gap[at[i]];
			level[i] = s->level[at[i]++];
		}
		for (size_t i = 0; i < b->s.n_columns; i++)
			row[i] = level[which[i]];
		if (oe_add_row(b, time_ms, row))
			return -ENOMEM;
	}
	return 0;
}

int oe_join_pressure(struct oe *o)
{
	struct oe_column column[OE_PRESSURES];
	size_t which[OE_PRESSURES], n = 0;
	struct oe_blocks b = { .o = o };
	int r;

	for (size_t i = 0; i < OE_PRESSURES; i++) {
		if (!o->has_pressure[i])
			continue;
		which[n] = i;
		column[n++] = pressure_columns[i];
	}
	r = oe_columns(&b, column, n);
	if (!r)
		r = join_blocks(o, &b, which);
	if (!r)
		r = oe_series_keep(o, &b.s, "proc_pressure");
	oe_series_release(&b.s);
	return r;
}
