/* SPDX-License-Identifier: MIT */
#include "report/history_parts.h"

#include "base/array.h"
#include "compare/verdict.h"
#include "report/amount.h"
#include "report/revisions.h"
#include "report/words_change.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define COMMIT_DIGITS 12
#define CELLS_COLUMNS 46	/* before a task's name */
#define NAME_LEAST 20

void history_add_build(struct buf *b, const struct builds *builds, uint32_t build)
{
	if (builds->build[build].start_s >= 0)
		amount_add_day(b, builds->build[build].start_s);
	else
		buf_addf(b, "build %u", build + 1);
}

void history_add_known(struct buf *b, const struct known *known)
{
	struct buf handling = BUF_PART_OF(b);

	buf_adds(b, known->kind == KNOWN_ACCEPTED ? "accepted: " : known->invalid ? "invalid: " :
		 "acknowledged: ");
	text_add_name(b, known->reason, 0);
	words_add_handling(&handling, known);
	if (handling.len) {
		buf_adds(b, "; ");
		text_add_name(b, buf_str(&handling), 0);
	}
	buf_release(&handling);
}

static void add_commit(struct buf *b, const struct revision *r)
{
	if (r)
		buf_addf(b, "%.*s", COMMIT_DIGITS, r->commit);
}

static void add_range(struct buf *b, const struct revisions_range *range)
{
	const struct revision *to = range->to;

	buf_addf(b, "%s ", range->source);
	if (revisions_range_is_empty(range)) {
		add_commit(b, to);
		buf_adds(b, ", no commits");
	} else {
		add_commit(b, range->from);
		buf_adds(b, "..");
		add_commit(b, to);
	}
	if ((range->from && range->from->dirty) || (to && to->dirty))
		buf_adds(b, ", with uncommitted changes");
}

void history_add_revisions(struct doc *d, const struct builds *builds, uint32_t first, uint32_t last, size_t indent)
{
	struct revisions_range range;

	for (size_t i = 0; revisions_range(&range, builds, first, last, i); i++) {
		add_range(doc_item(d, indent), &range);
		doc_line_tone(d, TONE_FAINT);
	}
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

void history_add_subject(struct buf *b, const struct history_view *view)
{
	if (view->task == TASK_HOST)
		buf_adds(b, "common factor of all tasks");
	else if (view->task == TASK_TOTAL || view->task == HISTORY_ALL)
		buf_adds(b, "the build");
	else
		text_add_name(b, view->builds->task[view->task].name, 0);
}

void history_add_span(struct buf *b, const struct builds *builds)
{
	text_add_name(b, builds->ref, 0);
	buf_addf(b, ", %zu build%s", builds->n, plural(builds->n));
	if (!builds->n)
		return;
	buf_adds(b, ", ");
	history_add_build(b, builds, 0);
	buf_adds(b, " to ");
	history_add_build(b, builds, (uint32_t)builds->n - 1);
}

/* "before 2026-11-20 (1a2b3c4d): parser/table.o" for each former name of a task. */
static void add_former_names(struct doc *d, const struct history_view *view)
{
	const struct builds *builds = view->builds;
	const struct builds_task *task = view->task < builds->n_tasks ? &builds->task[view->task] : NULL;

	for (size_t i = task ? task->n_held : 0; i-- > 1; ) {
		struct buf *text = doc_item(d, 2);

		buf_adds(text, "before ");
		history_add_build(text, builds, task->held[i].first);
		buf_addf(text, ": %s", task->held[i - 1].name);
	}
}

static void add_head(struct doc *d, const struct history_view *view)
{
	const struct history *h = view->history;
	struct buf subject = BUF_PART_OF(d->out), *text;

	if (view->task != HISTORY_ALL) {
		history_add_subject(&subject, view);
		doc_lead(d, TONE_TITLE, buf_str(&subject), "");
		add_former_names(d, view);
	}
	history_add_span(doc_item(d, 0), view->builds);
	text = doc_item(d, 0);
	buf_addf(text, "%zu change%s in %zu series", h->n_changes, plural(h->n_changes), h->n_series);
	if (view->task == HISTORY_ALL)
		buf_addf(text, ", %zu event%s", h->n_events, plural(h->n_events));
	buf_release(&subject);
}

static void add_dates(struct buf *b, const struct builds *builds, const struct history_event *e, bool creep)
{
	history_add_build(b, builds, creep ? e->first : e->at);
	if (creep || e->first < e->last) {
		buf_adds(b, creep ? " to " : " (");
		if (!creep) {
			history_add_build(b, builds, e->first);
			buf_adds(b, " to ");
		}
		history_add_build(b, builds, e->last);
		buf_adds(b, creep ? ", gradually" : ")");
	}
	buf_adds(b, e->worse ? "  worse" : "  better");
}

static void add_sums(struct buf *b, const struct history *h, const struct history_event *e)
{
	const struct history_change *last = &h->change[e->first_change + e->n_changes - 1];
	const char *between = last->task < HISTORY_ALL ? ", sum of its tasks: " : ": ";

	for (enum metric m = 0; m < METRICS; m++) {
		if (!e->contribution[m])
			continue;
		buf_addf(b, "%s%s ", between, metric_info[m].name);
		amount_add_change(b, metric_info[m].unit, e->contribution[m]);
		between = ", ";
	}
}

static void add_name(struct doc *d, const struct history_view *view, const struct history_change *c)
{
	unsigned width = d->style->width;
	struct buf *text = doc_text(d, NAN);
	struct buf name = BUF_PART_OF(d->out);

	if (c->task == TASK_SHARED)
		words_add_shared(&name, view->builds, &c->group, c->tasks, c->of_tasks);
	else
		buf_adds(&name, words_task(view->builds, c->task));
	text_add_name(text, buf_str(&name), !width ? 0 : width > CELLS_COLUMNS + NAME_LEAST ?
		      width - CELLS_COLUMNS : NAME_LEAST);
	buf_release(&name);
	if (c->finding && c->finding->state == FINDING_SUSPECT)
		buf_addf(text, "  %s", words_finding_state[FINDING_SUSPECT]);
	if (c->known) {
		buf_adds(text, "  ");
		history_add_known(text, c->known);
	}
}

static void add_change(struct doc *d, const struct history_view *view, const struct history_change *c)
{
	const double value[] = { c->change.before, c->change.after };
	enum unit unit = metric_info[c->metric].unit;
	bool ratio = c->task == TASK_HOST;
	struct buf *text;

	doc_row(d);
	text = doc_text(d, value[1] - value[0]);
	if (!ratio)
		amount_add_change(text, unit, value[1] - value[0]);
	amount_add_share(doc_text(d, c->change.effect), c->change.effect);
	for (size_t i = 0; i < ARRAY_SIZE(value); i++) {
		text = doc_text(d, value[i]);
		if (ratio)
			buf_addf(text, "%.3f", value[i]);
		else
			amount_add(text, unit, value[i]);
	}
	doc_str(d, metric_info[c->metric].name);
	add_name(d, view, c);
}

static void add_changes(struct doc *d, const struct history_view *view, const struct history_change *change,
			size_t n)
{
	static const struct doc_column columns[] = {
		{ "change", .type = DOC_REAL, .width = 10 }, { "share", .type = DOC_REAL, .width = 8 },
		{ "before", .type = DOC_REAL, .width = 9 }, { "after", .type = DOC_REAL, .width = 9 },
		{ .gap = 2, .width = 7 }, { "task", .gap = 1 },
	};
	static const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true, .tone = TONE_FAINT,
	};
	size_t shown = view->top && view->top < n ? view->top : n;

	doc_table(d, &table);
	for (size_t i = 0; i < shown; i++)
		add_change(d, view, &change[i]);
	if (shown < n)
		buf_addf(doc_item(d, CELLS_COLUMNS), "... and %zu more", n - shown);
	doc_table_end(d, 0);
}

static void add_event(struct doc *d, const struct history_view *view, const struct history_event *e)
{
	const struct history_change *change = view->history->change + e->first_change;
	struct buf dates = BUF_PART_OF(d->out), sums = BUF_PART_OF(d->out);

	doc_empty_line(d);
	add_dates(&dates, view->builds, e, change->creep);
	add_sums(&sums, view->history, e);
	doc_lead(d, e->worse ? TONE_ALARM : TONE_TITLE, buf_str(&dates), buf_str(&sums));
	if (e->host)
		buf_adds(doc_item(d, HISTORY_INDENT), change->task == TASK_HOST ?
			 "all tasks changed: the host, or a tool that they all use" :
			 "the host, its memory or its tools changed");
	history_add_revisions(d, view->builds, e->first, e->last, HISTORY_INDENT);
	add_changes(d, view, change, e->n_changes);
	buf_release(&dates);
	buf_release(&sums);
}

int history_doc(struct doc *d, const struct history_view *view)
{
	int r = 0;

	add_head(d, view);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (!view->series[m])
			continue;
		doc_empty_line(d);
		r = history_add_series(d, view, m);
	}
	for (size_t i = 0; view->task == HISTORY_ALL && i < view->history->n_events; i++)
		add_event(d, view, &view->history->event[i]);
	doc_flush(d);
	return r ? r : buf_error(d->out);
}
