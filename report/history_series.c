/* SPDX-License-Identifier: MIT */
#include "report/history_parts.h"

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

static int median_of(double *median, const double *values, size_t n)
{
	double *known = malloc((n + 1) * sizeof *known);
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

/* One word more than 16 columns is followed by its line. */
static int add_title(const struct history_page *p, enum metric m)
{
	const struct history_view *told = p->told;
	size_t width = p->style->width, n = strlen(metric_info[m].title);
	size_t spark = width && width < TITLE_COLUMNS + SPARK_COLUMNS + 2 ?
		       width > TITLE_COLUMNS + SPARK_LEAST + 2 ? width - TITLE_COLUMNS - 2 :
		       SPARK_LEAST : SPARK_COLUMNS;
	int r;

	text_tone(p->out, p->style, TONE_TITLE);
	buf_adds(p->out, metric_info[m].title);
	text_tone(p->out, p->style, TONE_PLAIN);
	if (n > TITLE_COLUMNS) {
		buf_addc(p->out, '\n');
		n = 0;
	}
	text_add_blanks(p->out, TITLE_COLUMNS + 2 - n);
	text_tone(p->out, p->style, TONE_BAR);
	r = sparkline_add(p->out, told->series[m], told->builds->n, spark, told->ascii);
	text_tone(p->out, p->style, TONE_PLAIN);
	buf_addc(p->out, '\n');
	return r;
}

static void add_value(struct buf *out, const struct history_view *told, enum metric m, double value)
{
	if (told->task == TASK_HOST)
		buf_addf(out, "%.3f", value);
	else
		amount_add(out, metric_info[m].unit, value);
}

static uint32_t first_known(const double *values, size_t n)
{
	uint32_t i = 0;

	while (i + 1 < n && !isfinite(values[i]))
		i++;
	return i;
}

/* "2025-11-21  12.3 s" */
static int add_first(const struct history_page *p, enum metric m, const struct history_levels *l)
{
	const struct history_view *told = p->told;
	size_t n = told->builds->n;
	double value;
	int r = median_of(&value, told->series[m], n);

	if (r)
		return r;
	buf_adds(p->out, "  ");
	if (isnan(value)) {
		buf_adds(p->out, "not recorded in any build\n");
		return 0;
	}
	history_add_build(p->out, told->builds, first_known(told->series[m], n));
	buf_adds(p->out, "  ");
	add_value(p->out, told, m, l->n ? l->change[0]->change.before : value);
	buf_adds(p->out, l->n ? "\n" : ", no change\n");
	return 0;
}

/* "2026-06-09  14.8 s, +2.5 s, +20 % (2026-06-08 to 2026-06-10)", and below what it may be. */
static void add_level(const struct history_page *p, const struct history_change *c)
{
	const struct history_view *told = p->told;
	const struct change *change = &c->change;

	buf_adds(p->out, "  ");
	history_add_build(p->out, told->builds, change->at);
	buf_adds(p->out, "  ");
	add_value(p->out, told, c->metric, change->after);
	if (told->task != TASK_HOST) {
		buf_adds(p->out, ", ");
		amount_add_change(p->out, metric_info[c->metric].unit, change->after - change->before);
	}
	buf_adds(p->out, ", ");
	amount_add_share(p->out, change->effect);
	if (c->creep || change->first < change->last) {
		buf_adds(p->out, c->creep ? ", gradually, " : " (");
		history_add_build(p->out, told->builds, change->first);
		buf_adds(p->out, " to ");
		history_add_build(p->out, told->builds, change->last);
		buf_adds(p->out, c->creep ? "" : ")");
	}
	buf_addc(p->out, '\n');
	history_add_revisions(p, change->first, change->last, HISTORY_INDENT + 2);
	if (c->known) {
		text_add_blanks(p->out, HISTORY_INDENT + 2);
		history_add_known(p, c->known);
		buf_addc(p->out, '\n');
	}
}

int history_add_series(const struct history_page *p, enum metric m)
{
	struct history_levels l;
	int r = history_levels_find(&l, p->told, m);

	if (!r)
		r = add_title(p, m);
	if (!r)
		r = add_first(p, m, &l);
	for (size_t i = 0; !r && i < l.n; i++)
		add_level(p, l.change[i]);
	history_levels_release(&l);
	return r;
}
