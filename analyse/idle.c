/* SPDX-License-Identifier: MIT */
#include "analyse/idle.h"

#include "analyse/cost.h"
#include "analyse/names.h"
#include "analyse/summary.h"
#include "base/minmax.h"
#include "base/text.h"
#include "recording/growing.h"
#include "recording/output_log.h"
#include "recording/suspended.h"

#define END_US 1000000		/* in this time before the end, the build was being stopped */
#define NAME_COLUMNS 60

int64_t idle_task_since_us(const struct task *t)
{
	return t->n_usage ? MAX((int64_t)t->still_ms * 1000, t->start_us) : -1;
}

bool idle_may_be(const struct recording *rec, const struct task *t, bool ended)
{
	if (t->hosts || !task_ran(t))
		return false;
	if (!ended)
		return t->end_us < 0 && rec->instance[t->instance].close_us < 0;
	return t->state != TASK_DONE && recording_task_end_us(rec, t) >= rec->end_us - END_US;
}

/* The newest of some times; what belongs to the end of the build is no progress. */
static void take(int64_t *newest_us, int64_t us, int64_t before_us)
{
	if (us < before_us)
		*newest_us = MAX(*newest_us, us);
}

static int64_t newest_event_us(const struct recording *rec, int64_t before_us)
{
	int64_t us = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		take(&us, rec->task[i].queued_us, before_us);
		take(&us, rec->task[i].start_us, before_us);
		take(&us, rec->task[i].end_us, before_us);
	}
	for (size_t i = 0; i < rec->n_instances; i++) {
		take(&us, rec->instance[i].open_us, before_us);
		take(&us, rec->instance[i].close_us, before_us);
	}
	for (size_t i = 0; i < rec->n_spans; i++) {
		take(&us, rec->span[i].begin_us, before_us);
		take(&us, rec->span[i].end_us, before_us);
	}
	for (size_t i = 0; i < rec->n_notes; i++)
		take(&us, rec->note[i].time_us, before_us);
	return us;
}

/* All tasks that run are idle since .since_us at the latest; false: some are not, or none runs. */
static bool find_tasks(struct idle *i, const struct recording *rec)
{
	int64_t first_us = INT64_MAX;

	for (uint32_t k = 0; k < rec->n_tasks; k++) {
		int64_t us = idle_task_since_us(&rec->task[k]);

		if (!idle_may_be(rec, &rec->task[k], i->ended))
			continue;
		if (us < 0)
			return false;
		i->n_tasks++;
		i->since_us = MAX(i->since_us, us);
		if (us < first_us) {
			first_us = us;
			i->task = k;
		}
	}
	return i->n_tasks > 0;
}

void idle_find(struct idle *i, const struct recording *rec)
{
	int status;
	enum build_result result = summary_build_result(rec, &status);
	int64_t until_us, before_us, output_us;

	*i = (struct idle){ .ended = result != BUILD_UNFINISHED, .task = NO_INDEX };
	if (result == BUILD_OK || (i->ended && rec->end_us < 0))
		return;	/* or nobody knows when it ended */
	until_us = i->ended ? rec->end_us : rec->last_us;
	before_us = i->ended ? until_us - END_US : INT64_MAX;
	i->since_us = newest_event_us(rec, before_us);
	if (until_us - i->since_us < IDLE_LEAST_US || !find_tasks(i, rec))
		return;
	output_us = rec->path ? output_newest_us(rec->path, before_us) : -1;
	i->output = output_us >= 0;
	if (i->output)
		i->since_us = MAX(i->since_us, suspended_since_start_us(rec, rec->start_mono_ns + output_us * 1000));
	if (until_us - i->since_us >= IDLE_LEAST_US)
		i->us = until_us - i->since_us;
	i->ended |= i->us && !growing_runs(rec);
}

void idle_words(struct buf *b, const struct idle *i, const struct recording *rec)
{
	struct buf name = BUF_PART_OF(b);
	bool many = i->n_tasks > 1;

	buf_adds(b, i->ended ? "Idle for the last " : "Idle for ");
	text_add_time(b, i->us);
	buf_adds(b, ": task ");
	name_add_task(&name, rec, &rec->task[i->task]);
	text_add_name(b, buf_str(&name), NAME_COLUMNS);
	if (many)
		buf_addf(b, " and %zu other%s", i->n_tasks - 1, i->n_tasks > 2 ? "s" : "");
	buf_adds(b, i->ended ? " used" : many ? " use" : " uses");
	buf_adds(b, " no CPU time and no disk");
	if (i->output)
		buf_adds(b, i->ended ? ", and wrote nothing" : many ? ", and write nothing" : ", and writes nothing");
	if (*i->process)
		buf_addf(b, "; its process %s", i->process);
	buf_release(&name);
}
