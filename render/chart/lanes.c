/* SPDX-License-Identifier: MIT */
#include "render/chart/lanes.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "render/chart/lane_group.h"
#include "render/chart/lane_pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 65536		/* largest number of a worker that counts */

const char *const lanes_word[LANES_BY + 1] = {
	[LANES_WORKER] = "worker", [LANES_RECIPE] = "recipe",
	[LANES_DIRECTORY] = "directory", [LANES_KIND] = "kind",
};

/* Rows being filled; with workers all of them are one until they are counted. */
struct bin {
	struct lane_pack packer;
	char *label;
};

struct work {
	const struct summary *s;
	struct lanes *l;
	uint32_t n_workers;		/* by the host's numbers */
	size_t n_nest, n_bins;		/* those of nested builds first */
	struct bin bin[LANE_ROWS_MAX + LANE_NEST_ROWS_MAX];
	uint8_t *bin_of;		/* by the place in summary.order, as lanes.lane */
	uint8_t *bin_of_span;
};

static struct bin *add_bin(struct work *w, uint32_t most_lanes)
{
	struct bin *b = &w->bin[w->n_bins++];

	*b = (struct bin){ .packer = LANE_PACK_INIT(most_lanes) };
	return b;
}

static const struct task *task_at(const struct work *w, size_t i)
{
	return &w->s->rec->task[w->s->order[i]];
}

static int put_task(struct work *w, size_t i, size_t bin, uint32_t wanted)
{
	const struct task *t = task_at(w, i);
	struct stretch s = { t->start_us, recording_task_end_us(w->s->rec, t), (uint32_t)i };
	struct lane_pack *p = &w->bin[bin].packer;
	struct packed_lane *lane;

	if (lane_pack_put(p, &s, wanted, &w->l->lane[i]))
		return -ENOMEM;
	lane = &p->lane[w->l->lane[i]];
	lane->n_tasks++;
	lane->busy_us = sat_add(lane->busy_us, s.until_us - s.from_us);
	w->bin_of[i] = (uint8_t)bin;
	return 0;
}

/* Nested builds */

static uint32_t instance_above(const struct recording *rec, uint32_t instance)
{
	uint32_t host = rec->instance[instance].parent_task;

	return host < rec->n_tasks ? rec->task[host].instance : NO_INDEX;
}

/* How many builds each instance is inside. */
static uint32_t *instance_depths(const struct recording *rec)
{
	uint32_t *depth = array_new(rec->n_instances, sizeof *depth);

	if (!depth)
		return NULL;
	memset(depth, 0xff, rec->n_instances * sizeof *depth);
	for (uint32_t i = 0; i < rec->n_instances; i++) {
		uint32_t n = 0, at = i, base;

		for (; at != NO_INDEX && depth[at] == NO_INDEX; n++)
			at = instance_above(rec, at);
		base = at == NO_INDEX ? 0 : depth[at] + 1;
		for (at = i; n--; at = instance_above(rec, at))
			depth[at] = base + n;
	}
	return depth;
}

/* Tasks that host and the phases of instances, by their start: phases as ~index. */
static int collect_nested(const struct work *w, struct keyed **out, size_t *n)
{
	const struct recording *rec = w->s->rec;
	struct keyed *k = array_new(w->s->n_hosting + rec->n_spans, sizeof *k);

	*out = k;
	*n = 0;
	if (!k)
		return -ENOMEM;
	for (size_t i = 0; w->s->n_hosting && i < w->s->n_ran; i++) {
		if (task_at(w, i)->hosts)
			k[(*n)++] = (struct keyed){ (uint64_t)task_at(w, i)->start_us, (int64_t)i };
	}
	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *p = &rec->span[i];

		if (p->task == NO_INDEX && p->instance < rec->n_instances && p->begin_us >= 0)
			k[(*n)++] = (struct keyed){ (uint64_t)p->begin_us, ~(int64_t)i };
	}
	return sort_keyed(k, *n);
}

static int put_span(struct work *w, size_t i, size_t bin)
{
	const struct recording *rec = w->s->rec;
	const struct span *p = &rec->span[i];
	struct stretch s = { p->begin_us, p->end_us, NO_LANE };

	if (p->end_us < p->begin_us)
		s.until_us = MAX(rec->last_us, p->begin_us);
	w->bin_of_span[i] = (uint8_t)bin;
	return lane_pack_put(&w->bin[bin].packer, &s, NO_LANE, &w->l->span_lane[i]);
}

static uint32_t level_of(const struct work *w, const uint32_t *depth, int64_t item)
{
	uint32_t instance = item < 0 ? w->s->rec->span[~item].instance :
				       task_at(w, (size_t)item)->instance;

	return depth[instance] < LANE_NEST_ROWS_MAX ? depth[instance] : LANE_NEST_ROWS_MAX - 1;
}

/* A bin for each level of nesting that has something in it. */
static int put_nested(struct work *w)
{
	uint32_t *depth = instance_depths(w->s->rec);
	struct bin *bin[LANE_NEST_ROWS_MAX] = { NULL };
	bool used[LANE_NEST_ROWS_MAX] = { false };
	struct keyed *k = NULL;
	size_t n = 0;
	int r = depth ? collect_nested(w, &k, &n) : -ENOMEM;

	for (size_t i = 0; !r && i < n; i++)
		used[level_of(w, depth, k[i].value)] = true;
	for (unsigned level = 0; !r && level < LANE_NEST_ROWS_MAX; level++) {
		if (!used[level])
			continue;
		bin[level] = add_bin(w, LANES_A_ROW_MAX);
		if (asprintf(&bin[level]->label, level ? "nested %u" : "nested", level + 1) < 0) {
			bin[level]->label = NULL;
			r = -ENOMEM;
		}
	}
	w->n_nest = w->n_bins;
	for (size_t i = 0; !r && i < n; i++) {
		int64_t item = k[i].value;
		size_t at = (size_t)(bin[level_of(w, depth, item)] - w->bin);

		r = item < 0 ? put_span(w, (size_t)~item, at) :
			       put_task(w, (size_t)item, at, NO_LANE);
	}
	free_all(depth, k);
	return r;
}

/* Workers */

/* Which of at most so many lanes a worker has, as its host numbers them: gaps are closed,
 * and neighbours share a lane where there are too few. */
static uint32_t *slot_lanes(struct work *w, uint32_t most)
{
	uint32_t *lane = array_new(SLOTS_MAX, sizeof *lane);
	uint32_t n = 0;

	if (!lane)
		return NULL;
	memset(lane, 0xff, SLOTS_MAX * sizeof *lane);
	for (size_t i = 0; i < w->s->n_ran; i++) {
		const struct task *t = task_at(w, i);

		if (!t->hosts && t->slot >= 0 && t->slot < SLOTS_MAX)
			lane[t->slot] = 0;
	}
	for (size_t i = 0; i < SLOTS_MAX; i++) {
		if (lane[i] != NO_LANE)
			lane[i] = n++;
	}
	for (size_t i = 0; n > most && i < SLOTS_MAX; i++) {
		if (lane[i] != NO_LANE)
			lane[i] = (uint32_t)((uint64_t)lane[i] * most / n);
	}
	w->n_workers = n;
	return lane;
}

/* Where the last task of each target and of each instance went. */
struct last {
	uint32_t *target, *instance;
	uint32_t *slot;
};

static int last_init(struct last *last, struct work *w, uint32_t most)
{
	size_t n_targets = w->s->n_targets + 1, n_instances = w->s->rec->n_instances + 1;

	last->target = array_new(n_targets, sizeof *last->target);
	last->instance = array_new(n_instances, sizeof *last->instance);
	last->slot = slot_lanes(w, most);
	if (!last->target || !last->instance || !last->slot)
		return -ENOMEM;
	memset(last->target, 0xff, n_targets * sizeof *last->target);
	memset(last->instance, 0xff, n_instances * sizeof *last->instance);
	return 0;
}

static void last_release(struct last *last)
{
	free_all(last->target, last->instance, last->slot);
}

/* The task of a lane's last stretch, if it made way for this one. */
static const struct task *made_way(const struct work *w, const struct lane_pack *p, uint32_t lane,
				   int64_t start_us)
{
	const struct stretch *s = lane < p->n ? &p->lane[lane].last : NULL;

	if (!s || s->mark == NO_LANE || s->until_us < start_us - LANE_SEQUENCE_US)
		return NULL;
	return task_at(w, s->mark);
}

/* The worker that the host recorded, otherwise that of the previous line of the recipe or of
 * the previous task in the same directory. */
static uint32_t wanted_lane(const struct work *w, const struct last *last, size_t i,
			    const struct lane_pack *p)
{
	const struct task *t = task_at(w, i), *before;
	uint32_t target = w->s->nest[w->s->order[i]].target;
	uint32_t lane = last->target[target];

	if (t->slot >= 0 && t->slot < SLOTS_MAX && last->slot[t->slot] < p->most)
		return last->slot[t->slot];
	before = lane == NO_LANE ? NULL : made_way(w, p, lane, t->start_us);
	if (before && w->s->nest[before - w->s->rec->task].target == target)
		return lane;
	lane = last->instance[t->instance];
	before = lane == NO_LANE ? NULL : made_way(w, p, lane, t->start_us);
	return before && before->instance == t->instance ? lane : NO_LANE;
}

static int put_workers(struct work *w)
{
	size_t bin = w->n_bins;
	uint32_t most = (uint32_t)(LANE_ROWS_MAX - w->n_nest) * LANES_A_ROW_MAX;
	struct lane_pack *p = &add_bin(w, most)->packer;
	struct last last = { 0 };
	int r = last_init(&last, w, most);

	p->shared = w->n_workers > most;

	for (size_t i = 0; !r && i < w->s->n_ran; i++) {
		const struct task *t = task_at(w, i);

		if (t->hosts)
			continue;
		r = put_task(w, i, bin, wanted_lane(w, &last, i, p));
		last.target[w->s->nest[w->s->order[i]].target] = w->l->lane[i];
		last.instance[t->instance] = w->l->lane[i];
	}
	last_release(&last);
	return r;
}

/* Groups */

static int put_groups(struct work *w, enum lanes_by by)
{
	struct lane_groups g;
	size_t first = w->n_bins;
	int r = lane_groups_make(&g, w->s, by, LANE_ROWS_MAX - w->n_nest);

	for (size_t i = 0; !r && i < g.n_rows; i++) {
		add_bin(w, LANES_A_ROW_MAX)->label = g.label[i];
		g.label[i] = NULL;
	}
	for (size_t i = 0; !r && i < w->s->n_ran; i++) {
		if (!task_at(w, i)->hosts)
			r = put_task(w, i, first + g.row[i], NO_LANE);
	}
	lane_groups_release(&g);
	return r;
}

/* Rows */

static struct row *add_row(struct lanes *l, const struct lane_pack *p, uint32_t first, uint32_t n)
{
	struct row *row = &l->row[l->n_rows++];

	*row = (struct row){ .first_lane = l->n_lanes, .n_lanes = n };
	for (uint32_t i = first; i < first + n; i++) {
		row->n_tasks += p->lane[i].n_tasks;
		row->busy_us = sat_add(row->busy_us, p->lane[i].busy_us);
	}
	l->n_lanes += n;
	return row;
}

/* Rows of the workers. Their number is that of the lanes if there are enough, otherwise the
 * number of those that ran at once. */
static int split_workers(const struct work *w, const struct lane_pack *p, size_t most_rows)
{
	uint32_t a_row = (uint32_t)((p->n + most_rows - 1) / most_rows);
	uint64_t workers = p->n;

	if (p->n >= p->most) {
		workers = MAX(w->n_workers, workers);
		if (w->s->running_max > (int64_t)workers)
			workers = (uint64_t)w->s->running_max;
	}
	for (uint32_t first = 0; first < p->n; first += a_row) {
		uint32_t n = MIN(p->n - first, a_row);
		struct row *row = add_row(w->l, p, first, n);
		uint64_t from = first * workers / p->n + 1, to = (first + n) * workers / p->n;

		if ((from == to ? asprintf(&row->label, "%" PRIu64, from) :
		     asprintf(&row->label, "%" PRIu64 "-%" PRIu64, from, to)) < 0) {
			row->label = NULL;
			return -ENOMEM;
		}
	}
	return 0;
}

/* Lanes so far count from 0 in each bin. */
static int make_rows(struct work *w)
{
	struct lanes *l = w->l;
	uint32_t first[LANE_ROWS_MAX + LANE_NEST_ROWS_MAX];
	int r = 0;

	for (size_t i = 0; !r && i < w->n_bins; i++) {
		const struct lane_pack *p = &w->bin[i].packer;
		struct row *row;

		first[i] = l->n_lanes;
		if (l->by == LANES_WORKER && i == w->n_nest) {
			r = split_workers(w, p, LANE_ROWS_MAX - w->n_nest);
			continue;
		}
		row = add_row(l, p, 0, p->n);
		row->nest = i < w->n_nest;
		row->label = w->bin[i].label;
		w->bin[i].label = NULL;
	}
	for (size_t i = 0; !r && i < w->s->n_ran; i++)
		l->lane[i] += first[w->bin_of[i]];
	for (size_t i = 0; !r && i < w->s->rec->n_spans; i++) {
		if (l->span_lane[i] != NO_INDEX)
			l->span_lane[i] += first[w->bin_of_span[i]];
	}
	return r;
}

/* A task's phases are in its own lane. */
static int lend_spans(struct lanes *l, const struct summary *s)
{
	const struct recording *rec = s->rec;
	uint32_t *lane;

	if (!rec->n_spans)
		return 0;
	lane = array_new(rec->n_tasks, sizeof *lane);
	if (!lane)
		return -ENOMEM;
	memset(lane, 0xff, rec->n_tasks * sizeof *lane);
	for (size_t i = 0; i < s->n_ran; i++)
		lane[s->order[i]] = l->lane[i];
	for (size_t i = 0; i < rec->n_spans; i++) {
		if (rec->span[i].task < rec->n_tasks)
			l->span_lane[i] = lane[rec->span[i].task];
	}
	free(lane);
	return 0;
}

static int allocate(struct work *w)
{
	const struct summary *s = w->s;
	struct lanes *l = w->l;

	l->row = calloc(LANE_ROWS_MAX, sizeof *l->row);
	l->lane = array_new(s->n_ran, sizeof *l->lane);
	l->span_lane = array_new(s->rec->n_spans, sizeof *l->span_lane);
	w->bin_of = malloc(s->n_ran + 1);
	w->bin_of_span = array_new_zero(s->rec->n_spans, 1);
	if (!l->row || !l->lane || !l->span_lane || !w->bin_of || !w->bin_of_span)
		return -ENOMEM;
	memset(l->span_lane, 0xff, s->rec->n_spans * sizeof *l->span_lane);
	return 0;
}

int lanes_make(struct lanes *l, const struct summary *s, enum lanes_by by)
{
	struct work w = { .s = s, .l = l };
	int r;

	*l = (struct lanes){ .by = by };
	r = allocate(&w);
	if (!r)
		r = put_nested(&w);
	if (!r)
		r = by == LANES_WORKER ? put_workers(&w) : put_groups(&w, by);
	if (!r)
		r = make_rows(&w);
	if (!r)
		r = lend_spans(l, s);
	for (size_t i = 0; i < w.n_bins; i++) {
		lane_pack_release(&w.bin[i].packer);
		free(w.bin[i].label);
	}
	free_all(w.bin_of, w.bin_of_span);
	return r;
}

void lanes_release(struct lanes *l)
{
	for (size_t i = 0; i < l->n_rows; i++)
		free(l->row[i].label);
	free_all(l->row, l->lane, l->span_lane);
	*l = (struct lanes){ 0 };
}
