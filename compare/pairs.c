/* SPDX-License-Identifier: MIT */
#include "compare/pairs.h"

#include "analyse/names.h"
#include "base/array.h"
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

static int find_tasks(const struct pairs_side *s)
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

int pairs_rows(uint32_t **of, const struct diff *d, enum diff_side which,
	       const struct values *values, const struct summary *sum)
{
	size_t n = (values->n_tasks + 1) * sizeof **of;
	struct pairs_side s = { sum, values, malloc(n), array_new(sum->n_ran + 1, sizeof **of) };
	int r = -ENOMEM;

	*of = s.of;
	if (s.row && s.of) {
		memset(s.row, 0xff, n);
		find_rows(&s, d, which);
		r = find_tasks(&s);
	}
	free(s.row);
	return r;
}

/* The n-th task of a row is the n-th of that row in the other build. */
static int join_tasks(struct pairs *p, const struct summary *base, const uint32_t *base_row,
		      const struct summary *now, const uint32_t *now_row)
{
	size_t n = p->diff.n_tasks;
	uint32_t *first = array_new(n + 1, sizeof *first);
	uint32_t *next = array_new(base->n_ran, sizeof *next);

	for (size_t i = 0; first && i < n; i++)
		first[i] = NO_INDEX;
	for (size_t i = base->n_ran; first && next && i-- > 0;) {
		next[i] = NO_INDEX;
		if (base_row[i] == NO_INDEX)
			continue;
		next[i] = first[base_row[i]];
		first[base_row[i]] = (uint32_t)i;
	}
	for (size_t i = 0; first && next && i < now->n_ran; i++) {
		uint32_t row = now_row[i], other = row == NO_INDEX ? NO_INDEX : first[row];

		if (other == NO_INDEX)
			continue;
		p->same[now->order[i]] = base->order[other];
		first[row] = next[other];
		p->n_same++;
	}
	p->n_only_now = now->n_ran - p->n_same;
	p->n_only_base = base->n_ran - p->n_same;
	free(first);
	free(next);
	return first && next ? 0 : -ENOMEM;
}

int pairs_make(struct pairs *p, const struct summary *base, const struct summary *now)
{
	uint32_t *b = NULL, *n = NULL;
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
	if (r)
		goto out;
	r = values_make(&p->now, now->rec);
	if (r)
		goto out;
	r = diff_make(&p->diff, &p->base, 1, &p->now, 1, &options);
	if (r)
		goto out;
	r = pairs_rows(&b, &p->diff, DIFF_BASE, &p->base, base);
	if (r)
		goto out;
	r = pairs_rows(&n, &p->diff, DIFF_NOW, &p->now, now);
	if (r)
		goto out;
	r = join_tasks(p, base, b, now, n);
out:
	free(b);
	free(n);
	return r;
}

void pairs_release(struct pairs *p)
{
	free(p->same);
	diff_release(&p->diff);
	values_release(&p->base);
	values_release(&p->now);
}
