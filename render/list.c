/* SPDX-License-Identifier: MIT */
#include "render/list.h"

#include "analyse/words.h"
#include "base/json.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <string.h>
#include <time.h>

#define START_COLUMNS 16
#define WALL_COLUMNS 7
#define TASKS_COLUMNS 6
#define SPREAD_COLUMNS 9
#define RESULT_COLUMNS 10
#define COMMAND_COLUMNS_MIN 12

struct layout {
	size_t name_columns;
	bool start, tasks, spread;	/* shown */
	unsigned command_columns;	/* 0: no limit */
};

/* A narrow output drops the start first: most names are times. */
static void choose(struct layout *y, const struct listing *l, const struct style *style)
{
	unsigned taken = WALL_COLUMNS + RESULT_COLUMNS + 6;

	*y = (struct layout){ .name_columns = 4 };
	for (size_t i = 0; i < l->n; i++) {
		size_t n = text_columns(l->entry[i].name, strlen(l->entry[i].name));

		y->name_columns = MAX(n, y->name_columns);
		y->spread = y->spread || l->entry[i].set;
	}
	if (style->width && y->name_columns > style->width / 3)
		y->name_columns = MAX(style->width / 3, 8);
	taken += (unsigned)y->name_columns + (y->spread ? SPREAD_COLUMNS + 2 : 0);
	y->start = !style->width ||
		   taken + START_COLUMNS + TASKS_COLUMNS + 4 + COMMAND_COLUMNS_MIN <= style->width;
	taken += y->start ? START_COLUMNS + 2 : 0;
	y->tasks = !style->width || taken + TASKS_COLUMNS + 2 + COMMAND_COLUMNS_MIN <= style->width;
	taken += y->tasks ? TASKS_COLUMNS + 2 : 0;
	y->command_columns = !style->width ? 0 : style->width > taken + 6 ?
			     style->width - taken : 6;
}

static void add_left(struct buf *out, const char *text, size_t columns)
{
	size_t n = text_add_name(out, text, columns);

	text_add_blanks(out, 2 + (n < columns ? columns - n : 0));
}

static void add_right(struct buf *out, const char *text, size_t columns)
{
	size_t n = strlen(text);

	text_add_blanks(out, n < columns ? columns - n : 0);
	buf_adds(out, text);
	buf_adds(out, "  ");
}

static void add_start(struct buf *out, int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	char text[64] = "-";
	struct tm tm;

	if (wall_ns >= 0 && localtime_r(&seconds, &tm))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
	add_left(out, text, START_COLUMNS);
}

/* "3 runs", or "2 of 3" that are good. */
static void add_runs(struct buf *out, const struct runs *r, const struct style *style)
{
	bool whole = r->asked < 0 || (int64_t)r->n_good >= r->asked;
	char memory[64];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	if (whole)
		runs_add_count(&b, r);
	else
		buf_addf(&b, "%zu of %lld", r->n_good, (long long)r->asked);
	if (!whole)
		text_tone(out, style, TONE_ALARM);
	add_left(out, buf_str(&b), RESULT_COLUMNS);
	text_tone(out, style, TONE_PLAIN);
}

/* "+-0.12 s": the standard deviation of a set */
static void add_spread(struct buf *out, const struct listing_entry *e)
{
	char memory[64];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	if (e->set && e->runs.deviation_us >= 0) {
		buf_adds(&b, "+-");
		text_add_time(&b, e->runs.deviation_us);
	}
	add_left(out, buf_str(&b), SPREAD_COLUMNS);
}

/* "ok", "exit 2", "SIGKILL", "unfinished" */
static void add_result(struct buf *out, const struct listing_entry *e, const struct style *style)
{
	bool lacks = e->rec.lost.reason || recording_build(&e->rec, LAYOUT_UNACCOUNTED);
	char memory[64];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	if (lacks && (e->result == BUILD_OK || e->result == BUILD_ENDED))
		buf_adds(&b, "incomplete");
	else if (e->result == BUILD_ENDED)
		buf_adds(&b, words_result(e->result));
	else
		words_add_status(&b, words_build_status(e->result, e->status));
	if (lacks || (e->result != BUILD_OK && e->result != BUILD_ENDED))
		text_tone(out, style, TONE_ALARM);
	add_left(out, buf_str(&b), RESULT_COLUMNS);
	text_tone(out, style, TONE_PLAIN);
}

/* A line below its row; the reason is left to `show`. */
static void add_unaccounted(struct buf *out, const struct listing_entry *e, const struct style *style)
{
	const char *text = recording_build(&e->rec, LAYOUT_UNACCOUNTED);
	struct buf b = BUF_INIT;

	if (!text)
		return;
	buf_add(&b, text, strcspn(text, ":"));
	text_add_blanks(out, 2);
	text_tone(out, style, TONE_ALARM);
	text_add_name(out, buf_str(&b), style->width > 2 ? style->width - 2 : 0);
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
	buf_release(&b);
}

static void add_entry(struct buf *out, const struct listing_entry *e, const struct layout *y,
		      const struct style *style)
{
	const char *command = recording_build(&e->rec, "command");
	char memory[64];
	struct buf b;

	add_left(out, e->name, y->name_columns);
	if (e->damaged) {
		text_tone(out, style, TONE_ALARM);
		text_add_name(out, e->error.message, !style->width ? 0 :
			      style->width > y->name_columns + 8 ?
			      style->width - (unsigned)y->name_columns - 2 : 6);
		text_tone(out, style, TONE_PLAIN);
		buf_addc(out, '\n');
		return;
	}
	if (y->start)
		add_start(out, e->rec.start_wall_ns);
	buf_init_fixed(&b, memory, sizeof memory);
	text_add_time(&b, e->set && e->runs.n_good ? e->runs.median_us : e->rec.end_us);
	add_right(out, buf_str(&b), WALL_COLUMNS);
	if (y->spread)
		add_spread(out, e);
	if (e->set)
		add_runs(out, &e->runs, style);
	else
		add_result(out, e, style);
	if (y->tasks) {
		const char *tasks = recording_build(&e->rec, "tasks");

		add_right(out, tasks && strlen(tasks) < sizeof memory ? tasks : "-", TASKS_COLUMNS);
	}
	text_add_name(out, command ? command : "-", y->command_columns);
	buf_addc(out, '\n');
	add_unaccounted(out, e, style);
}

int list_text(struct buf *out, const struct listing *l, const struct style *style)
{
	struct layout y;

	if (!l->n) {
		buf_adds(out, "no recordings in ");
		text_add_name(out, l->path, 0);
		buf_addc(out, '\n');
		return buf_error(out);
	}
	choose(&y, l, style);
	text_tone(out, style, TONE_FAINT);
	add_left(out, "name", y.name_columns);
	if (y.start)
		add_left(out, "start", START_COLUMNS);
	add_right(out, "wall", WALL_COLUMNS);
	if (y.spread)
		add_left(out, "spread", SPREAD_COLUMNS);
	add_left(out, "result", RESULT_COLUMNS);
	if (y.tasks)
		add_right(out, "tasks", TASKS_COLUMNS);
	buf_adds(out, "command");
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
	for (size_t i = 0; i < l->n; i++)
		add_entry(out, &l->entry[i], &y, style);
	return buf_error(out);
}

/* JSON */

/* Members of a set only. */
static void add_set(struct json *j, const struct runs *r)
{
	json_object(j, "runs");
	json_known(j, "asked", r->asked);
	json_int(j, "recorded", (int64_t)r->n);
	json_int(j, "good", (int64_t)r->n_good);
	json_known(j, "wall_least_us", r->least_us);
	json_known(j, "wall_most_us", r->most_us);
	json_known(j, "wall_deviation_us", r->deviation_us);
	json_str(j, "prepare", r->prepare);
	json_object_end(j);
}

static void add_object(struct json *j, const struct listing_entry *e)
{
	bool exited = e->result == BUILD_OK || e->result == BUILD_FAILED;

	json_object(j, NULL);
	json_str(j, "name", e->name);
	json_str(j, "result", e->damaged ? "damaged" : words_result(e->result));
	json_str(j, "error", e->damaged ? e->error.message : NULL);
	json_bool(j, "running", e->running);
	json_known(j, "exit_status", exited && !e->damaged ? e->status : -1);
	json_known(j, "signal", e->result == BUILD_KILLED ? e->status : -1);
	json_str(j, "start", recording_build(&e->rec, "start"));
	json_known(j, "wall_us", e->damaged ? -1 : e->set && e->runs.n_good ? e->runs.median_us :
		   e->rec.end_us);
	json_bool(j, "complete", !e->rec.lost.reason);
	json_str(j, "unaccounted", recording_build(&e->rec, LAYOUT_UNACCOUNTED));
	json_known(j, "tasks", recording_build_number(&e->rec, "tasks"));
	json_str(j, "command", recording_build(&e->rec, "command"));
	if (e->set)
		add_set(j, &e->runs);
	json_object_end(j);
}

int list_json(struct buf *out, const struct listing *l)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat list 1");
	json_str(&j, "directory", l->path);
	json_array(&j, "recordings");
	for (size_t i = 0; i < l->n; i++)
		add_object(&j, &l->entry[i]);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
