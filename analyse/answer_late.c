/* SPDX-License-Identifier: MIT */
#include "analyse/answer_parts.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>

/*
 * A task that was ready early and had to wait for a worker. The end of the build then waited for it, or
 * for tasks that needed it, while other workers had nothing to do.
 */

#define LATE_LEAST 0.05		/* of the wall time */
#define SHORT 0.2		/* of the time that was lost: the task itself is no part of the problem */
#define LONGER 2		/* times a usual target: one of many equal ones is always last */

struct late {
	uint32_t first, last;	/* in the path: the task, with the lines of its recipe */
	uint32_t join;		/* in the path: the first task behind it that waited for others, too */
	int64_t join_us;	/* when that began; the end of the build if there is none */
	int64_t others_end_us;	/* when all others that began before had ended */
	bool *behind;		/* of each task: it is in the path from the first one on */
};

static const struct task *path_task(const struct answer_work *w, size_t i)
{
	return &w->s->rec->task[w->c->path[i]];
}

static bool is_next_line(const struct answer_work *w, size_t at)
{
	return at < w->c->n_path &&
	       w->s->nest[w->c->path[at]].target == w->s->nest[w->c->path[at - 1]].target;
}

/* Does a task of the path need what others made, after the first one had begun? */
static bool is_join(const struct late *l, const struct answer_work *w, size_t at)
{
	const struct task *t = path_task(w, at);
	const uint32_t *maker = w->c->waits.needs.maker;

	/* make waited for all of another make */
	if (w->c->path_why[at] != WAIT_TARGET && !is_next_line(w, at))
		return true;
	for (size_t k = t->first_after; k < (size_t)t->first_after + t->n_after; k++) {
		if (maker[k] == NO_INDEX || l->behind[maker[k]])
			continue;
		if (recording_task_end_us(w->s->rec, &w->s->rec->task[maker[k]]) > path_task(w, l->first)->start_us)
			return true;
	}
	return false;
}

/* Of the path, the last task that waited for a worker. */
static bool find_first(struct late *l, const struct answer_work *w)
{
	for (size_t i = w->c->n_path; i--; ) {
		if (w->c->path_link[i] == LINK_WORKER && w->c->waits.task[w->c->path[i]].us[QUEUE_WORKER]) {
			l->first = l->last = (uint32_t)i;
			while (is_next_line(w, l->last + 1))
				l->last++;
			return true;
		}
	}
	return false;
}

static void find_join(struct late *l, const struct answer_work *w)
{
	size_t at = l->first + 1;

	for (size_t i = l->first; i < w->c->n_path; i++)
		l->behind[w->c->path[i]] = true;
	while (at < w->c->n_path && !is_join(l, w, at))
		at++;
	l->join = (uint32_t)at;
	l->join_us = at < w->c->n_path ? path_task(w, at)->start_us : w->s->wall_us;
	l->others_end_us = path_task(w, l->first)->start_us;
	for (size_t i = 0; i < w->s->n_ran; i++) {
		uint32_t k = w->s->order[i];
		const struct task *t = &w->s->rec->task[k];
		int64_t end_us = MIN(recording_task_end_us(w->s->rec, t), l->join_us);

		if (t->start_us >= l->join_us)
			break;
		if (!t->hosts && end_us > l->others_end_us && !l->behind[k])
			l->others_end_us = end_us;
	}
}

/* As which of how many tasks did it start, and is it the longest? */
struct rank {
	int64_t n, of;
	bool longest;
};

static void find_rank(struct rank *r, const struct answer_work *w, uint32_t task)
{
	const struct recording *rec = w->s->rec;

	*r = (struct rank){ .longest = true };
	for (size_t i = 0; i < w->s->n_ran; i++) {
		const struct task *t = &rec->task[w->s->order[i]];

		if (t->hosts || task_is_shell(t))
			continue;
		r->of++;
		if (w->s->order[i] == task)
			r->n = r->of;
		r->longest &= cost_wall_us(rec, t) <= cost_wall_us(rec, &rec->task[task]);
	}
}

static void add_ordinal(struct answer_work *w, int64_t n)
{
	int64_t last = n % 10, two = n % 100;

	answer_add_number(w, "", n, two >= 11 && two <= 13 ? "th" : last == 1 ? "st" : last == 2 ? "nd" :
			  last == 3 ? "rd" : "th");
}

static void word_long(struct answer_work *w, const struct answer_span *span, const struct late *l)
{
	struct rank rank;

	find_rank(&rank, w, span->task);
	answer_add_name(w, rank.longest ? "The longest task, " : "", span->task, rank.longest ? " (" : "");
	answer_add_time(w, rank.longest ? "" : " takes ", span->us, rank.longest ? "), started as " : " and started as ");
	add_ordinal(w, rank.n);
	answer_add_number(w, " of ", rank.of, "");
	answer_add_time(w, ", at ", span->from_us, "; it ran for ");
	answer_add_time(w, "", l->join_us - l->others_end_us, " after all others had ended");
}

static void word_short(struct answer_work *w, const struct answer_span *span, const struct late *l)
{
	int64_t ready_us = w->c->waits.task[span->task].ready_us;

	answer_add_name(w, "", span->task, "");
	answer_add_time(w, " (", span->us, ")");
	answer_add_time(w, " was ready at ", ready_us, "");
	answer_add_time(w, " and ran at ", span->from_us, "");
	answer_add_time(w, "; tasks that need it ran for ", l->join_us - l->others_end_us,
			" after all others had ended");
}

void answer_say_late(struct answer_work *w)
{
	const struct summary *s = w->s;
	struct answer_span span = { .us = 0 };
	struct late l;
	int64_t lost_us, usual_us;

	if (!w->c->waits.has_dependencies || !build_is_good(s->result) || !answer_is_part(w, s->wall_us) ||
	    s->running_max < 2 || !find_first(&l, w))
		return;
	l.behind = array_new_zero(s->rec->n_tasks, sizeof *l.behind);
	if (!l.behind) {
		w->error = -ENOMEM;
		return;
	}
	find_join(&l, w);
	free(l.behind);
	lost_us = MIN(l.join_us - l.others_end_us, w->c->waits.task[w->c->path[l.first]].us[QUEUE_WORKER]);
	span.task = w->c->path[l.first];
	span.from_us = path_task(w, l.first)->start_us;
	span.until_us = recording_task_end_us(s->rec, path_task(w, l.last));
	span.us = span.until_us - span.from_us;
	usual_us = s->running_sum_us / (int64_t)s->n_targets;
	if ((double)lost_us < LATE_LEAST * (double)s->wall_us)
		return;
	if (l.join > l.last + 1 && (double)span.us < SHORT * (double)lost_us)
		word_short(w, &span, &l);
	else if (answer_is_most(span.us, l.join_us - span.from_us) &&
		 lost_us >= usual_us && span.us >= LONGER * usual_us)
		word_long(w, &span, &l);
	else
		return;
	answer_end(w, ANSWER_LATE, &span, lost_us);
	w->late_from_us = l.others_end_us;
	w->late_until_us = l.join_us;
}
