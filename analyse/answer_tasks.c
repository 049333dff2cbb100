/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "analyse/lto.h"
#include "base/minmax.h"
#include "base/text.h"

#include <string.h>

#define CORES_ONE 1.5		/* a task that uses more has processes or threads side by side */
#define CORES_MOST 0.75		/* the same of a machine that has few: it uses nearly all of them */

/* Little to do at once */

/* Do its processes run side by side, so that it used more than one core, or nearly all? */
static bool is_parallel(const struct answer_work *w, uint32_t task)
{
	const struct cost_cpu *cpu = &w->s->nest[task].cpu;
	double wall_us = (double)cost_wall_us(w->s->rec, &w->s->rec->task[task]);

	return cpu->user_us >= 0 && w->s->cores > 1 &&
	       (double)cpu->user_us + (double)cpu->system_us >= MIN(CORES_ONE, CORES_MOST * (double)w->s->cores) * wall_us;
}

void answer_say_alone(struct answer_work *w)
{
	const struct answer_times *t = &w->times;
	const struct answer_span *alone = &t->alone;
	int64_t idle_us;

	if (w->s->running_max < 2 || w->s->cores < 2 || !answer_is_part(w, t->alone_us) ||
	    is_parallel(w, alone->task) ||
	    (alone->from_us >= w->late_from_us && alone->until_us <= w->late_until_us))
		return;
	if (!answer_is_most(alone->us, t->alone_us)) {
		answer_add_time(w, "For ", t->alone_us, " of ");
		answer_add_time(w, "", w->s->wall_us, " only one task ran at a time, ");
		answer_add_name(w, "", alone->task, "");
		answer_add_time(w, " for ", alone->us, " of that");
		answer_end(w, ANSWER_ALONE, alone, t->alone_us);
		return;
	}
	answer_add_name(w, "", alone->task, " ran alone for ");
	answer_add_of_build(w, alone->us);
	idle_us = answer_times_idle_us(w->s, alone->from_us, alone->until_us);
	if (idle_us > alone->us / 2 && answer_is_nearly(alone->us, alone->until_us - alone->from_us))
		buf_addf(&w->text, " while %.*f core-seconds were idle", idle_us < 10000000,
			 (double)idle_us / 1e6);
	if (lto_is_serial(w->s, alone->task))
		answer_add(w, ": its link-time optimisation is serial, -flto=auto lets it use all cores");
	answer_end(w, ANSWER_ALONE, alone, alone->us);
}

void answer_say_nothing_ran(struct answer_work *w)
{
	const struct answer_times *t = &w->times;
	const struct answer_span *gap = &t->nothing;

	/* a link works itself before and after its optimisation */
	if (!w->s->n_ran || !answer_is_part(w, t->nothing_us) ||
	    (gap->from_us >= t->lto.from_us && gap->until_us <= t->lto.until_us))
		return;
	answer_add(w, "No task ran for ");
	answer_add_of_build(w, t->nothing_us);
	if (answer_is_most(gap->us, t->nothing_us)) {
		answer_add_time(w, ", ", gap->us, " of that ");
		if (!gap->from_us)
			answer_add(w, "before the first one");
		else if (gap->until_us >= w->s->wall_us)
			answer_add(w, "after the last one");
		else if (gap->task != NO_INDEX)
			answer_add_name(w, "in ", gap->task, "");
		else
			answer_add(w, "in one piece");
	}
	answer_end(w, ANSWER_NOTHING, gap, t->nothing_us);
}

/* Whether these tasks waited for what others made is not known. */
void answer_say_few(struct answer_work *w)
{
	const struct answer_times *t = &w->times;

	if (w->c->waits.has_dependencies || t->few.until_us < 0 || !answer_is_part(w, t->few.us))
		return;
	if (answer_find(w, ANSWER_ALONE))
		return;
	answer_add(w, "At most ");
	if (t->few_most > 1)
		answer_add_number(w, "", t->few_most, " tasks");
	else
		answer_add(w, "one task");
	answer_add_time(w, " ran at a time in the last ", t->few.until_us - t->few.from_us, " of ");
	text_add_time(&w->text, w->s->wall_us);
	if (t->few.task != NO_INDEX) {
		answer_add_name(w, ", ", t->few.task, "");
		answer_add_time(w, " for ", t->few_task_us, " of that");
	}
	answer_add_number(w, "; before that, up to ", w->s->running_max, "");
	answer_end(w, ANSWER_FEW, &t->few, t->few.us);
}

void answer_say_lto(struct answer_work *w)
{
	const struct answer_span *lto = &w->times.lto;
	const struct task *t;

	if (!answer_is_part(w, lto->us))
		return;
	t = &w->s->rec->task[lto->task];
	if (answer_is_nearly(recording_task_end_us(w->s->rec, t) - t->start_us, lto->us)) {
		answer_add_name(w, "The link of ", lto->task, " took ");
		answer_add_of_build(w, lto->us);
		answer_add(w, ", in link-time optimisation (lto1)");
	} else {
		answer_add(w, "Links with link-time optimisation (lto1) took ");
		answer_add_of_build(w, lto->us);
		answer_add_name(w, ", that of ", lto->task, "");
		answer_add_time(w, " ", recording_task_end_us(w->s->rec, t) - t->start_us, "");
	}
	answer_end(w, ANSWER_LTO, lto, lto->us);
}

/* What tasks waited for */

static uint32_t longest_of(const struct summary *s, const uint32_t *task, size_t n, int64_t *us)
{
	uint32_t most = NO_INDEX;

	*us = -1;
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &s->rec->task[task[i]];
		int64_t wall_us = recording_task_end_us(s->rec, t) - t->start_us;

		if (wall_us > *us) {
			*us = wall_us;
			most = task[i];
		}
	}
	return most;
}

/* It explains what the build took longer than its CPU time on all cores. */
void answer_say_dependencies(struct answer_work *w)
{
	const struct summary *s = w->s;
	const struct chain *c = w->c;
	const struct answer_sentence *alone = answer_find(w, ANSWER_ALONE);
	struct answer_span span = { -1, -1, 0, NO_INDEX };
	int64_t explains_us = c->dependency_us - (s->cores > 0 ? s->cpu_us / s->cores : 0);

	if (!c->waits.has_dependencies || !c->n_dependency || !build_is_good(s->result) || !answer_is_bound(w) ||
	    !answer_is_part(w, explains_us))
		return;
	span.task = longest_of(s, c->dependency, c->n_dependency, &span.us);
	if (answer_is_most(span.us, c->dependency_us) && is_parallel(w, span.task))
		return;
	span.from_us = s->rec->task[span.task].start_us;
	span.until_us = span.from_us + span.us;
	if (answer_is_nearly(span.us, c->dependency_us)) {
		answer_add_name(w, "", span.task, " takes ");
		answer_add_of_build(w, span.us);
	} else {
		answer_add(w, "The longest chain of dependencies takes ");
		answer_add_of_build(w, c->dependency_us);
	}
	answer_add(w, ", so more workers would help little");
	if (!answer_is_part(w, span.us) || (alone && alone->task == span.task &&
				     !answer_is_nearly(span.us, c->dependency_us))) {
		span = (struct answer_span){ -1, -1, 0, NO_INDEX };
	} else if (!answer_is_nearly(span.us, c->dependency_us)) {
		answer_add_name(w, "; ", span.task, "");
		answer_add_time(w, " is ", span.us, " of it");
	}
	answer_end(w, ANSWER_DEPENDENCIES, &span, explains_us);
}
