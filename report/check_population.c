/* SPDX-License-Identifier: MIT */
#include "report/check_population.h"

#include "base/array.h"
#include "report/amount.h"
#include "report/words_change.h"

#include <math.h>

static const char *const kind_word[POPULATION_KINDS] = {
	[POPULATION_SAME] = "renamed", [POPULATION_NEW] = "new",
	[POPULATION_RETURNED] = "returned", [POPULATION_GONE] = "gone",
	[POPULATION_IDLE] = "did not run",
};

/* In this order. */
static const enum population_kind order[] = {
	POPULATION_NEW, POPULATION_RETURNED, POPULATION_GONE, POPULATION_SAME, POPULATION_IDLE,
};

static const enum metric metrics[POPULATION_METRICS] = { METRIC_WALL, METRIC_CPU };

static const char *const reason_word[] = {
	[RENAME_NONE] = NULL, [RENAME_MOVED] = "moved", [RENAME_SIMILAR] = "similar",
};

static bool has_any(const struct population *p)
{
	return p && p->known && p->n;
}

static size_t count_of(const struct population *p, enum population_kind kind)
{
	return kind == POPULATION_SAME ? p->n_renamed : p->count[kind];
}

/* CPU time if there is any, because only its sum is work. */
static size_t metric_of(const struct population *p)
{
	return p->total_now[1] > 0 || p->total_before[1] > 0;
}

/* "compared with 2026-11-20 (1a2b3c4d): 12 new, 3 gone, 2 renamed"; first the build if it is not
 * the newest, which failed then. */
static void add_counts(struct buf *b, const struct population *p, const struct builds *builds)
{
	const char *comma = ": ";

	if (p->now + 1 < builds->n) {
		words_add_build(b, builds, p->now);
		buf_addc(b, ' ');
	}
	buf_adds(b, "compared with ");
	words_add_build(b, builds, p->before);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		size_t n = count_of(p, order[i]);

		if (!n)
			continue;
		buf_addf(b, "%s%zu %s", comma, n, kind_word[order[i]]);
		comma = ", ";
	}
}

/* What a kind adds to the total of the tasks. */
static double share_of(const struct population *p, enum population_kind kind, size_t m)
{
	if (kind == POPULATION_SAME)
		return p->total_now[m] - p->total_before[m] - p->sum[POPULATION_NEW][m] -
		       p->sum[POPULATION_RETURNED][m] + p->sum[POPULATION_GONE][m] +
		       p->sum[POPULATION_IDLE][m];
	return kind == POPULATION_GONE || kind == POPULATION_IDLE ? -p->sum[kind][m] :
	       p->sum[kind][m];
}

/* "CPU time of all tasks +4m 00s: new +3m 20s, gone -12 s, in both builds +52 s". */
static void add_shares(struct buf *b, const struct population *p)
{
	size_t m = metric_of(p);
	const struct metric_info *info = &metric_info[metrics[m]];
	const char *comma = ": ";

	buf_addf(b, "%s of all tasks ", info->title);
	amount_add_change(b, info->unit, p->total_now[m] - p->total_before[m]);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (!p->count[order[i]])
			continue;
		buf_addf(b, "%s%s ", comma,
			 order[i] == POPULATION_SAME ? "in both builds" : kind_word[order[i]]);
		amount_add_change(b, info->unit, share_of(p, order[i], m));
		comma = ", ";
	}
}

/* "new", "renamed from lib/a.o (moved)". */
static void add_what(struct buf *b, const struct population_task *t)
{
	buf_adds(b, kind_word[t->kind]);
	if (t->was)
		buf_addf(b, " from %s (%s)", t->was, reason_word[t->reason]);
}

static void add_value(struct buf *b, const struct population *p, const struct population_task *t)
{
	size_t m = metric_of(p);

	amount_add(b, metric_info[metrics[m]].unit, t->value[m]);
}

static void add_row(struct doc *d, const struct population *p, const struct builds *builds,
		    const struct population_task *t)
{
	struct buf *text;

	doc_row(d);
	doc_str(d, builds_name_at(builds, t->task, p->now));
	text = doc_text(d, NAN);
	buf_addf(text, "%s ", metric_info[metrics[metric_of(p)]].title);
	add_value(text, p, t);
	buf_adds(text, ", ");
	add_what(text, t);
	if (t->since != p->now) {
		buf_adds(text, " since ");
		words_add_build(text, builds, t->since);
	}
	add_what(doc_text(d, NAN), t);
	add_value(doc_text(d, t->value[metric_of(p)]), p, t);
	words_add_build(doc_text(d, NAN), builds, t->since);
}

static void add_table(struct doc *d, const struct population *p, const struct builds *builds,
		      size_t top)
{
	const struct doc_column columns[] = {
		{ "task", .gap = 4, .width = 40, .shorten = true },
		{ .in = DOC_TERMINAL, .gap = 2, .below = true }, { "what", .in = DOC_MARKDOWN },
		{ metric_info[metrics[metric_of(p)]].title, .type = DOC_REAL, .in = DOC_MARKDOWN },
		{ "since", .in = DOC_MARKDOWN },
	};
	const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = !doc_is(d, DOC_TERMINAL),
		.more = " (--top lists them)",
	};
	size_t more = 0;

	doc_table(d, &table);
	for (size_t k = 0; k < ARRAY_SIZE(order); k++) {
		size_t n = 0;

		for (size_t i = 0; i < p->n; i++) {
			if (p->task[i].kind == order[k] && n++ < top)
				add_row(d, p, builds, &p->task[i]);
		}
		more += n > top ? n - top : 0;
	}
	doc_table_end(d, more);
}

void check_population_add(struct doc *d, const struct population *p, const struct builds *builds,
			  size_t top)
{
	if (!has_any(p))
		return;
	doc_heading(d, "New, gone and renamed tasks");
	add_counts(doc_item(d, 2), p, builds);
	add_shares(doc_item(d, 2), p);
	add_table(d, p, builds, top);
}

void check_population_add_summary(struct buf *b, const struct population *p,
				  const struct builds *builds)
{
	if (!has_any(p))
		return;
	add_counts(b, p, builds);
	buf_adds(b, ". ");
	add_shares(b, p);
	buf_addc(b, '.');
}

static void json_build(struct json *j, const char *name, const struct builds *builds,
		       uint32_t build)
{
	json_object(j, name);
	json_str(j, "id", builds->build[build].id);
	json_known(j, "start_s", builds->build[build].start_s);
	json_object_end(j);
}

static void json_totals(struct json *j, const struct population *p)
{
	json_array(j, "totals");
	for (size_t m = 0; m < POPULATION_METRICS; m++) {
		const struct metric_info *info = &metric_info[metrics[m]];

		json_object(j, NULL);
		json_str(j, "metric", info->name);
		json_str(j, "unit", amount_unit_word[info->unit]);
		json_shortest(j, "before", p->total_before[m]);
		json_shortest(j, "now", p->total_now[m]);
		json_shortest(j, "new", p->sum[POPULATION_NEW][m]);
		json_shortest(j, "returned", p->sum[POPULATION_RETURNED][m]);
		json_shortest(j, "gone", p->sum[POPULATION_GONE][m]);
		json_shortest(j, "did_not_run", p->sum[POPULATION_IDLE][m]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_tasks(struct json *j, const struct population *p, const struct builds *builds,
		       enum population_kind kind)
{
	json_array(j, kind_word[kind]);
	for (size_t i = 0; i < p->n; i++) {
		const struct population_task *t = &p->task[i];

		if (t->kind != kind)
			continue;
		json_object(j, NULL);
		json_str(j, "task", builds_name_at(builds, t->task, p->now));
		if (t->was) {
			json_str(j, "was", t->was);
			json_str(j, "reason", reason_word[t->reason]);
		}
		json_shortest(j, "wall_us", t->value[0]);
		json_shortest(j, "cpu_us", t->value[1]);
		json_build(j, "since", builds, t->since);
		json_object_end(j);
	}
	json_array_end(j);
}

void check_population_json(struct json *j, const struct population *p,
			   const struct builds *builds)
{
	if (!p || !p->known) {
		json_null(j, "population");
		return;
	}
	json_object(j, "population");
	json_build(j, "before", builds, p->before);
	json_build(j, "now", builds, p->now);
	json_bool(j, "incremental", p->partial);
	json_int(j, "tasks_before", (int64_t)p->n_before);
	json_int(j, "tasks_now", (int64_t)p->n_now);
	json_int(j, "did_not_run", (int64_t)p->count[POPULATION_IDLE]);
	json_totals(j, p);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		if (order[i] != POPULATION_IDLE)
			json_tasks(j, p, builds, order[i]);
	}
	json_object_end(j);
}
