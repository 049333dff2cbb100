/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/power.h"
#include "compare/repeated_builds.h"
#include "stats/stats.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

/* What check finds, by planted changes: the same as of builds that were made with them. */

#define TASKS 60
#define BUILDS 40

static struct builds all;
static struct rules rules;

static void setup(void)
{
	made_series_rules(&rules);
}

static void teardown(void)
{
	builds_release(&all);
}

static void find(struct power *p, const struct made *made)
{
	struct error err = { 0 };

	builds_release(&all);
	ck_assert(!made_series(&all, made));
	ck_assert_msg(!power_find(p, &all, &rules, NULL, POWER_BUILDS, POWER_TASKS, &err), "%s", err.message);
}

/* The number of builds with a change from `begin` on whose check is the first that fails of it. */
static uint32_t builds_needed(uint32_t task, size_t begin, double by)
{
	for (size_t b = begin; b < all.n; b++) {
		made_series_values(&all, METRIC_WALL)[task * all.n + b] *= (float)(1 + by);
		made_series_values(&all, METRIC_CPU)[task * all.n + b] *= (float)(1 + by);
	}
	for (size_t n = begin + 1; n <= all.n; n++) {
		struct builds first = all;
		struct error err = { 0 };
		struct verdict v;
		bool found = false;

		first.n = n;
		ck_assert(!verdict_make(&v, &first, &rules, NULL, &err));
		for (size_t i = 0; i < v.n; i++)
			found = found || (v.finding[i].task == task && v.finding[i].fails && v.finding[i].at >= begin);
		verdict_release(&v);
		if (found)
			return (uint32_t)(n - begin);
	}
	return UINT32_MAX;
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

TEST_GROUP_WITH("power", setup, teardown);

/* Each cell is what check says of builds with that change. */
TEST_LOOP(as_check, 3)
{
	struct made made = { .seed = 20 + (uint64_t)_i, .tasks = TASKS, .builds = BUILDS, .noise = 0.03,
			     .host = 0.02, .spikes = _i ? 0.01 : 0 };
	size_t found = 0, not = 0;
	struct power p;

	find(&p, &made);
	ck_assert_uint_eq(p.n, POWER_TASKS + 1);
	ck_assert_uint_eq(p.trials, POWER_TRIALS);
	ck_assert(!p.together);
	for (size_t i = 0; i < p.n; i += 2) {
		for (size_t size = 0; size < 3 && p.row[i + 1].task != TASK_TOTAL; size++) {
			const struct power_row *row = &p.row[i + 1];
			uint32_t needed[POWER_TRIALS], median;

			for (size_t k = 0; k < POWER_TRIALS; k++) {
				builds_release(&all);
				ck_assert(!made_series(&all, &made));
				needed[k] = builds_needed(row->task, BUILDS - POWER_BUILDS - 2 * k, power_size[size]);
				needed[k] = needed[k] > POWER_BUILDS ? UINT32_MAX : needed[k];
			}
			qsort(needed, POWER_TRIALS, sizeof *needed, ascending);
			median = needed[POWER_TRIALS / 2];
			found += median < UINT32_MAX;
			not += median == UINT32_MAX;
			ck_assert_uint_eq(row->cell[size].answer == POWER_FOUND, median < UINT32_MAX);
			/* A larger one is not tried if a smaller one is found at once. */
			ck_assert_msg(median == UINT32_MAX || row->cell[size].builds == median, "task %u, +%g: %u, not %u",
				      row->task, power_size[size], row->cell[size].builds, median);
		}
	}
	ck_assert(found && (not || _i));
}

/* The longest tasks, after the build. */
TEST(chosen)
{
	struct made made = { .seed = 4, .tasks = TASKS, .builds = BUILDS, .noise = 0.02 };
	struct power p;

	find(&p, &made);
	ck_assert_uint_eq(p.row[0].task, TASK_TOTAL);
	for (size_t i = 2; i < p.n; i++)
		ck_assert(p.row[i].level <= p.row[i - 1].level);
	for (uint32_t task = 0; task < TASKS; task++) {
		bool chosen = false;

		for (size_t i = 1; i < p.n; i++)
			chosen = chosen || p.row[i].task == task;
		ck_assert(chosen || (double)made_series_values(&all, METRIC_WALL)[task * BUILDS + BUILDS - 1] <
			  1.2 * p.row[p.n - 1].level);
	}
}

/* Less noise finds smaller changes. */
TEST(noise)
{
	struct made made = { .seed = 4, .tasks = TASKS, .builds = BUILDS, .noise = 0.002, .host = 0.01 };
	struct power p;

	find(&p, &made);
	for (size_t i = 1; i < p.n; i++) {
		ck_assert_double_le(power_least(&p.row[i]), 0.1);
		ck_assert_uint_eq(p.row[i].cell[2].builds, 2);
	}
	made.noise = 0.25;
	find(&p, &made);
	for (size_t i = 1; i < p.n; i++)
		ck_assert(!(power_least(&p.row[i]) <= 0.1));
}

/* A change below the thresholds of both metrics is never reported, whatever the noise. */
TEST(thresholds)
{
	struct made made = { .seed = 4, .tasks = TASKS, .builds = BUILDS, .noise = 0.002, .level_us = 10e6 };
	struct power p;

	rules.gate[METRIC_WALL].amount = 1.5e6;
	rules.gate[METRIC_CPU].amount = 1e12;
	find(&p, &made);
	for (size_t i = 1; i < p.n; i++) {
		ck_assert_uint_eq(p.row[i].cell[1].answer, POWER_BELOW);
		ck_assert_uint_eq(p.row[i].cell[2].answer, POWER_FOUND);
		ck_assert(power_least(&p.row[i]) == 0.2);
	}
	rules.gate[METRIC_CPU].amount = 0.1e6;
	find(&p, &made);
	for (size_t i = 1; i < p.n; i++)
		ck_assert_uint_eq(p.row[i].cell[1].answer, POWER_FOUND);
}

/* Short histories have fewer trials, of fewer builds, or none. */
static const struct {
	size_t builds, failed;
	uint32_t most, trials;
} lengths[] = {
	{ 40, 0, 10, 3 }, { 20, 0, 10, 3 }, { 16, 0, 10, 1 }, { 12, 0, 6, 1 }, { 8, 0, 2, 1 }, { 7, 0, 0, 0 },
	{ 1, 0, 0, 0 }, { 12, 4, 2, 1 }, { 24, 4, 10, 3 },
};

TEST_EACH(length, lengths)
{
	struct made made = { .seed = 4, .tasks = TASKS, .builds = lengths[_i].builds, .noise = 0.01 };
	struct error err = { 0 };
	struct power p;

	ck_assert(!made_series(&all, &made));
	for (size_t i = 0; i < lengths[_i].failed; i++)
		all.build[all.n - 2 - 2 * i].total[TOTAL_STATUS] = 2;
	ck_assert(!power_find(&p, &all, &rules, NULL, POWER_BUILDS, POWER_TASKS, &err));
	ck_assert_uint_eq(p.builds, lengths[_i].most);
	ck_assert_uint_eq(p.trials, lengths[_i].trials);
	ck_assert_uint_eq(p.n > 0, lengths[_i].most > 0);
	for (size_t i = 0; i < p.n; i++) {
		for (size_t k = 0; k < POWER_SIZES; k++)
			ck_assert_uint_le(p.row[i].cell[k].builds, p.builds);
		ck_assert(p.row[i].cell[POWER_SIZES - 1].answer == POWER_FOUND || all.n < 16);
	}
}

/* Of many values: all changes in one replay. No more than one task in twenty. */
TEST(together)
{
	struct made made = { .seed = 4, .tasks = 3000, .builds = 90, .noise = 0.01, .host = 0.02 };
	struct power p;

	find(&p, &made);
	ck_assert(p.together);
	for (size_t i = 1; i < p.n; i++)
		ck_assert_uint_eq(p.row[i].cell[2].answer, POWER_FOUND);
}

/* What sets of three runs find. */

static float spreads[METRICS][BUILDS][TASKS];

static int spread(const struct builds *b, uint32_t build, enum metric m, float *values, struct error *err)
{
	(void)err;
	memcpy(values, spreads[m][build], b->n_tasks * sizeof *values);
	return 0;
}

static void take_set(double *median, double *deviation, const double *run)
{
	double v[REPEATED_TIMES];

	memcpy(v, run, sizeof v);
	*deviation = sqrt(stats_variance(v, REPEATED_TIMES));
	*median = stats_median(v, REPEATED_TIMES);
}

/* Makes each value of `all` the median of it and those of two more series, which are multiplied by what
 * the runs of a set share: the noise of this series. */
static void record_three(const struct made *made, double within)
{
	struct noise noise = { made->seed };

	all.spread = spread;
	for (size_t b = 0; b < BUILDS; b++)
		all.build[b].runs = REPEATED_TIMES;
	for (enum metric m = METRIC_WALL; m <= METRIC_CPU; m++) {
		for (size_t i = 0; i < (size_t)TASKS * BUILDS; i++) {
			float *value = &made_series_values(&all, m)[i];
			double run[REPEATED_TIMES], median, deviation;

			for (size_t k = 0; k < REPEATED_TIMES; k++)
				run[k] = (double)*value * exp(within * noise_normal(&noise));
			take_set(&median, &deviation, run);
			*value = (float)median;
			spreads[m][i % BUILDS][i / BUILDS] = (float)deviation;
		}
	}
}

/* The builds until +10 % is found, summed; 11 for none. */
static unsigned builds_until(const struct power *p)
{
	unsigned sum = 0;

	for (size_t i = 1; i < p->n; i++)
		sum += p->row[i].cell[1].answer == POWER_FOUND ? p->row[i].cell[1].builds : POWER_BUILDS + 1;
	return sum;
}

static void find_repeated(struct power *p, struct repeated_builds *as, const struct power *rows)
{
	struct error err = { 0 };

	ck_assert(!repeated_builds_init(as, &all, &err));
	ck_assert(!power_find_same(p, rows, &as->builds, &rules, NULL, &err));
	repeated_builds_release(as);
}

/* From single builds, about as of series whose builds are sets of three runs. */
TEST(sets_of_three)
{
	unsigned one = 0, tried = 0, made_so = 0;

	for (uint64_t seed = 1; seed <= 6; seed++) {
		struct made made = { .seed = seed, .tasks = TASKS, .builds = BUILDS, .noise = 0.07 };
		struct repeated_builds as;
		struct power p, repeated;

		find(&p, &made);
		one += builds_until(&p);
		find_repeated(&repeated, &as, &p);
		ck_assert(isnan(as.share) && as.runs == 3);
		for (size_t i = 0; i < p.n; i++)
			ck_assert_uint_eq(repeated.row[i].task, p.row[i].task);
		tried += builds_until(&repeated);
		made.noise = 0;
		builds_release(&all);
		ck_assert(!made_series(&all, &made));
		record_three(&made, 0.07);
		ck_assert(!power_find(&p, &all, &rules, NULL, POWER_BUILDS, POWER_TASKS, &(struct error){ 0 }));
		made_so += builds_until(&p);
	}
	ck_assert_msg(tried < 0.75 * one, "%u, not fewer than %u", tried, one);
	ck_assert_msg(tried < 1.25 * made_so && made_so < 1.25 * tried, "%u, not %u", tried, made_so);
}

/* Sets know how much of their noise comes from their runs. */
static const struct { double between, within; } sets[] = { { 0.03, 0.01 }, { 0.03, 0.03 }, { 0.01, 0.04 } };

TEST_EACH(share_of_runs, sets)
{
	struct made made = { .seed = 5, .tasks = TASKS, .builds = BUILDS, .noise = sets[_i].between };
	double runs = sets[_i].within * sets[_i].within * 0.449, shared = made.noise * made.noise;
	struct repeated_builds as;
	struct error err = { 0 };

	builds_release(&all);
	ck_assert(!made_series(&all, &made));
	record_three(&made, sets[_i].within);
	ck_assert(!repeated_builds_init(&as, &all, &err));
	ck_assert_uint_eq(as.runs, 9);
	ck_assert_double_eq_tol(as.share, runs / (runs + shared), 0.1);
	repeated_builds_release(&as);
}

/* Without a time, the first metric changes. */
TEST(other_metric)
{
	struct made made = { .seed = 4, .tasks = TASKS, .builds = BUILDS, .noise = 0.01 };
	struct power p;

	rules.metrics = METRIC_BIT(METRIC_MEMORY) | METRIC_BIT(METRIC_IO);
	find(&p, &made);
	ck_assert_uint_gt(p.n, 1);
	for (size_t i = 0; i < p.n; i++) {
		ck_assert_uint_eq(p.row[i].metric, METRIC_MEMORY);
		ck_assert_uint_eq(p.row[i].cell[2].answer, POWER_FOUND);
	}
}

TEST_MAIN(power);
