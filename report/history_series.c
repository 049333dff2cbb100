/* SPDX-License-Identifier: MIT */
#include "report/history_parts.h"

#include "base/array.h"
#include "report/amount.h"
#include "report/sparkline.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_COLUMNS 16
#define SPARK_COLUMNS 60
#define SPARK_LEAST 10

static int in_order(const void *a, const void *b)
{
	const struct history_change *x = *(const struct history_change *const *)a;
	const struct history_change *y = *(const struct history_change *const *)b;

	return x->change.at < y->change.at ? -1 : x->change.at > y->change.at;
}

int history_levels_find(struct history_levels *l, const struct history_view *view, enum metric m)
{
	const struct history *h = view->history;
	uint32_t task = view->task == HISTORY_ALL ? TASK_TOTAL : view->task;

	*l = (struct history_levels){ .change = array_new(h->n_changes, sizeof *l->change) };
	if (!l->change)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_changes; i++) {
		if (h->change[i].task == task && h->change[i].metric == m)
			l->change[l->n++] = &h->change[i];
	}
	qsort(l->change, l->n, sizeof *l->change, in_order);
	return 0;
}

void history_levels_release(struct history_levels *l)
{
	free(l->change);
}

static int median_of(double *median, const double *values, size_t n)
{
	double *known = array_new(n, sizeof *known);
	size_t count = 0;

	if (!known)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (isfinite(values[i]))
			known[count++] = values[i];
	}
	*median = stats_median(known, count);
	free(known);
	return 0;
}

/* A long title has a line of its own. */
static int add_title(struct doc *d, const struct history_view *view, enum metric m)
{
	static const struct doc_column columns[] = { { .width = TITLE_COLUMNS }, { .gap = 2 } };
	static const struct doc_table table = { .column = columns, .n_columns = 2 };
	size_t width = d->style->width;
	size_t spark = width && width < TITLE_COLUMNS + SPARK_COLUMNS + 2 ?
		       width > TITLE_COLUMNS + SPARK_LEAST + 2 ? width - TITLE_COLUMNS - 2 :
		       SPARK_LEAST : SPARK_COLUMNS;
	bool is_long = strlen(metric_info[m].title) > TITLE_COLUMNS;
	int r;

	if (is_long)
		doc_lead(d, TONE_TITLE, metric_info[m].title, "");
	doc_table(d, &table);
	doc_row(d);
	doc_str(d, is_long ? "" : metric_info[m].title);
	doc_tone(d, TONE_TITLE);
	r = sparkline_add(doc_text(d, NAN), view->series[m], view->builds->n, spark, view->ascii);
	doc_tone(d, TONE_BAR);
	doc_table_end(d, 0);
	return r;
}

static void add_value(struct buf *out, const struct history_view *view, enum metric m, double value)
{
	if (view->task == TASK_HOST)
		buf_addf(out, "%.3f", value);
	else
		amount_add(out, metric_info[m].unit, value);
}

/* "2025-11-21  12.3 s", to which the caller adds */
static struct buf *begin_level(struct doc *d, const struct history_view *view, enum metric m, uint32_t build,
			       double value)
{
	struct buf *text = doc_item(d, 2);

	history_add_build(text, view->builds, build);
	buf_adds(text, "  ");
	add_value(text, view, m, value);
	return text;
}

static int add_first(struct doc *d, const struct history_view *view, enum metric m, const struct history_levels *l)
{
	const double *series = view->series[m];
	size_t n = view->builds->n;
	uint32_t first = 0;
	double value;
	int r = median_of(&value, series, n);

	if (r)
		return r;
	if (isnan(value)) {
		buf_adds(doc_item(d, 2), "not recorded in any build");
		return 0;
	}
	while (first + 1 < n && !isfinite(series[first]))
		first++;
	buf_adds(begin_level(d, view, m, first, l->n ? l->change[0]->change.before : value),
		 l->n ? "" : ", no change");
	return 0;
}

/* "2026-06-09  14.8 s, +2.5 s, +20 % (2026-06-08 to 2026-06-10)", then revisions and note. */
static void add_level(struct doc *d, const struct history_view *view, const struct history_change *c)
{
	const struct change *change = &c->change;
	struct buf *text = begin_level(d, view, c->metric, change->at, change->after);

	if (view->task != TASK_HOST) {
		buf_adds(text, ", ");
		amount_add_change(text, metric_info[c->metric].unit, change->after - change->before);
	}
	buf_adds(text, ", ");
	amount_add_share(text, change->effect);
	if (c->creep || change->first < change->last) {
		buf_adds(text, c->creep ? ", gradually, " : " (");
		history_add_build(text, view->builds, change->first);
		buf_adds(text, " to ");
		history_add_build(text, view->builds, change->last);
		buf_adds(text, c->creep ? "" : ")");
	}
	history_add_revisions(d, view->builds, change->first, change->last, HISTORY_INDENT + 2);
	if (c->known)
		history_add_known(doc_item(d, HISTORY_INDENT + 2), c->known);
}

/* "2026-11-23  12.3 s, median of 3 runs, standard deviation 0.2 s", if the newest build is a set. */
static void add_set(struct doc *d, const struct history_view *view, enum metric m)
{
	uint32_t newest = (uint32_t)view->builds->n - 1;
	const struct build *build = &view->builds->build[newest];
	struct buf *text;

	if ((view->task != HISTORY_ALL && view->task != TASK_TOTAL) || !view->builds->n ||
	    !build->runs || !isfinite(view->series[m][newest]))
		return;
	text = begin_level(d, view, m, newest, view->series[m][newest]);
	buf_addf(text, ", median of %u runs", build->runs);
	if (!isnan(build->spread[m])) {
		buf_adds(text, ", standard deviation ");
		amount_add(text, metric_info[m].unit, build->spread[m]);
	}
}

int history_add_series(struct doc *d, const struct history_view *view, enum metric m)
{
	struct history_levels l;
	int r = history_levels_find(&l, view, m);

	if (!r)
		r = add_title(d, view, m);
	if (!r)
		r = add_first(d, view, m, &l);
	for (size_t i = 0; !r && i < l.n; i++)
		add_level(d, view, l.change[i]);
	if (!r)
		add_set(d, view, m);
	history_levels_release(&l);
	return r;
}

int history_view_fill(struct history_view *view, const struct history *history,
		      const struct builds *builds, unsigned metrics, struct error *err)
{
	uint32_t task = view->task == HISTORY_ALL ? TASK_TOTAL : view->task;

	view->builds = builds;
	view->history = history;
	view->metrics = metrics;
	for (enum metric m = 0; m < METRICS; m++) {
		int r;

		if (!(metrics & METRIC_BIT(m)) || (task == TASK_HOST && !metric_info[m].time))
			continue;
		view->series[m] = array_new(builds->n, sizeof **view->series);
		if (!view->series[m])
			return error_sys(err, -ENOMEM, builds->ref, NULL);
		r = history_series(history, builds, task, m, view->series[m], err);
		if (r)
			return r;
	}
	return 0;
}

void history_view_release(struct history_view *view)
{
	for (enum metric m = 0; m < METRICS; m++)
		free(view->series[m]);
}
