/* SPDX-License-Identifier: MIT */
#include "compare/nights.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

void nights_release(struct nights *nights)
{
	if (nights->end)
		nights->end(nights);
	free(nights->night);
	free(nights->task);
	arena_free(nights->texts);
	*nights = (struct nights){ 0 };
}

const char *nights_task_name(const struct nights *nights, uint32_t task)
{
	return task < nights->n_tasks ? nights->task[task].name : "";
}

double night_total(const struct night *night, enum metric m)
{
	return night->total[TOTAL_STATUS] > 0 ? NAN : metric_total(night->total, m);
}
