/* SPDX-License-Identifier: MIT */
#include "compare/everywhere.h"

#include "base/array.h"
#include "base/cursor.h"
#include "stats/fisher.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A finding of one of the series. */
struct item {
	const struct everywhere_series *series;
	struct verdict_finding *f;
	struct item *home;	/* itself, if it is one */
	size_t n;		/* of the home: members */
	const char *task;
	bool gone, fails_there;
};

/* "host/branch/machine": one part of it. */
static struct slice part_of(const char *ref, int i)
{
	for (; i; i--) {
		ref = strchrnul(ref, '/');
		ref += *ref == '/';
	}
	return (struct slice){ ref, strcspn(ref, "/") };
}

static bool same_part(const struct builds *a, const struct builds *b, int i)
{
	struct slice x = part_of(a->ref, i), y = part_of(b->ref, i);

	return x.len == y.len && !memcmp(x.p, y.p, x.len);
}

#define HOST 0
#define BRANCH 1

/* The commits that may have changed a series: after `from`, up to `to`. NULL: unknown. */
struct span {
	const struct revision *from, *to;
};

/* Of the tree of a revision; two machines can have their only tree at different places. */
static struct span span_of(const struct item *i, const struct revision *tree, size_t n_trees)
{
	const struct builds *b = i->series->builds;
	const struct build *last = &b->build[i->f->last];
	struct span s = { NULL, build_revision(last, tree->source) };

	if (!s.to && n_trees == 1 && last->n_revisions == 1)
		s.to = last->revision;
	if (s.to && i->f->first)
		s.from = build_revision(&b->build[i->f->first - 1], s.to->source);
	return s;
}

static bool overlap(const struct span *a, const struct span *b)
{
	if (!a->to || !b->to)
		return false;
	if (a->from && b->from && a->from->count > 0 && b->from->count > 0 && a->to->count > 0 &&
	    b->to->count > 0)
		return a->from->count < b->to->count && b->from->count < a->to->count;
	return !strcmp(a->to->commit, b->to->commit);
}

static bool is_changed(const struct span *s)
{
	return s->to && (!s->from || strcmp(s->from->commit, s->to->commit) != 0);
}

/* Whether one commit can be the cause of both. */
static bool is_same(const struct item *a, const struct item *b)
{
	const struct build *last = &a->series->builds->build[a->f->last];

	if (a->series == b->series || !same_part(a->series->builds, b->series->builds, BRANCH))
		return false;
	for (size_t i = 0; i < last->n_revisions; i++) {
		struct span x = span_of(a, &last->revision[i], last->n_revisions);
		struct span y = span_of(b, &last->revision[i], last->n_revisions);

		if (is_changed(&x) && is_changed(&y) && overlap(&x, &y))
			return true;
	}
	return false;
}

static int by_subject(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->task, y->task);

	if (order)
		return order;
	if (x->f->metric != y->f->metric)
		return x->f->metric < y->f->metric ? -1 : 1;
	if (x->f->worse != y->f->worse)
		return x->f->worse ? -1 : 1;
	/* What can be a home first. */
	if (x->f->fails != y->f->fails)
		return x->f->fails ? -1 : 1;
	if (x->f->state != y->f->state)
		return x->f->state < y->f->state ? -1 : 1;
	if (x->series != y->series)
		return x->series < y->series ? -1 : 1;
	return x->f < y->f ? -1 : x->f > y->f;
}

static bool same_subject(const struct item *a, const struct item *b)
{
	return !strcmp(a->task, b->task) && a->f->metric == b->f->metric && a->f->worse == b->f->worse;
}

/* A finding belongs to the first home at the same commits; of one series only once. */
static void find_homes(struct item *item, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (item[i].home)
			continue;
		item[i].home = &item[i];
		item[i].n = 1;
		/* What several tasks share may be of other tasks elsewhere. */
		for (size_t k = i + 1; k < n && item[i].f->task != TASK_SHARED && same_subject(&item[i], &item[k]); k++) {
			bool taken = item[k].home || item[k].f->task == TASK_SHARED;

			for (size_t m = i + 1; m < k; m++)
				taken |= item[m].home == &item[i] && item[m].series == item[k].series;
			if (taken || !is_same(&item[i], &item[k]))
				continue;
			item[k].home = &item[i];
			item[i].n++;
		}
	}
}

/* The rates of the hosts that have it, the smallest of each. */
static double join_rates(const struct item *home, const struct item *end, double *rate, size_t *n)
{
	*n = 0;
	for (const struct item *i = home; i < end; i++) {
		double least = i->f->rate;
		bool is_first = true;

		if (i->home != home)
			continue;
		for (const struct item *k = home; k < end; k++) {
			if (k->home != home || !same_part(k->series->builds, i->series->builds, HOST))
				continue;
			is_first &= k >= i;
			least = fmin(least, k->f->rate);
		}
		if (is_first)
			rate[(*n)++] = least;
	}
	return fisher_join(rate, *n);
}

static void confirm(struct everywhere_also *also, struct verdict_finding *f, double rate, size_t hosts,
		    const struct rules *rules)
{
	if (f->task == TASK_HOST || hosts < 2)
		return;
	f->rate = fmin(f->rate, rate);
	if (f->state != FINDING_SUSPECT || rate > rules->rate)
		return;
	also->joined = true;
	f->state = FINDING_CONFIRMED;
	f->fails = f->worse;
}

/* Moves the other members of each home to its list. */
static void move(struct everywhere *e, struct item *item, size_t n, double *rate,
		 const struct rules *rules)
{
	struct everywhere_part *part = e->part;

	for (size_t i = 0; i < n; i++) {
		struct everywhere_also *also = &e->also[e->n_also];
		size_t end = i, hosts;
		double joined;

		if (item[i].home != &item[i] || item[i].n == 1)
			continue;
		*also = (struct everywhere_also){ .part = part };
		while (end < n && same_subject(&item[i], &item[end]))
			end++;
		joined = join_rates(&item[i], item + end, rate, &hosts);
		for (size_t k = i + 1; k < end; k++) {
			if (item[k].home != &item[i])
				continue;
			part[also->n++] = (struct everywhere_part){ item[k].series->builds, *item[k].f };
			item[k].gone = true;
		}
		part += also->n;
		item[i].f->also = also;
		e->n_also++;
		confirm(also, item[i].f, joined, hosts, rules);
		for (size_t k = i + 1; k < end; k++)
			item[k].fails_there |= item[k].home == &item[i] && item[i].f->fails;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->series != y->series ? x->series < y->series ? -1 : 1 :
	       x->f < y->f ? -1 : x->f > y->f;
}

/* Removes what moved, sorts by state what changed it, and counts again. */
static void settle(const struct everywhere_series *series, const struct item *item, size_t n,
		   struct verdict_finding *work)
{
	struct verdict *v = series->verdict;
	size_t kept = 0;

	v->n_confirmed = v->n_known = v->n_suspect = 0;
	for (int state = FINDING_CONFIRMED; state <= FINDING_SUSPECT; state++) {
		for (int worse = 1; worse >= 0; worse--) {
			for (size_t i = 0; i < n; i++) {
				const struct verdict_finding *f = item[i].f;

				if (!item[i].gone && (int)f->state == state && f->worse == worse)
					work[kept++] = *f;
			}
		}
	}
	for (size_t i = 0; i < n; i++)
		v->n_elsewhere += item[i].gone && item[i].fails_there;
	for (size_t i = 0; i < kept; i++) {
		const struct verdict_finding *f = &work[i];
		bool counts = f->worse && (f->task != TASK_HOST || f->state == FINDING_KNOWN);

		v->finding[i] = *f;
		v->n_confirmed += f->fails;
		v->n_known += counts && f->state == FINDING_KNOWN;
		v->n_suspect += counts && f->state == FINDING_SUSPECT;
	}
	v->n = kept;
	if (v->enough && !v->n_suspect)
		v->more_builds = 0;
}

static struct item item_of(const struct everywhere_series *series, struct verdict_finding *f)
{
	return (struct item){ .series = series, .f = f, .task = f->task < series->builds->n_tasks ?
		series->builds->task[f->task].name : f->task == TASK_HOST ? "\n" : "" };
}

int everywhere_join(struct everywhere *e, const struct everywhere_series *series, size_t n,
		    const struct rules *rules)
{
	struct verdict_finding *work;
	struct item *item, *own;
	double *rate;
	size_t all = 0, at = 0;
	int r = -ENOMEM;

	*e = (struct everywhere){ 0 };
	for (size_t i = 0; i < n; i++)
		all += series[i].verdict->n;
	item = array_new_zero(all + 1, sizeof *item);
	own = array_new(all + 1, sizeof *own);
	work = array_new(all + 1, sizeof *work);
	rate = array_new(n + 1, sizeof *rate);
	e->also = array_new(all + 1, sizeof *e->also);
	e->part = array_new(all + 1, sizeof *e->part);
	if (!item || !own || !work || !rate || !e->also || !e->part)
		goto out;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < series[i].verdict->n; k++)
			item[at++] = item_of(&series[i], &series[i].verdict->finding[k]);
	}
	qsort(item, all, sizeof *item, by_subject);
	find_homes(item, all);
	move(e, item, all, rate, rules);
	for (size_t i = 0; i < n; i++) {
		size_t n_own = 0;

		for (size_t k = 0; k < all; k++) {
			if (item[k].series == &series[i])
				own[n_own++] = item[k];
		}
		if (n_own)
			qsort(own, n_own, sizeof *own, by_place);
		settle(&series[i], own, n_own, work);
	}
	r = 0;
out:
	free_all(item, own, work, rate);
	return r;
}

/* Adds what the series has of this finding. */
static void mark_series(struct everywhere_also *also, struct everywhere_part *part,
			const struct item *own, const struct everywhere_series *series)
{
	for (size_t k = 0; k < series->verdict->n; k++) {
		struct item of = item_of(series, &series->verdict->finding[k]);

		if (!same_subject(own, &of) || !is_same(own, &of))
			continue;
		part[also->n++] = (struct everywhere_part){ series->builds, *of.f };
		return;
	}
}

int everywhere_mark(struct everywhere *e, const struct everywhere_series *series, size_t n)
{
	struct verdict *v = series[0].verdict;
	struct everywhere_part *part;

	*e = (struct everywhere){ 0 };
	e->also = array_new(v->n + 1, sizeof *e->also);
	e->part = part = array_new(v->n * n + 1, sizeof *e->part);
	if (!e->also || !e->part)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++) {
		struct everywhere_also *also = &e->also[e->n_also];
		struct item own = item_of(&series[0], &v->finding[i]);

		*also = (struct everywhere_also){ .part = part };
		for (size_t k = 1; k < n; k++)
			mark_series(also, part, &own, &series[k]);
		if (!also->n)
			continue;
		part += also->n;
		v->finding[i].also = also;
		e->n_also++;
	}
	return 0;
}

void everywhere_release(struct everywhere *e)
{
	free(e->also);
	free(e->part);
	*e = (struct everywhere){ 0 };
}
