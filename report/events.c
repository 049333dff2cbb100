/* SPDX-License-Identifier: MIT */
#include "report/events.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static void add_of_history(struct report_events *e, const struct history *h)
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
				.finding = c->finding, .known = c->known,
			};
		}
	}
}

int report_events_make(struct report_events *e, const struct history *h)
{
	*e = (struct report_events){ 0 };
	e->event = array_new(h->n_events, sizeof *e->event);
	e->change = array_new(h->n_changes, sizeof *e->change);
	if (!e->event || !e->change)
		return -ENOMEM;
	add_of_history(e, h);
	return 0;
}

void report_events_release(struct report_events *e)
{
	free(e->event);
	free(e->change);
}
