/* SPDX-License-Identifier: MIT */
#include "compare/pairs.h"

#include "analyse/names.h"
#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One build's side of the rows. */
struct pairs_side {
	const struct summary *sum;
	const struct values *values;
	uint32_t *row;		/* of each row of values: of diff */
	uint32_t *of;		/* of each task by its place in order: row of diff */
};

/* The row of diff of each row of values. */
static void find_rows(struct pairs_side *s, const struct diff *d, enum diff_side which)
{
	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];
		size_t row = values_find(s->values, which == DIFF_BASE && t->was ? t->was : t->name);

		if (row < s->values->n_tasks)
			s->row[row] = (uint32_t)i;
	}
}

static int find_tasks(struct pairs_side *s)
{
	const struct recording *rec = s->sum->rec;
	struct buf name = BUF_INIT;
	int r;

	for (size_t i = 0; i < s->sum->n_ran && !buf_error(&name); i++) {
		size_t row;

		buf_clear(&name);
		name_add_stable(&name, rec, &rec->task[s->sum->order[i]]);
		row = values_find(s->values, buf_str(&name));
		s->of[i] = row < s->values->n_tasks ? s->row[row] : NO_INDEX;
	}
	r = buf_error(&name);
	buf_release(&name);
	return r;
}

static int side_make(struct pairs_side *s, const struct summary *sum, const struct values *values,
		     const struct diff *d, enum diff_side which)
{
	size_t n = (values->n_tasks + 1) * sizeof *s->row;

	*s = (struct pairs_side){ sum, values, malloc(n), malloc((sum->n_ran + 1) * sizeof *s->of) };
	if (!s->row || !s->of)
		return -ENOMEM;
	memset(s->row, 0xff, n);
	find_rows(s, d, which);
	return find_tasks(s);
}

static void side_release(struct pairs_side *s)
{
	free(s->row);
	free(s->of);
}

/* The n-th task of a row is the n-th of that row in the other build. */
static int join(struct pairs *p, const struct pairs_side *base, const struct pairs_side *now)
{
	size_t n = p->diff.n_tasks;
	uint32_t *first = malloc((n + 1) * sizeof *first);
	uint32_t *next = malloc((base->sum->n_ran + 1) * sizeof *next);

	for (size_t i = 0; first && i < n; i++)
		first[i] = NO_INDEX;
	for (size_t i = base->sum->n_ran; first && next && i-- > 0;) {
		next[i] = NO_INDEX;
		if (base->of[i] == NO_INDEX)
			continue;
		next[i] = first[base->of[i]];
		first[base->of[i]] = (uint32_t)i;
	}
	for (size_t i = 0; first && next && i < now->sum->n_ran; i++) {
		uint32_t row = now->of[i], other = row == NO_INDEX ? NO_INDEX : first[row];

		if (other == NO_INDEX)
			continue;
		p->same[now->sum->order[i]] = base->sum->order[other];
		first[row] = next[other];
		p->n_same++;
	}
	p->n_only_now = now->sum->n_ran - p->n_same;
	p->n_only_base = base->sum->n_ran - p->n_same;
	free(first);
	free(next);
	return first && next ? 0 : -ENOMEM;
}

int pairs_make(struct pairs *p, const struct summary *base, const struct summary *now)
{
	struct pairs_side b = { 0 }, n = { 0 };
	struct diff_options options = { 0 };
	struct rules rules;
	size_t size = (now->rec->n_tasks + 1) * sizeof *p->same;
	int r;

	*p = (struct pairs){ .same = malloc(size) };
	if (!p->same)
		return -ENOMEM;
	memset(p->same, 0xff, size);
	rules_init(&rules);
	rules.metrics = METRIC_BIT(METRIC_WALL);
	options.rules = &rules;
	r = values_make(&p->base, base->rec);
	r = r ? r : values_make(&p->now, now->rec);
	r = r ? r : diff_make(&p->diff, &p->base, 1, &p->now, 1, &options);
	r = r ? r : side_make(&b, base, &p->base, &p->diff, DIFF_BASE);
	r = r ? r : side_make(&n, now, &p->now, &p->diff, DIFF_NOW);
	r = r ? r : join(p, &b, &n);
	side_release(&b);
	side_release(&n);
	return r;
}

void pairs_release(struct pairs *p)
{
	free(p->same);
	diff_release(&p->diff);
	values_release(&p->base);
	values_release(&p->now);
}
