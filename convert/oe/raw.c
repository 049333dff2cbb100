/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/oe_parts.h"

#include <errno.h>
#include <string.h>

/* Copies of files of /proc, as a few versions of BitBake wrote them. */

/* proc_stat: ticks of all processors together, as of one. */

#define TICK_US 10000

enum { USER, SYSTEM, IOWAIT, STEAL, STAT_COLUMNS };

static const struct oe_column stat_columns[STAT_COLUMNS] = {
	[USER] = { "user", "1us", true }, [SYSTEM] = { "system", "1us", true },
	[IOWAIT] = { "iowait", "1us", true }, [STEAL] = { "steal", "1us", true },
};

/* "cpu  user nice system idle iowait irq softirq steal ..." */
static bool parse_ticks(struct cursor *c, int64_t *ticks)
{
	static const int column[] = { USER, USER, SYSTEM, -1, IOWAIT, SYSTEM, SYSTEM, STEAL };
	int64_t n;

	memset(ticks, 0, STAT_COLUMNS * sizeof *ticks);
	for (size_t i = 0; i < ARRAY_SIZE(column); i++) {
		cursor_blanks(c);
		if (!cursor_i64(c, &n) || n < 0 || n > INT64_MAX / (8 * TICK_US))
			return i > 4;
		if (column[i] >= 0)
			ticks[column[i]] += n;
	}
	return true;
}

/* The ticks, and the number of processors that they are of. */
static bool read_ticks(struct oe_blocks *b, int64_t *ticks, int64_t *cores)
{
	struct slice line;
	bool found = false;
	struct cursor c;

	*cores = 0;
	while (oe_block_line(b, &line)) {
		cursor_init(&c, line.p, line.len);
		if (cursor_literal(&c, "cpu "))
			found = parse_ticks(&c, ticks);
		else if (cursor_literal(&c, "cpu"))
			++*cores;
	}
	return found && b->whole;
}

int oe_raw_stat(struct oe_blocks *b)
{
	int64_t ticks[STAT_COLUMNS], first[STAT_COLUMNS], row[STAT_COLUMNS], cores;

	if (oe_columns(b, stat_columns, STAT_COLUMNS))
		return -ENOMEM;
	while (oe_block(b)) {
		if (!read_ticks(b, ticks, &cores)) {
			reader_damaged(&b->damage, b->feed.line);
			b->lost = true;
			continue;
		}
		if (!oe_block_is_next(b))
			continue;
		if (!b->s.n)
			memcpy(first, ticks, sizeof first);
		for (size_t i = 0; i < STAT_COLUMNS; i++)
			row[i] = ticks[i] < first[i] ? SERIES_ABSENT :
				 (ticks[i] - first[i]) * TICK_US / (cores ? cores : 1);
		if (oe_add_row(b, b->time_ms, row))
			return -ENOMEM;
	}
	return 0;
}

/* proc_meminfo */

static const struct {
	const char *key;
	struct oe_column column;
} meminfo[] = {
	{ "MemFree:", { "free", "1KiB", false } },
	{ "MemAvailable:", { "available", "1KiB", false } },
	{ "Buffers:", { "buffers", "1KiB", false } },
	{ "Cached:", { "cached", "1KiB", false } },
	{ "MemTotal:", { "total", "1KiB", false } },
	{ "SwapTotal:", { "swap_total", "1KiB", false } },
	{ "SwapFree:", { "swap", "1KiB", false } },	/* used, in the end */
};

#define MEMINFO_COLUMNS ARRAY_SIZE(meminfo)
#define TOTAL 4
#define SWAP_TOTAL 5
#define SWAP 6

static void read_meminfo(struct oe_blocks *b, int64_t *kb)
{
	struct slice line;
	struct cursor c;

	for (size_t i = 0; i < MEMINFO_COLUMNS; i++)
		kb[i] = SERIES_ABSENT;
	while (oe_block_line(b, &line)) {
		for (size_t i = 0; i < MEMINFO_COLUMNS; i++) {
			cursor_init(&c, line.p, line.len);
			if (!cursor_literal(&c, meminfo[i].key))
				continue;
			cursor_blanks(&c);
			if (!cursor_i64(&c, &kb[i]) || kb[i] < 0)
				kb[i] = SERIES_ABSENT;
		}
	}
	if (kb[SWAP] >= 0)
		kb[SWAP] = kb[SWAP_TOTAL] > kb[SWAP] ? kb[SWAP_TOTAL] - kb[SWAP] : 0;
}

int oe_raw_meminfo(struct oe_blocks *b)
{
	struct oe_column column[MEMINFO_COLUMNS];
	int64_t kb[MEMINFO_COLUMNS];

	for (size_t i = 0; i < MEMINFO_COLUMNS; i++)
		column[i] = meminfo[i].column;
	if (oe_columns(b, column, MEMINFO_COLUMNS))
		return -ENOMEM;
	while (oe_block(b)) {
		read_meminfo(b, kb);
		if (!b->whole || !oe_block_is_next(b))
			continue;
		if (oe_add_row(b, b->time_ms, kb))
			return -ENOMEM;
		if (kb[TOTAL] > 0)
			b->o->memory_kb = kb[TOTAL];
	}
	return 0;
}
