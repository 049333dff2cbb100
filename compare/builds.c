/* SPDX-License-Identifier: MIT */
#include "compare/builds.h"

#include "base/arena.h"
#include "base/array.h"
#include "compare/presence.h"
#include "compare/rules.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void builds_release(struct builds *builds)
{
	if (builds->end)
		builds->end(builds);
	free(builds->build);
	free(builds->task);
	if (builds->presence)
		presence_release(builds->presence);
	free(builds->presence);
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

void builds_add_counted(const struct builds *builds, struct rules *rules)
{
	for (size_t i = 0; i < builds->n; i++)
		rules_add_counted(rules, builds->build[i].total);
}

double build_total(const struct build *build, enum metric m)
{
	return build->total[TOTAL_STATUS] > 0 ? NAN : metric_total(build->total, m);
}

#define TAKEN_MAX .95		/* more is not known so exactly */

static double known(int64_t total)
{
	return total > 0 ? (double)total : 0;
}

/*
 * The share of the processors wanted by the build that others had; NaN if unknown. The build
 * wants as many as it had tasks at once. Others take them only where both together want more
 * than the machine has, and only while some process waits for a processor (pressure; if it is
 * unknown, all the time). Stolen time falls on all processes that run in the same proportion.
 * Work of the build in a server that wait4(2) does not count, such as a compile server, counts
 * as that of others.
 */
static double share_taken(const struct build *build)
{
	const int64_t *t = build->total;
	double wall = known(t[TOTAL_WALL_US]), cores = (double)build->cores;
	/* in processors: CPU time for each unit of wall time */
	double own = metric_total(t, METRIC_CPU) / wall;
	double all = (known(t[TOTAL_HOST_USER_US]) + known(t[TOTAL_HOST_SYSTEM_US])) / wall;
	double stolen = known(t[TOTAL_HOST_STEAL_US]) / wall;
	double others = fmax(all - own, 0), wanted, pressed, lost;

	if (!(wall > 0) || cores < 1 || t[TOTAL_HOST_USER_US] < 0 || !(own >= 0))
		return NAN;
	wanted = t[TOTAL_RUNNING_MAX] > 0 ? (double)t[TOTAL_RUNNING_MAX] : cores;
	wanted = fmin(fmax(wanted, own), cores);
	pressed = t[TOTAL_HOST_STALLED_CPU_US] < 0 ? 1 :
		  fmin((double)t[TOTAL_HOST_STALLED_CPU_US] / wall, 1);
	lost = pressed * fmax(wanted + others - cores, 0);
	if (own > 0)
		lost += stolen * own / fmax(all, own);
	return fmin(lost / wanted, TAKEN_MAX);
}

static double calibration(const int64_t *total)
{
	double start = known(total[TOTAL_HOST_CALIBRATION_START_US]);
	double end = known(total[TOTAL_HOST_CALIBRATION_END_US]);

	/* a recording has one of them if it was ended by force */
	if (start <= 0 || end <= 0)
		return start + end > 0 ? start + end : NAN;
	return (start + end) / 2;
}

double build_machine(const struct build *build, enum metric m)
{
	if (m == METRIC_CPU)
		return log(calibration(build->total));
	if (m == METRIC_WALL) {
		double taken = share_taken(build);

		/* The speed alone explains more than nothing does. */
		return log(calibration(build->total)) - (isnan(taken) ? 0 : log1p(-taken));
	}
	return NAN;
}

int builds_scale(const struct builds *builds, struct rules *rules, struct error *err)
{
	double whole[METRICS], *v = array_new((size_t)rules->window, sizeof *v);

	if (!v)
		return error_sys(err, -ENOMEM, builds->ref, NULL);
	for (enum metric m = 0; m < METRICS; m++) {
		size_t n = 0;

		for (size_t b = 0; metric_info[m].time && b < builds->n && n < (size_t)rules->window; b++) {
			double total = build_total(&builds->build[b], m);

			if (!isnan(total))
				v[n++] = total;
		}
		whole[m] = stats_median(v, n);
	}
	rules_scale(rules, whole, true);
	free(v);
	return 0;
}
