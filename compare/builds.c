/* SPDX-License-Identifier: MIT */
#include "compare/builds.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void builds_release(struct builds *builds)
{
	if (builds->end)
		builds->end(builds);
	free(builds->build);
	free(builds->task);
	arena_free(builds->texts);
	*builds = (struct builds){ 0 };
}

const char *builds_task_name(const struct builds *builds, uint32_t task)
{
	return task < builds->n_tasks ? builds->task[task].name : "";
}

const struct revision *build_revision(const struct build *build, const char *source)
{
	for (size_t i = 0; i < build->n_revisions; i++) {
		if (!strcmp(build->revision[i].source, source))
			return &build->revision[i];
	}
	return NULL;
}

double build_total(const struct build *build, enum metric m)
{
	return build->total[TOTAL_STATUS] > 0 ? NAN : metric_total(build->total, m);
}

double build_machine(const struct build *build, enum metric m)
{
	(void)build;
	(void)m;
	return NAN;
}
