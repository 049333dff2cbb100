/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define FRESH 8			/* values of a worse and a better level that are too few to end */
#define FRESH_BETTER 4
#define FEW_TESTS 10		/* windows, for each test, that do not yet show what is usual */
#define FEW_LEAST 300.0
#define FEW_MOST 3000.0
#define FEW_ALONE 100		/* values of few tasks, which say less than one of them alone */
#define ALIKE 0.6		/* how alike consecutive values are that nothing is known about */
#define OTHER_PART 0.15		/* of the error rate of times, for each other metric */
#define OTHER_SUSPECTS 0.25	/* the same of suspects, which fail nothing */
#define JOINED_PART 0.4		/* of the error rate, for wall and CPU time together */
#define HOST_PART 0.03		/* of the error rate of a task, for the common factor: it drifts */
#define SHORT 8.0		/* by which runs are underestimated: their builds share a level */
#define SHORT_FAR 3.0		/* and far off, where the error of the level is small */
#define NEAR 3.0		/* standard deviations */
#define FAR 5.0
#define LONG 5			/* values; of more one may be less far off */
#define GROUPS_PART 0.1		/* of the error rate, for groups of tasks beside them */
#define NEARLY 0.9		/* of the amount by which a group changed */
#define LOOSE 0.05		/* p of a metric that only its task's total evidence confirms */

/* Parts of the error rate for the windows; that of the newest build alone is of a set. Two builds say
 * less about a task, of which there are many, than about the build. */
static const double part[2][REPLAY_SPANS] = {
	{ 1, 0.3, 0.35, 0.2, 0.15 }, { 1, 0.5, 0.2, 0.15, 0.15 },
};

#define SET_PART 0.25

static double part_of(const struct replay *r, uint32_t row, size_t w)
{
	double of = part[row >= r->total_row][w];

	return !r->alone ? of : w ? of * (1 - SET_PART) : SET_PART;
}

/* The windows that can confirm a change of a task, and of a lone row, which drifts. */
static size_t first_window(const struct replay *r, uint32_t row)
{
	return !(r->alone && row < r->total_row);
}

/*
 * Metrics [first, end) that are tested together: wall and CPU time, each other metric alone. Each family
 * has a false discovery rate of its own, so that what a metric shows does not depend on which others are
 * compared. That of times is the whole rate, others have a part of it: all of them together are as much.
 */
struct family {
	size_t first, end;
	double part;
	size_t tests, groups;	/* of tasks and lone rows; of groups of tasks */
};

/* A task or a lone row that is tested. */
struct candidate {
	uint32_t row;		/* of a task: its first row of the family */
	double p, rate;
	double amount;		/* of a group: by which its tasks changed */
};

/* A window by itself, with what similar tasks say about its noise. */
static double p_alone(const struct replay *r, uint32_t index, int way, size_t w)
{
	const struct replay_row *row = &r->row[index];
	uint32_t k = r->window[w], start = row->count + 1 - k;
	size_t m = replay_metric(r, index);
	double z[REPLAY_RING], alike = (r->inflation[m] - 1) / (r->inflation[m] + 1), wider;
	double n = replay_before(r, row, k);
	bool sets = r->noise_left && r->left_sum[r->now + 1] < r->left_n[r->now + 1];

	alike = fmax(alike, ALIKE);
	wider = sqrt((1 + REPLAY_MEDIAN_ERROR * r->inflation[m] / n) /
		     (1 + REPLAY_MEDIAN_ERROR * (1 + alike) / (1 - alike) / n));
	for (uint32_t i = 0; i < k; i++) {
		/* a single build after a set has the larger spread */
		float spread = fmaxf(row->spread[start % REPLAY_RING],
				     sets ? row->spread[(start + i) % REPLAY_RING] : 0);

		z[i] = (double)((row->x[(start + i) % REPLAY_RING] - row->middle[start % REPLAY_RING]) /
				spread) * wider;
	}
	return replay_p(&(struct replay_noise){
		.df = (double)row->df + r->prior[m][row->group].df, .alike = alike,
		.usual = k == 1 && !r->set ? &r->single[m] : &r->offset[m][0],
	}, z, k, way);
}

/* How far off the newest k values of a row are at least; of long windows the second least. */
static double least_off(const struct replay *r, uint32_t index, int way, uint32_t k)
{
	const struct replay_row *row = &r->row[index];
	uint32_t start = row->count + 1 - k;
	double z[REPLAY_RING];

	for (uint32_t i = 0; i < k; i++) {
		double off = (double)replay_off(row, start, start + i);

		z[i] = way == REPLAY_UP ? off : -off;
	}
	stats_sort(z, k);
	return z[k > LONG];
}

static double p_of_run(const struct streaks *c, double off, uint32_t k, int at_once)
{
	double near = fmax(0, fmin((FAR - off) / (FAR - NEAR), 1));
	double factor = SHORT_FAR + (SHORT - SHORT_FAR) * near;

	if (!(off > 0))
		return 1;
	return k > LONG ? factor * k * streaks_p(c, off, k - 1, at_once) :
	       factor * streaks_p(c, off, k, at_once);
}

/* A window of a task by how often such runs were seen and, once enough are counted, by how often such
 * evidence was. */
static double p_of_window(const struct replay *r, size_t kind, uint32_t row, int way, size_t w,
			  double evidence)
{
	const struct streaks *seen = &r->streaks[kind][way];
	const struct nulls *null = &r->null[kind][way][w];
	bool joined = kind == r->n_metrics;
	double off = least_off(r, row, way, r->window[w]), p;

	if (joined)
		off = fmin(off, least_off(r, row + 1, way, r->window[w]));
	p = p_of_run(seen, off, r->window[w], joined ? 2 : 1);
	if (null->n >= r->few)
		return fmin(p, nulls_p(null, evidence));
	if (joined)
		return p;
	if (seen->n[0] < FEW_ALONE)
		return p_alone(r, row, way, w);
	/* How far beyond the runs that are counted it is says something if there are no spikes. */
	return off > STREAKS_STEP * STREAKS_BINS && !(seen->bin[0][STREAKS_BINS - 1] > 0) ?
	       fmin(p, p_alone(r, row, way, w)) : p;
}

/* Whether a row's level after a step is too short to say that it ends. The first builds, which
 * confirmed it, are the farthest: that the step as such ends is decided by replay_close(). */
static bool is_fresh(const struct replay *r, uint32_t index, int way)
{
	const struct replay_row *row = &r->row[index];

	if (!row->again || !row->step || r->step[row->step - 1].worse != (way == REPLAY_DOWN))
		return false;
	return row->n < (way == REPLAY_DOWN ? FRESH : FRESH_BETTER);
}

static double p_of_row(const struct replay *r, uint32_t row, int way, size_t *window)
{
	double best = 1;

	if (is_fresh(r, row, way))
		return best;
	for (size_t w = first_window(r, row); w < REPLAY_SPANS; w++) {
		double p;

		if (row >= r->total_row) {
			p = r->lone[row - r->total_row].p[way][w];
			p /= row < r->host_row || row >= r->shared_row ? 1 : HOST_PART;
		} else {
			size_t m = replay_metric(r, row);
			const struct replay_span *span =
				&r->span[row / r->n_metrics * (r->n_metrics + 1) + m];

			if (isnan(span->off[w]) || replay_evidence(span, w, way) < REPLAY_WORTH)
				continue;
			p = p_of_window(r, m, row, way, w, (double)replay_evidence(span, w, way));
			if (!w && r->null[m][way][w].n < r->few)
				p = fmax(p, p_alone(r, row, way, w));
		}
		p /= part_of(r, row, w);
		if (p < best) {
			best = p;
			*window = w;
		}
	}
	return best;
}

static double p_of_joined(const struct replay *r, uint32_t task, int way)
{
	const struct replay_span *span = &r->span[task * (r->n_metrics + 1) + r->n_metrics];
	double best = 1;

	for (size_t w = 1; w < REPLAY_SPANS; w++) {
		uint32_t row = task * (uint32_t)r->n_metrics + (uint32_t)r->joined;
		double p;

		if (isnan(span->off[w]) || replay_evidence(span, w, way) < REPLAY_WORTH)
			continue;
		p = p_of_window(r, r->n_metrics, row, way, w, (double)replay_evidence(span, w, way));
		best = fmin(best, p / part_of(r, row, w));
	}
	return best;
}

static bool is_of_times(const struct replay *r, const struct family *f)
{
	return f->first == r->joined;
}

/* The part of a task's error rate in a family that one of its metrics has. */
static double part_of_metric(const struct replay *r, const struct family *f)
{
	return (is_of_times(r, f) ? 1 - JOINED_PART : 1) / (double)(f->end - f->first);
}

static double p_of_task(const struct replay *r, const struct family *f, uint32_t task, int way)
{
	double best = 1;
	size_t w;

	for (size_t m = f->first; m < f->end; m++)
		best = fmin(best, p_of_row(r, task * (uint32_t)r->n_metrics + (uint32_t)m, way, &w));
	best /= part_of_metric(r, f);
	if (is_of_times(r, f))
		best = fmin(best, p_of_joined(r, task, way) / JOINED_PART);
	return fmin(1, best / f->part);
}

/* Confirms the metrics of a task that has evidence: each that is significant by itself, or
 * otherwise the most significant one. */
static int confirm_task(struct replay *r, const struct family *f, uint32_t task, int way, double level,
			double rate, uint32_t build)
{
	double least = LOOSE;
	uint32_t best = 0;
	size_t best_window = 0, w = 0;
	int found = 0;

	for (size_t m = f->first; m < f->end; m++) {
		uint32_t row = task * (uint32_t)r->n_metrics + (uint32_t)m;
		double p = p_of_row(r, row, way, &w);
		int status;

		if (p / part_of_metric(r, f) / f->part <= level) {
			status = replay_confirm_row(r, row, way, w, rate, build);
			if (status < 0)
				return status;
			found += status;
		} else if (p < least) {
			least = p;
			best = row;
			best_window = w;
		}
	}
	if (!found && best_window)
		found = replay_confirm_row(r, best, way, best_window, rate, build);
	return found < 0 ? found : 0;
}

static int by_p(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p ? 1 : x->row < y->row ? -1 : x->row > y->row;
}

/* Benjamini and Hochberg's procedure: sorts, and returns how many are reported. */
static size_t choose_reported(struct candidate *list, size_t n, double tests, double rate)
{
	size_t chosen = 0;

	qsort(list, n, sizeof *list, by_p);
	for (size_t i = 0; i < n; i++) {
		if (list[i].p * tests <= rate * (double)(i + 1))
			chosen = i + 1;
	}
	return chosen;
}

static bool is_of(const struct replay *r, const struct family *f, uint32_t row)
{
	size_t m = replay_metric(r, row);

	return f->first <= m && m < f->end;
}

/* By how much the tasks of a group changed; 0 if that is not significant without those that are
 * confirmed by now, or does not matter. */
static int measure_group(struct replay *r, const struct family *f, struct candidate *c, double level, int way,
			 uint32_t build)
{
	size_t w = 0;

	c->amount = 0;
	replay_lone_row(r, c->row, build);
	return p_of_row(r, c->row, way, &w) / f->part > level ? 0 :
	       replay_shared_amount(r, c->row, way, w, build, &c->amount);
}

static uint32_t tasks_of(const struct replay *r, const struct candidate *c)
{
	return r->group[replay_group(r, c->row)].n_tasks;
}

/* The group with the largest change of a metric; nearly as large is as large, and then it is the one with
 * the fewest tasks. */
static struct candidate *choose_group(const struct replay *r, struct candidate *list, size_t n)
{
	struct candidate *best = NULL;
	double most = 0;
	size_t m = r->n_metrics;

	for (size_t i = 0; i < n; i++) {
		if (list[i].amount > 0 && m == r->n_metrics)
			m = replay_metric(r, list[i].row);
		if (replay_metric(r, list[i].row) == m)
			most = fmax(most, list[i].amount);
	}
	for (size_t i = 0; i < n; i++) {
		if (replay_metric(r, list[i].row) == m && list[i].amount >= NEARLY * most &&
		    (!best || tasks_of(r, &list[i]) < tasks_of(r, best)))
			best = &list[i];
	}
	return best;
}

/*
 * What the tasks of a group share is tested after the tasks, by a procedure of its own: a task is found
 * as if there were no groups. They have many tasks in common, so each is measured again after one was
 * confirmed.
 */
static int confirm_groups(struct replay *r, const struct family *f, struct candidate *list, int way, uint32_t build)
{
	double rate = GROUPS_PART * r->rules->rate, tests = (double)f->groups, level, adjusted = 1;
	size_t n = 0;
	int status = 0;

	for (uint32_t row = r->shared_row; row < r->n_rows; row++) {
		size_t w = 0;
		double p = r->row[row].judged && is_of(r, f, row) ? p_of_row(r, row, way, &w) / f->part : 1;

		if (p <= rate)
			list[n++] = (struct candidate){ .row = row, .p = p };
	}
	n = choose_reported(list, n, tests, rate);
	level = rate * (double)n / tests;
	for (size_t i = n; i-- > 0; )
		list[i].rate = adjusted = fmin(adjusted, list[i].p * tests / (double)(i + 1) / GROUPS_PART);
	while (status >= 0 && n) {
		struct candidate *best;
		size_t w = 0;

		for (size_t i = 0; i < n; i++) {
			status = measure_group(r, f, &list[i], level, way, build);
			if (status)
				return status;
		}
		best = choose_group(r, list, n);
		if (!best)
			return 0;
		p_of_row(r, best->row, way, &w);
		status = replay_confirm_row(r, best->row, way, w, best->rate, build);
		*best = list[--n];
	}
	return status < 0 ? status : 0;
}

static int confirm_way(struct replay *r, const struct family *f, struct candidate *list, int way,
		       uint32_t build)
{
	size_t n = 0, chosen;
	double rate = r->rules->rate, adjusted = 1;

	for (uint32_t task = 0; task < r->n_tasks; task++) {
		double p = r->worth[task] ? p_of_task(r, f, task, way) : 1;

		if (p <= rate)
			list[n++] = (struct candidate){ .row = task * (uint32_t)r->n_metrics, .p = p };
	}
	for (uint32_t row = r->total_row; row < r->shared_row; row++) {
		size_t w = 0;
		double p = r->row[row].judged && is_of(r, f, row) ? p_of_row(r, row, way, &w) / f->part : 1;

		if (p <= rate)
			list[n++] = (struct candidate){ .row = row, .p = p };
	}
	chosen = choose_reported(list, n, (double)f->tests, rate);
	for (size_t i = chosen; i-- > 0; ) {
		size_t w = 0;
		int status;

		adjusted = fmin(adjusted, list[i].p * (double)f->tests / (double)(i + 1));
		if (list[i].row < r->total_row) {
			status = confirm_task(r, f, list[i].row / (uint32_t)r->n_metrics, way,
					      rate * (double)chosen / (double)f->tests, adjusted, build);
		} else {
			p_of_row(r, list[i].row, way, &w);
			status = replay_confirm_row(r, list[i].row, way, w, adjusted, build);
		}
		if (status < 0)
			return status;
	}
	return confirm_groups(r, f, list, way, build);
}

/* A row that was not confirmed and deviates in the newest build alone. */
static int suspect_row(struct replay *r, uint32_t row, int way, double rate, uint32_t build)
{
	const struct replay_row *of = &r->row[row];
	struct replay_step s = { .row = row, .worse = way == REPLAY_UP };
	struct replay_suspect *added;

	if (of->step && r->step[of->step - 1].at == build)
		return 0;
	s.before = (double)of->middle[of->count % REPLAY_RING];
	s.now = replay_x(r, row, build);
	if (!replay_matters(r, row, s.before, s.now) || !replay_moved(r, &s, build, build))
		return 0;
	added = array_add(&r->suspect, &r->n_suspects, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct replay_suspect){
		row, s.worse, s.before, s.now, (double)of->spread[of->count % REPLAY_RING], rate,
		of->n,
	};
	return 0;
}

static int suspect_way(struct replay *r, const struct family *f, struct candidate *list, int way,
		       uint32_t build)
{
	double tests = (double)(f->tests * (f->end - f->first)), share = is_of_times(r, f) ? 1 : OTHER_SUSPECTS;
	size_t n = 0, chosen;
	int status = 0;

	for (uint32_t row = 0; row < r->total_row; row++) {
		const struct replay_span *span = &r->span[row / r->n_metrics * (r->n_metrics + 1) +
							  replay_metric(r, row)];
		double p;

		if (!is_of(r, f, row) || isnan(span->off[0]) || (span->off[0] > 0) != (way == REPLAY_UP) ||
		    is_fresh(r, row, way))
			continue;
		p = p_alone(r, row, way, 0) / share;
		if (p <= r->rules->rate)
			list[n++] = (struct candidate){ .row = row, .p = p };
	}
	chosen = choose_reported(list, n, tests, r->rules->rate);
	for (size_t i = 0; !status && i < chosen; i++)
		status = suspect_row(r, list[i].row, way, list[i].p * tests / (double)(i + 1), build);
	return status;
}

/* The tasks and lone rows with a test in a family. */
static void count_tests(struct replay *r, struct family *f)
{
	f->tests = f->groups = 0;
	for (uint32_t task = 0; task < r->n_tasks; task++) {
		bool judged = false;

		for (size_t m = f->first; m < f->end; m++) {
			const struct replay_row *row = &r->row[task * r->n_metrics + m];

			judged = judged || row->judged;
			r->n_judged += row->judged && replay_is_asked(r, m);
		}
		f->tests += judged;
	}
	for (size_t m = f->first; m < f->end; m++)
		f->groups += replay_shared_tests(r, m);
	for (uint32_t row = r->total_row; row < r->shared_row; row++) {
		f->tests += is_of(r, f, row) && r->row[row].judged;
		r->n_judged += is_of(r, f, row) && r->row[row].judged &&
			replay_is_asked(r, replay_metric(r, row));
	}
	r->few = fmin(FEW_MOST, fmax(FEW_LEAST, FEW_TESTS * (double)f->tests));
}

int replay_confirm(struct replay *r, uint32_t build)
{
	struct candidate *list = array_new(r->n_rows, sizeof *list);
	struct family f = { 0 };
	int status = list ? 0 : -ENOMEM;

	r->n_judged = 0;
	for (size_t m = 0; !status && m < r->n_metrics; m = f.end) {
		f.first = m;
		f.end = is_of_times(r, &f) ? m + 2 : m + 1;
		f.part = is_of_times(r, &f) ? 1 : OTHER_PART;
		count_tests(r, &f);
		for (int way = 0; !status && way < 2; way++)
			status = confirm_way(r, &f, list, way, build);
		for (int way = 0; !status && way < 2 && r->suspects && r->rules->agree > 1; way++)
			status = suspect_way(r, &f, list, way, build);
	}
	free(list);
	return status;
}
