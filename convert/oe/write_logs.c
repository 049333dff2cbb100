/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/oe_parts.h"

#include "base/minmax.h"
#include "base/saturate.h"
#include "base/str.h"
#include "recording/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The logs of samples. Each sample is a block: a line with the time in whole seconds, lines with
 * values, and an empty line. Of the samples within one second, the first is written. Shares and
 * rates are rounded up in their last place: the reader then computes the original whole number.
 */
#define MILLION 1000000

struct log_out {
	const struct recording *rec;
	const struct series *series;
	const char *column;
	struct buf text;
	size_t n;
	size_t *at;		/* the samples that are written */
	int64_t *second;	/* their times on the wall clock */
};

/* Which samples */

static int choose_columns(struct log_out *w)
{
	const struct series *s = w->series;
	int64_t wall_ms = oe_wall_us(w->rec) / 1000;

	w->at = array_new(s->n + 1, sizeof *w->at);
	w->second = array_new(s->n, sizeof *w->second);
	if (!w->at || !w->second)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		int64_t second = (sat_add(wall_ms, s->time_ms[i]) + 500) / 1000;

		if (w->n && second <= w->second[w->n - 1])
			continue;
		w->at[w->n] = i;
		w->second[w->n++] = second;
	}
	return 0;
}

static int64_t span_us(const struct log_out *w, size_t from, size_t to)
{
	return sat_mul(w->series->time_ms[w->at[to]] - w->series->time_ms[w->at[from]], 1000);
}

/* Numbers */

static void add_millionths(struct buf *b, int64_t n)
{
	char places[8];
	int64_t rest = n % MILLION;

	buf_addi(b, n / MILLION);
	for (int i = 6; i-- > 0; rest /= 10)
		places[i] = (char)('0' + rest % 10);
	buf_addc(b, '.');
	buf_add(b, places, 6);
}

static int64_t quotient(__int128 part, __int128 whole)
{
	if (part <= 0 || whole <= 0)
		return 0;
	part = (part + whole - 1) / whole;
	return part < INT64_MAX ? (int64_t)part : INT64_MAX;
}

static int64_t share_of_all(int64_t part, int64_t whole)
{
	int64_t n = quotient((__int128)part * MILLION, whole);

	return MIN(n, MILLION);
}

static void begin_block(struct log_out *w, size_t i)
{
	buf_addi(&w->text, w->second[i]);
	buf_addc(&w->text, '\n');
}

static void end_block(struct log_out *w)
{
	buf_adds(&w->text, "\n\n");
}

/* Processors: shares of the time of all of them since the sample before. */

static int64_t cores(const struct recording *rec)
{
	int64_t n = rec->source.one_core ? 1 : recording_build_number(rec, "cores");

	return n > 0 ? n : 1;
}

static void add_stat(struct log_out *w)
{
	enum { USER, NICE, SYSTEM, IRQ, IOWAIT, COLUMNS };
	static const char *const names[COLUMNS] = { "user", "nice", "system", "irq", "iowait" };
	struct column c[COLUMNS];
	int64_t n_cores = cores(w->rec);

	for (size_t k = 0; k < COLUMNS; k++)
		column_find(&c[k], w->rec, "proc_stat", names[k]);
	for (size_t i = 1; i < w->n; i++) {
		int64_t whole = sat_mul(span_us(w, i - 1, i), n_cores), us[COLUMNS];

		for (size_t k = 0; k < COLUMNS; k++)
			us[k] = column_between(&c[k], w->at[i - 1], w->at[i]);
		begin_block(w, i);
		add_millionths(&w->text, share_of_all(sat_add(us[USER], us[NICE]), whole));
		buf_addc(&w->text, ' ');
		add_millionths(&w->text, share_of_all(sat_add(us[SYSTEM], us[IRQ]), whole));
		buf_addc(&w->text, ' ');
		add_millionths(&w->text, share_of_all(us[IOWAIT], whole));
		end_block(w);
	}
}

/* Memory, in KiB */

static int64_t level_kb(const struct column *c, size_t at)
{
	int64_t n = column_level(c, at);

	return n > 0 ? n / 1024 : 0;
}

static void add_meminfo(struct log_out *w)
{
	enum { TOTAL, FREE, BUFFERS, CACHED, SWAP_TOTAL, SWAP, COLUMNS };
	static const char *const names[COLUMNS] = {
		"total", "free", "buffers", "cached", "swap_total", "swap"
	};
	struct column c[COLUMNS];
	int64_t memory_kb = recording_build_number(w->rec, "memory_kb");

	for (size_t k = 0; k < COLUMNS; k++)
		column_find(&c[k], w->rec, "proc_meminfo", names[k]);
	for (size_t i = 0; i < w->n; i++) {
		int64_t kb[COLUMNS];

		for (size_t k = 0; k < COLUMNS; k++)
			kb[k] = level_kb(&c[k], w->at[i]);
		if (!kb[TOTAL] && memory_kb > 0)
			kb[TOTAL] = memory_kb;
		kb[SWAP] = kb[SWAP_TOTAL] > kb[SWAP] ? kb[SWAP_TOTAL] - kb[SWAP] : 0;
		begin_block(w, i);
		for (size_t k = 0; k < COLUMNS; k++) {
			buf_adds(&w->text, k ? " " : "");
			buf_addi(&w->text, kb[k]);
		}
		end_block(w);
	}
}

/* Disks: KiB per second from this sample to the next. */

static int64_t kib_per_second(int64_t bytes, int64_t us)
{
	return quotient((__int128)bytes * MILLION * MILLION, (__int128)us * 1024);
}

static void add_diskstats(struct log_out *w)
{
	struct column read, written, busy;

	column_find(&read, w->rec, "proc_diskstats", "*.read");
	column_find(&written, w->rec, "proc_diskstats", "*.written");
	column_find(&busy, w->rec, "proc_diskstats", "*.busy");
	for (size_t i = 0; i + 1 < w->n; i++) {
		size_t from = w->at[i], to = w->at[i + 1];
		int64_t us = span_us(w, i, i + 1);

		begin_block(w, i);
		add_millionths(&w->text, kib_per_second(column_between(&read, from, to), us));
		buf_addc(&w->text, ' ');
		add_millionths(&w->text, kib_per_second(column_between(&written, from, to), us));
		buf_addc(&w->text, ' ');
		add_millionths(&w->text, share_of_all(column_between(&busy, from, to), us));
		end_block(w);
	}
}

/* Network: a line for each interface, with its counters and their increase since the sample
 * before. */

static void add_interface(struct log_out *w, size_t i, size_t rx, const char *name, int len)
{
	const struct series *s = w->series;
	struct column c = { .series = s, .n_parts = 1 };
	int64_t level[2], more[2];

	for (size_t k = 0; k < 2; k++) {
		c.part[0] = (uint32_t)(rx + k);
		c.scale = column_unit_scale(s->column[rx + k].unit);
		level[k] = column_level(&c, w->at[i]);
		more[k] = i ? column_between(&c, w->at[i - 1], w->at[i]) : 0;
		if (level[k] < 0)
			return;
	}
	buf_addf(&w->text, "%.*s: %lld %lld %lld %lld\n", len, name, (long long)level[0],
		 (long long)level[1], (long long)more[0], (long long)more[1]);
}

static void add_net(struct log_out *w)
{
	const struct series *s = w->series;

	for (size_t i = 0; i < w->n; i++) {
		begin_block(w, i);
		for (size_t k = 0; k + 1 < s->n_columns; k++) {
			const char *name = s->column[k].name, *dot = strrchr(name, '.');
			size_t len = dot ? (size_t)(dot - name) : 0;

			if (len && !strcmp(dot, ".rx") &&
			    !strncmp(s->column[k + 1].name, name, len) &&
			    !strcmp(s->column[k + 1].name + len, ".tx"))
				add_interface(w, i, k, name, (int)len);
		}
		buf_addc(&w->text, '\n');
	}
}

/* Volumes: the bytes used on each. */

static void add_volumes(struct log_out *w)
{
	const struct series *s = w->series;

	for (size_t i = 0; i < w->n; i++) {
		begin_block(w, i);
		for (uint32_t k = 0; k < s->n_columns; k++) {
			const char *name = s->column[k].name;
			const struct column c = {
				.series = s, .n_parts = 1, .part = { k },
				.scale = column_unit_scale(s->column[k].unit),
			};
			int64_t used = column_level(&c, w->at[i]);

			if (used >= 0 && str_ends(name, ".used"))
				buf_addf(&w->text, "%.*s: %lld\n", (int)(strlen(name) - strlen(".used")),
					 name, (long long)used);
		}
		buf_addc(&w->text, '\n');
	}
}

/* Pressure: the share of the last 10, 60 and 300 seconds in which something waited, and the time of
 * waiting since the sample before. */

static void add_average(struct log_out *w, const struct column *c, size_t i, int64_t seconds)
{
	size_t from = i;
	int64_t n;

	while (from && w->second[i] - w->second[from] < seconds)
		from--;
	n = share_of_all(column_between(c, w->at[from], w->at[i]), span_us(w, from, i)) / 100;
	buf_addf(&w->text, "%lld.%02lld ", (long long)n / 100, (long long)n % 100);
}

static void add_pressure(struct log_out *w)
{
	struct column c;

	column_find(&c, w->rec, "proc_pressure", w->column);
	for (size_t i = 1; i < w->n; i++) {
		begin_block(w, i);
		add_average(w, &c, i, 10);
		add_average(w, &c, i, 60);
		add_average(w, &c, i, 300);
		buf_addi(&w->text, column_between(&c, w->at[i - 1], w->at[i]));
		end_block(w);
	}
}

/* Files */

static const struct {
	const char *series, *file;
	void (*add)(struct log_out *w);
	const char *column;	/* for add_pressure() */
} logs[] = {
	{ "proc_stat", "reduced_proc_stat.log", add_stat, NULL },
	{ "proc_meminfo", "reduced_proc_meminfo.log", add_meminfo, NULL },
	{ "proc_diskstats", "reduced_proc_diskstats.log", add_diskstats, NULL },
	{ "proc_net", "reduced_proc_net.log", add_net, NULL },
	{ "proc_volumes", OE_VOLUMES_LOG, add_volumes, NULL },
	{ "proc_pressure", OE_PRESSURE_DIR "/cpu.log", add_pressure, "cpu.some" },
	{ "proc_pressure", OE_PRESSURE_DIR "/io.log", add_pressure, "io.some" },
	{ "proc_pressure", OE_PRESSURE_DIR "/memory.log", add_pressure, "memory.some" },
};

static int write_log(int dir_fd, const struct recording *rec, size_t log)
{
	struct log_out w = { .rec = rec, .series = recording_series(rec, logs[log].series),
		.column = logs[log].column };
	int r = w.series ? choose_columns(&w) : 0;

	if (w.series && !r) {
		logs[log].add(&w);
		r = oe_write_file(dir_fd, logs[log].file, &w.text);
	}
	buf_release(&w.text);
	free(w.at);
	free(w.second);
	return r;
}

int oe_write_logs(int dir_fd, const struct recording *rec)
{
	int r = 0;

	if (recording_series(rec, "proc_pressure") && mkdirat(dir_fd, OE_PRESSURE_DIR, 0777))
		return -errno;
	for (size_t i = 0; !r && i < ARRAY_SIZE(logs); i++)
		r = write_log(dir_fd, rec, i);
	return r;
}
