/* SPDX-License-Identifier: MIT */
#include "report/list_output.h"

#include "analyse/words.h"
#include "base/array.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define COMMAND_COLUMNS_MIN 12
#define COMMAND_LEAST 6
#define DAMAGE_LEAST 6

static bool has_sets(const struct listing *l)
{
	for (size_t i = 0; i < l->n; i++) {
		if (l->entry[i].set)
			return true;
	}
	return false;
}

static size_t name_columns(const struct listing *l, size_t width)
{
	size_t most = 4;

	for (size_t i = 0; i < l->n; i++)
		most = MAX(most, text_columns(l->entry[i].name, strlen(l->entry[i].name)));
	return width && most > width / 3 ? MAX(width / 3, 8) : most;
}

static void add_start(struct buf *b, int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	char text[64] = "-";
	struct tm tm;

	if (wall_ns >= 0 && localtime_r(&seconds, &tm))
		strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
	buf_adds(b, text);
}

/* "+-0.12 s": the standard deviation of a set */
static void add_spread(struct buf *b, const struct listing_entry *e)
{
	if (!e->set || e->runs.deviation_us < 0)
		return;
	buf_adds(b, "+-");
	text_add_time(b, e->runs.deviation_us);
}

/* "3 runs", or "2 of 3" that are good. */
static void put_runs(struct doc *d, const struct runs *r)
{
	struct buf *b = doc_text(d, NAN);

	if (r->asked < 0 || (int64_t)r->n_good >= r->asked) {
		runs_add_count(b, r);
	} else {
		buf_addf(b, "%zu of %lld", r->n_good, (long long)r->asked);
		doc_tone(d, TONE_ALARM);
	}
}

/* "ok", "exit 2", "SIGKILL", "unfinished" */
static void put_result(struct doc *d, const struct listing_entry *e)
{
	bool lacks = e->rec.lost.reason || recording_build(&e->rec, LAYOUT_UNACCOUNTED);
	bool good = build_is_good(e->result);
	struct buf *b = doc_text(d, NAN);

	if (lacks && good)
		buf_adds(b, "incomplete");
	else if (e->result == BUILD_ENDED)
		buf_adds(b, words_result(e->result));
	else
		words_add_status(b, words_build_status(e->result, e->status));
	if (lacks || !good)
		doc_tone(d, TONE_ALARM);
}

/* A line below its row; the reason is left to `show`. */
static void put_unaccounted(struct doc *d, const struct listing_entry *e)
{
	const char *text = recording_build(&e->rec, LAYOUT_UNACCOUNTED);

	if (!text)
		return;
	buf_add(doc_item(d, 2), text, strcspn(text, ":"));
	doc_line_tone(d, TONE_ALARM);
	doc_line_shorten(d, 1);
}

static void put_damaged(struct doc *d, const struct listing_entry *e, size_t columns)
{
	size_t n, width = d->style->width;

	doc_flush(d);
	n = text_add_name(d->out, e->name, columns);
	text_add_blanks(d->out, 2 + columns - MIN(n, columns));
	text_tone(d->out, d->style, TONE_ALARM);
	text_add_name(d->out, e->error.message, !width ? 0 : width > columns + 2 + DAMAGE_LEAST ?
		      width - columns - 2 : DAMAGE_LEAST);
	text_tone(d->out, d->style, TONE_PLAIN);
	buf_addc(d->out, '\n');
}

static void put_entry(struct doc *d, const struct listing_entry *e)
{
	const char *command = recording_build(&e->rec, "command"), *tasks = recording_build(&e->rec, "tasks");

	doc_row(d);
	doc_str(d, e->name);
	add_start(doc_text(d, NAN), e->rec.start_wall_ns);
	doc_num(d, e->set && e->runs.n_good ? e->runs.median_us : e->rec.end_us);
	add_spread(doc_text(d, NAN), e);
	if (e->set)
		put_runs(d, &e->runs);
	else
		put_result(d, e);
	doc_str(d, tasks ? tasks : "-");
	doc_str(d, command ? command : "-");
	put_unaccounted(d, e);
}

/* A narrow output drops the start first: most names are times. */
int list_doc(struct doc *d, const struct listing *l)
{
	const struct doc_column columns[] = {
		{ "name", .width = (uint16_t)name_columns(l, d->style->width), .shorten = true },
		{ "start", .gap = 2, .width = 16, .drop = 2 }, { "wall", .type = DOC_US, .gap = 2, .width = 7 },
		{ "spread", .in = has_sets(l) ? 0 : DOC_JSON, .gap = 2, .width = 9 },
		{ "result", .gap = 2, .width = 10 },
		{ "tasks", .right = true, .gap = 2, .width = 6, .drop = 1 },
		{ "command", .gap = 2, .last = true },
	};
	const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true, .empty = true,
		.tone = TONE_FAINT, .least = COMMAND_LEAST, .room = COMMAND_COLUMNS_MIN,
	};

	if (!l->n) {
		buf_addf(doc_item(d, 0), "no recordings in %s", l->path);
	} else {
		doc_table(d, &table);
		for (size_t i = 0; i < l->n; i++) {
			if (l->entry[i].damaged)
				put_damaged(d, &l->entry[i], columns[0].width);
			else
				put_entry(d, &l->entry[i]);
		}
		doc_table_end(d, 0);
	}
	doc_flush(d);
	return buf_error(d->out);
}
