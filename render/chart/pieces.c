/* SPDX-License-Identifier: MIT */
#include "render/chart/pieces.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_FULL 255
#define EFFICIENCY_FULL 200
#define EFFICIENCY_UNKNOWN 255

/* A piece while tasks are added to it. */
struct sum {
	struct piece piece;
	int64_t longest_us;
	int64_t cpu_us, measured_us;
	float colour_us[COLOURS];
};

struct widths {
	double small_us, apart_us;
};

struct drawing {
	const struct summary *s;
	int64_t from_us, until_us;
	size_t n;
	struct sum *done;		/* as they were completed */
	struct sum *open;		/* of each lane; none yet if no tasks */
	const struct works *works;
};

static unsigned badness(uint8_t ended)
{
	static const unsigned char rank[] = {
		[TASK_QUEUED] = 0, [TASK_DONE] = 0, [TASK_UNFINISHED] = 1, [TASK_KILLED] = 2,
		[TASK_FAILED] = 3,
	};

	return rank[ended];
}

/* A piece of the task summary.order[i], cut at the ends of the picture. */
static void sum_task(struct drawing *w, struct sum *sum, size_t i, uint32_t lane)
{
	uint32_t task = w->s->order[i];
	const struct task *t = &w->s->rec->task[task];
	const struct cost *cost = &w->s->nest[task].cost;
	int64_t end_us = recording_task_end_us(w->s->rec, t);

	*sum = (struct sum){
		.piece = {
			.from_us = MAX(w->from_us, t->start_us),
			.until_us = MIN(w->until_us, end_us),
			.lane = lane, .task = task, .n_tasks = 1,
			.colour = (uint8_t)works_colour(w->works, i), .ended = (uint8_t)t->state,
		},
		.longest_us = end_us - t->start_us,
	};
	if (cost->measured) {
		sum->cpu_us = cost->cpu_us;
		sum->measured_us = cost->wall_us;
	}
	sum->colour_us[sum->piece.colour] = (float)(end_us - t->start_us);
}

static bool is_small(const struct sum *sum, const struct widths *w)
{
	return (double)(sum->piece.until_us - sum->piece.from_us) < w->small_us;
}

/* Does b, the next after a, become part of it. */
static bool joins(const struct sum *a, const struct sum *b, const struct widths *w, bool alike)
{
	if (b->piece.until_us <= a->piece.until_us)
		return true;
	if ((double)(b->piece.from_us - a->piece.until_us) >= w->apart_us || !is_small(a, w))
		return false;
	return !alike || a->piece.ended == b->piece.ended || is_small(b, w);
}

static void join(struct sum *a, const struct sum *b)
{
	if (b->piece.until_us > a->piece.until_us)
		a->piece.until_us = b->piece.until_us;
	if (b->longest_us > a->longest_us) {
		a->longest_us = b->longest_us;
		a->piece.task = b->piece.task;
	}
	if (badness(b->piece.ended) > badness(a->piece.ended))
		a->piece.ended = b->piece.ended;
	a->piece.n_tasks += b->piece.n_tasks;
	a->cpu_us = sat_add(a->cpu_us, b->cpu_us);
	a->measured_us = sat_add(a->measured_us, b->measured_us);
	for (unsigned i = 0; i < COLOURS; i++)
		a->colour_us[i] += b->colour_us[i];
}

static int complete(struct drawing *w, const struct sum *sum)
{
	struct sum *added = array_add(&w->done, &w->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = *sum;
	return 0;
}

static int add_task(struct drawing *w, size_t i, uint32_t lane, const struct widths *widths)
{
	struct sum *open = &w->open[lane], sum;

	sum_task(w, &sum, i, lane);
	if (!open->piece.n_tasks) {
		*open = sum;
		return 0;
	}
	if (sum.piece.from_us < open->piece.until_us)
		sum.piece.from_us = open->piece.until_us;
	if (joins(open, &sum, widths, true)) {
		join(open, &sum);
		return 0;
	}
	if (complete(w, open))
		return -ENOMEM;
	*open = sum;
	return 0;
}

static int add_tasks(struct drawing *w, const struct lanes *l, const struct widths *widths)
{
	const struct summary *s = w->s;
	int r = 0;

	for (size_t i = 0; !r && i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];

		if (t->start_us > w->until_us)
			break;
		if (t->start_us >= w->from_us || recording_task_end_us(s->rec, t) > w->from_us)
			r = add_task(w, i, l->lane[i], widths);
	}
	for (uint32_t i = 0; !r && i < l->n_lanes; i++) {
		if (w->open[i].piece.n_tasks)
			r = complete(w, &w->open[i]);
	}
	return r;
}

/* They were completed in the order of time, but lane beside lane. */
static struct sum *by_lane(const struct drawing *w, uint32_t n_lanes)
{
	struct sum *sorted = array_new(w->n, sizeof *sorted);
	size_t *at = array_new_zero(n_lanes + 1, sizeof *at);

	if (!sorted || !at) {
		free(sorted);
		free(at);
		return NULL;
	}
	for (size_t i = 0; i < w->n; i++)
		at[w->done[i].piece.lane + 1]++;
	for (uint32_t i = 0; i < n_lanes; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < w->n; i++)
		sorted[at[w->done[i].piece.lane]++] = w->done[i];
	free(at);
	return sorted;
}

/* Join neighbours by these widths, in one pass; returns how many are left. */
static size_t widen(struct sum *sum, size_t n, const struct widths *widths)
{
	size_t last = 0;

	for (size_t i = 1; i < n; i++) {
		if (sum[i].piece.lane == sum[last].piece.lane &&
		    joins(&sum[last], &sum[i], widths, false))
			join(&sum[last], &sum[i]);
		else if (++last != i)
			sum[last] = sum[i];
	}
	return n ? last + 1 : 0;
}

static double share_of_longest(const struct sum *sum)
{
	double all_us = (double)(sum->piece.until_us - sum->piece.from_us);

	return (double)sum->longest_us < all_us ? (double)sum->longest_us / all_us : 1;
}

static struct piece finished(const struct sum *sum)
{
	struct piece p = sum->piece;
	double share = sum->measured_us > 0 ?
		EFFICIENCY_FULL * ((double)sum->cpu_us / (double)sum->measured_us) : -1;

	for (uint8_t i = 0; i < COLOURS; i++) {
		if (sum->colour_us[i] > sum->colour_us[p.colour])
			p.colour = i;
	}
	p.share = (uint8_t)(SHARE_FULL * share_of_longest(sum) + 0.5);
	p.efficiency = EFFICIENCY_UNKNOWN;
	if (share >= 0)
		p.efficiency = share > EFFICIENCY_FULL + 0.5 ? EFFICIENCY_FULL + 1 :
							   (uint8_t)(share + 0.5);
	return p;
}

static int finish(struct pieces *p, const struct drawing *w, uint32_t n_lanes,
		  const struct widths *widths, size_t most)
{
	struct sum *sum = by_lane(w, n_lanes);
	struct widths wider = *widths;
	size_t n = w->n, lanes = n > 0;

	if (!sum)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++)
		lanes += sum[i].piece.lane != sum[i - 1].piece.lane;
	if (most < lanes)
		most = lanes;
	while (n > most) {
		n = widen(sum, n, &wider);
		wider.small_us *= 1.5;
		wider.apart_us *= 1.5;
	}
	p->piece = array_new(n, sizeof *p->piece);
	for (size_t i = 0; p->piece && i < n; i++)
		p->piece[i] = finished(&sum[i]);
	p->n = p->piece ? n : 0;
	free(sum);
	return p->piece ? 0 : -ENOMEM;
}

int pieces_make(struct pieces *p, const struct lanes *l, const struct summary *s,
		const struct works *works, int64_t from_us, int64_t until_us, unsigned columns,
		size_t most)
{
	double pixel_us = columns ? ((double)until_us - (double)from_us) / columns : 0;
	struct widths widths = { 1.5 * pixel_us, pixel_us };
	struct drawing w = { .s = s, .works = works, .from_us = from_us, .until_us = until_us };
	int r = -ENOMEM;

	*p = (struct pieces){ 0 };
	if (widths.apart_us <= 0)
		widths = (struct widths){ 1.5, 1 };
	w.open = array_new_zero((size_t)l->n_lanes, sizeof *w.open);
	if (w.open && !add_tasks(&w, l, &widths))
		r = finish(p, &w, l->n_lanes, &widths, most);
	free(w.open);
	free(w.done);
	return r;
}

void pieces_release(struct pieces *p)
{
	free(p->piece);
	*p = (struct pieces){ 0 };
}
