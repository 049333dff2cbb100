/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "report/trends.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

/* The data of a report about all values of all builds is read back, exact to a step. */

static const struct { size_t tasks, builds; size_t n_fine, bin, n_points; } sizes[] = {
	{ 3, 1, 16, 1, 1 },
	{ 3, 30, 16, 1, 30 },
	{ 20, 400, 84, 1, 400 },
	{ 10000, 100, 6, 1, 100 },		/* few enough builds to store each */
	{ 10000, 365, 6, 5, 97 },
	{ 20000, 90, 6, 3, 42 },
	{ 100000, 60, 6, 5, 17 },		/* at most 18, for any number of tasks */
};

struct world {
	struct builds builds;
	struct rules rules;
	struct history history;
	struct history_change change[1];
	struct verdict verdict;
	struct verdict_finding finding[1];
	struct trends trends;
};

/* The third task has a change, and the second one had. */
static void make(struct world *w, size_t tasks, size_t n_builds)
{
	struct made made = { .seed = 1, .tasks = tasks, .builds = n_builds, .noise = 0.03,
			     .missing = 0.05 };
	struct error err = { 0 };

	*w = (struct world){ .history = { .n_changes = 1 }, .verdict = { .n = 1 } };
	w->history.change = w->change;
	w->verdict.finding = w->finding;
	w->change[0] = (struct history_change){ .task = 1, .metric = METRIC_IO };
	w->finding[0] = (struct verdict_finding){ .task = 2, .metric = METRIC_CPU,
		.before = 12345 };
	rules_init(&w->rules);
	ck_assert_int_eq(made_series(&w->builds, &made), 0);
	ck_assert_int_eq(trends_make(&w->trends, &w->builds, &w->rules, &w->history, &w->verdict,
				     &err), 0);
}

static void release(struct world *w)
{
	trends_release(&w->trends);
	builds_release(&w->builds);
}

static double fine_value(const struct trends *t, size_t i, size_t build)
{
	uint8_t step = t->values[i * t->n_builds + build];

	return step ? t->low[i] + (step - 1.0) / TRENDS_FINE * (t->high[i] - t->low[i]) : NAN;
}

static double coarse_value(const struct trends *t, size_t series, uint8_t code)
{
	double steps = fabs((double)code - TRENDS_BASE), even = (double)TRENDS_EVEN / t->octave;
	double octaves = steps <= TRENDS_EVEN ? steps / t->octave : even + (steps - TRENDS_EVEN) / 2;

	return code < 2 ? (code ? 0 : NAN) :
	       t->base[series] * exp2(code < TRENDS_BASE ? -octaves : octaves);
}

static void same(double got, double wanted, double tolerance)
{
	if (isnan(wanted))
		ck_assert(isnan(got));
	else
		ck_assert_double_eq_tol(got, wanted, tolerance);
}

/* Half a step, and the error of rounding to twelve digits. */
static double fine_tolerance(const struct trends *t, size_t i)
{
	return (t->high[i] - t->low[i]) / TRENDS_FINE * 0.51 + t->high[i] / 2000;
}

static double coarse_tolerance(const struct trends *t, double value)
{
	return value * 0.36 / t->octave;
}

TEST_EACH(comes_back, sizes)
{
	struct world w;
	const struct trends *t = &w.trends;
	float *values;

	make(&w, sizes[_i].tasks, sizes[_i].builds);
	ck_assert_uint_eq(t->n_series, 4 * (sizes[_i].tasks + 1));
	ck_assert_uint_eq(t->n_fine, sizes[_i].n_fine);
	ck_assert_uint_eq(t->bin, sizes[_i].bin);
	ck_assert_uint_eq(t->n_points, sizes[_i].n_points);
	for (size_t i = 0; i < t->n_fine; i++) {
		size_t series = t->fine[i], row = series % t->n_rows;

		ck_assert(!i || t->fine[i - 1] < series);
		values = made_series_values(&w.builds, t->metric[series / t->n_rows]);
		for (size_t k = 0; row < sizes[_i].tasks && k < t->n_builds; k++)
			same(fine_value(t, i, k), values[row * t->n_builds + k], fine_tolerance(t, i));
	}
	release(&w);
}

/* The first task of the first metric is coarse: recent builds are single, earlier ones
 * medians. */
TEST(medians)
{
	struct world w;
	const struct trends *t = &w.trends;
	const float *v;

	make(&w, 10000, 365);
	v = made_series_values(&w.builds, METRIC_WALL);
	ck_assert_uint_eq(trends_first_build(t, 0), 0);
	ck_assert_uint_eq(trends_first_build(t, 1), 5);
	ck_assert_uint_eq(trends_first_build(t, 66), 330);
	ck_assert_uint_eq(trends_first_build(t, 67), 335);
	ck_assert_uint_eq(trends_first_build(t, 96), 364);
	for (size_t i = 67; i < t->n_points; i++)
		same(coarse_value(t, 0, t->coarse[i * t->n_coarse]), v[trends_first_build(t, i)],
		     coarse_tolerance(t, v[trends_first_build(t, i)]));
	for (size_t i = 0; i < 67; i++) {
		double got = coarse_value(t, 0, t->coarse[i * t->n_coarse]);
		double slack = coarse_tolerance(t, got);
		size_t below = 0, above = 0, n = 0;

		for (size_t k = 0; k < 5; k++) {
			n += !isnan(v[5 * i + k]);
			below += v[5 * i + k] < got + slack;
			above += v[5 * i + k] > got - slack;
		}
		ck_assert((n == 0) == !!isnan(got));
		ck_assert_msg(2 * below >= n && 2 * above >= n, "point %zu", i);
	}
	release(&w);
}

TEST(newest_and_usual)
{
	struct world w;
	const struct trends *t = &w.trends;
	size_t told;
	float *v;

	make(&w, 50, 100);
	told = t->n_rows + 2;
	ck_assert_int_eq(t->metric[1], METRIC_CPU);
	v = made_series_values(&w.builds, METRIC_CPU);
	same(t->newest[told], v[2 * 100 + 99], v[2 * 100 + 98] / 1000);
	ck_assert_double_eq_tol(t->usual[told], 12345, 12345 / 2000.0);
	/* Others have the median of the window before the newest: near the middle of the
	 * noise. */
	ck_assert_double_eq_tol(t->usual[t->n_rows + 5] / v[5 * 100 + 50], 1, 0.2);
	same(t->newest[t->n_rows - 1], metric_total(w.builds.build[99].total, METRIC_WALL), 1e9);
	release(&w);
}

/* Ratios of any size come back, the far ones coarsely, and so do zero and unknown. */
TEST(any_value)
{
	static const float v[] = { 0, NAN, 1, 3, 100, 104, 1e4, 1e6, 1e7 };
	struct builds builds;
	struct world w;
	const struct trends *t = &w.trends;

	make(&w, 20000, 60);
	builds = w.builds;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		made_series_values(&builds, METRIC_WALL)[50 + i] = v[i];
	for (size_t i = 0; i < 50; i++)
		made_series_values(&builds, METRIC_WALL)[i] = 100;
	trends_release(&w.trends);
	ck_assert_int_eq(trends_make(&w.trends, &builds, &w.rules, &w.history, &w.verdict,
				     &(struct error){ 0 }), 0);
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		same(coarse_value(t, 0, t->coarse[(t->n_points - 10 + i) * t->n_coarse]), v[i],
		     v[i] * (v[i] > 800 || v[i] < 12 ? 0.25 : 0.011) + 1e-9);
	release(&w);
}

static float decoded(float v, unsigned bits)
{
	uint32_t code = trends_code(v, bits) << (23 - bits);

	memcpy(&v, &code, sizeof v);
	return v;
}

TEST(codes)
{
	struct noise noise = { 9 };

	ck_assert(isnan(decoded(NAN, 7)));
	ck_assert(decoded(0, 7) == 0);
	for (int i = 0; i < 1000; i++) {
		float v = (float)exp(60 * noise_uniform(&noise) - 30);

		ck_assert(fabsf(decoded(v, 7) / v - 1) < 1.01 / 256);
		ck_assert(fabsf(decoded(v, TRENDS_BITS) / v - 1) <
			  1.01 / 8192);
	}
}

TEST_MAIN(trends);
