/* SPDX-License-Identifier: MIT */
#include "convert/ninja/log.h"

#include "base/array.h"
#include "base/hex.h"
#include "base/index.h"
#include "convert/text_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TIME_MAX_MS 315360000000	/* ten years */

static bool read_hex(struct slice s, uint64_t *n)
{
	*n = 0;
	for (size_t i = 0; i < s.len; i++) {
		int value = hex_value(s.p[i]);

		if (value < 0)
			return false;
		*n = *n << 4 | (uint64_t)value;
	}
	return s.len && s.len <= 16;
}

static bool read_line(struct slice text, struct ninja_log_line *line)
{
	struct slice hash;
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	if (!cursor_i64(&c, &line->start_ms) || !cursor_byte(&c, '\t') ||
	    !cursor_i64(&c, &line->end_ms) || !cursor_byte(&c, '\t') ||
	    !cursor_i64(&c, &line->mtime_ns) || !cursor_byte(&c, '\t') ||
	    !cursor_until(&c, '\t', &line->output) || !line->output.len)
		return false;
	hash = (struct slice){ c.p, (size_t)(c.end - c.p) };
	if (hash.len && hash.p[hash.len - 1] == '\r')
		hash.len--;
	return line->start_ms >= 0 && line->end_ms >= line->start_ms &&
	       line->end_ms <= TIME_MAX_MS && read_hex(hash, &line->hash);
}

/* What was told of the output before is forgotten. */
static int add_line(struct ninja_log *log, struct text_table *outputs,
		    const struct ninja_log_line *line)
{
	size_t before = outputs->n;
	uint32_t at = text_table_add(outputs, line->output);
	struct ninja_log_line *grown;

	if (at == NO_TEXT)
		return -ENOMEM;
	if (at == before) {
		grown = array_grow(log->line, log->n, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		log->line = grown;
		log->n++;
	}
	log->line[at] = *line;
	return 0;
}

static int by_run(const void *a, const void *b)
{
	const struct ninja_log_line *one = a, *two = b;

	if (one->run != two->run)
		return one->run < two->run ? -1 : 1;
	return (one->order > two->order) - (one->order < two->order);
}

/* A log that was written anew is in no order: the outputs of a command stand apart. */
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
	if (!r && log->n)
		qsort(log->line, log->n, sizeof *log->line, by_run);
	index_release(&runs);
	return r;
}

static int read_lines(struct ninja_log *log, struct cursor *c)
{
	struct text_table outputs = TEXT_TABLE_INIT;
	struct ninja_log_line line = { 0 };
	struct slice text;
	int64_t before_ms = 0;
	bool whole = true;
	int r = 0;

	for (uint32_t order = 0; !r && cursor_line(c, &text, &whole); order++) {
		line.order = order;
		if (whole && read_line(text, &line)) {
			if (line.end_ms < before_ms)
				log->newest = order;
			before_ms = line.end_ms;
			r = add_line(log, &outputs, &line);
		} else if (text.len && *text.p != '#') {
			log->damaged++;
		}
	}
	log->torn = !whole;
	text_table_release(&outputs);
	return r ? r : sort_lines(log);
}

static int read_signature(struct ninja_log *log, struct cursor *c, const char *path,
			  struct error *err)
{
	uint64_t version;

	if (!cursor_literal(c, NINJA_LOG_SIGNATURE) || !cursor_u64(c, &version))
		return error_set(err, -EINVAL, path, 1, 0, "not a log of ninja");
	cursor_byte(c, '\r');
	if (!cursor_byte(c, '\n'))
		return error_set(err, -EINVAL, path, 1, 0, "not a log of ninja");
	if (version < 5 || version > 7)
		return error_set(err, -EINVAL, path, 1, 0,
				 "version %llu of ninja's log is not known, only 5 to 7",
				 (unsigned long long)version);
	log->version = (int)version;
	return 0;
}

int ninja_log_read(struct ninja_log *log, const char *path, infile_reader *read,
		   struct error *err)
{
	struct cursor c;
	int r;

	*log = (struct ninja_log)NINJA_LOG_INIT;
	r = read(&log->text, path, err);
	cursor_init(&c, buf_str(&log->text), log->text.len);
	if (!r)
		r = read_signature(log, &c, path, err);
	if (!r && read_lines(log, &c))
		r = error_sys(err, -ENOMEM, path, NULL);
	if (!r && !log->n && log->damaged)
		r = error_set(err, -EINVAL, path, 2, 0, "not a line of ninja's log");
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

void ninja_log_release(struct ninja_log *log)
{
	free(log->line);
	buf_release(&log->text);
	*log = (struct ninja_log)NINJA_LOG_INIT;
}
