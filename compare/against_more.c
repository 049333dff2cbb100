/* SPDX-License-Identifier: MIT */
#include "compare/against_more.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Builds, and behind them copies of the last ones. */
struct more {
	const struct builds *builds;
	uint32_t first, n;	/* builds that are copied in turn, and how many there are in all */
};

static uint32_t original(const struct more *m, uint32_t build)
{
	uint32_t n = (uint32_t)m->builds->n;

	return build < n ? build : m->first + (build - n) % (n - m->first);
}

static int load_row(const struct builds *builds, uint32_t build, enum metric metric, float *values,
		    struct error *err)
{
	const struct more *m = builds->context;

	return m->builds->row(m->builds, original(m, build), metric, values, err);
}

static int load_spread(const struct builds *builds, uint32_t build, enum metric metric,
		       float *values, struct error *err)
{
	const struct more *m = builds->context;

	return m->builds->spread(m->builds, original(m, build), metric, values, err);
}

static bool is_decided(const struct verdict *v, const struct against_undecided *u, uint32_t first)
{
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (f->task == u->task && f->metric == u->metric && f->worse &&
		    f->state != FINDING_SUSPECT && f->last >= first)
			return true;
	}
	return false;
}

/* Sets `more` of the items that so many more recordings decide; returns how many are left, or a
 * negative errno with err. */
static int64_t decide(struct against_list *list, const struct builds *builds,
		      const struct rules *rules, const struct known_list *known, uint32_t first,
		      uint32_t more, struct error *err)
{
	struct more m = { builds, first, (uint32_t)builds->n + more };
	struct build *build = array_new(m.n, sizeof *build);
	struct verdict v = { 0 };
	struct builds all = *builds;
	int64_t left = 0;
	int r;

	if (!build)
		return error_sys(err, -ENOMEM, builds->ref, NULL);
	for (uint32_t b = 0; b < m.n; b++)
		build[b] = builds->build[original(&m, b)];
	all.n = m.n;
	all.build = build;
	all.presence = NULL;
	all.load = NULL;
	all.notes = NULL;
	all.row = load_row;
	all.spread = builds->spread ? load_spread : NULL;
	all.context = &m;
	r = verdict_make(&v, &all, rules, known, err);
	for (size_t i = 0; !r && i < list->n; i++) {
		struct against_undecided *u = &list->item[i];

		if (!u->more && is_decided(&v, u, first))
			u->more = more;
		left += !u->more;
	}
	verdict_release(&v);
	free(build);
	return r ? r : left;
}

int against_find_more(struct against_list *list, const struct builds *builds,
		      const struct rules *rules, const struct known_list *known, uint32_t first,
		      struct error *err)
{
	static const uint32_t tries[] = { 1, 2, 3, 5, AGAINST_MORE_MAX };
	int64_t left = (int64_t)list->n;

	for (size_t i = 0; left > 0 && i < ARRAY_SIZE(tries); i++) {
		left = decide(list, builds, rules, known, first, tries[i], err);
		if (left < 0)
			return (int)left;
	}
	list->n_stuck = (size_t)left;
	for (size_t i = 0; i < list->n; i++) {
		if (list->item[i].more > list->more)
			list->more = list->item[i].more;
	}
	return 0;
}
