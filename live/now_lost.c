/* SPDX-License-Identifier: MIT */
/*
 * Tasks whose first lines were lost. If some were, a task that has neither a start nor a place in the
 * queue counts as lost, as in analyse/summary.c, and in no other number.
 */
#include "live/now_state.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>

static struct now_numbers *numbers_of(struct now *n, uint32_t instance)
{
	struct now_private *p = n->private;

	while (p->n_numbers <= instance) {
		struct now_numbers *added = array_add(&p->numbers, &p->n_numbers, sizeof *added);

		if (!added)
			return NULL;
		*added = (struct now_numbers){ .follows = false };
	}
	return &p->numbers[instance];
}

int now_lost_opened(struct now *n, uint32_t instance)
{
	struct now_numbers *of = numbers_of(n, instance);

	if (!of)
		return -ENOMEM;
	of->follows = follow_has_all_numbers(&n->rec->instance[instance]);
	return 0;
}

int now_lost_closed(struct now *n, uint32_t instance, int64_t last)
{
	struct now_numbers *of = numbers_of(n, instance);

	if (!of)
		return -ENOMEM;
	if (last > 0 && last <= FOLLOW_NUMBER_MAX)
		of->closed = MAX(of->closed, (uint64_t)last);
	return 0;
}

/* Was this the line with which the task begins? */
static bool begins(const struct task *t, enum follow_change what)
{
	return (what == FOLLOW_QUEUED && t->start_us < 0) || (what == FOLLOW_STARTED && t->queued_us < 0);
}

static void change(struct now_counts *c, const struct task *t, int64_t by)
{
	c->state[t->end_us >= 0 ? t->state : TASK_QUEUED] += by;
	c->hosting += t->hosts ? by : 0;
}

int now_lost_changed(struct now *n, const struct task *t, enum follow_change what)
{
	struct now_counts *bare = &n->private->bare;
	struct now_numbers *of = numbers_of(n, t->instance);

	if (!of)
		return -ENOMEM;
	if (what == FOLLOW_NEW) {
		change(bare, t, 1);
	} else if (begins(t, what)) {
		change(bare, t, -1);
		of->n += t->seq <= FOLLOW_NUMBER_MAX;
	} else if (what == FOLLOW_ENDED && t->start_us < 0 && t->queued_us < 0) {
		bare->state[TASK_QUEUED]--;
		bare->state[t->state]++;
	}
	if ((begins(t, what) || what == FOLLOW_ENDED) && t->seq <= FOLLOW_NUMBER_MAX)
		of->newest = MAX(of->newest, t->seq);
	return 0;
}

void now_lost_hosts(struct now *n, const struct task *t)
{
	n->private->bare.hosting += t->start_us < 0 && t->queued_us < 0;
}

static bool is_any_lost(const struct now *n)
{
	const struct now_private *p = n->private;

	for (size_t i = 0; i < p->n_numbers && !p->any_lost; i++) {
		const struct now_numbers *of = &p->numbers[i];

		if (MAX(of->closed, of->follows ? of->newest : 0) > of->n)
			return true;
	}
	return p->any_lost;
}

static void subtract(struct now *n, const struct now_counts *c, int64_t by)
{
	n->n_queued -= (uint64_t)(by * c->state[TASK_QUEUED]);
	n->n_unfinished -= (uint64_t)(by * c->state[TASK_UNFINISHED]);
	n->n_done -= (uint64_t)(by * c->state[TASK_DONE]);
	n->n_failed -= (uint64_t)(by * c->state[TASK_FAILED]);
	n->n_killed -= (uint64_t)(by * c->state[TASK_KILLED]);
	n->n_hosting -= (uint64_t)(by * c->hosting);
}

void now_lost_settle(struct now *n)
{
	struct now_private *p = n->private;

	subtract(n, &p->left_out, -1);
	p->left_out = is_any_lost(n) ? p->bare : (struct now_counts){ .hosting = 0 };
	subtract(n, &p->left_out, 1);
}
