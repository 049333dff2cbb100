/* SPDX-License-Identifier: MIT */
#include "report/history_parts.h"

#include <errno.h>
#include <stdlib.h>

static int in_order(const void *a, const void *b)
{
	const struct history_change *x = *(const struct history_change *const *)a;
	const struct history_change *y = *(const struct history_change *const *)b;

	return x->change.at < y->change.at ? -1 : x->change.at > y->change.at;
}

static uint32_t task_of(const struct history_view *told)
{
	return told->task == HISTORY_ALL ? TASK_TOTAL : told->task;
}

int history_levels_find(struct history_levels *l, const struct history_view *told, enum metric m)
{
	const struct history *h = told->history;

	*l = (struct history_levels){ .change = malloc((h->n_changes + 1) * sizeof *l->change) };
	if (!l->change)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_changes; i++) {
		if (h->change[i].task == task_of(told) && h->change[i].metric == m)
			l->change[l->n++] = &h->change[i];
	}
	qsort(l->change, l->n, sizeof *l->change, in_order);
	return 0;
}

void history_levels_release(struct history_levels *l)
{
	free(l->change);
}
