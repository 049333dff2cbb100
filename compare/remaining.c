/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "compare/remaining_parts.h"
#include "base/text.h"
#include "compare/renames.h"
#include "stats/distribution.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shares of the time at which earlier builds are predicted. */
static const double place_of_trial[REMAINING_PLACES] = {
	0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98
};

/* How large an error is before any was seen. PRIOR_SPREAD is that of a build like an earlier one,
 * UNLIKE_SPREAD that of one with other tasks. PACE_SPREAD is for each unit of the logarithm of the pace,
 * because nobody knows how much of an unusual pace lasts. PRIOR_WORTH counts errors. */
#define PRIOR_SPREAD 0.12
#define UNLIKE_SPREAD 1.0
#define PACE_SPREAD 0.6
#define PRIOR_WORTH 0.3

/* A larger error says that a build was predicted from unlike ones, and not how far this one is off. */
#define ERROR_MAX 1.0
#define EXPONENTS 5

int remaining_new(struct remaining **r)
{
	struct remaining *new = calloc(1, sizeof *new);

	if (new && !(new->arena = arena_new())) {
		free(new);
		new = NULL;
	}
	*r = new;
	if (!new)
		return -ENOMEM;
	new->names.arena = new->arena;
	return 0;
}

static void release_build(struct remaining_build *b)
{
	remaining_list_release(&b->list);
	free_all(b->took_us, b->bin);
}

void remaining_free(struct remaining *r)
{
	if (!r)
		return;
	for (size_t b = 0; b < r->n_builds; b++)
		release_build(&r->build[b]);
	name_table_release(&r->names);
	arena_free(r->arena);
	free_all(r->task, r->task_of, r->usual_us, r);
}

/* Renamed tasks */

/* Tasks of `a` that are not in b. */
static size_t not_in(struct rename_task *out, uint32_t *task, const struct remaining *r,
		     const struct remaining_list *a, const bool *in_b)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		uint32_t t = a->task[i];

		if (in_b[t])
			continue;
		task[n] = t;
		out[n++] = (struct rename_task){ .name = r->task[t].name, .kind = r->task[t].kind };
	}
	return n;
}

static void mark(bool *in, const struct remaining_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		in[list->task[i]] = true;
}

/* Tasks that only the newest build has, and that are tasks of the build before under another name. */
static int follow_renames(struct remaining *r, struct remaining_list *now, size_t known)
{
	const struct remaining_list *before = &r->build[r->n_builds - 1].list;
	size_t n = before->n + now->n + 1, n_gone, n_new = 0;
	bool *in = array_new_zero(r->n_tasks, sizeof *in);
	struct rename_task *gone = array_new(n, sizeof *gone), *new = gone ? gone + before->n : NULL;
	uint32_t *task = array_new(n, sizeof *task), *same = array_new(r->n_tasks, sizeof *same);
	int error = in && gone && task && same ? 0 : -ENOMEM;

	if (!error) {
		mark(in, now);
		n_gone = not_in(gone, task, r, before, in);
		for (size_t t = known; t < r->n_tasks; t++)
			new[n_new++] = (struct rename_task){ .name = r->task[t].name, .kind = r->task[t].kind };
		error = n_gone && n_new ? renames_find(gone, n_gone, new, n_new) : 0;
		for (size_t t = 0; t < r->n_tasks; t++)
			same[t] = (uint32_t)t;
		for (size_t i = 0; !error && n_gone && i < n_new; i++) {
			if (new[i].reason != RENAME_NONE)
				same[known + i] = task[new[i].other];
		}
		for (size_t i = 0; !error && i < now->n; i++)
			now->task[i] = same[now->task[i]];
		for (size_t i = 0; !error && i < r->n_names; i++)
			r->task_of[i] = same[r->task_of[i]];
	}
	free_all(in, gone, task, same);
	return error;
}

int remaining_add(struct remaining *r, const struct recording *rec, int64_t wall_us)
{
	struct remaining_build b = { .wall_us = wall_us >= 0 ? wall_us : rec->end_us };
	size_t known = r->n_tasks;
	int error;

	if (b.wall_us < 0)
		b.wall_us = rec->last_us;
	if (b.wall_us <= 0)
		return 0;
	error = remaining_list_make(&b.list, r, rec, true);
	for (size_t i = 0; !error && i < b.list.n; i++) {
		/* those that nobody saw end */
		if (b.list.end_us[i] > b.wall_us)
			b.list.end_us[i] = MAX(b.list.start_us[i], b.wall_us);
	}
	if (!error && r->n_builds && known < r->n_tasks)
		error = follow_renames(r, &b.list, known);
	if (error) {
		release_build(&b);
		return error;
	}
	if (r->n_builds == REMAINING_BUILDS) {
		release_build(&r->build[0]);
		memmove(&r->build[0], &r->build[1], (REMAINING_BUILDS - 1) * sizeof r->build[0]);
		r->n_builds--;
	}
	r->build[r->n_builds++] = b;
	return 0;
}

/* Learning */

static size_t bin_of(const struct remaining_build *b, int64_t us)
{
	double bin = (double)us * REMAINING_BINS / (double)b->wall_us;

	return bin < 0 ? 0 : bin >= REMAINING_BINS ? REMAINING_BINS - 1 : (size_t)bin;
}

/* The work done until a time: its slope, from time to time, is the number of tasks that run. */
static void add_slope(double *slope, double *rest, const struct remaining_build *b, int64_t us,
		      int by)
{
	size_t bin = bin_of(b, us);
	double in_bin = fmin(1, fmax(0, (double)us * REMAINING_BINS / (double)b->wall_us - (double)bin));

	slope[bin] += by;
	rest[bin] += by * in_bin;
}

static int lay_out(struct remaining_build *b, size_t n_tasks)
{
	double slope[REMAINING_BINS] = { 0 }, rest[REMAINING_BINS] = { 0 }, running = 0;
	double bin_us = (double)b->wall_us / REMAINING_BINS;
	uint32_t started = 0;

	b->took_us = array_new(n_tasks, sizeof *b->took_us);
	b->bin = array_new_zero(n_tasks, sizeof *b->bin);
	if (!b->took_us || !b->bin)
		return -ENOMEM;
	for (size_t t = 0; t < n_tasks; t++)
		b->took_us[t] = NAN;
	for (size_t i = 0; i < b->list.n; i++) {
		uint32_t t = b->list.task[i];
		size_t bin = bin_of(b, b->list.start_us[i]);

		b->took_us[t] = (float)(b->list.end_us[i] - b->list.start_us[i]);
		b->bin[t] = (uint8_t)bin;
		b->started[bin]++;
		add_slope(slope, rest, b, b->list.start_us[i], 1);
		add_slope(slope, rest, b, b->list.end_us[i], -1);
	}
	for (size_t bin = 0; bin < REMAINING_BINS; bin++) {
		b->started[bin] = started += b->started[bin];
		running += slope[bin];
		b->work_us[bin + 1] = b->work_us[bin] + fmax(0, running - rest[bin]) * bin_us;
	}
	return 0;
}

static int find_usual(struct remaining *r)
{
	double value[REMAINING_BUILDS];

	r->usual_us = array_new(r->n_tasks, sizeof *r->usual_us);
	if (!r->usual_us)
		return -ENOMEM;
	for (size_t t = 0; t < r->n_tasks; t++) {
		size_t n = 0;

		for (size_t b = 0; b < r->n_builds; b++) {
			if (!isnan(r->build[b].took_us[t]))
				value[n++] = r->build[b].took_us[t];
		}
		r->usual_us[t] = n ? (float)stats_median(value, n) : 0;
	}
	return 0;
}

struct trial {
	double guess_us[EXPONENTS][REMAINING_BUILDS], error[EXPONENTS][REMAINING_BUILDS];
	double pace[REMAINING_BUILDS];
};

static double exponent(size_t i)
{
	return (double)i / (EXPONENTS - 1);
}

static void try_one(struct trial *trial, const struct remaining *r, size_t b,
		    struct remaining_progress *p)
{
	const struct remaining_build *e = &r->build[b];
	size_t until = r->n_builds;

	p->r = r;
	p->list = &e->list;
	for (size_t i = 0; i < REMAINING_PLACES; i++) {
		int64_t elapsed = (int64_t)(place_of_trial[i] * (double)e->wall_us);
		struct remaining_view v;

		remaining_look(&v, p, elapsed, until, b);
		trial[i].pace[b] = v.pace;
		for (size_t x = 0; x < EXPONENTS; x++) {
			double guess = remaining_left(&v, exponent(x));
			double grain = 0.01 * ((double)elapsed + guess) + 1e4;

			trial[i].guess_us[x][b] = guess;
			trial[i].error[x][b] = log(((double)(e->wall_us - elapsed) + grain) / (guess + grain));
		}
	}
}

/* The exponent of the pace with the smallest errors. Without much evidence: more of the pace lasts
 * when more of it was seen. */
static size_t best_exponent(const struct trial *trial, size_t n, double place)
{
	double best = INFINITY;
	size_t found = 0;

	for (size_t x = 0; x < EXPONENTS; x++) {
		double loss = 0.1 * fabs(exponent(x) - place);

		for (size_t b = 0; b < n; b++)
			loss += fabs(trial->error[x][b]);
		if (loss < best) {
			best = loss;
			found = x;
		}
	}
	return found;
}

int remaining_learn(struct remaining *r)
{
	struct trial *trial = calloc(REMAINING_PLACES, sizeof *trial);
	int error = trial ? 0 : -ENOMEM;

	if (error)
		goto out;
	for (size_t b = 0; b < r->n_builds; b++) {
		error = lay_out(&r->build[b], r->n_tasks);
		if (error)
			goto out;
	}
	error = find_usual(r);
	if (error)
		goto out;
	for (size_t b = 0; !error && r->n_builds > 1 && b < r->n_builds; b++) {
		struct remaining_progress *p = calloc(1, sizeof *p);

		if (p)
			try_one(trial, r, b, p);
		else
			error = -ENOMEM;
		free(p);
	}
	if (error)
		goto out;
	for (size_t i = 0; i < REMAINING_PLACES; i++) {
		size_t x = best_exponent(&trial[i], r->n_builds, place_of_trial[i]);

		r->lasts[i] = exponent(x);
		for (size_t b = 0; b < r->n_builds; b++) {
			double elapsed = place_of_trial[i] * (double)r->build[b].wall_us;

			r->build[b].error[i] = trial[i].error[x][b];
			r->build[b].share[i] = elapsed / (elapsed + trial[i].guess_us[x][b] + 1);
		}
		r->pace_spread[i] = r->n_builds > 2 ? stats_spread(trial[i].pace, r->n_builds, 0) : NAN;
	}
out:
	free(trial);
	return error;
}

/* The present build */

/* Between which places a share of the time is: the first, and how far to the next. */
static size_t place_before(double share, double *further)
{
	size_t i = 0;

	while (i + 2 < REMAINING_PLACES && share >= place_of_trial[i + 1])
		i++;
	*further = (share - place_of_trial[i]) / (place_of_trial[i + 1] - place_of_trial[i]);
	*further = fmin(1, fmax(0, *further));
	return i;
}

static double between(const double *of, double share)
{
	double further;
	size_t i = place_before(share, &further);

	return of[i] + further * (of[i + 1] - of[i]);
}

/* How much of the pace lasts: all of it if no earlier build had such a pace, as with another -j. */
static double lasting(const struct remaining *r, const struct remaining_view *v, double share)
{
	double lasts = between(r->lasts, share);
	double spread = r->n_builds > 2 ? between(r->pace_spread, share) : 0.15;
	double odd = fabs(v->pace) / fmax(0.05, spread);

	return lasts + (1 - lasts) * fmin(1, fmax(0, odd - 1.3));
}

/* Errors of earlier predictions in their order. */
struct scores {
	size_t n;
	struct score {
		double error, weight;
	} score[REMAINING_BUILDS * REMAINING_PLACES];
	double worth;		/* so many independent ones */
};

#define SCORE_NEAR 0.08		/* shares that differ less are nearly the same */

static int by_error(const void *a, const void *b)
{
	double x = ((const struct score *)a)->error, y = ((const struct score *)b)->error;

	return (x > y) - (x < y);
}

/* Those of builds that are like this one, when as much of them seemed to be done. */
static void add_scores(struct scores *s, const struct remaining *r, const struct remaining_view *v,
		       double share)
{
	double sum = 0, squares = 0, most = 0;

	s->n = 0;
	for (size_t b = 0; r->n_builds > 1 && b < r->n_builds; b++)
		most = fmax(most, v->like[b]);
	for (size_t b = 0; r->n_builds > 1 && b < r->n_builds; b++) {
		double like = pow(v->like[b] / most, 3), of_build = 0;

		for (size_t i = 0; i < REMAINING_PLACES; i++) {
			double off = (r->build[b].share[i] - share) / SCORE_NEAR;
			double weight = like * (exp(-off * off) + 1e-6);

			s->score[s->n++] = (struct score){ r->build[b].error[i], weight };
			of_build += weight;
		}
		sum += of_build;
		squares += of_build * of_build;
	}
	s->worth = sum > 0 ? sum * sum / squares : 0;
	for (size_t i = 0; i < s->n; i++)
		s->score[i].weight /= sum;
	qsort(s->score, s->n, sizeof *s->score, by_error);
}

/* The value that a further one is below with probability q: that of rank q (n + 1). */
static double quantile(const struct scores *s, double q)
{
	double rank = q * (s->worth + 1), at = 0;

	for (size_t i = 0; i < s->n; i++) {
		double before = at, last = i ? s->score[i - 1].error : s->score[i].error;

		at += s->score[i].weight * s->worth;
		if (at >= rank)
			return last + (s->score[i].error - last) * (rank - before) / (at - before);
	}
	return s->score[s->n - 1].error;
}

static double square(double x)
{
	return x * x;
}

static double prior_square(const struct remaining_view *v)
{
	double most = 0;

	for (size_t b = 0; b < REMAINING_BUILDS; b++)
		most = fmax(most, v->like[b]);
	return square(PRIOR_SPREAD) + square(UNLIKE_SPREAD * (1 - most)) + square(PACE_SPREAD * v->pace);
}

static void find_errors(double *low, double *high, const struct scores *s,
			const struct remaining_view *v)
{
	double tail = (1 - REMAINING_CONFIDENCE) / 2, ranked, worth = PRIOR_WORTH + s->worth, half;
	double squares = PRIOR_WORTH * prior_square(v);

	for (size_t i = 0; i < s->n; i++)
		squares += s->score[i].weight * s->worth *
			   square(fmin(ERROR_MAX, fabs(s->score[i].error)));
	half = stats_t_quantile(tail, fmax(2, worth)) * sqrt(squares / worth * (1 + 1 / fmax(1, s->worth)));
	ranked = fmin(1, fmax(0, (s->worth - 8) / 4));
	*low = -half;
	*high = half;
	if (ranked > 0) {
		*low += ranked * (quantile(s, tail) - *low);
		*high += ranked * (quantile(s, 1 - tail) - *high);
	}
}

static void estimate(struct remaining_estimate *e, const struct remaining *r,
		     struct remaining_progress *p, int64_t elapsed_us)
{
	double left, share, grain, low, high, known, elapsed = (double)elapsed_us;
	struct remaining_view v;
	struct scores scores;

	remaining_look(&v, p, elapsed_us, r->n_builds, r->n_builds);
	left = remaining_left(&v, 0.5);
	share = elapsed / (elapsed + left + 1);
	left = remaining_left(&v, lasting(r, &v, share));
	share = elapsed / (elapsed + left + 1);
	/* new tasks show nothing about the pace: as at the begin */
	known = p->n_started ? 1 - (double)p->n_new / (double)p->n_started : 1;
	add_scores(&scores, r, &v, share * known);
	find_errors(&low, &high, &scores, &v);
	grain = 0.01 * (elapsed + left) + 1e4;
	/* a task that takes longer than ever may take as long again */
	left = fmax(left, v.overrun_us / 2);
	share = fmin(share, elapsed / (elapsed + left + 1));
	e->late = v.late;
	e->left_us = (int64_t)left;
	e->low_us = (int64_t)fmax(0, fmin(left, (left + grain) * exp(low) - grain));
	e->high_us = (int64_t)fmax(fmax(left, 2 * v.overrun_us),
				   fmin(1e15, (left + grain) * exp(high) - grain));
	e->done_share = share;
}

int remaining_estimate(struct remaining_estimate *e, struct remaining *r,
		       const struct recording *rec, int64_t elapsed_us)
{
	struct remaining_progress *p = calloc(1, sizeof *p);
	struct remaining_list list = { 0 };
	int error = p ? 0 : -ENOMEM;

	*e = (struct remaining_estimate){ .builds = r->n_builds, .left_us = -1, .low_us = -1,
					  .high_us = -1, .done_share = NAN };
	if (!error && r->n_builds)
		error = remaining_list_make(&list, r, rec, false);
	if (!error && r->n_builds) {
		p->r = r;
		p->list = &list;
		estimate(e, r, p, MAX(elapsed_us, 0));
	}
	remaining_list_release(&list);
	free(p);
	return error;
}

struct remaining_estimate remaining_later(const struct remaining_estimate *e, int64_t later_us)
{
	struct remaining_estimate l = *e;

	if (!e->builds || later_us <= 0)
		return l;
	l.left_us = e->left_us > later_us ? e->left_us - later_us : 0;
	l.low_us = e->low_us > later_us ? e->low_us - later_us : 0;
	l.high_us = e->high_us > later_us ? e->high_us - later_us : 0;
	if (l.left_us < e->left_us) {
		double whole = (double)e->left_us / (1 - fmin(e->done_share, 0.999999));

		l.done_share = fmin(1, e->done_share + (double)(e->left_us - l.left_us) / whole);
	}
	return l;
}

void remaining_words(struct buf *out, const struct remaining_estimate *e)
{
	if (!e->builds) {
		buf_adds(out, "no earlier build to predict from");
		return;
	}
	if (e->late && !e->left_us) {
		buf_adds(out, "longer than the earlier builds");
	} else {
		buf_adds(out, "about ");
		text_add_time(out, e->left_us);
		buf_adds(out, " left");
	}
	buf_adds(out, " (");
	text_add_time(out, e->low_us);
	buf_adds(out, " to ");
	text_add_time(out, e->high_us);
	buf_addf(out, "), from %zu earlier build%s", e->builds, e->builds == 1 ? "" : "s");
}
