/* SPDX-License-Identifier: MIT */
#include "archive/build_recording.h"

#include "base/buf.h"
#include "base/minmax.h"
#include "base/str.h"
#include "convert/builder.h"

#include <string.h>

#define BLOCK_BYTES 512
#define SECOND_NS 1000000000

/* "make 4.3". The tasks belong to the first tool. */
static void add_tool(struct builder *b, const char *uses, const char *command)
{
	const char *blank = strchr(uses, ' ');
	size_t n = blank ? (size_t)(blank - uses) : strlen(uses);

	builder_instance(b, builder_text(b, uses, n), blank ? blank + 1 : NULL, command,
			 NO_INDEX);
}

static void add_facts(struct builder *b, const struct values *f)
{
	const char *command = values_fact(f, "command");
	size_t n = 0;

	for (size_t i = 0; i < f->n_facts; i++) {
		if (strcmp(f->fact[i].key, "uses")) {
			builder_build(b, f->fact[i].key, f->fact[i].value);
			continue;
		}
		add_tool(b, f->fact[i].value, n++ ? NULL : command);
	}
	if (!n)
		builder_instance(b, NULL, NULL, command, NO_INDEX);
}

static void add_total(struct builder *b, const struct values *f, const char *key, enum total t)
{
	if (f->total[t] >= 0)
		builder_build_number(b, key, f->total[t]);
}

static void add_totals(struct builder *b, const struct values *f)
{
	int64_t status = f->total[TOTAL_STATUS];

	add_total(b, f, "user_us", TOTAL_USER_US);
	add_total(b, f, "system_us", TOTAL_SYSTEM_US);
	add_total(b, f, "max_rss_kb", TOTAL_MAX_RSS_KB);
	add_total(b, f, "end_us", TOTAL_WALL_US);
	add_total(b, f, "calibration_start_least_ns", TOTAL_HOST_CALIBRATION_START_US);
	add_total(b, f, "calibration_end_least_ns", TOTAL_HOST_CALIBRATION_END_US);
	if (status >= 0 && status < STATUS_KILLED)
		builder_build_number(b, "status", status);
	else if (status > STATUS_KILLED && status < STATUS_FAILED)
		builder_build_number(b, "signal", status - STATUS_KILLED);
}

static int64_t value(const struct values *f, enum value_column c, size_t task)
{
	return f->column[c] ? f->column[c][task] : -1;
}

static int64_t blocks(int64_t bytes)
{
	return bytes < 0 ? -1 : bytes / BLOCK_BYTES + (bytes % BLOCK_BYTES >= BLOCK_BYTES / 2);
}

static void set_status(struct builder_task *t, int64_t status)
{
	t->state = status < 0 || status == STATUS_UNFINISHED ? TASK_UNFINISHED :
		   status == 0 ? TASK_DONE :
		   status < STATUS_KILLED || status == STATUS_FAILED ? TASK_FAILED : TASK_KILLED;
	if (status >= 0 && status < STATUS_KILLED)
		t->status = (int32_t)status << 8;
	else if (t->state == TASK_KILLED)
		t->status = (int32_t)(status - STATUS_KILLED);
}

/* For bitbake, "recipe: task" becomes a task of RECIPE-[EPOCH_]VERSION-REVISION. */
static void set_recipe(struct builder_task *t, const struct values *f, size_t task,
		       struct buf *key)
{
	const char *name = f->task[task].name, *end = strstr(name, ": ");
	const char *version = values_version(f, task), *colon;

	buf_clear(key);
	if (!end)
		return;
	buf_add(key, name, (size_t)(end - name));
	if (version) {
		colon = strchr(version, ':');
		buf_addc(key, '-');
		if (colon)
			buf_addf(key, "%.*s_", (int)(colon - version), version);
		buf_adds(key, colon ? colon + 1 : version);
	}
	t->name = end + 2;
	t->key = buf_str(key);
}

static void add_task(struct builder *b, const struct values *f, size_t task, bool recipe,
		     struct buf *key)
{
	int64_t start_us = value(f, COLUMN_START_US, task);
	int64_t wall_us = value(f, COLUMN_WALL_US, task);
	struct builder_task t;

	builder_task_init(&t);
	t.name = f->task[task].name;
	t.kind = f->task[task].kind;
	if (recipe)
		set_recipe(&t, f, task, key);
	t.start_us = MAX(start_us, 0);
	t.end_us = t.start_us + MAX(wall_us, 0);
	set_status(&t, value(f, COLUMN_STATUS, task));
	t.user_us = value(f, COLUMN_USER_US, task);
	t.system_us = value(f, COLUMN_SYSTEM_US, task);
	t.max_rss_kb = value(f, COLUMN_MAX_RSS_KB, task);
	t.in_blocks = blocks(value(f, COLUMN_READ_BYTES, task));
	t.out_blocks = blocks(value(f, COLUMN_WRITTEN_BYTES, task));
	t.rchar = value(f, COLUMN_RCHAR, task);
	t.wchar = value(f, COLUMN_WCHAR, task);
	builder_task(b, 0, &t);
}

static void add_tasks(struct builder *b, const struct values *f, bool recipe)
{
	struct buf key = BUF_INIT;

	for (size_t i = 0; i < f->n_tasks; i++)
		add_task(b, f, i, recipe, &key);
	if (buf_error(&key))
		b->error = buf_error(&key);
	buf_release(&key);
}

static int64_t sum_of(const struct recording *rec)
{
	int64_t sum = 0;

	for (size_t i = 0; i < rec->n_tasks; i++)
		sum += MAX(rec->task[i].user_us, 0);
	return sum;
}

int build_recording(struct recording *rec, const struct values *f, struct error *err)
{
	const char *path = f->path ? f->path : "", *uses = values_fact(f, "uses");
	struct builder b;
	int r;

	builder_init(&b, rec, path);
	if (uses && str_starts(uses, "bitbake"))
		rec->source = (struct recording_source){ .system = "OpenEmbedded",
							 .recipe_keys = true };
	if (f->start_s >= 0 && f->start_s < INT64_MAX / SECOND_NS)
		builder_start_wall(&b, f->start_s * SECOND_NS);
	add_facts(&b, f);
	add_totals(&b, f);
	add_tasks(&b, f, rec->source.recipe_keys);
	if (f->total[TOTAL_USER_US] > sum_of(rec))
		builder_servers_included(&b);
	r = builder_end(&b, 0, path, err);
	if (!r && f->total[TOTAL_STATUS] == STATUS_UNFINISHED)
		rec->end_us = -1;
	return r;
}
