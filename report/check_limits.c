/* SPDX-License-Identifier: MIT */
#include "report/check_limits.h"

#include "base/array.h"
#include "report/amount.h"
#include "report/words_change.h"

#include <math.h>

#define NAME_COLUMNS 40

static const char *task_name(const char *name)
{
	return *name ? name : "the build";
}

/* As the configuration names it. */
static void add_title(struct buf *b, const struct limit *l)
{
	buf_adds(b, *l->pattern ? l->pattern : "build");
	buf_addf(b, ": %s", metric_info[l->metric].title);
}

static void add_amount(struct buf *b, const struct limit *l, double value)
{
	amount_add(b, metric_info[l->metric].unit, value);
}

/* Nothing if the limit is 0. */
static void add_share(struct buf *b, const struct limits_excess *e)
{
	if (e->limit->most > 0)
		amount_add_share(b, e->value / e->limit->most - 1);
}

void check_limits_add_verdict(struct buf *b, const struct limits_check *l)
{
	size_t n = 0;

	for (size_t i = 0; l && i < l->n; i++)
		n += !i || l->excess[i].limit != l->excess[i - 1].limit;
	if (!n)
		return;
	words_add_count(b, n, "limit exceeded", "limits exceeded");
	buf_adds(b, ", ");
}

static void add_values(struct buf *b, const struct limits_excess *e)
{
	buf_addf(b, "%s ", metric_info[e->limit->metric].title);
	add_amount(b, e->limit, e->value);
	buf_adds(b, ", limit ");
	add_amount(b, e->limit, e->limit->most);
	if (e->limit->most > 0) {
		buf_adds(b, " (");
		add_share(b, e);
		buf_addc(b, ')');
	}
}

void check_limits_add_excess(struct buf *b, const struct limits_excess *e)
{
	buf_addf(b, "%s: ", task_name(e->task));
	add_values(b, e);
}

/* Adds the limits that apply to nothing. */
static void add_unused(struct buf *b, const struct limits_check *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->limits->n; i++) {
		if (l->tasks[i])
			continue;
		buf_adds(b, n++ ? ", " : "limits that apply to no value of this build: ");
		add_title(b, &l->limits->limit[i]);
	}
}

void check_limits_add(struct doc *d, const struct limits_check *l, size_t top)
{
	static const struct doc_column columns[] = {
		{ "task", .gap = 4, .width = NAME_COLUMNS, .shorten = true },
		{ .in = DOC_TERMINAL, .gap = 2 }, { "metric", .in = DOC_MARKDOWN },
		{ "value", .type = DOC_REAL, .in = DOC_MARKDOWN },
		{ "limit", .type = DOC_REAL, .in = DOC_MARKDOWN },
		{ "above it", .type = DOC_REAL, .in = DOC_MARKDOWN },
	};
	const struct doc_table table = {
		.title = "Limits exceeded", .column = columns, .n_columns = ARRAY_SIZE(columns),
		.heads = !doc_is(d, DOC_TERMINAL), .more = " (--all lists them)",
	};

	if (!l)
		return;
	doc_table(d, &table);
	for (size_t i = 0; i < l->n && i < top; i++) {
		const struct limits_excess *e = &l->excess[i];

		doc_row(d);
		doc_str(d, task_name(e->task));
		add_values(doc_text(d, NAN), e);
		doc_str(d, metric_info[e->limit->metric].title);
		add_amount(doc_text(d, e->value), e->limit, e->value);
		add_amount(doc_text(d, e->limit->most), e->limit, e->limit->most);
		add_share(doc_text(d, NAN), e);
	}
	doc_table_end(d, l->n > top ? l->n - top : 0);
	add_unused(doc_note(d), l);
}

void check_limits_json(struct json *j, const struct limits_check *l)
{
	json_array(j, "limits");
	for (size_t i = 0, k = 0; l && i < l->limits->n; i++) {
		const struct limit *limit = &l->limits->limit[i];

		json_object(j, NULL);
		json_str(j, "of", *limit->pattern ? "task" : "build");
		json_str(j, "tasks", *limit->pattern ? limit->pattern : NULL);
		json_str(j, "metric", metric_info[limit->metric].name);
		json_str(j, "unit", amount_unit_word[metric_info[limit->metric].unit]);
		json_shortest(j, "limit", limit->most);
		json_int(j, "values", (int64_t)l->tasks[i]);
		json_array(j, "exceeded");
		for (; k < l->n && l->excess[k].limit == limit; k++) {
			json_object(j, NULL);
			json_str(j, "task", *limit->pattern ? l->excess[k].task : NULL);
			json_shortest(j, "value", l->excess[k].value);
			json_object_end(j);
		}
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

/* The limit is exceeded by the n values from `first` on. */
static void add_failure(struct junit *j, const struct limits_excess *first, size_t n)
{
	struct buf message = BUF_PART_OF(&j->cases), text = BUF_PART_OF(&j->cases);

	buf_addf(&message, "%s: %s ", task_name(first->task), metric_info[first->limit->metric].title);
	add_amount(&message, first->limit, first->value);
	buf_adds(&message, ", limit ");
	add_amount(&message, first->limit, first->limit->most);
	if (n > 1)
		buf_addf(&message, ", and %zu more", n - 1);
	for (size_t i = 0; i < n; i++) {
		buf_addf(&text, "%s%s ", i ? "; " : "", task_name(first[i].task));
		add_amount(&text, first->limit, first[i].value);
	}
	junit_result(j, "limit", buf_str(&message), buf_str(&text));
	buf_release(&message);
	buf_release(&text);
}

void check_limits_junit(struct junit *j, const struct limits_check *l, const char *ref)
{
	struct buf class = BUF_PART_OF(&j->cases), title = BUF_PART_OF(&j->cases);

	/* No series has a name of four parts: no task's case has this class. */
	buf_addf(&class, "%s/limits", ref);
	for (size_t i = 0, k = 0; l && i < l->limits->n; i++) {
		const struct limit *limit = &l->limits->limit[i];
		size_t first = k;

		while (k < l->n && l->excess[k].limit == limit)
			k++;
		buf_clear(&title);
		add_title(&title, limit);
		junit_case(j, buf_str(&class), buf_str(&title), NULL);
		if (k > first)
			add_failure(j, &l->excess[first], k - first);
		else if (!l->tasks[i])
			junit_result(j, NULL, "the build has no such value", NULL);
	}
	buf_release(&class);
	buf_release(&title);
}
