/* SPDX-License-Identifier: MIT */
#include "report/diff_picture.h"

#include "base/array.h"
#include "base/sort.h"
#include "report/amount.h"
#include "report/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Now less base; what is missing on a side is 0 there. NaN: unknown. */
static double change_of(const struct diff_picture *p, uint32_t task)
{
	const struct diff *d = p->view->diff;
	const struct diff_value *f = &d->value[p->metric][task];

	switch (d->task[task].presence) {
	case DIFF_NEW:
		return f->value[DIFF_NOW];
	case DIFF_GONE:
		return -f->value[DIFF_BASE];
	default:
		return f->change;
	}
}

enum difference diff_picture_difference(const struct diff_picture *p, uint32_t task)
{
	const struct diff *d = p->view->diff;
	const struct diff_value *f = &d->value[p->metric][task];

	if (d->task[task].presence != DIFF_BOTH)
		return DIFFERENCE_ONLY;
	if (d->tested ? !diff_is_change(f) : !f->large)
		return DIFFERENCE_NONE;
	return difference_of(f->change, p->much);
}

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	double x = fabs(change_of(ctx, a)), y = fabs(change_of(ctx, b));

	return x != y ? x > y : a < b;
}

/* Of the tasks in both builds: a new one of an hour makes no other change small. */
static double largest(const struct diff_picture *p)
{
	const struct diff *d = p->view->diff;
	double most = 0;

	for (size_t i = 0; i < d->n_tasks; i++) {
		if (d->task[i].presence == DIFF_BOTH)
			most = fmax(most, fabs(d->value[p->metric][i].change));
	}
	return most;
}

int diff_picture_make(struct diff_picture *p, const struct diff_view *v)
{
	const struct diff *d = v->diff;

	*p = (struct diff_picture){ .view = v };
	while (p->metric < METRICS && !d->value[p->metric])
		p->metric++;
	if (p->metric == METRICS)
		return 0;
	p->much = difference_much(largest(p));
	p->ranked = array_new(d->n_tasks, sizeof *p->ranked);
	if (!p->ranked)
		return -ENOMEM;
	for (size_t i = 0; i < d->n_tasks; i++) {
		double change = change_of(p, (uint32_t)i);

		if (change > 0 || change < 0)
			p->ranked[p->n++] = (uint32_t)i;
	}
	p->n_ranked = sort_top(p->ranked, p->n, v->top, before, p);
	for (size_t i = 0; i < p->n_ranked; i++) {
		double change = change_of(p, p->ranked[i]);
		double *most = &p->most[change > 0];

		*most = fmax(*most, fabs(change));
	}
	return 0;
}

void diff_picture_release(struct diff_picture *p)
{
	free(p->ranked);
}

static void add_style(struct markup *h, double left, double width)
{
	struct buf text = BUF_PART_OF(h->out);

	buf_addf(&text, "left:%.2f%%;width:%.2f%%", 100 * left, 100 * width);
	html_style_attr(h, &text);
	buf_release(&text);
}

static void begin_item(struct markup *h, enum difference d)
{
	char class[] = { 'd', (char)('0' + d), '\0' };

	markup_open(h, "li", class);
}

static void add_text(struct markup *h, const char *class, struct buf *text)
{
	markup_leaf(h, "span", class, buf_str(text));
	buf_clear(text);
}

static void add_task(struct markup *h, const struct diff_picture *p, uint32_t task)
{
	const struct diff *d = p->view->diff;
	const struct diff_value *f = &d->value[p->metric][task];
	enum unit unit = metric_info[p->metric].unit;
	enum diff_presence presence = d->task[task].presence;
	double change = change_of(p, task), all = p->most[0] + p->most[1];
	bool plain = diff_picture_difference(p, task) == DIFFERENCE_NONE;
	double zero = p->most[0] / all, width = fabs(change) / all;
	struct buf text = BUF_PART_OF(h->out);

	begin_item(h, diff_picture_difference(p, task));
	markup_leaf(h, "span", "name", d->task[task].name);
	if (presence == DIFF_NEW)
		buf_adds(&text, "new");
	else
		amount_add(&text, unit, f->value[DIFF_BASE]);
	buf_adds(&text, " \u2192 ");
	if (presence == DIFF_GONE)
		buf_adds(&text, "gone");
	else
		amount_add(&text, unit, f->value[DIFF_NOW]);
	add_text(h, "sides", &text);
	markup_open(h, "span", "track");
	markup_begin(h, "i");
	add_style(h, change < 0 ? zero - width : zero, width);
	markup_end(h);
	markup_open(h, "i", "zero");
	add_style(h, zero, 0);
	markup_end(h);
	markup_end(h);
	amount_add_change(&text, unit, change);
	if (presence == DIFF_BOTH) {
		buf_adds(&text, " (");
		amount_add_share(&text, f->share);
		buf_addc(&text, ')');
	}
	add_text(h, plain ? "delta" : change > 0 ? "delta worse" : "delta better", &text);
	markup_end(h);
	buf_release(&text);
}

/* The ends of the scale in words: a bar is never explained by its colour alone. */
static void add_axis(struct markup *h, const struct diff_picture *p)
{
	enum unit unit = metric_info[p->metric].unit;
	const char *less = metric_info[p->metric].time ? "faster" : "less";
	const char *more = metric_info[p->metric].time ? "slower" : "more";
	struct buf text = BUF_PART_OF(h->out);

	markup_open(h, "li", "axis");
	markup_attr(h, "aria-hidden", "true");
	markup_open(h, "span", "track");
	if (p->most[0] > 0) {
		buf_addf(&text, "\u25c0 %s, ", less);
		amount_add(&text, unit, p->most[0]);
	}
	add_text(h, "low", &text);
	if (p->most[1] > 0) {
		amount_add(&text, unit, p->most[1]);
		buf_addf(&text, ", %s \u25b6", more);
	}
	add_text(h, "high", &text);
	markup_end(h);
	markup_end(h);
	buf_release(&text);
}

void diff_picture_add_answer(struct markup *h, const struct diff_picture *p)
{
	const struct diff *d = p->view->diff;
	const struct diff_value *f = &d->whole[p->metric];
	enum unit unit = metric_info[p->metric].unit;
	struct buf text = BUF_PART_OF(h->out);

	if (p->metric == METRICS || isnan(f->change))
		return;
	buf_addf(&text, "%s of the build: ", metric_info[p->metric].title);
	if (text.len)
		*text.data = (char)(*text.data - 'a' + 'A');
	amount_add(&text, unit, f->value[DIFF_BASE]);
	buf_adds(&text, " \u2192 ");
	amount_add(&text, unit, f->value[DIFF_NOW]);
	buf_adds(&text, ", ");
	amount_add_change(&text, unit, f->change);
	buf_adds(&text, " (");
	amount_add_share(&text, f->share);
	buf_addc(&text, ')');
	if (p->n_ranked) {
		buf_adds(&text, ". Largest difference of a task: ");
		amount_add_change(&text, unit, change_of(p, p->ranked[0]));
		buf_addf(&text, ", %s", d->task[p->ranked[0]].name);
	}
	buf_addc(&text, '.');
	markup_leaf(h, "p", "answer", buf_str(&text));
	buf_release(&text);
}

void diff_picture_add_ranked(struct markup *h, const struct diff_picture *p)
{
	struct buf text = BUF_PART_OF(h->out);

	if (!p->n)
		return;
	buf_addf(&text, "Where the %s differs", metric_info[p->metric].title);
	markup_leaf(h, "h2", NULL, buf_str(&text));
	markup_open(h, "ol", "ranked");
	add_axis(h, p);
	for (size_t i = 0; i < p->n_ranked; i++)
		add_task(h, p, p->ranked[i]);
	markup_end(h);
	if (p->n > p->n_ranked) {
		buf_clear(&text);
		buf_addf(&text, "And %zu tasks with smaller differences.", p->n - p->n_ranked);
		markup_leaf(h, "p", "faint", buf_str(&text));
	}
	buf_release(&text);
}

void diff_picture_add_keys(struct markup *h, const struct diff_picture *p)
{
	static const char *const words[2][DIFFERENCES] = {
		{ "less by", "less", NULL, "more", "more by", "in one build only" },
		{ "faster by", "faster", NULL, "slower", "slower by", "in one build only" },
	};
	const char *const *word = words[metric_info[p->metric].time];
	const char *none = p->view->diff->tested ? "no confirmed difference" : "below the thresholds";
	struct buf text = BUF_PART_OF(h->out);
	bool used[DIFFERENCES] = { false };

	for (size_t i = 0; i < p->view->diff->n_tasks; i++)
		used[diff_picture_difference(p, (uint32_t)i)] = true;
	markup_open(h, "ul", "keys");
	markup_attr(h, "aria-label", "Colours");
	for (enum difference d = 0; d < DIFFERENCES; d++) {
		if (!used[d])
			continue;
		buf_adds(&text, d == DIFFERENCE_NONE ? none : word[d]);
		if (d == DIFFERENCE_MUCH_LESS || d == DIFFERENCE_MUCH_MORE) {
			buf_addc(&text, ' ');
			if (metric_info[p->metric].unit == UNIT_US)
				difference_add_time(&text, p->much);
			else
				amount_add(&text, metric_info[p->metric].unit, p->much);
			buf_adds(&text, " or more");
		}
		begin_item(h, d);
		markup_text(h, buf_str(&text));
		markup_end(h);
		buf_clear(&text);
	}
	markup_end(h);
	buf_release(&text);
}
