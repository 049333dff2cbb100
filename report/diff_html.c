/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "report/diff_output.h"

#include "report/amount.h"
#include "report/diff_picture.h"
#include "report/html.h"
#include "report/page_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void text_cell(struct markup *h, const char *class, struct buf *text)
{
	markup_leaf(h, "td", class, buf_str(text));
	buf_clear(text);
}

static void number_cell(struct markup *h, double key, struct buf *text)
{
	char number[40];
	struct buf b;

	markup_open(h, "td", "number");
	if (isfinite(key)) {
		buf_init_fixed(&b, number, sizeof number);
		buf_addf(&b, "%.9g", key);
		markup_attr(h, "data-n", buf_str(&b));
	} else {
		markup_attr(h, "data-n", isinf(key) ? "1e99" : "-1e99");
	}
	markup_text(h, buf_str(text));
	markup_end(h);
	buf_clear(text);
}

/* A box that may scroll can be reached with the keyboard. */
static void begin_table(struct markup *h, const char *class, const char *label,
			const char *const *name, size_t n)
{
	markup_open(h, "div", "scroll");
	markup_attr(h, "tabindex", "0");
	markup_attr(h, "role", "region");
	markup_attr(h, "aria-label", label);
	markup_open(h, "table", class);
	markup_attr(h, "aria-label", label);
	if (name) {
		markup_begin(h, "thead");
		markup_begin(h, "tr");
		for (size_t i = 0; i < n; i++) {
			markup_open(h, "th", i ? "number" : NULL);
			markup_attr(h, "scope", "col");
			markup_text(h, name[i]);
			markup_end(h);
		}
		markup_end(h);
		markup_end(h);
	}
	markup_begin(h, "tbody");
}

/* The first cell of a row: what it is about. */
static void row_head(struct markup *h, const char *class, const char *name)
{
	markup_open(h, "th", class);
	markup_attr(h, "scope", "row");
	markup_text(h, name);
	markup_end(h);
}

static void end_table(struct markup *h)
{
	markup_end(h);
	markup_end(h);
	markup_end(h);
}

/* A row of a table of values. */
static void value_row(struct markup *h, const struct diff_value *f, enum unit unit, bool tested,
		      const char *class, const char *name)
{
	const struct samples *s = f->test;
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "tr");
	row_head(h, class, name);
	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		amount_add(&text, unit, f->value[side]);
		number_cell(h, f->value[side], &text);
	}
	if (unit != UNIT_STATUS)
		amount_add_change(&text, unit, f->change);
	number_cell(h, f->change, &text);
	if (unit != UNIT_COUNT && unit != UNIT_STATUS)
		amount_add_share(&text, f->share);
	number_cell(h, f->share, &text);
	if (tested) {
		diff_add_interval(&text, f);
		number_cell(h, s ? s->in.low : NAN, &text);
		diff_add_rate(&text, f);
		number_cell(h, s ? samples_rate(s) : NAN, &text);
	}
	markup_end(h);
	buf_release(&text);
}

static const char *mark(const struct diff_value *f, bool tested)
{
	double by = tested && !diff_is_change(f) ? 0 : f->large ? f->change : 0;

	return by > 0 ? "name worse" : by < 0 ? "name better" : "name same";
}

static void value_table(struct markup *h, const char *class, const struct diff *d,
			const char *label, const char *first)
{
	const char *const name[] = { first, "base", "new", "change", "share", "95 % interval",
				     "rate" };

	begin_table(h, class, label, name, ARRAY_SIZE(name) - (d->tested ? 0 : 2));
}

static void add_build(struct markup *h, const struct diff *d)
{
	markup_leaf(h, "h2", NULL, "The build");
	value_table(h, NULL, d, "The build", "metric");
	for (enum metric m = 0; m < METRICS; m++) {
		const struct diff_value *f = &d->whole[m];

		if (!d->value[m] || (isnan(f->value[DIFF_BASE]) && isnan(f->value[DIFF_NOW])))
			continue;
		value_row(h, f, metric_info[m].unit, d->tested, mark(f, d->tested),
			  metric_info[m].title);
	}
	for (enum total t = TOTAL_TASKS; t < TOTALS; t++) {
		const struct diff_value *f = &d->total[t];

		if (!(f->value[DIFF_BASE] > 0 || f->value[DIFF_NOW] > 0))
			continue;
		value_row(h, f, metric_total_info[t].unit, d->tested, "name",
			  metric_total_info[t].title);
	}
	end_table(h);
}

static int add_metric(struct markup *h, const struct diff_view *v, enum metric m)
{
	struct diff_view whole = *v;
	const struct diff *d = v->diff;
	struct buf title = BUF_PART_OF(h->out);
	uint32_t *task;
	size_t n;
	int r;

	whole.top = SIZE_MAX;
	r = diff_list(&whole, m, &task, &n);
	if (!r && n) {
		diff_add_heading(&title, d, m);
		markup_leaf(h, "h2", NULL, buf_str(&title));
		value_table(h, "sort", d, metric_info[m].title, "task");
		for (size_t i = 0; i < n; i++) {
			const struct diff_value *f = &d->value[m][task[i]];

			value_row(h, f, metric_info[m].unit, d->tested, mark(f, d->tested),
				  d->task[task[i]].name);
		}
		end_table(h);
	}
	buf_release(&title);
	free(task);
	return r;
}

static void add_side(struct markup *h, const struct diff *d, enum diff_side s)
{
	struct buf text = BUF_PART_OF(h->out);

	for (size_t i = 0; i < d->n_runs[s]; i++) {
		markup_begin(h, "tr");
		row_head(h, NULL, s == DIFF_BASE ? "base" : "new");
		markup_leaf(h, "td", "name", d->run[s][i].path);
		amount_add_day(&text, d->run[s][i].start_s);
		text_cell(h, NULL, &text);
		markup_end(h);
	}
	buf_release(&text);
}

static void add_facts(struct markup *h, const struct diff *d)
{
	struct buf text = BUF_PART_OF(h->out);

	if (!d->n_facts)
		return;
	markup_leaf(h, "h2", NULL, "Changed circumstances");
	begin_table(h, NULL, "Changed circumstances", NULL, 0);
	for (size_t i = 0; i < d->n_facts; i++) {
		markup_begin(h, "tr");
		row_head(h, NULL, strcmp(d->fact[i].key, "memory_kb") ? d->fact[i].key : "memory");
		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			diff_add_fact(&text, &d->fact[i], s);
			text_cell(h, "name", &text);
		}
		markup_end(h);
	}
	end_table(h);
	buf_release(&text);
}

static void add_ends(struct markup *h, const struct diff *d, enum diff_end end)
{
	struct buf text = BUF_PART_OF(h->out);
	bool any = false;

	for (size_t i = 0; i < d->n_tasks; i++) {
		if (d->task[i].end != end)
			continue;
		if (!any) {
			markup_leaf(h, "h2", NULL, diff_end_title[end]);
			begin_table(h, NULL, diff_end_title[end], NULL, 0);
		}
		any = true;
		markup_begin(h, "tr");
		row_head(h, end == DIFF_END_FIXED ? "name better" : "name worse", d->task[i].name);
		diff_add_end(&text, d, &d->task[i], end == DIFF_END_FIXED ? DIFF_BASE : DIFF_NOW);
		text_cell(h, NULL, &text);
		markup_end(h);
	}
	if (any)
		end_table(h);
	buf_release(&text);
}

static int add_lost(struct markup *h, const struct diff_view *v, enum diff_presence presence,
		    const char *title)
{
	static const char *const names[] = { "task", "wall time" };
	const struct diff *d = v->diff;
	const struct diff_value *wall = d->value[METRIC_WALL];
	struct diff_view whole = *v;
	struct buf text = BUF_PART_OF(h->out);
	uint32_t *task;
	size_t n;
	int r;

	whole.top = SIZE_MAX;
	r = diff_list_lost(&whole, presence, &task, &n);
	if (!r && n) {
		markup_leaf(h, "h2", NULL, title);
		begin_table(h, "sort", title, names, ARRAY_SIZE(names));
		for (size_t i = 0; i < n; i++) {
			double us = wall ? wall[task[i]].value[presence == DIFF_NEW ? DIFF_NOW :
							       DIFF_BASE] : NAN;

			markup_begin(h, "tr");
			row_head(h, "name", d->task[task[i]].name);
			amount_add(&text, UNIT_US, us);
			number_cell(h, us, &text);
			markup_end(h);
		}
		end_table(h);
	}
	buf_release(&text);
	free(task);
	return r;
}

static void add_renamed(struct markup *h, const struct diff *d)
{
	static const char *const names[] = { "task", "name in base", "why it is the same" };

	if (!d->n_renamed)
		return;
	markup_leaf(h, "h2", NULL, "Renamed");
	begin_table(h, NULL, "Renamed", names, ARRAY_SIZE(names));
	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];

		if (!t->was)
			continue;
		markup_begin(h, "tr");
		row_head(h, "name", t->name);
		markup_leaf(h, "td", "name", t->was);
		markup_leaf(h, "td", NULL, diff_rename_word[t->renamed]);
		markup_end(h);
	}
	end_table(h);
}

static void add_packages(struct markup *h, const struct diff *d)
{
	static const char *const names[] = { "recipe", "base", "new", "change" };

	if (!d->n_packages)
		return;
	markup_leaf(h, "h2", NULL, "Recipes");
	begin_table(h, "sort", "Recipes", names, ARRAY_SIZE(names));
	for (size_t i = 0; i < d->n_packages; i++) {
		const struct diff_package *p = &d->package[i];

		markup_begin(h, "tr");
		row_head(h, "name", p->name);
		for (enum diff_side s = 0; s < DIFF_SIDES; s++)
			markup_leaf(h, "td", "number", p->version[s] ? p->version[s] : "-");
		markup_leaf(h, "td", "number", diff_package_word[p->change]);
		markup_end(h);
	}
	end_table(h);
}

static void add_head(struct markup *h, const struct diff *d, const struct diff_picture *picture)
{
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "header");
	markup_leaf(h, "h1", NULL, diff_is_worse(d) ? "The build is worse" : "Builds compared");
	diff_add_warning(&text, d);
	if (text.len)
		*text.data = 'T';
	if (text.len)
		markup_leaf(h, "p", "alarm", buf_str(&text));
	buf_clear(&text);
	diff_picture_add_answer(h, picture);
	buf_adds(&text, "Verdict: ");
	diff_add_verdict(&text, d);
	buf_addc(&text, '.');
	markup_leaf(h, "p", NULL, buf_str(&text));
	buf_clear(&text);
	buf_adds(&text, "Tasks: ");
	diff_add_counts(&text, d);
	markup_leaf(h, "p", NULL, buf_str(&text));
	for (enum metric m = 0; m < METRICS; m++) {
		buf_clear(&text);
		diff_add_common(&text, d, m);
		if (!text.len)
			continue;
		markup_begin(h, "p");
		markup_text(h, "Common factor of all tasks: ");
		markup_text(h, buf_str(&text));
		markup_end(h);
	}
	begin_table(h, NULL, "Builds", NULL, 0);
	add_side(h, d, DIFF_BASE);
	add_side(h, d, DIFF_NOW);
	end_table(h);
	markup_end(h);
	buf_release(&text);
}

int diff_html(struct buf *out, const struct diff_view *v)
{
	const struct diff *d = v->diff;
	struct diff_picture picture;
	struct markup h;
	int r = diff_picture_make(&picture, v);

	html_document(&h, out, "Builds compared", v->site);
	add_head(&h, d, &picture);
	markup_begin(&h, "main");
	if (!r) {
		diff_picture_add_ranked(&h, &picture);
		r = diff_lanes_add(&h, &picture);
	}
	add_build(&h, d);
	add_facts(&h, d);
	for (enum diff_end end = DIFF_END_FAILS; end <= DIFF_END_OTHER; end++)
		add_ends(&h, d, end);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (d->value[m])
			r = add_metric(&h, v, m);
	}
	if (!r)
		r = add_lost(&h, v, DIFF_NEW, "New");
	if (!r)
		r = add_lost(&h, v, DIFF_GONE, "Gone");
	add_renamed(&h, d);
	add_packages(&h, d);
	markup_end(&h);
	diff_picture_release(&picture);
	html_script(&h, "diff", page_diff_js);
	html_document_end(&h);
	return r ? r : buf_error(out);
}
