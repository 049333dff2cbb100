/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_TASKS 8		/* of a group */
#define EQUAL_NOISE 0.02	/* tasks with less noise count as much as each other */
#define GATE_PART 0.2		/* of the least share: a part of the tasks moves the whole less */
#define SLOW 0.05		/* weight of a build in the usual value of a group */
#define USUAL_FIRST 6		/* values of which each is tested */
#define WORTH 1.5		/* standard deviations of two values that are worth a test */
#define NONE UINT32_MAX

/* Of a group's row among those of groups. */
static uint32_t index_of(const struct replay *r, uint32_t group, size_t m)
{
	return group * (uint32_t)r->n_times + (uint32_t)m;
}

static struct shared_sum *sum_at(const struct replay *r, uint32_t index, uint32_t build)
{
	return &r->shared_sum[(size_t)index * REPLAY_RING + build % REPLAY_RING];
}

static uint64_t key_of(const struct shared_group *g)
{
	return (uint64_t)g->of << 32 | g->len;
}

/* Groups with enough tasks. A place is the parent of the next one of the same task. */
static int keep_groups(struct replay *r, const struct replay_group *all, uint32_t n)
{
	uint32_t *to = array_new(n + 1, sizeof *to);

	if (!to)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		to[i] = all[i].n_tasks < LEAST_TASKS ? NONE : r->n_groups;
		if (to[i] == NONE)
			continue;
		r->group[r->n_groups] = all[i];
		r->group[r->n_groups].parent = all[i].parent == NONE ? NONE : to[all[i].parent];
		r->n_groups++;
	}
	for (size_t i = 0; i < (size_t)r->n_tasks * SHARED_MOST; i++)
		r->groups_of[i] = r->groups_of[i] == NONE ? NONE : to[r->groups_of[i]];
	free(to);
	return 0;
}

int replay_shared_begin(struct replay *r)
{
	struct index index = INDEX_INIT;
	size_t n = 0;
	int status = 0;
	struct replay_group *all = NULL;

	r->groups_of = array_new((size_t)r->n_tasks * SHARED_MOST + 1, sizeof *r->groups_of);
	for (uint32_t task = 0; r->groups_of && !status && task < r->n_tasks; task++) {
		struct shared_group of[SHARED_MOST];
		size_t n_of = shared_of_task(of, r->builds, task);
		uint32_t *to = r->groups_of + (size_t)task * SHARED_MOST, place = NONE;

		for (size_t i = 0; i < SHARED_MOST; i++)
			to[i] = NONE;
		for (size_t i = 0; !status && i < n_of; i++) {
			uint64_t hash = hash_fnv64_more(hash_fnv64(r->builds->ref, 0) + key_of(&of[i]),
						       shared_part(r->builds, &of[i]), of[i].len);
			struct replay_group *added;

			if (!index_find(&index, key_of(&of[i]), hash, &to[i])) {
				added = array_add(&all, &n, sizeof *added);
				status = added ? index_put(&index, key_of(&of[i]), hash, (uint32_t)n - 1) : -ENOMEM;
				if (status)
					break;
				*added = (struct replay_group){ .name = of[i], .hash = hash, .parent = i ? to[0] : NONE };
				if (of[i].of == SHARED_OF_PLACE && place != NONE)
					added->parent = place;
				to[i] = (uint32_t)n - 1;
			}
			all[to[i]].n_tasks++;
			place = of[i].of == SHARED_OF_PLACE ? to[i] : place;
		}
	}
	r->group = array_new(n + 1, sizeof *r->group);
	if (!r->groups_of || !r->group)
		status = -ENOMEM;
	status = status ? status : keep_groups(r, all, (uint32_t)n);
	free(all);
	index_release(&index);
	return status;
}

int replay_shared_room(struct replay *r)
{
	size_t rows = (size_t)r->n_groups * r->n_times;

	r->shared_sum = array_new_zero(rows * REPLAY_RING + 1, sizeof *r->shared_sum);
	r->shared_x = array_new(rows * (r->end - r->first), sizeof *r->shared_x);
	for (size_t i = 0; r->shared_x && i < rows * (r->end - r->first); i++)
		r->shared_x[i] = NAN;
	r->shared_usual = array_new_zero(rows + 1, sizeof *r->shared_usual);
	r->shared_base = array_new_zero(rows + 1, sizeof *r->shared_base);
	return r->shared_sum && r->shared_x && r->shared_usual && r->shared_base ? 0 : -ENOMEM;
}

void replay_shared_release(struct replay *r)
{
	free_all(r->groups_of, r->group, r->shared_sum, r->shared_x, r->shared_usual, r->shared_base, r->moved_level);
}

bool replay_has_own(const struct replay *r, const struct replay_row *row)
{
	const struct replay_step *s = row->step ? &r->step[row->step - 1] : NULL;

	return s && s->worse && !s->closed;
}

static float value_of(const struct shared_sum *s)
{
	return s->n >= LEAST_TASKS && s->weight > 0 ? s->base + s->off / s->weight : NAN;
}

/* Whether two values in a row are unusual in one way; most groups need no other test. */
static void look_at_usual(struct shared_usual *u, float x)
{
	float off = x - u->mean, far = (float)WORTH * sqrtf(u->variance);
	float weight = u->n < USUAL_FIRST ? 1.0f / (float)(u->n + 1) : (float)SLOW;
	bool above = off > far, below = off < -far;

	u->worth = u->n < USUAL_FIRST || (above && u->above) || (below && u->below);
	u->above = above;
	u->below = below;
	u->mean += weight * off;
	u->variance = (1 - weight) * (u->variance + weight * off * off);
	u->n++;
}

void replay_shared_look(struct replay *r, uint32_t build)
{
	for (size_t m = 0; m < r->n_times; m++) {
		for (uint32_t g = 0; g < r->n_groups; g++) {
			uint32_t index = index_of(r, g, m);

			*sum_at(r, index, build) = (struct shared_sum){ .base = r->shared_base[index] };
		}
		for (uint32_t task = 0; task < r->n_tasks; task++) {
			const struct replay_row *row = &r->row[task * r->n_metrics + m];
			float spread = row->spread[row->count % REPLAY_RING], weight;
			const uint32_t *of = r->groups_of + (size_t)task * SHARED_MOST;

			if (!row->judged || isnan(replay_task_x(r, m, task, build)) || isnan(spread) || replay_has_own(r, row))
				continue;
			weight = 1 / (spread * spread + (float)(EQUAL_NOISE * EQUAL_NOISE));
			for (size_t i = 0; i < SHARED_MOST; i++) {
				struct shared_sum *s;

				if (of[i] == NONE)
					continue;
				s = sum_at(r, index_of(r, of[i], m), build);
				s->off += weight * replay_z(row, row->count) * spread;
				s->weight += weight;
				s->n++;
			}
		}
		for (uint32_t g = r->n_groups; g-- > 0; ) {
			uint32_t index = index_of(r, g, m), parent = r->group[g].parent;
			struct shared_sum *s = sum_at(r, index, build);
			float x = value_of(s);

			*replay_shared_x(r, index, build) = x;
			if (!isnan(x))
				look_at_usual(&r->shared_usual[index], x);
			r->group[g].same[m] = false;
			/* Of groups with the same tasks only the one with the longest name is tested. */
			if (parent != NONE && s->n == sum_at(r, index_of(r, parent, m), build)->n)
				r->group[parent].same[m] = true;
		}
	}
}

bool replay_shared_worth(const struct replay *r, uint32_t row)
{
	uint32_t index = row - r->shared_row;

	return r->shared_usual[index].worth &&
	       !r->group[replay_group(r, row)].same[replay_metric(r, row)];
}

size_t replay_shared_tests(const struct replay *r, size_t m)
{
	size_t n = 0;

	for (uint32_t g = 0; g < r->n_groups && m < r->n_times; g++) {
		uint32_t index = index_of(r, g, m);

		n += r->shared_usual[index].n > (uint32_t)r->rules->least_history && !r->group[g].same[m];
	}
	return n;
}

/* Takes a task that has a step out of the values of its groups since then. `but` is the index of the group
 * whose step it is, which keeps it; NONE: its own step. */
static void leave_groups(struct replay *r, uint32_t task, size_t m, uint32_t since, uint32_t build, uint32_t but)
{
	const struct replay_row *row = &r->row[task * r->n_metrics + m];
	const uint32_t *of = r->groups_of + (size_t)task * SHARED_MOST;
	uint32_t count = row->count + 1;

	for (uint32_t b = build + 1; b-- > since && count > 0 && build - b < REPLAY_RING - 1; ) {
		float spread, weight;

		if (isnan(replay_task_x(r, m, task, b))) {
			count -= b == build;
			continue;
		}
		count--;
		spread = row->spread[count % REPLAY_RING];
		weight = 1 / (spread * spread + (float)(EQUAL_NOISE * EQUAL_NOISE));
		for (size_t i = 0; !isnan(spread) && i < SHARED_MOST; i++) {
			uint32_t index = index_of(r, of[i], m);
			struct shared_sum *s;

			if (of[i] == NONE || index == but)
				continue;
			s = sum_at(r, index, b);
			if (!(s->weight > 0) || !s->n)
				continue;
			s->off -= weight * replay_z(row, count) * spread;
			s->weight = s->n > 1 ? fmaxf(0, s->weight - weight) : 0;
			s->n--;
			if (b >= r->first)
				*replay_shared_x(r, index, b) = value_of(s);
		}
	}
}

void replay_shared_leave(struct replay *r, uint32_t row, uint32_t since, uint32_t build)
{
	leave_groups(r, row / (uint32_t)r->n_metrics, replay_metric(r, row), since, build, NONE);
}

void replay_shared_restart(struct replay *r, const struct replay_step *s, uint32_t build)
{
	size_t m = replay_metric(r, s->row);
	uint32_t index = s->row - r->shared_row;

	for (uint32_t i = 0; i < s->n_moved; i++) {
		uint32_t task = r->moved[s->first_moved + i], row = task * (uint32_t)r->n_metrics + (uint32_t)m;

		leave_groups(r, task, m, s->since, build, index);
		replay_restart(r, row, s->since, build + 1);
	}
	for (uint32_t b = s->since; b <= build; b++)
		sum_at(r, index, b)->weight = 0;
	r->shared_base[index] = (float)s->now;
	r->shared_usual[index].mean = (float)s->now;
}

double replay_shared_gate(const struct replay *r, enum metric m)
{
	return GATE_PART * r->rules->gate[m].share;
}

uint32_t replay_shared_find_row(const struct replay *r, uint64_t hash, uint32_t m)
{
	for (uint32_t g = 0; g < r->n_groups && m < r->n_times; g++) {
		if (r->group[g].hash == hash)
			return r->shared_row + index_of(r, g, m);
	}
	return r->n_rows;
}
