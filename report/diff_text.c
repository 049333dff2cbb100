/* SPDX-License-Identifier: MIT */
#include "report/diff_output.h"

#include "render/facts.h"
#include "render/show.h"
#include "report/amount.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_COLUMNS 9
#define INTERVAL_COLUMNS 17
#define RATE_COLUMNS 7
#define NAME_COLUMNS 24		/* minimum, other columns are left out */

struct text {
	struct buf *out;
	const struct diff_view *view;
	const struct style *style;
	bool values, intervals;	/* whether there are columns for them */
};

static void add_right(struct buf *out, struct buf *cell, size_t columns)
{
	size_t taken = text_columns(buf_str(cell), cell->len);

	text_add_blanks(out, taken < columns ? columns - taken : 0);
	buf_adds(out, buf_str(cell));
	buf_clear(cell);
}

static void add_rest(struct text *t, size_t n)
{
	buf_addf(t->out, "  and %zu more\n", n);
}

static void add_name(struct text *t, const char *name, size_t taken)
{
	unsigned width = t->style->width;

	text_add_name(t->out, name, !width ? 0 : width > taken + 6 ? width - taken : 6);
}

static void add_side(struct facts *f, const struct diff *d, enum diff_side s)
{
	const struct values *run = d->run[s];

	text_add_name(&f->part, run->path, 0);
	fact_part(f);
	if (run->start_s >= 0) {
		amount_add_day(&f->part, run->start_s);
		fact_part(f);
	}
	if (d->n_runs[s] > 1) {
		buf_addf(&f->part, "and %zu more", d->n_runs[s] - 1);
		fact_part(f);
	}
	fact_end(f, s == DIFF_BASE ? "base" : "new", TONE_TITLE);
}

static void add_head(struct text *t)
{
	const struct diff *d = t->view->diff;
	struct facts f;
	bool any = false;

	facts_begin(&f, t->out, t->style);
	add_side(&f, d, DIFF_BASE);
	add_side(&f, d, DIFF_NOW);
	diff_add_warning(&f.part, d);
	fact_part(&f);
	fact_end(&f, "warning", TONE_ALARM);
	diff_add_verdict(&f.part, d);
	fact_part(&f);
	fact_end(&f, "verdict", diff_is_worse(d) ? TONE_ALARM : TONE_TITLE);
	diff_add_counts(&f.part, d);
	fact_part(&f);
	fact_end(&f, "tasks", TONE_TITLE);
	for (enum metric m = 0; m < METRICS; m++) {
		size_t before = f.part.len;

		diff_add_common(&f.part, d, m);
		any |= f.part.len > before;
		fact_part(&f);
	}
	if (any)
		buf_adds(&f.part, "a common factor of all tasks, no sum");
	fact_part(&f);
	fact_end(&f, "in common", TONE_TITLE);
	facts_release(&f);
}

static size_t columns_taken(const struct text *t)
{
	return (t->values ? 2 * (VALUE_COLUMNS + 1) : 0) + 2 * (VALUE_COLUMNS + 1) + 1 +
	       (t->intervals ? INTERVAL_COLUMNS + RATE_COLUMNS + 2 : 0);
}

static void add_columns(struct text *t, const char *last)
{
	text_tone(t->out, t->style, TONE_FAINT);
	if (t->values)
		buf_adds(t->out, "      base       new");
	buf_adds(t->out, "    change     share");
	if (t->intervals)
		buf_adds(t->out, "     95 % interval    rate");
	if (last)
		buf_addf(t->out, "  %s", last);
	buf_addc(t->out, '\n');
	text_tone(t->out, t->style, TONE_PLAIN);
}

static void add_value(struct text *t, const struct diff_value *f, enum unit unit)
{
	struct buf cell = BUF_PART_OF(t->out);

	for (enum diff_side s = 0; t->values && s < DIFF_SIDES; s++) {
		amount_add(&cell, unit, f->value[s]);
		add_right(t->out, &cell, VALUE_COLUMNS + 1);
	}
	if (unit == UNIT_STATUS && !t->values)
		amount_add(&cell, unit, f->value[DIFF_NOW]);
	else if (unit != UNIT_STATUS)
		amount_add_change(&cell, unit, f->change);
	add_right(t->out, &cell, VALUE_COLUMNS + 1);
	if (unit != UNIT_STATUS && unit != UNIT_COUNT)
		amount_add_share(&cell, f->share);
	add_right(t->out, &cell, VALUE_COLUMNS + 1);
	if (t->intervals) {
		diff_add_interval(&cell, f);
		add_right(t->out, &cell, INTERVAL_COLUMNS + 1);
		diff_add_rate(&cell, f);
		add_right(t->out, &cell, RATE_COLUMNS + 1);
	}
	buf_adds(t->out, "  ");
	buf_release(&cell);
}

static bool is_known(const struct diff_value *f)
{
	return !isnan(f->value[DIFF_BASE]) || !isnan(f->value[DIFF_NOW]);
}

static void add_total(struct text *t, enum total i)
{
	const struct diff_value *f = &t->view->diff->total[i];
	const char *title = metric_total_info[i].title, *behind = strstr(title, ": ");

	add_value(t, f, metric_total_info[i].unit);
	buf_addf(t->out, "%s\n", behind ? behind + 2 : title);
}

/* Metrics first, then the totals that differ. */
static void add_build(struct text *t)
{
	const struct diff *d = t->view->diff;
	bool any = false;

	text_title(t->out, t->style, "The build");
	add_columns(t, NULL);
	for (enum metric m = 0; m < METRICS; m++) {
		if (!d->value[m] || !is_known(&d->whole[m]))
			continue;
		add_value(t, &d->whole[m], metric_info[m].unit);
		if (diff_is_change(&d->whole[m]))
			text_tone(t->out, t->style, TONE_ALARM);
		buf_addf(t->out, "%s\n", metric_info[m].title);
		text_tone(t->out, t->style, TONE_PLAIN);
	}
	for (enum total i = TOTAL_TASKS; i <= TOTAL_STATUS; i++) {
		if (d->total[i].change != 0 && is_known(&d->total[i]))
			add_total(t, i);
	}
	for (enum total i = TOTAL_HOST_USER_US; i < TOTALS; i++) {
		if (!(d->total[i].value[DIFF_BASE] > 0 || d->total[i].value[DIFF_NOW] > 0))
			continue;
		if (!any) {
			text_title(t->out, t->style, "The machine during the build");
			add_columns(t, NULL);
		}
		any = true;
		add_total(t, i);
	}
}

static int add_metric(struct text *t, enum metric m)
{
	const struct diff *d = t->view->diff;
	struct buf title = BUF_PART_OF(t->out);
	uint32_t *task;
	size_t n, shown;
	int r = diff_list(t->view, m, &task, &n);

	if (r)
		return r;
	shown = n < t->view->top ? n : t->view->top;
	if (n) {
		diff_add_heading(&title, d, m);
		text_title(t->out, t->style, buf_str(&title));
		add_columns(t, "task");
	}
	for (size_t i = 0; i < shown; i++) {
		const struct diff_value *f = &d->value[m][task[i]];

		add_value(t, f, metric_info[m].unit);
		if (diff_is_change(f))
			text_tone(t->out, t->style, TONE_ALARM);
		add_name(t, d->task[task[i]].name, columns_taken(t) + 1);
		text_tone(t->out, t->style, TONE_PLAIN);
		buf_addc(t->out, '\n');
	}
	if (shown < n)
		add_rest(t, n - shown);
	buf_release(&title);
	free(task);
	return 0;
}

static void add_pair(struct text *t, const char *a, const char *b)
{
	text_add_name(t->out, a, 0);
	buf_adds(t->out, " -> ");
	text_add_name(t->out, b, 0);
	buf_addc(t->out, '\n');
}

static void add_facts(struct text *t)
{
	const struct diff *d = t->view->diff;
	struct buf side[DIFF_SIDES] = { BUF_PART_OF(t->out), BUF_PART_OF(t->out) };

	if (d->n_facts)
		text_title(t->out, t->style, "Changed circumstances");
	for (size_t i = 0; i < d->n_facts; i++) {
		const struct diff_fact *f = &d->fact[i];
		bool memory = !strcmp(f->key, "memory_kb");

		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			buf_clear(&side[s]);
			diff_add_fact(&side[s], f, s);
		}
		buf_addf(t->out, "  %-10s", memory ? "memory" : f->key);
		add_pair(t, buf_str(&side[DIFF_BASE]), buf_str(&side[DIFF_NOW]));
	}
	buf_release(&side[DIFF_BASE]);
	buf_release(&side[DIFF_NOW]);
}

static void add_ends(struct text *t, enum diff_end end)
{
	const struct diff *d = t->view->diff;
	struct buf cell = BUF_PART_OF(t->out);
	size_t n = 0;

	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *task = &d->task[i];

		if (task->end != end)
			continue;
		if (!n++)
			text_title(t->out, t->style, diff_end_title[end]);
		if (n > t->view->top)
			continue;
		diff_add_end(&cell, d, task, end == DIFF_END_FIXED ? DIFF_BASE : DIFF_NOW);
		buf_adds(t->out, "  ");
		text_tone(t->out, t->style, end == DIFF_END_FIXED ? TONE_PLAIN : TONE_ALARM);
		buf_addf(t->out, "%-20s", buf_str(&cell));
		text_tone(t->out, t->style, TONE_PLAIN);
		add_name(t, task->name, 22);
		buf_addc(t->out, '\n');
		buf_clear(&cell);
	}
	if (n > t->view->top)
		add_rest(t, n - t->view->top);
	buf_release(&cell);
}

static int add_lost(struct text *t, enum diff_presence presence, const char *title)
{
	const struct diff *d = t->view->diff;
	const struct diff_value *wall = d->value[METRIC_WALL];
	struct buf cell = BUF_PART_OF(t->out);
	uint32_t *task;
	size_t n;
	int r = diff_list_lost(t->view, presence, &task, &n);

	if (!r && n)
		text_title(t->out, t->style, title);
	for (size_t i = 0; !r && i < n && i < t->view->top; i++) {
		if (wall)
			amount_add(&cell, UNIT_US, wall[task[i]].value[presence == DIFF_NEW ?
								       DIFF_NOW : DIFF_BASE]);
		add_right(t->out, &cell, wall ? VALUE_COLUMNS + 1 : 0);
		buf_adds(t->out, "  ");
		add_name(t, d->task[task[i]].name, VALUE_COLUMNS + 3);
		buf_addc(t->out, '\n');
	}
	if (n > t->view->top)
		add_rest(t, n - t->view->top);
	buf_release(&cell);
	free(task);
	return r;
}

static void add_renamed(struct text *t)
{
	const struct diff *d = t->view->diff;
	size_t n = 0;

	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *task = &d->task[i];

		if (!task->was)
			continue;
		if (!n++)
			text_title(t->out, t->style, "Renamed");
		if (n > t->view->top)
			continue;
		buf_addf(t->out, "  %-8s  ", diff_rename_word[task->renamed]);
		add_pair(t, task->was, task->name);
	}
	if (n > t->view->top)
		add_rest(t, n - t->view->top);
}

static void add_packages(struct text *t)
{
	const struct diff *d = t->view->diff;
	size_t shown = d->n_packages < t->view->top ? d->n_packages : t->view->top;

	if (shown)
		text_title(t->out, t->style, "Recipes");
	for (size_t i = 0; i < shown; i++) {
		const struct diff_package *p = &d->package[i];

		buf_addf(t->out, "  %-10s  ", diff_package_word[p->change]);
		text_add_name(t->out, p->name, 0);
		buf_addc(t->out, ' ');
		if (p->version[DIFF_BASE] && p->version[DIFF_NOW]) {
			add_pair(t, p->version[DIFF_BASE], p->version[DIFF_NOW]);
			continue;
		}
		text_add_name(t->out, p->version[p->version[DIFF_BASE] ? DIFF_BASE : DIFF_NOW], 0);
		buf_addc(t->out, '\n');
	}
	if (shown < d->n_packages)
		add_rest(t, d->n_packages - shown);
}

int diff_text(struct buf *out, const struct diff_view *v, const struct style *style)
{
	struct text t = {
		.out = out, .view = v, .style = style, .values = true, .intervals = v->diff->tested,
	};
	int r = 0;

	if (style->width && columns_taken(&t) + NAME_COLUMNS > style->width)
		t.intervals = false;
	if (style->width && columns_taken(&t) + NAME_COLUMNS > style->width)
		t.values = false;
	add_head(&t);
	add_facts(&t);
	add_build(&t);
	for (enum diff_end end = DIFF_END_FAILS; end <= DIFF_END_OTHER; end++)
		add_ends(&t, end);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (v->diff->value[m])
			r = add_metric(&t, m);
	}
	if (!r)
		r = add_lost(&t, DIFF_NEW, "New");
	if (!r)
		r = add_lost(&t, DIFF_GONE, "Gone");
	add_renamed(&t);
	add_packages(&t);
	return r ? r : buf_error(out);
}
