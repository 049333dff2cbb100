/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/fixed_by.h"
#include "compare/history_group.h"
#include "compare/verdict.h"

#include <errno.h>
#include <stdlib.h>

/* Whether both are of the same series with overlapping intervals. */
static bool is_same(const struct verdict_finding *f, const struct history_change *c)
{
	return f->task == c->task && f->metric == c->metric &&
	       f->first <= c->change.last && c->change.first <= f->last;
}

static bool mark(struct history *h, size_t n, const struct verdict_finding *f)
{
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_same(f, &h->change[i]))
			continue;
		if (!h->change[i].finding)
			h->change[i].finding = f;
		found = true;
	}
	return found;
}

static int add_finding(struct history *h, const struct verdict_finding *f)
{
	struct history_change *grown = realloc(h->change, (h->n_changes + 1) * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	h->change = grown;
	grown[h->n_changes++] = (struct history_change){
		.task = f->task, .metric = f->metric, .creep = f->creep,
		.group = f->group, .tasks = f->tasks, .of_tasks = f->of_tasks,
		.change = {
			.at = f->since, .first = f->first, .last = f->last,
			.before = f->before, .after = f->now, .effect = f->effect, .p = f->rate,
		},
		.known = f->known, .finding = f,
	};
	return 0;
}

/* A regression that failed earlier builds, and its end. Without these an event that the check
 * reported for weeks is gone from the history once it has ended. */
static int add_past(struct history *h, size_t n, const struct verdict_finding *f)
{
	struct verdict_finding side[2] = { *f, *f };

	side[1].since = side[1].first = side[1].last = f->until;
	side[1].before = f->now;
	side[1].now = f->before;
	side[1].effect = f->now > 0 ? f->before / f->now - 1 : 0;
	for (size_t i = 0; i < 2; i++) {
		bool found = false;
		int r;

		for (size_t k = 0; k < n && !found; k++)
			found = is_same(&side[i], &h->change[k]);
		r = found ? 0 : add_finding(h, &side[i]);
		if (r)
			return r;
		if (!found)
			h->change[h->n_changes - 1].finding = NULL;
	}
	return 0;
}

static int add_findings(struct history *h, const struct builds *builds, const struct verdict *v,
			uint32_t task, struct error *err)
{
	size_t n = h->n_changes;
	int r = 0;

	for (size_t i = 0; !r && i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if ((task == HISTORY_ALL || task == f->task) && !mark(h, n, f))
			r = add_finding(h, f);
	}
	for (size_t i = 0; !r && i < v->n_past; i++) {
		if (task == HISTORY_ALL || task == v->past[i].task)
			r = add_past(h, n, &v->past[i]);
	}
	if (!r && h->n_changes > n) {
		free(h->event);
		h->event = NULL;
		h->n_events = 0;
		r = history_group(h, builds);
	}
	return r ? error_sys(err, r, builds->ref, NULL) : 0;
}

int history_make(struct history *h, struct verdict *v, const struct builds *builds,
		 const struct rules *rules, const struct known_list *known, uint32_t task,
		 struct error *err)
{
	int r = history_find(h, builds, rules, known, task, err);

	*v = (struct verdict){ 0 };
	if (r)
		return r;
	r = verdict_make(v, builds, rules, known, err);
	if (r)
		return r;
	if (known)
		fixed_by_mark(v, builds, known);
	return add_findings(h, builds, v, task, err);
}
