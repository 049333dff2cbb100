/* SPDX-License-Identifier: MIT */
#include "report/events.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Whether both are of the same series with overlapping intervals. */
static bool is_same(const struct verdict_finding *f, const struct history_change *c)
{
	return f->task == c->task && f->metric == c->metric &&
	       f->first <= c->change.last && c->change.first <= f->last;
}

static const struct verdict_finding *finding_of(const struct verdict *v,
						const struct history_change *c)
{
	for (size_t i = 0; i < v->n; i++) {
		if (is_same(&v->finding[i], c))
			return &v->finding[i];
	}
	return NULL;
}

static void add_of_history(struct report_events *e, const struct history *h,
			   const struct verdict *v)
{
	for (size_t i = 0; i < h->n_events; i++) {
		const struct history_event *event = &h->event[i];

		e->event[e->n++] = (struct report_event){
			.at = event->at, .first = event->first, .last = event->last,
			.worse = event->worse, .host = event->host,
			.first_change = e->n_changes, .n_changes = event->n_changes,
		};
		for (size_t k = 0; k < event->n_changes; k++) {
			const struct history_change *c = &h->change[event->first_change + k];

			e->change[e->n_changes++] = (struct report_change){
				.task = c->task, .metric = c->metric,
				.worse = c->change.after > c->change.before, .creep = c->creep,
				.before = c->change.before, .after = c->change.after,
				.effect = c->change.effect, .rate = c->change.p,
				.finding = finding_of(v, c), .known = c->known,
			};
		}
	}
}

/* By build, then in the order of check. */
static int by_since(const void *a, const void *b)
{
	const struct verdict_finding *x = *(const struct verdict_finding *const *)a;
	const struct verdict_finding *y = *(const struct verdict_finding *const *)b;

	if (x->since != y->since)
		return x->since > y->since ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void add_finding(struct report_events *e, const struct verdict_finding *f)
{
	struct report_event *event = e->n ? &e->event[e->n - 1] : NULL;

	if (!event || event->at != f->since) {
		event = &e->event[e->n++];
		*event = (struct report_event){ .at = f->since, .first = f->first, .last = f->last,
					 .worse = f->worse, .host = f->task == TASK_HOST,
					 .first_change = e->n_changes };
	}
	if (f->first < event->first)
		event->first = f->first;
	if (f->last > event->last)
		event->last = f->last;
	event->n_changes++;
	e->change[e->n_changes++] = (struct report_change){
		.task = f->task, .metric = f->metric, .worse = f->worse,
		.before = f->before, .after = f->now, .effect = f->effect, .rate = f->rate,
		.finding = f, .known = f->known,
	};
}

/* 0 or -ENOMEM. */
static int add_of_verdict(struct report_events *e, const struct history *h, const struct verdict *v)
{
	const struct verdict_finding **list = malloc((v->n + 1) * sizeof *list);
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++) {
		size_t k = 0;

		while (k < h->n_changes && !is_same(&v->finding[i], &h->change[k]))
			k++;
		if (k == h->n_changes)
			list[n++] = &v->finding[i];
	}
	qsort(list, n, sizeof *list, by_since);
	for (size_t i = 0; i < n; i++)
		add_finding(e, list[i]);
	free(list);
	return 0;
}

/* Equal events keep their order. */
static int newest_first(const void *a, const void *b)
{
	const struct report_event *x = a, *y = b;

	if (x->at != y->at)
		return x->at > y->at ? -1 : 1;
	return x->first_change < y->first_change ? -1 : x->first_change > y->first_change;
}

int report_events_make(struct report_events *e, const struct history *history,
		       const struct verdict *verdict)
{
	int r;

	*e = (struct report_events){ 0 };
	e->event = malloc((history->n_events + verdict->n + 1) * sizeof *e->event);
	e->change = malloc((history->n_changes + verdict->n + 1) * sizeof *e->change);
	if (!e->event || !e->change)
		return -ENOMEM;
	r = add_of_verdict(e, history, verdict);
	add_of_history(e, history, verdict);
	qsort(e->event, e->n, sizeof *e->event, newest_first);
	return r;
}

void report_events_release(struct report_events *e)
{
	free(e->event);
	free(e->change);
}
