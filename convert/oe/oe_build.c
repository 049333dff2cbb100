/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/oe_parts.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DAY_US 86400000000
#define PLACES 6
#define EXPONENT_MAX 100

/* Numbers and times */

/* Multiply by a power of ten. False: too large. */
static bool shift(uint64_t *n, int64_t by)
{
	for (; by < 0 && *n; by++)
		*n /= 10;
	for (; by > 0 && *n; by--) {
		if (*n > INT64_MAX / 10)
			return false;
		*n *= 10;
	}
	return true;
}

bool oe_millionths(struct cursor *c, int64_t *n)
{
	struct cursor at = *c;
	bool negative = cursor_byte(&at, '-');
	int64_t exponent = 0, places = 0;
	uint64_t value;

	if (!cursor_u64(&at, &value) || value > INT64_MAX / 1000000)
		return false;
	if (cursor_byte(&at, '.')) {
		for (; at.p < at.end && *at.p >= '0' && *at.p <= '9'; at.p++) {
			if (places++ < PLACES)
				value = value * 10 + (unsigned)(*at.p - '0');
			else if (places == PLACES + 1)
				value += *at.p >= '5';
		}
		places = MIN(places, PLACES);
	}
	if (cursor_byte(&at, 'e')) {
		cursor_byte(&at, '+');
		if (!cursor_i64(&at, &exponent) || exponent < -EXPONENT_MAX ||
		    exponent > EXPONENT_MAX)
			return false;
	}
	if (!shift(&value, exponent + PLACES - places))
		return false;
	*n = negative ? -(int64_t)value : (int64_t)value;
	*c = at;
	return true;
}

/* If the start of the build is known, times up to a day before it are valid: clocks are set. */
bool oe_time(struct oe *o, int64_t wall_us, int64_t *time_us)
{
	int64_t before_us = o->started_wall_us >= 0 ? DAY_US : EVENT_TIME_MAX_US;

	if (o->zero_wall_us < 0)
		o->zero_wall_us = wall_us;
	*time_us = wall_us - o->zero_wall_us;
	return *time_us >= -before_us && *time_us <= EVENT_TIME_MAX_US;
}

/* build_stats */

static bool read_time(struct slice line, const char *key, int64_t *us)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	return cursor_literal(&c, key) && oe_millionths(&c, us) && *us >= 0 &&
	       *us <= INT64_MAX / 4;
}

/* "Linux NODE RELEASE VERSION ... MACHINE" */
static int read_host(struct oe *o, struct cursor *c)
{
	const char **const to[] = { NULL, &o->host, &o->kernel };
	struct slice word;
	char *text;

	for (size_t i = 0;; i++) {
		cursor_blanks(c);
		if (!cursor_word(c, &word, FEED_LINE_MAX))
			return 0;
		if (!i)
			continue;
		text = arena_text(o->r->rec->arena, word.p, word.len);
		if (!text)
			return -ENOMEM;
		*(i < 3 ? to[i] : &o->machine) = text;
	}
}

/* If there are several multiconfigs, the file has all their starts and then all their ends. */
static int read_line(struct oe *o, struct slice line)
{
	struct cursor c;
	int64_t us;

	cursor_init(&c, line.p, line.len);
	if (cursor_literal(&c, "Host Info: "))
		return o->host ? 0 : read_host(o, &c);
	if (read_time(line, "Build Started: ", &us)) {
		if (o->started_wall_us < 0)
			o->started_wall_us = o->zero_wall_us = us;
	} else if (read_time(line, "Elapsed time: ", &us)) {
		if (us > o->elapsed_us && us <= EVENT_TIME_MAX_US)
			o->elapsed_us = us;
	} else if (cursor_literal(&c, "Failed at: ")) {
		o->failed = true;
	} else if (cursor_literal(&c, OE_EXACT)) {
		o->exact = true;
	} else if (cursor_literal(&c, OE_EXIT_STATUS) && cursor_i64(&c, &us) && us <= INT32_MAX) {
		o->status = us < 0 ? -1 : (int)us;
	}
	return 0;
}

int oe_build_stats(struct oe *o, const char *text, size_t len)
{
	struct reader_damage damage = { 0 };
	struct slice line;
	struct cursor c;
	int r = 0;

	cursor_init(&c, text, len);
	while (reader_line(&c, &line, &damage)) {
		r = read_line(o, line);
		if (r)
			return r;
	}
	return reader_report_damage(o->r, &damage, "build_stats");
}

int64_t oe_end_us(const struct oe *o)
{
	if (o->elapsed_us < 0 || o->started_wall_us < 0)
		return o->elapsed_us;
	return o->started_wall_us - o->zero_wall_us + o->elapsed_us;
}

/* Keys of `build` that our own recordings have */

static int add_key(struct oe *o, const char *key, const char *value)
{
	struct recording *rec = o->r->rec;
	const char *copy = value ? arena_text(rec->arena, value, strlen(value)) : NULL;
	struct build_line *line = copy ? array_add(&rec->build, &rec->n_build, sizeof *line) : NULL;

	if (line)
		*line = (struct build_line){ key, copy };
	return line || !value ? 0 : -ENOMEM;
}

static int add_number(struct oe *o, const char *key, int64_t n)
{
	char text[32];

	if (n < 0)
		return 0;
	snprintf(text, sizeof text, "%lld", (long long)n);
	return add_key(o, key, text);
}

static int add_start(struct oe *o)
{
	char memory[64];
	struct buf b;
	int64_t ns = o->r->rec->start_wall_ns;

	if (ns < 0)
		return 0;
	buf_init_fixed(&b, memory, sizeof memory);
	clock_add_iso(&b, ns);
	return buf_error(&b) ? 0 : add_key(o, "start", buf_str(&b));
}

/* "Failed at:" does not name killed tasks. */
static int find_status(struct oe *o, int *status)
{
	*status = o->elapsed_us < 0 ? -1 : o->failed || o->unended.n;
	if (o->exact && o->elapsed_us >= 0)
		*status = o->status >= 0 ? o->status : *status;
	if (*status < 1 || o->failed || o->exact)
		return 0;
	return reader_warn(o->r, "%u tasks neither passed nor failed, the first is %s: killed, so "
			   "the build failed", o->unended.n, o->unended.first);
}

static int add_instance(struct oe *o)
{
	struct recording *rec = o->r->rec;
	struct instance *i = array_grow(NULL, 0, sizeof *i);

	if (!i)
		return -ENOMEM;
	*i = (struct instance){ .id = "bitbake", .open_us = 0, .close_us = rec->end_us,
		.pid = -1, .level = -1, .parent_task = NO_INDEX, .parent_span = NO_INDEX,
		.used_user_us = -1, .used_system_us = -1, .used_in_blocks = -1, .used_out_blocks = -1,
		.children_user_us = -1, .children_system_us = -1, .reaped = -1,
		.ancestors = "",
		.tool = "bitbake", .version = "", .cwd = "", .command = "" };
	rec->instance = i;
	rec->n_instances = 1;
	return 0;
}

int oe_finish_build(struct oe *o, bool build_only)
{
	struct recording *rec = o->r->rec;
	int status, r = find_status(o, &status);

	if (o->zero_wall_us >= 0 && o->zero_wall_us <= INT64_MAX / 1000)
		rec->start_wall_ns = o->zero_wall_us * 1000;
	rec->end_us = oe_end_us(o);
	reader_saw(o->r, rec->end_us);
	if (r || add_key(o, LAYOUT_IMPORTED, "oe") || add_key(o, "tool", "bitbake") ||
	    add_key(o, "host", o->host) ||
	    add_key(o, "kernel", o->kernel) || add_key(o, "machine", o->machine) ||
	    add_number(o, "memory_kb", o->memory_kb) ||
	    add_number(o, "interval_ms", rec->interval_ms) ||
	    add_number(o, "start_wall_ns", rec->start_wall_ns) || add_start(o) ||
	    add_number(o, "end_us", rec->end_us) || add_number(o, "status", status))
		return -ENOMEM;
	if (build_only)
		return 0;
	return add_number(o, "tasks", (int64_t)rec->n_tasks) || add_instance(o) ? -ENOMEM : 0;
}
