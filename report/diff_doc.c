/* SPDX-License-Identifier: MIT */
#include "report/diff_output.h"

#include "analyse/facts.h"
#include "base/array.h"
#include "report/amount.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A comparison as a document for people. */

#define TERMINAL_MARKDOWN (DOC_TERMINAL | DOC_MARKDOWN)
#define TERMINAL_HTML (DOC_TERMINAL | DOC_HTML)
#define NAME_LEAST 6
#define NAME_ROOM 23		/* otherwise other columns are left out */
#define WHOLE 1000		/* a name that is never shortened */

static size_t shown(const struct diff_view *v, size_t n)
{
	return n < v->top ? n : v->top;
}

/* The beginning */

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

static void add_terminal(struct doc *doc, const struct diff *d)
{
	struct facts f;
	bool any = false;

	facts_begin(&f, doc->out, doc_fact, doc);
	add_side(&f, d, DIFF_BASE);
	add_side(&f, d, DIFF_NOW);
	diff_add_warning(&f.part, d);
	fact_part(&f);
	fact_end(&f, "warning", TONE_ALARM);
	diff_add_verdict(&f.part, d);
	fact_part(&f);
	fact_end(&f, "verdict", diff_is_worse(d) ? TONE_ALARM : TONE_TITLE);
	diff_add_thresholds(&f.part, d);
	fact_part(&f);
	fact_end(&f, "threshold", TONE_TITLE);
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

static void add_markdown(struct doc *doc, const struct diff *d)
{
	struct buf *out = doc->out;

	doc_title(doc, diff_is_worse(d) ? "The build is worse" : "Builds compared", false, "");
	buf_addc(out, '\n');
	if (d->unlike) {
		buf_adds(out, "Warning: ");
		diff_add_warning(out, d);
		buf_adds(out, ".\n\n");
	}
	buf_adds(out, "Verdict: ");
	diff_add_verdict(out, d);
	buf_adds(out, ".\n\nThresholds: ");
	diff_add_thresholds(out, d);
	buf_adds(out, ".\nTasks: ");
	diff_add_counts(out, d);
	buf_adds(out, ".\n");
	for (enum metric m = 0; m < METRICS; m++) {
		size_t before = out->len;

		buf_adds(out, "Common factor of all tasks: ");
		diff_add_common(out, d, m);
		if (out->len == before + strlen("Common factor of all tasks: "))
			buf_cut(out, before);
		else
			buf_adds(out, ".\n");
	}
	buf_addc(out, '\n');
}

/* Values */

enum { COLUMN_NAME, COLUMN_BASE, COLUMN_NEW, COLUMN_CHANGE, COLUMN_SHARE, COLUMN_INTERVAL, COLUMN_RATE,
	VALUE_COLUMNS };

/* A table of values; without a test it lacks the last two columns. */
struct value_table {
	struct doc_column column[VALUE_COLUMNS];
	struct doc_table table;
};

static void value_table(struct value_table *t, const struct diff *x, const char *first)
{
	*t = (struct value_table){
		.column = {
			{ first, .gap = 2, .last = true },
			{ "base", .type = DOC_REAL, .width = 10, .drop = 1 },
			{ "new", .type = DOC_REAL, .width = 10, .drop = 1 },
			{ "change", .type = DOC_REAL, .width = 10 },
			{ "share", .type = DOC_REAL, .width = 10 },
			{ "95 % interval", .type = DOC_REAL, .in = TERMINAL_HTML, .width = 18, .drop = 2 },
			{ "rate", .type = DOC_REAL, .in = TERMINAL_HTML, .width = 8, .drop = 2 },
		},
		.table = {
			.n_columns = VALUE_COLUMNS - (x->tested ? 0 : 2), .heads = true,
			.tone = TONE_FAINT, .least = NAME_LEAST, .room = NAME_ROOM,
		},
	};
	t->table.column = t->column;
}

static const char *class_of(const struct diff *x, const struct diff_value *f)
{
	double by = x->tested && !diff_is_change(f) ? 0 : f->large ? f->change : 0;

	return by > 0 ? "name worse" : by < 0 ? "name better" : "name same";
}

/* More tasks need no share. */
static bool is_total(const struct diff *x, const struct diff_value *f)
{
	return f >= x->total && f < x->total + TOTALS;
}

static void add_value(struct doc *d, const struct diff *x, const struct diff_value *f,
		      enum unit unit, const char *name, const char *class)
{
	bool status = unit == UNIT_STATUS;
	struct buf *text;

	doc_row(d);
	doc_str(d, name);
	doc_tone(d, diff_is_change(f) ? TONE_ALARM : TONE_PLAIN);
	doc_class(d, class);
	for (enum diff_side s = 0; s < DIFF_SIDES; s++)
		amount_add(doc_text(d, f->value[s]), unit, f->value[s]);
	text = doc_text(d, f->change);
	if (!status)
		amount_add_change(text, unit, f->change);
	else if (!doc_has(d, COLUMN_NEW))
		amount_add(text, unit, f->value[DIFF_NOW]);
	text = doc_text(d, f->share);
	if (!status && !(unit == UNIT_COUNT && is_total(x, f)))
		amount_add_share(text, f->share);
	if (x->tested) {
		diff_add_interval(doc_text(d, f->test ? f->test->in.low : NAN), f);
		diff_add_rate(doc_text(d, f->test ? f->test->rate : NAN), f);
	}
}

static bool is_known(const struct diff_value *f)
{
	return !isnan(f->value[DIFF_BASE]) || !isnan(f->value[DIFF_NOW]);
}

/* The page has all totals that are not 0, the terminal of the build only those that differ. */
static void add_totals(struct doc *d, const struct diff *x, enum total first, enum total end)
{
	for (enum total i = first; i < end; i++) {
		const struct diff_value *f = &x->total[i];
		const char *title = metric_total_info[i].title, *behind = strstr(title, ": ");
		bool any = f->value[DIFF_BASE] > 0 || f->value[DIFF_NOW] > 0;

		if (doc_is(d, DOC_HTML) || first > TOTAL_STATUS ? !any : !(f->change != 0 && is_known(f)))
			continue;
		add_value(d, x, f, metric_total_info[i].unit,
			  doc_is(d, DOC_TERMINAL) && behind ? behind + 2 : title, "name");
	}
}

static void add_build(struct doc *d, const struct diff *x)
{
	struct value_table t;

	value_table(&t, x, doc_is(d, DOC_HTML) ? "metric" : doc_is(d, DOC_MARKDOWN) ?
		    "the build" : NULL);
	t.table.title = doc_is(d, DOC_MARKDOWN) ? NULL : "The build";
	t.table.empty = true;
	t.table.least = WHOLE;
	doc_table(d, &t.table);
	for (enum metric m = 0; m < METRICS; m++) {
		if (x->value[m] && is_known(&x->whole[m]))
			add_value(d, x, &x->whole[m], metric_info[m].unit, metric_info[m].title,
				  class_of(x, &x->whole[m]));
	}
	if (!doc_is(d, DOC_MARKDOWN))
		add_totals(d, x, TOTAL_TASKS, doc_is(d, DOC_HTML) ? TOTALS : TOTAL_STATUS + 1);
	doc_table_end(d, 0);
	if (!doc_is(d, DOC_TERMINAL))
		return;
	t.table.title = "The machine during the build";
	t.table.empty = false;
	doc_table(d, &t.table);
	add_totals(d, x, TOTAL_HOST_USER_US, TOTALS);
	doc_table_end(d, 0);
}

static int add_metric(struct doc *d, const struct diff_view *v, enum metric m)
{
	const struct diff *x = v->diff;
	struct buf title = BUF_PART_OF(d->out);
	struct value_table t;
	uint32_t *task;
	size_t n;
	int r = diff_list(v, m, &task, &n);

	if (r)
		return r;
	diff_add_heading(&title, x, m);
	value_table(&t, x, "task");
	t.table.title = buf_str(&title);
	t.table.label = metric_info[m].title;
	t.table.class = "sort";
	doc_table(d, &t.table);
	for (size_t i = 0; i < shown(v, n); i++)
		add_value(d, x, &x->value[m][task[i]], metric_info[m].unit, x->task[task[i]].name,
			  class_of(x, &x->value[m][task[i]]));
	doc_table_end(d, n - shown(v, n));
	buf_release(&title);
	free(task);
	return 0;
}

/* Lists */

#define TABLE(columns, ...) \
	{ .column = (columns), .n_columns = ARRAY_SIZE(columns), .list = true, __VA_ARGS__ }

static void add_facts(struct doc *d, const struct diff *x)
{
	static const struct doc_column columns[] = {
		{ .gap = 2, .width = 10 }, { .colon = true }, { .arrow = true },
	};
	static const struct doc_table table = TABLE(columns, .title = "Changed circumstances");

	doc_table(d, &table);
	for (size_t i = 0; i < x->n_facts; i++) {
		const struct diff_fact *f = &x->fact[i];

		doc_row(d);
		doc_str(d, strcmp(f->key, "memory_kb") ? f->key : "memory");
		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			diff_add_fact(doc_text(d, NAN), f, s);
			doc_class(d, "name");
		}
	}
	doc_table_end(d, 0);
}

static void add_ends(struct doc *d, const struct diff_view *v, enum diff_end end)
{
	static const struct doc_column columns[] = {
		{ .last = true }, { .gap = 2, .width = 20, .colon = true },
	};
	const struct doc_table table = TABLE(columns, .title = diff_end_title[end], .least = NAME_LEAST);
	bool fixed = end == DIFF_END_FIXED;
	size_t n = 0;

	doc_table(d, &table);
	for (size_t i = 0; i < v->diff->n_tasks; i++) {
		const struct diff_task *t = &v->diff->task[i];

		if (t->end != end || n++ >= v->top)
			continue;
		doc_row(d);
		doc_str(d, t->name);
		doc_class(d, fixed ? "name better" : "name worse");
		diff_add_end(doc_text(d, NAN), v->diff, t, fixed ? DIFF_BASE : DIFF_NOW);
		doc_tone(d, fixed ? TONE_PLAIN : TONE_ALARM);
	}
	doc_table_end(d, n - shown(v, n));
}

static int add_lost(struct doc *d, const struct diff_view *v, enum diff_presence presence,
		    const char *title)
{
	const struct diff_value *wall = v->diff->value[METRIC_WALL];
	const struct doc_column columns[] = {
		{ "task", .gap = 2, .last = true },
		{ "wall time", .type = DOC_US, .in = wall ? TERMINAL_HTML : DOC_HTML, .width = 10 },
	};
	const struct doc_table table = TABLE(columns, .title = title, .class = "sort",
					     .heads = doc_is(d, DOC_HTML), .least = NAME_LEAST);
	enum diff_side side = presence == DIFF_NEW ? DIFF_NOW : DIFF_BASE;
	uint32_t *task;
	size_t n;
	int r = diff_list_lost(v, presence, &task, &n);

	if (r)
		return r;
	doc_table(d, &table);
	for (size_t i = 0; i < shown(v, n); i++) {
		double us = wall ? wall[task[i]].value[side] : NAN;

		doc_row(d);
		doc_str(d, v->diff->task[task[i]].name);
		doc_class(d, "name");
		amount_add(doc_text(d, us), UNIT_US, us);
	}
	doc_table_end(d, n - shown(v, n));
	free(task);
	return 0;
}

static void add_renamed(struct doc *d, const struct diff_view *v)
{
	static const struct doc_column columns[] = {
		{ "task", .in = DOC_HTML }, { .in = DOC_TERMINAL, .gap = 2, .width = 8 },
		{ "name in base", .gap = 2 }, { .in = TERMINAL_MARKDOWN, .arrow = true },
		{ "why it is the same", .in = DOC_HTML },
	};
	const struct doc_table table = TABLE(columns, .title = "Renamed", .heads = doc_is(d, DOC_HTML));
	size_t n = 0;

	doc_table(d, &table);
	for (size_t i = 0; i < v->diff->n_tasks; i++) {
		const struct diff_task *t = &v->diff->task[i];

		if (!t->was || n++ >= v->top)
			continue;
		doc_row(d);
		doc_str(d, t->name);
		doc_class(d, "name");
		doc_str(d, diff_rename_word[t->renamed]);
		doc_str(d, t->was);
		doc_class(d, "name");
		doc_str(d, t->name);
		doc_str(d, diff_rename_word[t->renamed]);
	}
	doc_table_end(d, n - shown(v, n));
}

static void add_packages(struct doc *d, const struct diff_view *v)
{
	static const struct doc_column columns[] = {
		{ "recipe", .in = DOC_HTML }, { .in = TERMINAL_MARKDOWN, .gap = 2, .width = 10 },
		{ .in = TERMINAL_MARKDOWN, .gap = 2, .colon = true }, { "base", .gap = 1 },
		{ "new", .gap = 1, .arrow = true }, { "change", .in = DOC_HTML },
	};
	const struct doc_table table = TABLE(columns, .title = "Recipes", .class = "sort",
					     .heads = doc_is(d, DOC_HTML));
	size_t n = v->diff->n_packages;

	doc_table(d, &table);
	for (size_t i = 0; i < shown(v, n); i++) {
		const struct diff_package *p = &v->diff->package[i];

		doc_row(d);
		doc_str(d, p->name);
		doc_class(d, "name");
		doc_str(d, diff_package_word[p->change]);
		doc_str(d, p->name);
		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			doc_str(d, p->version[s] ? p->version[s] : doc_is(d, DOC_HTML) ? "-" : NULL);
			doc_class(d, "number");
		}
		doc_str(d, diff_package_word[p->change]);
		doc_class(d, "number");
	}
	doc_table_end(d, n - shown(v, n));
}

int diff_doc(struct doc *d, const struct diff_view *view)
{
	struct diff_view v = *view;
	int r = 0;

	if (doc_is(d, DOC_HTML))
		v.top = SIZE_MAX;
	if (doc_is(d, DOC_MARKDOWN))
		add_markdown(d, v.diff);
	if (doc_is(d, DOC_TERMINAL)) {
		add_terminal(d, v.diff);
		add_facts(d, v.diff);
	}
	add_build(d, v.diff);
	if (doc_is(d, DOC_HTML))
		add_facts(d, v.diff);
	for (enum diff_end end = DIFF_END_FAILS; end <= DIFF_END_OTHER; end++)
		add_ends(d, &v, end);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (v.diff->value[m])
			r = add_metric(d, &v, m);
	}
	if (!r)
		r = add_lost(d, &v, DIFF_NEW, "New");
	if (!r)
		r = add_lost(d, &v, DIFF_GONE, "Gone");
	add_renamed(d, &v);
	add_packages(d, &v);
	if (doc_is(d, DOC_MARKDOWN))
		add_facts(d, v.diff);
	return r ? r : buf_error(d->out);
}
