/* SPDX-License-Identifier: MIT */
#include "compare/builds.h"

#include "base/arena.h"
#include "compare/rules.h"

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

const char *builds_name_at(const struct builds *builds, uint32_t task, uint32_t build)
{
	const struct builds_task *t = &builds->task[task];
	const char *name = t->n_held ? t->held[0].name : t->name;

	for (size_t i = 1; i < t->n_held && t->held[i].first <= build; i++)
		name = t->held[i].name;
	return name;
}

bool builds_task_fits(const struct builds *builds, uint32_t task, const char *pattern)
{
	const struct builds_task *t = task < builds->n_tasks ? &builds->task[task] : NULL;
	bool fits = rules_pattern_fits(pattern, t ? t->name : "");

	for (size_t i = 0; t && !fits && i < t->n_held; i++)
		fits = rules_pattern_fits(pattern, t->held[i].name);
	return fits;
}

static bool had_name(const struct builds_task *t, const char *name)
{
	for (size_t i = 0; i < t->n_held; i++) {
		if (!strcmp(t->held[i].name, name))
			return true;
	}
	return false;
}

uint32_t builds_find(const struct builds *builds, const char *name)
{
	uint32_t former = (uint32_t)builds->n_tasks;

	for (uint32_t i = 0; i < builds->n_tasks; i++) {
		if (!strcmp(builds->task[i].name, name))
			return i;
		if (former == builds->n_tasks && had_name(&builds->task[i], name))
			former = i;
	}
	return former;
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
