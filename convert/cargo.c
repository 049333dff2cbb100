/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/index.h"
#include "convert/builder.h"
#include "convert/converters.h"
#include "convert/infile.h"
#include "convert/json_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The page that `cargo build --timings` writes. A script in it has the units of the build as JSON,
 * with times in seconds since the start. Each unit lists the units that waited for it.
 */

#define TITLE "Cargo Build Timings"
#define UNITS "const UNIT_DATA = "
#define UNITS_END "\n];"

static const char *find_text(const struct buf *page, const char *text)
{
	return page->len ? memmem(page->data, page->len, text, strlen(text)) : NULL;
}

bool cargo_recognise(const struct convert_file *file)
{
	return !file->is_dir && file->len && memmem(file->head, file->len, TITLE, strlen(TITLE));
}

/* The table at the top of the page has rows "<td>KEY:</td><td>VALUE</td>". */

#define ERROR_ROW "<td class=\"error-text\">Error:</td><td>"

static struct slice row_of(const struct buf *page, const char *cell)
{
	struct cursor c;
	struct slice value = { NULL, 0 };
	const char *at = find_text(page, cell);

	if (at) {
		at += strlen(cell);
		cursor_init(&c, at, page->len - (size_t)(at - page->data));
		cursor_until(&c, '<', &value);
	}
	return value;
}

static struct slice row_value(const struct buf *page, const char *key)
{
	char cell[64];

	snprintf(cell, sizeof cell, "<td>%s:</td><td>", key);
	return row_of(page, cell);
}

/* The nanoseconds in ".37348584", or 0. */
static int64_t fraction_ns(struct cursor *c)
{
	int64_t ns = 0, unit = 100000000;

	if (!cursor_byte(c, '.'))
		return 0;
	for (; !cursor_at_end(c) && *c->p >= '0' && *c->p <= '9'; c->p++, unit /= 10)
		ns += (*c->p - '0') * unit;
	return ns;
}

/* "2 (jobs=2 ncpu=4)" */
static void add_cores(struct builder *b, struct slice text)
{
	const char *at = text.len ? memmem(text.p, text.len, "ncpu=", 5) : NULL;
	struct cursor c;
	uint64_t n;

	if (!at)
		return;
	cursor_init(&c, at + 5, text.len - (size_t)(at + 5 - text.p));
	if (cursor_u64(&c, &n) && n && n < 100000)
		builder_build_number(b, "cores", (int64_t)n);
}

static uint32_t add_build(struct builder *b, const struct buf *page)
{
	struct slice rustc = row_value(page, "rustc"), profile = row_value(page, "Profile");
	struct slice start = row_value(page, "Build start"), error = row_of(page, ERROR_ROW);
	struct buf command = BUF_INIT;
	uint32_t instance;
	struct cursor c;
	int64_t time_s;

	cursor_init(&c, start.p, start.len);
	if (clock_parse_iso(&c, &time_s))
		builder_start_wall(b, time_s * 1000000000 + fraction_ns(&c));
	if (error.len)
		builder_warn(b, "cargo ended with an error: %.*s",
			     error.len < 150 ? (int)error.len : 150, error.p);
	add_cores(b, row_value(page, "Max concurrency"));
	buf_adds(&command, "cargo build");
	if (profile.len && !slice_is(profile, "dev"))
		buf_addf(&command, " --profile %.*s", (int)profile.len, profile.p);
	builder_build(b, "tool", "cargo");
	builder_build(b, "command", buf_str(&command));
	instance = builder_instance(b, "cargo", builder_text(b, rustc.p, rustc.len),
				    buf_str(&command), NO_INDEX);
	buf_release(&command);
	return instance;
}

/* The units */

/* As on cargo's page: the crate, its version, and the target. */
static void unit_name(struct buf *name, const struct json_value *unit)
{
	const char *version = json_member_text(unit, "version");

	buf_clear(name);
	buf_adds(name, json_member_text(unit, "name"));
	if (*version)
		buf_addf(name, " v%s", version);
	buf_adds(name, json_member_text(unit, "target"));
}

static const char *unit_kind(const struct json_value *unit)
{
	const char *mode = json_member_text(unit, "mode");

	if (!strcmp(mode, "run-custom-build"))
		return "script";
	return strstr(mode, "doc") ? "document" : "compile";
}

static void add_section(struct builder *b, uint32_t instance, uint32_t task, int64_t start_us,
			const char *name, int64_t begin_us, int64_t end_us)
{
	if (begin_us >= 0 && end_us >= begin_us && end_us < INT64_MAX / 4)
		builder_span(b, instance, task, start_us + begin_us, start_us + end_us, name);
}

/*
 * New versions of cargo write sections, older ones the time at which the frontend ended. Those in
 * between write both: then the sections are the more detailed ones.
 */
static void add_sections(struct builder *b, uint32_t instance, uint32_t task, int64_t start_us,
			 int64_t duration_us, const struct json_value *unit)
{
	const struct json_value *list = json_member(unit, "sections");
	int64_t rmeta_us = json_member_number(unit, "rmeta_time", 6, -1);

	if (rmeta_us > 0 && rmeta_us <= duration_us && !(list && list->first)) {
		add_section(b, instance, task, start_us, "frontend", 0, rmeta_us);
		add_section(b, instance, task, start_us, "codegen", rmeta_us, duration_us);
	}
	for (const struct json_value *s = list ? list->first : NULL; s; s = s->next) {
		const struct json_value *times = s->first ? s->first->next : NULL;

		add_section(b, instance, task, start_us, json_text(s->first),
			    json_member_number(times, "start", 6, -1),
			    json_member_number(times, "end", 6, -1));
	}
}

/* Newer pages have the features of a crate. */
static void add_features(struct builder *b, uint32_t instance, uint32_t task, int64_t time_us,
			 const struct json_value *unit)
{
	const struct json_value *list = json_member(unit, "features");
	struct buf text = BUF_INIT;

	for (const struct json_value *f = list ? list->first : NULL; f; f = f->next) {
		buf_adds(&text, text.len ? " " : "features: ");
		buf_adds(&text, json_text(f));
	}
	if (text.len && !buf_error(&text))
		builder_note(b, instance, task, time_us, buf_str(&text));
	buf_release(&text);
}

struct unit {
	const struct json_value *json;
	uint32_t task;
};

/* A unit's time in microseconds; -1: missing, or not a time. */
static int64_t unit_us(const struct unit *unit, const char *name)
{
	int64_t us = json_member_number(unit->json, name, 6, -1);

	return us > INT64_MAX / 4 ? -1 : us;
}

static int add_unit(struct builder *b, uint32_t instance, struct unit *unit, struct buf *name,
		    const char *path, struct error *err)
{
	const char *crate = json_member_text(unit->json, "name");
	struct builder_task task;
	int64_t duration_us;

	builder_task_init(&task);
	task.start_us = unit_us(unit, "start");
	duration_us = unit_us(unit, "duration");
	if (!*crate || task.start_us < 0 || duration_us < 0)
		return error_set(err, -EINVAL, path, 0, 0, "unit '%.100s' has no %s", crate,
				 !*crate ? "name" : task.start_us < 0 ? "start" : "duration");
	unit_name(name, unit->json);
	task.name = buf_str(name);
	task.kind = unit_kind(unit->json);
	task.key = crate;
	task.end_us = task.start_us + duration_us;
	task.state = TASK_DONE;
	task.status = 0;
	unit->task = builder_task(b, instance, &task);
	add_sections(b, instance, unit->task, task.start_us, duration_us, unit->json);
	add_features(b, instance, unit->task, task.start_us, unit->json);
	return 0;
}

/* The units in the list `member` waited for this unit. Their numbers need not be indices. */
static void add_waits(struct builder *b, const struct unit *unit, size_t n, size_t at,
		      const struct index *numbers, const char *member, struct buf *name)
{
	const struct json_value *list = json_member(unit[at].json, member);

	unit_name(name, unit[at].json);
	for (const struct json_value *i = list ? list->first : NULL; i; i = i->next) {
		uint32_t other;
		int64_t number;

		if (json_number(i, 0, &number) && number >= 0 &&
		    index_find(numbers, (uint64_t)number, 0, &other) && other < n)
			builder_after(b, unit[other].task, buf_str(name));
	}
}

static const char *const unblocked[] = {
	"unblocked_units", "unblocked_rmeta_units", "unlocked_units", "unlocked_rmeta_units",
};

static int add_units(struct builder *b, uint32_t instance, const struct json_value *list,
		     const char *path, struct error *err)
{
	struct index numbers = INDEX_INIT;
	struct buf name = BUF_INIT;
	struct unit *unit = NULL, *added;
	size_t n = 0;
	int r = 0;

	for (const struct json_value *u = list->first; !r && u; u = u->next) {
		added = array_add(&unit, &n, sizeof *unit);
		if (!added || index_put(&numbers, (uint64_t)json_member_number(
				u, "i", 0, (int64_t)n - 1), 0, (uint32_t)n - 1)) {
			r = error_sys(err, -ENOMEM, path, NULL);
			break;
		}
		added->json = u;
		r = add_unit(b, instance, added, &name, path, err);
	}
	if (r)
		goto out;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(unblocked); k++)
			add_waits(b, unit, n, i, &numbers, unblocked[k], &name);
	}
out:
	free(unit);
	buf_release(&name);
	index_release(&numbers);
	return r;
}

static unsigned line_of(const struct buf *page, const char *at)
{
	unsigned line = 1;

	for (const char *p = page->data; p < at; p++)
		line += *p == '\n';
	return line;
}

static int read_units(struct json_document *units, const struct buf *page, const char *path,
		      struct error *err)
{
	const char *at = find_text(page, UNITS), *end;
	size_t left;
	int r;

	if (!at)
		return error_set(err, -EINVAL, path, 0, 0, find_text(page, "<svg") ?
				 "the page has a drawing without times: use cargo of September "
				 "2019 or newer, which writes them (UNIT_DATA)" : "not a page of cargo --timings: it has "
				 "no UNIT_DATA");
	at += strlen(UNITS);
	left = page->len - (size_t)(at - page->data);
	/* An empty list is on one line. */
	end = left >= 3 && !memcmp(at, "[];", 3) ? at + 1 : memmem(at, left, UNITS_END, 3);
	if (!end)
		return error_set(err, -EINVAL, path, line_of(page, at), 0,
				 "the list of units has no end");
	end += *end == '\n' ? 2 : 1;
	r = json_read_text(units, at, (size_t)(end - at), path, line_of(page, at), err);
	if (!r && units->root->type != JSON_LIST) {
		json_document_release(units);
		r = error_set(err, -EINVAL, path, line_of(page, at), 0, "expected a list of units");
	}
	return r;
}

int cargo_read(struct recording *rec, const char *path, struct error *err)
{
	struct json_document units;
	struct buf page = BUF_INIT;
	struct builder b;
	int r = infile_read(&page, path, err);

	if (!r)
		r = read_units(&units, &page, path, err);
	if (!r) {
		builder_init(&b, rec, path);
		r = add_units(&b, add_build(&b, &page), units.root, path, err);
		json_document_release(&units);
		r = builder_end(&b, r, path, err);
	}
	buf_release(&page);
	return r;
}
