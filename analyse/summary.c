/* SPDX-License-Identifier: MIT */
#include "analyse/summary.h"

#include "analyse/targets.h"
#include "base/saturate.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum build_result summary_build_result(const struct recording *rec, int *status)
{
	int64_t exited = recording_build_number(rec, "status");
	int64_t signal = recording_build_number(rec, "signal");

	*status = 0;
	if (signal > 0) {
		*status = (int)signal;
		return BUILD_KILLED;
	}
	if (exited > 0) {
		*status = (int)exited;
		return BUILD_FAILED;
	}
	if (!exited)
		return BUILD_OK;
	return rec->end_us >= 0 ? BUILD_ENDED : BUILD_UNFINISHED;
}

/* Tasks by start, those that never started behind them. */
static int fill_order(struct summary *s)
{
	const struct recording *rec = s->rec;
	struct keyed *k = malloc((rec->n_tasks + 1) * sizeof *k);
	size_t queued = rec->n_tasks;

	if (!k)
		return -ENOMEM;
	for (size_t i = rec->n_tasks; i-- > 0; ) {
		if (!task_ran(&rec->task[i]))
			s->order[--queued] = (uint32_t)i;
	}
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (task_ran(&rec->task[i]))
			k[s->n_ran++] = (struct keyed){ (uint64_t)rec->task[i].start_us,
							(int64_t)i };
	}
	if (sort_keyed(k, s->n_ran)) {
		free(k);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n_ran; i++)
		s->order[i] = (uint32_t)k[i].value;
	free(k);
	return 0;
}

static void count_states(struct summary *s)
{
	for (size_t i = 0; i < s->rec->n_tasks; i++) {
		s->n_state[s->rec->task[i].state]++;
		s->n_hosting += s->rec->task[i].hosts;
	}
}

/* The launcher's values; without them, the sum of the tasks. */
static void fill_cpu(struct summary *s)
{
	struct cost sum = { 0 };

	s->user_us = recording_build_number(s->rec, "user_us");
	s->system_us = recording_build_number(s->rec, "system_us");
	s->cpu_exact = s->user_us >= 0 && s->system_us >= 0;
	if (!s->cpu_exact) {
		for (size_t i = 0; i < s->rec->n_tasks; i++)
			cost_add(&sum, &s->nest[i].cost);
		s->user_us = sum.user_us;
		s->system_us = sum.system_us;
	}
	s->cpu_us = s->cpu_exact ? sat_add(s->user_us, s->system_us) : sum.cpu_us;
}

static int fill_running(struct summary *s)
{
	int64_t unused;

	if (curve_running(&s->running, s->rec, s->order, s->n_ran))
		return -ENOMEM;
	s->running_max = curve_peak(&s->running, 0, s->wall_us, &unused);
	s->running_sum_us = curve_integral(&s->running, 0, s->wall_us);
	if (s->cores < 1)
		return 0;
	s->n_levels = s->cores < RUNNING_LEVELS_MAX ? (size_t)s->cores + 1 : RUNNING_LEVELS_MAX;
	s->level_us = calloc(s->n_levels, sizeof *s->level_us);
	if (!s->level_us)
		return -ENOMEM;
	curve_histogram(&s->running, 0, s->wall_us, s->level_us, s->n_levels);
	return 0;
}

static void add_peak_task(struct summary *s, uint32_t task, int64_t kb)
{
	size_t at = s->n_peak_tasks;

	while (at && s->peak_task[at - 1].memory_kb < kb) {
		if (at < PEAK_TASKS_MAX)
			s->peak_task[at] = s->peak_task[at - 1];
		at--;
	}
	if (at == PEAK_TASKS_MAX)
		return;
	s->peak_task[at] = (struct peak_task){ task, kb };
	s->n_peak_tasks += s->n_peak_tasks < PEAK_TASKS_MAX;
}

static int fill_memory(struct summary *s)
{
	const struct recording *rec = s->rec;
	uint32_t *kb;

	s->memory_peak_kb = (struct moment){ -1, -1 };
	if (!rec->n_memory)
		return 0;
	if (curve_task_memory(&s->memory_kb, rec))
		return -ENOMEM;
	s->memory_peak_kb.value = curve_peak(&s->memory_kb, 0, INT64_MAX,
					     &s->memory_peak_kb.time_us);
	kb = curve_task_memory_at(rec, s->memory_peak_kb.time_us);
	if (!kb)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (kb[i])
			add_peak_task(s, (uint32_t)i, kb[i]);
	}
	free(kb);
	return 0;
}

static int allocate(struct summary *s)
{
	size_t n = s->rec->n_tasks + 1;

	s->nest = malloc(n * sizeof *s->nest);
	s->order = malloc(n * sizeof *s->order);
	return s->nest && s->order ? 0 : -ENOMEM;
}

int summary_make(struct summary *s, const struct recording *rec)
{
	*s = (struct summary){ .rec = rec };
	s->result = summary_build_result(rec, &s->status);
	s->wall_us = rec->end_us >= 0 ? rec->end_us : rec->last_us;
	if (s->wall_us < 0)
		s->wall_us = 0;
	s->cores = recording_build_number(rec, "cores");
	if (allocate(s) || fill_order(s) || cost_fill(s->nest, rec, s->order, s->n_ran) ||
	    targets_fill(s) || fill_running(s) || fill_memory(s))
		return -ENOMEM;
	count_states(s);
	fill_cpu(s);
	host_fill(&s->host, rec);
	return 0;
}

void summary_release(struct summary *s)
{
	curve_release(&s->running);
	curve_release(&s->memory_kb);
	free(s->nest);
	free(s->order);
	free(s->target);
	free(s->level_us);
	*s = (struct summary){ 0 };
}

/* Ticks are coarse: of a short span they may come to more than there was. */
static double share(int64_t us, int64_t span_us, int64_t cores)
{
	double part;

	if (us < 0 || span_us <= 0 || cores < 1)
		return -1;
	part = (double)us / ((double)span_us * (double)cores);
	return part < 1 ? part : 1;
}

double summary_cpu_share(const struct summary *s)
{
	return share(s->cpu_us, s->wall_us, s->cores);
}

double summary_host_share(const struct summary *s, int64_t us)
{
	return share(us, s->host.span_us, s->rec->source.one_core ? 1 : s->cores);
}
