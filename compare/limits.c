/* SPDX-License-Identifier: MIT */
#include "compare/limits.h"

#include "analyse/values.h"
#include "base/array.h"
#include "compare/rules.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The last limit on a metric that fits a task ("": the build), or NULL. */
static const struct limit *find_limit(const struct limits *limits, const char *task, enum metric m)
{
	for (size_t i = limits->n; i-- > 0; ) {
		const struct limit *l = &limits->limit[i];

		if (l->metric == m && rules_pattern_fits(l->pattern, task))
			return l;
	}
	return NULL;
}

static int check_value(struct limits_check *c, const char *task, enum metric m, double value)
{
	const struct limit *l = isnan(value) ? NULL : find_limit(c->limits, task, m);
	struct limits_excess *excess;

	if (!l)
		return 0;
	c->tasks[l - c->limits->limit]++;
	if (value <= l->most)
		return 0;
	excess = array_add(&c->excess, &c->n, sizeof *excess);
	if (!excess)
		return -ENOMEM;
	*excess = (struct limits_excess){ l, task, value };
	return 0;
}

static int by_limit(const void *x, const void *y)
{
	const struct limits_excess *a = x, *b = y;

	if (a->limit != b->limit)
		return a->limit < b->limit ? -1 : 1;
	if (a->value < b->value || a->value > b->value)
		return a->value > b->value ? -1 : 1;
	return strcmp(a->task, b->task);
}

int limits_check(struct limits_check *c, const struct limits *limits, const struct values *f)
{
	unsigned metrics = 0;
	int r = 0;

	*c = (struct limits_check){ .limits = limits,
				    .tasks = array_new_zero(limits->n, sizeof *c->tasks) };
	if (!c->tasks)
		return -ENOMEM;
	for (size_t i = 0; i < limits->n; i++)
		metrics |= METRIC_BIT(limits->limit[i].metric);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (!(metrics & METRIC_BIT(m)))
			continue;
		r = check_value(c, "", m, metric_total(f->total, m));
		for (size_t i = 0; !r && i < f->n_tasks; i++)
			r = check_value(c, f->task[i].name, m, values_get(f, i, m));
	}
	if (c->n)
		qsort(c->excess, c->n, sizeof *c->excess, by_limit);
	return r;
}

void limits_check_release(struct limits_check *c)
{
	free(c->excess);
	free(c->tasks);
	*c = (struct limits_check){ 0 };
}
