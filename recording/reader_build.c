/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/text.h"
#include "recording/layout.h"
#include "recording/reader.h"

#include <errno.h>
#include <string.h>

static int add_line(struct reader *r, struct slice key, struct slice value)
{
	struct recording *rec = r->rec;
	struct build_line *added = array_add(&rec->build, &rec->n_build, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct build_line){ reader_string(key), reader_string(value) };
	return 0;
}

/* key: value */
static bool split(struct slice line, struct slice *key, struct slice *value)
{
	const char *colon = memchr(line.p, ':', line.len);
	const char *from = colon ? colon + 1 : NULL;
	const char *end = line.p + line.len;

	if (!colon || colon == line.p)
		return false;
	if (from < end && *from == ' ')
		from++;
	*key = (struct slice){ line.p, (size_t)(colon - line.p) };
	*value = (struct slice){ from, (size_t)(end - from) };
	return !memchr(line.p, '\0', line.len);
}

static int64_t number_up_to(const struct recording *rec, const char *key, int64_t max)
{
	int64_t n = recording_build_number(rec, key);

	return n >= 0 && n <= max ? n : -1;
}

/* The monotonic clock stops while the machine sleeps. */
static int warn_of_sleep(struct reader *r, int64_t asleep_us)
{
	char text[64];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	text_add_time(&b, asleep_us);
	return reader_warn(r, "the machine was suspended for %s during the build; durations leave "
			   "that out", buf_str(&b));
}

/* The wall clock is only shown: every interval is measured by the monotonic clock. */
static int warn_of_clock(struct reader *r, int64_t end_wall_ns)
{
	struct recording *rec = r->rec;
	int64_t off_s, asleep_us = number_up_to(rec, LAYOUT_ASLEEP, EVENT_TIME_MAX_US);

	if (asleep_us > 0 && warn_of_sleep(r, asleep_us))
		return -ENOMEM;
	if (rec->start_wall_ns < 0 || end_wall_ns < 0 || rec->end_us < 0)
		return 0;
	off_s = (end_wall_ns - rec->start_wall_ns) / 1000000000 - rec->end_us / 1000000;
	off_s -= asleep_us > 0 ? asleep_us / 1000000 : 0;
	if (off_s >= -60 && off_s <= 60)
		return 0;
	return reader_warn(r, "the clock was set %s by %lld s during the build; durations are right",
			   off_s < 0 ? "back" : "forward",
			   (long long)(off_s < 0 ? -off_s : off_s));
}

/* The format from which it was imported, and the warnings at that time. */
static int source_of(struct reader *r)
{
	struct recording *rec = r->rec;
	const char *imported = recording_build(rec, LAYOUT_IMPORTED);
	int error = 0;

	if (imported && r->foreign && !strcmp(imported, r->foreign->name))
		rec->source = r->foreign->source;
	for (size_t i = 0; !error && i < rec->n_build; i++) {
		if (!strcmp(rec->build[i].key, LAYOUT_WARNING))
			error = reader_warn(r, "%s", rec->build[i].value);
	}
	return error;
}

static int fill_build(struct reader *r)
{
	struct recording *rec = r->rec;

	rec->start_wall_ns = number_up_to(rec, "start_wall_ns", INT64_MAX);
	rec->start_mono_ns = number_up_to(rec, "start_mono_ns", INT64_MAX);
	rec->interval_ms = number_up_to(rec, "interval_ms", EVENT_TIME_MAX_US / 1000);
	rec->end_us = number_up_to(rec, "end_us", EVENT_TIME_MAX_US);
	reader_saw(r, rec->end_us);
	if (source_of(r))
		return -ENOMEM;
	return warn_of_clock(r, number_up_to(rec, "end_wall_ns", INT64_MAX));
}

int reader_build(struct reader *r, const char *file, char *text, size_t len)
{
	struct reader_damage damage = { 0 };
	struct slice line, rest, key, value;
	struct cursor c;
	bool whole;
	int error;

	cursor_init(&c, text, len);
	whole = cursor_line(&c, &line, &whole) && whole;
	error = reader_header(r, whole ? &line : NULL, file, "build", &rest);
	if (error <= 0)
		return error;
	error = 0;
	while (!error && reader_line(&c, &line, &damage)) {
		if (!line.len)
			continue;
		if (split(line, &key, &value))
			error = add_line(r, key, value);
		else
			reader_damaged(&damage, c.line);
	}
	if (!error)
		error = fill_build(r);
	return error ? error : reader_report_damage(r, &damage, file);
}
