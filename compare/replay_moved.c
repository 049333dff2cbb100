/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "stats/distribution.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_MOVED 5
#define LEAST_SHIFT 0.03	/* of the logarithms */
#define MOST_SHIFT 1.5
#define NEXT_SHIFT 1.25
#define SHIFT_STEPS 5		/* of the estimate of the part that moved */
#define OUTLIERS 1e-3
#define WHOLE 0.85		/* part of a group that is treated as all of it */
#define CONFIDENCE 0.95
#define MAD_WORTH 0.37
#define FEWEST_USUAL 3
#define SETTLED 3
#define CHOSEN 1.5		/* by which those that chose the tasks are less accurate */
#define RECENT 16
#define LEAST_TASKS 8		/* that did not move, from which their median is known */
#define NONE UINT32_MAX

/* Which tasks of a group moved, and by how much. */

struct split {
	struct replay *r;
	size_t m;
	uint32_t start, n_builds;
	bool worse;
	size_t n, n_in;
	uint32_t *task;
	bool *in;		/* of the group; the others say how accurate the common factor is */
	float *level, *spread;
	float *off;		/* n_builds of each; NaN: missing */
	float *middle, *error;	/* of the builds that are looked at */
	bool *moved;
};

static void split_release(struct split *s)
{
	free_all(s->task, s->in, s->level, s->spread, s->off, s->middle, s->error, s->moved);
}

/* Adds a task if it has values in these builds and a level before them. */
static void add_member(struct split *s, uint32_t task, bool in, uint32_t build)
{
	struct replay *r = s->r;
	const struct replay_row *row = &r->row[task * r->n_metrics + s->m];
	uint32_t values = 0, newest = row->count, slot;
	float *off = s->off + s->n * s->n_builds;

	for (uint32_t i = 0; i < s->n_builds; i++) {
		off[i] = (float)replay_task_x(r, s->m, task, s->start + i);
		values += !isnan(off[i]);
	}
	newest += !isnan(replay_task_x(r, s->m, task, build));
	if (!values || newest < values || replay_has_own(r, row))
		return;
	slot = (newest - values) % REPLAY_RING;
	if (isnan(row->spread[slot]))
		return;
	s->task[s->n] = task;
	s->in[s->n] = in;
	s->level[s->n] = row->middle[slot];
	s->spread[s->n] = row->spread[slot];
	for (uint32_t i = 0; i < s->n_builds; i++)
		off[i] = (off[i] - row->middle[slot]) * (s->worse ? 1 : -1);
	s->n++;
	s->n_in += in;
}

static int split_begin(struct split *s, struct replay *r, uint32_t row, uint32_t start, uint32_t build, bool worse)
{
	uint32_t g = replay_group(r, row), n = r->n_tasks;

	*s = (struct split){
		.r = r, .m = replay_metric(r, row), .start = start, .n_builds = build - start + 1, .worse = worse,
		.task = array_new(n, sizeof *s->task), .level = array_new(n, sizeof *s->level),
		.spread = array_new(n, sizeof *s->spread), .middle = array_new(n, sizeof *s->middle),
		.error = array_new(n, sizeof *s->error), .in = array_new(n, sizeof *s->in), .moved = array_new(n, sizeof *s->moved),
		.off = array_new((size_t)n * (build - start + 1), sizeof *s->off),
	};
	if (!s->task || !s->in || !s->level || !s->spread || !s->middle || !s->error || !s->moved || !s->off)
		return -ENOMEM;
	for (uint32_t task = 0; task < r->n_tasks; task++) {
		const uint32_t *of = r->groups_of + (size_t)task * SHARED_MOST;

		bool in = false;

		for (size_t i = 0; i < SHARED_MOST; i++)
			in = in || of[i] == g;
		add_member(s, task, in, build);
	}
	return 0;
}

/* The median deviations over the builds but one; of two the smaller one, which one spike does not change. */
static void set_middles(struct split *s, uint32_t but)
{
	for (size_t i = 0; i < s->n; i++) {
		const float *off = s->off + i * s->n_builds;
		double v[REPLAY_RING];
		uint32_t n = 0;

		for (uint32_t b = 0; b < s->n_builds && n < REPLAY_RING; b++) {
			if (b != but && !isnan(off[b]))
				v[n++] = (double)off[b];
		}
		stats_sort(v, n);
		s->middle[i] = n ? (float)v[(n - 1) / 2] : NAN;
		s->error[i] = sqrtf(s->spread[i] * s->spread[i] * (n > 2 ? (float)REPLAY_MEDIAN_ERROR : 1) / (float)(n ? n : 1));
	}
}

/* The odds of a member to have moved by this shift. */
static double odds_of(const struct split *s, size_t i, double shift)
{
	double still = (double)(s->middle[i] / s->error[i]), off = ((double)s->middle[i] - shift) / (double)s->error[i];

	return (exp(-0.5 * off * off) + OUTLIERS) / (exp(-0.5 * still * still) + OUTLIERS);
}

/* The likelihood of a shift, with the part of the members that it fits best. */
static double likelihood_of(const struct split *s, double shift, double *part)
{
	double sum = 0;

	*part = 0.5;
	for (int step = 0; step < SHIFT_STEPS; step++) {
		double moved = 0;
		size_t n = 0;

		sum = 0;
		for (size_t i = 0; i < s->n; i++) {
			double odds;

			if (!s->in[i] || isnan(s->middle[i]))
				continue;
			odds = odds_of(s, i, shift);
			sum += log(1 - *part + *part * odds);
			moved += *part * odds / (1 - *part + *part * odds);
			n++;
		}
		*part = n ? moved / (double)n : 0;
	}
	return sum;
}

/* Chooses the members that moved, by all builds but one: the likeliest shift. */
static void choose_moved(struct split *s, uint32_t but)
{
	double best = -INFINITY, shift = 0, part = 0;

	set_middles(s, but);
	for (double by = LEAST_SHIFT; by < MOST_SHIFT; by *= NEXT_SHIFT) {
		double of_it, likelihood = likelihood_of(s, by, &of_it);

		if (likelihood > best) {
			best = likelihood;
			shift = by;
			part = of_it;
		}
	}
	for (size_t i = 0; i < s->n; i++)
		s->moved[i] = s->in[i] && (part > WHOLE ||
			      (!isnan(s->middle[i]) && part * odds_of(s, i, shift) > 1 - part));
}

/* The median deviation of the tasks that did not move: the common factor may have a part of what did. */
static double rest_off(const struct split *s, uint32_t b, double *work)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		double off = (double)s->off[i * s->n_builds + b];

		if (!s->moved[i] && !isnan(off))
			work[n++] = s->worse ? off : -off;
	}
	return n >= LEAST_TASKS ? stats_median(work, n) : 0;
}

/* The logarithm of the sum of the moved members in a build by that of their levels. NaN: unknown. */
static double sum_off(const struct split *s, uint32_t b, double *work, size_t but)
{
	double now = 0, before = 0;

	for (size_t i = 0; i < s->n; i++) {
		double off = (double)s->off[i * s->n_builds + b];

		if (!s->moved[i] || isnan(off) || i == but)
			continue;
		before += exp((double)s->level[i]);
		now += exp((double)s->level[i] + (s->worse ? off : -off));
	}
	return before > 0 ? log(now / before) - rest_off(s, b, work) : NAN;
}

/* The largest of the members that moved. */
static size_t largest_of(const struct split *s)
{
	size_t largest = SIZE_MAX;

	for (size_t i = 0; i < s->n; i++) {
		if (s->moved[i] && (largest == SIZE_MAX || s->level[i] > s->level[largest]))
			largest = i;
	}
	return largest;
}

/*
 * The effect on the sum of the members that moved, and without the largest of them. What was chosen
 * because it is large is too large, so each build is measured with members that the other builds choose.
 */
static void set_effects(struct split *s, double effect[2], double *work)
{
	double n = 0;

	effect[0] = effect[1] = 0;
	for (uint32_t b = 0; b < s->n_builds; b++) {
		double off;

		choose_moved(s, s->n_builds > 1 ? b : NONE);
		off = sum_off(s, b, work, SIZE_MAX);
		if (isnan(off))
			continue;
		effect[0] += off;
		off = sum_off(s, b, work, largest_of(s));
		effect[1] += isnan(off) ? 0 : off;
		n++;
	}
	choose_moved(s, NONE);
	effect[0] = n > 0 ? effect[0] / n : NAN;
	effect[1] = n > 0 ? effect[1] / n : NAN;
}

/* The sum of the levels of the members that moved, in the metric's unit, and their number. */
static double sum_of(const struct split *s, size_t but, size_t *n)
{
	double sum = 0;

	*n = 0;
	for (size_t i = 0; i < s->n; i++) {
		if (!s->moved[i] || i == but)
			continue;
		sum += fmax(0, exp((double)s->level[i]) - s->r->least[s->m]);
		++*n;
	}
	return sum;
}

static double amount_that_matters(const struct split *s, double effect, double sum)
{
	const struct gate *gate = &s->r->rules->gate[s->r->metric[s->m]];
	double amount = fabs(expm1(effect)) * sum;

	return !isnan(effect) && (effect > 0) == s->worse && amount >= gate->amount &&
	       amount >= gate->share * sum ? amount : 0;
}

/* The amount by which the members that moved changed, 0 if that does not matter: with and without the
 * largest one, which alone is not what many share. Negative: -ENOMEM. */
static double amount_of(struct split *s, double *effect)
{
	double *work = array_new(s->n + 1, sizeof *work), effects[2], all, others;
	size_t n, fewer;

	if (!work)
		return -ENOMEM;
	set_effects(s, effects, work);
	free(work);
	*effect = effects[0];
	all = sum_of(s, SIZE_MAX, &n);
	others = sum_of(s, largest_of(s), &fewer);
	return fewer >= FEWEST_MOVED && amount_that_matters(s, effects[1], others) > 0 ? amount_that_matters(s, effects[0], all) : 0;
}

int replay_shared_amount(struct replay *r, uint32_t row, int way, size_t w, uint32_t build, double *amount)
{
	struct split s;
	double effect;
	int status = split_begin(&s, r, row, replay_start(r, row, build, w), build, way == REPLAY_UP);

	*amount = status ? 0 : amount_of(&s, &effect);
	split_release(&s);
	return *amount < 0 ? -ENOMEM : status;
}

static int longer(const void *a, const void *b, void *context)
{
	const struct split *s = context;
	const uint32_t *x = a, *y = b;

	return s->level[*x] != s->level[*y] ? (s->level[*x] > s->level[*y] ? -1 : 1) : *x < *y ? -1 : *x > *y;
}

/* Adds the tasks that moved to those of a step, the longest first. Returns 0 or -ENOMEM. */
static int add_moved(struct split *s, struct replay_step *step)
{
	struct replay *r = s->r;
	uint32_t *order = array_new(s->n + 1, sizeof *order);

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->moved[i])
			order[step->tasks++] = i;
	}
	qsort_r(order, step->tasks, sizeof *order, longer, s);
	step->first_moved = (uint32_t)r->n_moved;
	for (uint32_t i = 0; i < step->tasks; i++) {
		float *level = array_add(&r->moved_level, &r->n_levels, sizeof *level);
		uint32_t *task = array_add(&r->moved, &r->n_moved, sizeof *task);

		if (!task || !level) {
			free(order);
			return -ENOMEM;
		}
		*task = s->task[order[i]];
		*level = s->level[order[i]];
	}
	step->n_moved = step->tasks;
	free(order);
	return 0;
}

int replay_shared_find(struct replay *r, struct replay_step *step, uint32_t build)
{
	struct split s;
	int status = split_begin(&s, r, step->row, step->since, build, step->worse);
	double effect, amount = status ? status : amount_of(&s, &effect);

	if (amount > 0) {
		step->of_tasks = (uint32_t)s.n_in;
		status = add_moved(&s, step);
	}
	split_release(&s);
	return amount < 0 || status ? -ENOMEM : amount > 0;
}

/* What a finding says */

/* As sum_off(), of the moved tasks of a step. */
static double step_off(const struct replay *r, const struct replay_step *s, uint32_t build)
{
	size_t m = replay_metric(r, s->row);
	double now = 0, before = 0, all = 0;

	for (uint32_t i = 0; i < s->n_moved; i++) {
		double level = exp((double)r->moved_level[s->first_moved + i]);
		double x = replay_task_x(r, m, r->moved[s->first_moved + i], build);

		all += level;
		if (isnan(x))
			continue;
		before += level;
		now += exp(x);
	}
	return before >= 0.5 * all && before > 0 ? log(now / before) : NAN;
}

/*
 * The tasks that did not move, in the builds since a step: their median deviation from the level before,
 * which is what the common factor has of the tasks that moved. Sets rest[b - since].
 */
static int find_rest(const struct replay *r, const struct replay_step *s, uint32_t end, double *rest)
{
	double *v = array_new(RECENT + 1, sizeof *v), *off = array_new(r->n_tasks + 1, sizeof *off);
	float *level = array_new(r->n_tasks + 1, sizeof *level);
	size_t m = replay_metric(r, s->row);

	for (uint32_t task = 0; v && level && task < r->n_tasks; task++) {
		uint32_t row = task * (uint32_t)r->n_metrics + (uint32_t)m;
		const struct replay_step *own = r->row[row].step ? &r->step[r->row[row].step - 1] : NULL;
		size_t n = replay_values(r, row, 0, s->since, RECENT, v);

		level[task] = n >= FEWEST_USUAL && !(own && own->since >= s->since) ? (float)stats_median(v, n) : NAN;
	}
	for (uint32_t i = 0; level && i < s->n_moved; i++)
		level[r->moved[s->first_moved + i]] = NAN;
	for (uint32_t b = s->since; v && off && level && b < end; b++) {
		size_t n = 0;

		for (uint32_t task = 0; task < r->n_tasks; task++) {
			double x = replay_task_x(r, m, task, b) - (double)level[task];

			if (!isnan(x))
				off[n++] = x;
		}
		rest[b - s->since] = n >= LEAST_TASKS ? stats_median(off, n) : 0;
	}
	free_all(v, off, level);
	return v && off && level ? 0 : -ENOMEM;
}

int replay_shared_effect(const struct replay *r, const struct replay_step *s, uint32_t end,
			 struct shared_effect *out)
{
	double *v, *work, *rest, usual = 0, spread = s->spread, alike = 0.5, error, effect = 0, t;
	bool chosen = false;
	size_t n = 0, now = 0, m = replay_metric(r, s->row);
	double sum = 0, newest = NAN;

	for (uint32_t i = 0; i < s->n_moved; i++)
		sum += fmax(0, exp((double)r->moved_level[s->first_moved + i]) - r->least[m]);
	if (s->measured) {
		*out = s->effect;
		for (uint32_t b = end; b-- > s->since && isnan(newest); )
			newest = isnan(r->factor[m][b]) ? NAN : step_off(r, s, b);
		out->newest = sum * exp(newest);
		return 0;
	}
	v = array_new(3 * (size_t)r->n + 3, sizeof *v);
	work = v + r->n + 1;
	rest = work + r->n + 1;
	if (!v || find_rest(r, s, end, rest)) {
		free(v);
		return -ENOMEM;
	}
	for (uint32_t b = s->since; b-- > 0 && n < r->cap; ) {
		v[n] = isnan(r->factor[m][b]) ? NAN : step_off(r, s, b);
		n += !isnan(v[n]);
	}
	if (n >= FEWEST_USUAL) {
		memcpy(work, v, n * sizeof *v);
		usual = stats_median(work, n);
		memcpy(work, v, n * sizeof *v);
		spread = stats_spread(work, n, usual) * (1 + 1.0 / (double)n);
		alike = replay_alike(v, n, usual);
	}
	alike = (1 + alike) / (1 - alike);
	t = stats_t_quantile(0.5 * (1 - CONFIDENCE), fmax(2, MAD_WORTH * ((double)n - 1)));
	/* Of enough builds after those that chose the tasks, these alone: the others are large by choice. */
	for (uint32_t b = end; b-- > s->since && now < r->cap && (b > s->at || now < SETTLED); ) {
		v[now] = isnan(r->factor[m][b]) ? NAN : step_off(r, s, b) - rest[b - s->since];
		now += !isnan(v[now]);
		chosen = chosen || b <= s->at;
	}
	if (now)
		effect = stats_median(v, now);
	effect -= usual;
	error = (chosen ? CHOSEN : 1) * t * spread * sqrt(alike * (1 / fmax(1, (double)now) + REPLAY_MEDIAN_ERROR / fmax(1, (double)n)));
	for (uint32_t b = end; b-- > s->since && isnan(newest); )
		newest = isnan(r->factor[m][b]) ? NAN : step_off(r, s, b) - rest[b - s->since];
	*out = (struct shared_effect){
		.before = sum * exp(usual), .now = sum * exp(usual + effect), .low = expm1(effect - error),
		.high = expm1(effect + error), .newest = sum * exp(newest),
	};
	free(v);
	return 0;
}
