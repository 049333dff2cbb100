/* SPDX-License-Identifier: MIT */
#include "convert/ninja/ninja_log.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/index.h"
#include "base/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_MS 315360000000	/* ten years */

static bool read_line(struct slice text, struct ninja_log_line *line)
{
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	if (!cursor_i64(&c, &line->start_ms) || !cursor_byte(&c, '\t') ||
	    !cursor_i64(&c, &line->end_ms) || !cursor_byte(&c, '\t') ||
	    !cursor_i64(&c, &line->mtime_ns) || !cursor_byte(&c, '\t') ||
	    !cursor_until(&c, '\t', &line->output) || !line->output.len ||
	    !hex_u64(&c, &line->hash))
		return false;
	cursor_byte(&c, '\r');
	return cursor_at_end(&c) && line->start_ms >= 0 && line->end_ms >= line->start_ms &&
	       line->end_ms <= TIME_MAX_MS;
}

static int by_run(const void *a, const void *b)
{
	const struct ninja_log_line *one = a, *two = b;
	int order = array_order(one->run, two->run);

	return order ? order : array_order(one->order, two->order);
}

static bool is_sorted(const struct ninja_log *log)
{
	for (size_t i = 1; i < log->n; i++) {
		if (by_run(&log->line[i - 1], &log->line[i]) > 0)
			return false;
	}
	return true;
}

/* Sometimes ninja rewrites its log in any order: then the outputs of one command are not
 * together. */
static int sort_lines(struct ninja_log *log)
{
	struct index runs = INDEX_INIT;
	int r = 0;

	for (size_t i = 0; !r && i < log->n; i++) {
		struct ninja_log_line *l = &log->line[i];
		uint64_t times = (uint64_t)l->start_ms << 32 ^ (uint64_t)l->end_ms;

		l->run = l->order;
		if (!index_find(&runs, l->hash, times, &l->run))
			r = index_put(&runs, l->hash, times, l->order);
	}
	if (!r && !is_sorted(log))
		qsort(log->line, log->n, sizeof *log->line, by_run);
	index_release(&runs);
	return r;
}

/* The last line about an output replaces those before it. */
static int read_lines(struct ninja_log *log, struct cursor *c)
{
	struct name_table outputs = NAME_TABLE_INIT;
	struct ninja_log_line line = { 0 }, *grown;
	struct slice text;
	int64_t before_ms = 0;
	bool whole = true;
	int r = 0;

	for (; !r && cursor_line(c, &text, &whole); line.order++) {
		uint32_t at;

		if (!whole || !read_line(text, &line)) {
			log->damaged += text.len && *text.p != '#';
			continue;
		}
		if (line.end_ms < before_ms)
			log->newest = line.order;
		before_ms = line.end_ms;
		grown = array_grow(log->line, log->n, sizeof *grown);
		if (grown)
			log->line = grown;
		r = grown ? name_table_add(&outputs, line.output, &at) : -ENOMEM;
		if (!r)
			log->line[at] = line;
		log->n = outputs.n;
	}
	log->torn = !whole;
	name_table_release(&outputs);
	return r ? r : sort_lines(log);
}

int ninja_log_read(struct ninja_log *log, const char *path, infile_reader *read,
		   struct error *err)
{
	struct slice signature;
	uint64_t version;
	struct cursor c;
	int r;

	*log = (struct ninja_log){ 0 };
	r = read(&log->text, path, err);
	if (r)
		goto out;
	cursor_init(&c, buf_str(&log->text), log->text.len);
	if (!cursor_literal(&c, NINJA_LOG_SIGNATURE) || !cursor_u64(&c, &version) ||
	    !cursor_until(&c, '\n', &signature) || c.p[-1] != '\n' ||
	    (signature.len && !slice_is(signature, "\r"))) {
		r = error_set(err, -EINVAL, path, 1, 0, "not a log of ninja");
	} else if (version < 5 || version > 7) {
		r = error_set(err, -EINVAL, path, 1, 0, "version %llu of ninja's log is not "
			      "supported: only 5 to 7", (unsigned long long)version);
	} else {
		log->version = (int)version;
		r = read_lines(log, &c);
		if (r)
			error_sys(err, r, path, NULL);
		else if (!log->n && log->damaged)
			r = error_set(err, -EINVAL, path, 2, 0, "not a line of ninja's log");
	}
out:
	if (r)
		ninja_log_release(log);
	return r;
}

size_t ninja_log_run(const struct ninja_log *log, size_t i)
{
	size_t end = i;

	while (end < log->n && log->line[end].run == log->line[i].run)
		end++;
	return end - i;
}

static void swap(int64_t *a, int64_t *b)
{
	int64_t kept = *a;

	*a = *b;
	*b = kept;
}

/* Hoare's selection: those before the middle become the smaller ones, without sorting them. */
int64_t ninja_log_median(int64_t *ms, size_t n)
{
	int64_t *first = ms, *last = ms + n - 1, *middle = ms + n / 2;

	while (first < last) {
		int64_t pivot = *middle, *from = first, *to = last;

		while (from <= to) {
			while (*from < pivot)
				from++;
			while (*to > pivot)
				to--;
			if (from <= to)
				swap(from++, to--);
		}
		if (to < middle)
			first = from;
		if (middle < from)
			last = to;
	}
	return *middle;
}

void ninja_log_release(struct ninja_log *log)
{
	free(log->line);
	buf_release(&log->text);
	*log = (struct ninja_log){ 0 };
}
