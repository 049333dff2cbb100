/* SPDX-License-Identifier: MIT */
#include "report/history_parts.h"

#include "base/array.h"
#include "compare/verdict.h"
#include "report/amount.h"
#include "report/revisions.h"
#include "report/words.h"
#include "write/doc.h"

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
	buf_adds(b, known->kind == KNOWN_ACCEPTED ? "accepted: " : "acknowledged: ");
	text_add_name(b, known->reason, 0);
}

static void add_commit(struct buf *b, const struct revision *r)
{
	if (r)
		buf_addf(b, "%.*s", COMMIT_DIGITS, r->commit);
}

static void add_range(const struct history_page *p, const struct revisions_range *range)
{
	const struct revision *to = range->to;

	text_add_name(p->out, range->source, 0);
	buf_addc(p->out, ' ');
	if (revisions_range_is_empty(range)) {
		add_commit(p->out, to);
		buf_adds(p->out, ", no commits");
	} else {
		add_commit(p->out, range->from);
		buf_adds(p->out, "..");
		add_commit(p->out, to);
	}
	if ((range->from && range->from->dirty) || (to && to->dirty))
		buf_adds(p->out, ", with uncommitted changes");
	buf_addc(p->out, '\n');
}

void history_add_revisions(const struct history_page *p, uint32_t first, uint32_t last,
			   unsigned indent)
{
	struct revisions_range range;

	for (size_t i = 0; revisions_range(&range, p->view->builds, first, last, i); i++) {
		text_add_blanks(p->out, indent);
		text_tone(p->out, p->style, TONE_FAINT);
		add_range(p, &range);
		text_tone(p->out, p->style, TONE_PLAIN);
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
static void add_former_names(const struct history_page *p)
{
	const struct builds *builds = p->view->builds;
	const struct builds_task *task = p->view->task < builds->n_tasks ?
					 &builds->task[p->view->task] : NULL;

	for (size_t i = task ? task->n_held : 0; i-- > 1; ) {
		buf_adds(p->out, "  before ");
		history_add_build(p->out, builds, task->held[i].first);
		buf_adds(p->out, ": ");
		text_add_name(p->out, task->held[i - 1].name, 0);
		buf_addc(p->out, '\n');
	}
}

static void add_head(const struct history_page *p)
{
	const struct history_view *view = p->view;

	if (view->task != HISTORY_ALL) {
		text_tone(p->out, p->style, TONE_TITLE);
		history_add_subject(p->out, view);
		text_tone(p->out, p->style, TONE_PLAIN);
		buf_addc(p->out, '\n');
		add_former_names(p);
	}
	history_add_span(p->out, view->builds);
	buf_addf(p->out, "\n%zu change%s in %zu series", view->history->n_changes,
		 plural(view->history->n_changes), view->history->n_series);
	if (view->task == HISTORY_ALL)
		buf_addf(p->out, ", %zu event%s", view->history->n_events,
			 plural(view->history->n_events));
	buf_addc(p->out, '\n');
}

static void add_dates(const struct history_page *p, const struct history_event *e, bool creep)
{
	const struct builds *builds = p->view->builds;

	text_tone(p->out, p->style, e->worse ? TONE_ALARM : TONE_TITLE);
	history_add_build(p->out, builds, creep ? e->first : e->at);
	if (creep || e->first < e->last) {
		buf_adds(p->out, creep ? " to " : " (");
		if (!creep) {
			history_add_build(p->out, builds, e->first);
			buf_adds(p->out, " to ");
		}
		history_add_build(p->out, builds, e->last);
		buf_adds(p->out, creep ? ", gradually" : ")");
	}
	buf_adds(p->out, e->worse ? "  worse" : "  better");
	text_tone(p->out, p->style, TONE_PLAIN);
}

static void add_sums(const struct history_page *p, const struct history_event *e)
{
	const struct history_change *last =
		&p->view->history->change[e->first_change + e->n_changes - 1];
	const char *between = last->task < HISTORY_ALL ? ", sum of its tasks: " : ": ";

	for (enum metric m = 0; m < METRICS; m++) {
		if (!e->contribution[m])
			continue;
		buf_addf(p->out, "%s%s ", between, metric_info[m].name);
		amount_add_change(p->out, metric_info[m].unit, e->contribution[m]);
		between = ", ";
	}
	buf_addc(p->out, '\n');
}

static void add_name(struct buf *text, const struct history_page *p, const struct history_change *c)
{
	unsigned width = p->style->width;
	const char *name = c->task == TASK_TOTAL ? "the build" :
			   c->task == TASK_HOST ? "all tasks" :
			   p->view->builds->task[c->task].name;

	text_add_name(text, name, !width ? 0 : width > CELLS_COLUMNS + NAME_LEAST ?
		      width - CELLS_COLUMNS : NAME_LEAST);
	if (c->finding && c->finding->state == FINDING_SUSPECT)
		buf_addf(text, "  %s", words_finding_state[FINDING_SUSPECT]);
	if (c->known) {
		buf_adds(text, "  ");
		history_add_known(text, c->known);
	}
}

static void add_change(struct doc *d, const struct history_page *p, const struct history_change *c)
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
	add_name(doc_text(d, NAN), p, c);
}

static void add_changes(const struct history_page *p, const struct history_change *change, size_t n)
{
	static const struct doc_column columns[] = {
		{ "change", .type = DOC_REAL, .width = 10 }, { "share", .type = DOC_REAL, .width = 8 },
		{ "before", .type = DOC_REAL, .width = 9 }, { "after", .type = DOC_REAL, .width = 9 },
		{ .gap = 2, .width = 7 }, { "task", .gap = 1 },
	};
	static const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true, .tone = TONE_FAINT,
	};
	size_t shown = p->view->top && p->view->top < n ? p->view->top : n;
	struct doc d;

	doc_init_terminal(&d, p->out, p->style);
	doc_table(&d, &table);
	for (size_t i = 0; i < shown; i++)
		add_change(&d, p, &change[i]);
	if (shown < n)
		buf_addf(doc_item(&d, CELLS_COLUMNS), "... and %zu more", n - shown);
	doc_table_end(&d, 0);
	doc_release(&d);
}

static void add_event(const struct history_page *p, const struct history_event *e)
{
	const struct history *h = p->view->history;
	const struct history_change *change = h->change + e->first_change;

	buf_addc(p->out, '\n');
	add_dates(p, e, change->creep);
	add_sums(p, e);
	if (e->host) {
		text_add_blanks(p->out, HISTORY_INDENT);
		buf_adds(p->out, change->task == TASK_HOST ?
			 "all tasks changed: the host, or a tool that they all use\n" :
			 "the host, its memory or its tools changed\n");
	}
	history_add_revisions(p, e->first, e->last, HISTORY_INDENT);
	add_changes(p, change, e->n_changes);
}

int history_text(struct buf *out, const struct history_view *view, const struct style *style)
{
	struct history_page p = { out, view, style };
	int r = 0;

	add_head(&p);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (!view->series[m])
			continue;
		buf_addc(out, '\n');
		r = history_add_series(&p, m);
	}
	for (size_t i = 0; view->task == HISTORY_ALL && i < view->history->n_events; i++)
		add_event(&p, &view->history->event[i]);
	return r ? r : buf_error(out);
}
