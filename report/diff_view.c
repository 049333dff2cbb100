/* SPDX-License-Identifier: MIT */
#include "report/diff_view.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "report/amount.h"
#include "report/words_change.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const char *const diff_sort_word[DIFF_SORTS + 1] = {
	"change", "share", "base", "new", "name", NULL,
};

const char *const diff_end_title[DIFF_END_OTHER + 1] = {
	[DIFF_END_FAILS] = "Fails now", [DIFF_END_FIXED] = "Fixed",
	[DIFF_END_OTHER] = "Fails with another status",
};

const char *const diff_package_word[PACKAGE_REVISION + 1] = {
	[PACKAGE_NEW] = "new", [PACKAGE_GONE] = "gone", [PACKAGE_EPOCH] = "epoch",
	[PACKAGE_UPGRADED] = "upgraded", [PACKAGE_DOWNGRADED] = "downgraded",
	[PACKAGE_SOURCES] = "sources", [PACKAGE_REVISION] = "revision",
};

const char *const diff_rename_word[RENAME_SIMILAR + 1] = {
	[RENAME_MOVED] = "moved", [RENAME_SIMILAR] = "similar",
};

const char *const diff_unlike_word[DIFF_UNLIKES] = {
	[DIFF_UNLIKE_MACHINE] = "machine", [DIFF_UNLIKE_DIRECTORY] = "directory",
	[DIFF_UNLIKE_COMMAND] = "command", [DIFF_UNLIKE_SOURCES] = "source tree",
	[DIFF_UNLIKE_TASKS] = "tasks",
};

#define BEYOND "beyond the thresholds"

struct order {
	const struct diff_view *view;
	const struct diff_value *value;
};

static double key_of(const struct diff_value *f, enum diff_sort sort)
{
	switch (sort) {
	case DIFF_SORT_CHANGE:
		return fabs(f->change);
	case DIFF_SORT_SHARE:
		return fabs(f->share);
	case DIFF_SORT_BASE:
		return f->value[DIFF_BASE];
	case DIFF_SORT_NEW:
		return f->value[DIFF_NOW];
	default:
		return 0;
	}
}

/* Tasks are sorted by name, so the index decides among equal ones. */
static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct order *o = ctx;
	const struct diff_value *x = &o->value[a], *y = &o->value[b];
	double p = key_of(x, o->view->sort), q = key_of(y, o->view->sort);

	if (diff_is_change(x) != diff_is_change(y))
		return diff_is_change(x);
	if (isnan(p) || isnan(q) || p == q)
		return isnan(p) != isnan(q) ? isnan(q) : (a < b) != o->view->reverse;
	return (p > q) != o->view->reverse;
}

int diff_list(const struct diff_view *v, enum metric m, uint32_t **task, size_t *n)
{
	const struct diff *d = v->diff;
	struct order order = { v, d->value[m] };
	uint32_t *list = array_new(d->n_tasks, sizeof *list);

	*n = 0;
	*task = list;
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_value *f = &order.value[i];

		if (f->large || (v->all && !isnan(f->change)))
			list[(*n)++] = (uint32_t)i;
	}
	sort_top(list, *n, v->top, before, &order);
	return 0;
}

static bool longer(const void *ctx, uint32_t a, uint32_t b)
{
	const struct diff *d = ctx;
	const struct diff_value *wall = d->value[METRIC_WALL];
	double p = 0, q = 0;

	if (wall) {
		enum diff_side s = d->task[a].presence == DIFF_NEW ? DIFF_NOW : DIFF_BASE;

		p = isnan(wall[a].value[s]) ? -1 : wall[a].value[s];
		q = isnan(wall[b].value[s]) ? -1 : wall[b].value[s];
	}
	return p != q ? p > q : a < b;
}

int diff_list_lost(const struct diff_view *v, enum diff_presence presence, uint32_t **task,
		   size_t *n)
{
	const struct diff *d = v->diff;
	uint32_t *list = array_new(d->n_tasks, sizeof *list);

	*n = 0;
	*task = list;
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_tasks; i++) {
		if (d->task[i].presence == presence)
			list[(*n)++] = (uint32_t)i;
	}
	sort_top(list, *n, v->top, longer, d);
	return 0;
}

static void add_more(struct buf *out, bool *any, size_t n, const char *what)
{
	if (!n)
		return;
	buf_addf(out, "%s%zu %s", *any ? ", " : "", n, what);
	*any = true;
}

void diff_add_counts(struct buf *out, const struct diff *d)
{
	bool any = true;

	buf_addf(out, "%zu compared", d->n_tasks - d->n_new - d->n_gone);
	add_more(out, &any, d->n_new, "new");
	add_more(out, &any, d->n_gone, "gone");
	add_more(out, &any, d->n_renamed, "renamed");
	add_more(out, &any, d->n_fails, d->n_fails == 1 ? "fails now" : "fail now");
	add_more(out, &any, d->n_fixed, "fixed");
}

void diff_add_warning(struct buf *out, const struct diff *d)
{
	unsigned facts = d->unlike & ~DIFF_UNLIKE_BIT(DIFF_UNLIKE_TASKS);
	const char *before = "another ";

	if (!d->unlike)
		return;
	buf_adds(out, "these may be builds of different things: ");
	for (enum diff_unlike u = 0; u < DIFF_UNLIKES; u++) {
		if (!(facts & DIFF_UNLIKE_BIT(u)))
			continue;
		buf_addf(out, "%s%s", before, diff_unlike_word[u]);
		before = ", ";
	}
	if (facts == d->unlike)
		return;
	buf_adds(out, facts ? "; " : "");
	if (d->n_both)
		buf_addf(out, "only %zu of %zu tasks are in both", d->n_both,
			 MAX(d->n_base, d->n_now));
	else
		buf_adds(out, "no task is in both");
}

const char *const diff_untested_word[DIFF_UNTESTEDS] = {
	[DIFF_IGNORED] = "ignored", [DIFF_SMALL] = "below_thresholds",
	[DIFF_FEW_RUNS] = "few_runs", [DIFF_FROM_ZERO] = "zero_in_base",
};

/* "; not tested: 12 below the thresholds, 3 known in fewer than two runs of a side" */
static void add_untested(struct buf *out, const struct diff *d)
{
	static const char *const reason[DIFF_UNTESTEDS] = {
		[DIFF_IGNORED] = "ignored by a rule",
		[DIFF_SMALL] = "below the thresholds",
		[DIFF_FEW_RUNS] = "known in fewer than two runs of a side",
		[DIFF_FROM_ZERO] = "0 in base",
	};
	const char *before = d->n_tests ? "; not tested:" : ":";

	for (enum diff_untested u = DIFF_IGNORED; u < DIFF_UNTESTEDS; u++) {
		if (!d->n_untested[u])
			continue;
		buf_addf(out, "%s %zu %s", before, d->n_untested[u], reason[u]);
		before = ",";
	}
}

void diff_add_verdict(struct buf *out, const struct diff *d)
{
	size_t higher = 0, lower = 0;
	bool any = true;

	if (!d->tested) {
		buf_adds(out, "not tested: one build on a side cannot show a difference beyond "
			 "noise; use two or more of each");
		return;
	}
	for (enum metric m = 0; m < METRICS; m++) {
		if (!d->value[m])
			continue;
		higher += d->n_higher[m] + (d->whole[m].verdict == VERDICT_HIGHER);
		lower += d->n_lower[m] + (d->whole[m].verdict == VERDICT_LOWER);
	}
	if (!d->n_tests) {
		buf_adds(out, "nothing tested");
	} else if (!higher && !lower) {
		words_add_count(out, d->n_tests, "value", "values");
		buf_addf(out, " tested, no difference %s", d->n_uncertain ? "confirmed" : BEYOND);
		add_more(out, &any, d->n_uncertain, "uncertain");
	} else {
		buf_addf(out, "%zu higher, %zu lower", higher, lower);
		add_more(out, &any, d->n_uncertain, "uncertain");
		buf_adds(out, " of ");
		words_add_count(out, d->n_tests, "value", "values");
		buf_addf(out, " tested; false discovery rate at most %g %%", 100 * d->rate);
	}
	add_untested(out, d);
}

void diff_add_thresholds(struct buf *out, const struct diff *d)
{
	const struct gate *first = NULL;
	bool same = true;

	for (enum metric m = 0; m < METRICS; m++) {
		if (!d->value[m] || d->gate[m].ignored)
			continue;
		first = first ? first : &d->gate[m];
		same = same && d->gate[m].share == first->share;
	}
	if (first && same)
		buf_addf(out, "%g %%", 100 * first->share);
	for (enum metric m = 0; m < METRICS; m++) {
		const struct gate *gate = &d->gate[m];

		if (!d->value[m] || gate->ignored)
			continue;
		buf_addf(out, "%s%s ", gate != first ? ", " : same ? " and " : "",
			 metric_info[m].name);
		if (!same)
			buf_addf(out, "%g %% and ", 100 * gate->share);
		amount_add(out, metric_info[m].unit, gate->amount);
		if (gate->floor > 0) {
			buf_adds(out, " of tasks from ");
			amount_add(out, metric_info[m].unit, gate->floor);
		}
	}
}

void diff_add_common(struct buf *out, const struct diff *d, enum metric m)
{
	if (isnan(d->common[m]) || fabs(d->common[m] - 1) < 0.005)
		return;
	amount_add_share(out, d->common[m] - 1);
	buf_addf(out, " %s", metric_info[m].title);
}

void diff_add_heading(struct buf *out, const struct diff *d, enum metric m)
{
	const char *title = metric_info[m].title;
	size_t up = 0, down = 0, unsure = 0, tests = 0, untested = 0;
	bool any = false;

	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_value *f = &d->value[m][i];
		bool counts = d->tested ? diff_is_change(f) : f->large;

		up += counts && f->change > 0;
		down += counts && !(f->change > 0);
		tests += f->test != NULL;
		unsure += f->test && f->verdict == VERDICT_UNKNOWN;
		untested += f->untested >= DIFF_IGNORED;
	}
	buf_addf(out, "%c%s: ", *title >= 'a' && *title <= 'z' ? *title - 'a' + 'A' : *title,
		 title + 1);
	add_more(out, &any, up, "higher");
	add_more(out, &any, down, "lower");
	add_more(out, &any, unsure, "uncertain");
	if (!any)
		buf_adds(out, !d->tested ? "nothing above the thresholds" : !tests ?
			 "nothing tested" : "no difference " BEYOND);
	any = true;
	add_more(out, &any, tests ? untested : 0, "not tested");
}

void diff_add_end(struct buf *out, const struct diff *d, const struct diff_task *t,
		  enum diff_side s)
{
	amount_add(out, UNIT_STATUS, (double)t->status[s]);
	if (d->n_runs[s] > 1 && t->n_failed[s])
		buf_addf(out, " in %zu of %zu", t->n_failed[s], d->n_runs[s]);
}

void diff_add_interval(struct buf *out, const struct diff_value *f)
{
	if (!f->test || !isfinite(f->test->in.low) || !isfinite(f->test->in.high))
		return;
	amount_add_interval(out, f->share, f->test->in.low, f->test->in.high);
}

void diff_add_rate(struct buf *out, const struct diff_value *f)
{
	double rate = f->test ? f->test->rate : NAN;

	if (f->untested >= DIFF_IGNORED)
		buf_adds(out, "untested");
	else if (rate < 0.0005)
		buf_adds(out, "<0.001");
	else if (!isnan(rate))
		buf_addf(out, "%.3f", rate);
}

void diff_add_fact(struct buf *out, const struct diff_fact *f, enum diff_side s)
{
	const char *value = f->value[s];
	uint64_t kb;

	if (!*value)
		buf_adds(out, "unknown");
	else if (!strcmp(f->key, "memory_kb") &&
		 cursor_slice_u64(slice_of(value), &kb))
		amount_add(out, UNIT_KB, (double)kb);
	else
		buf_adds(out, value);
}
