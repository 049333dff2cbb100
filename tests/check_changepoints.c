/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "stats/changepoints.h"
#include "stats/partition.h"
#include "tests/noise.h"
#include "tests/support.h"

#define BUILDS 365

static struct changepoints *detector;

static void setup(void)
{
	detector = changepoints_new();
	ck_assert_ptr_nonnull(detector);
}

static void teardown(void)
{
	changepoints_free(detector);
}

/* The places as text. */
static const char *found(const double *v, size_t n, double least_effect)
{
	static char text[1024];
	const struct change *list;
	size_t count, len = 0;

	ck_assert_int_eq(changepoints_find(detector, &list, &count, v, n, least_effect), 0);
	text[0] = '\0';
	for (size_t i = 0; i < count && len < sizeof text - 16; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%u ", list[i].at);
	return text;
}

/* The partition against the plain recurrence, which tries every begin of every segment. */

#define PARTED 300

static size_t plain_cut(const struct partition *p, uint32_t *start, size_t n, double penalty,
			size_t shortest)
{
	double cost[PARTED + 1] = { 0 };
	uint32_t from[PARTED + 1];
	size_t count = 0;

	for (size_t end = 1; end <= n; end++) {
		cost[end] = INFINITY;
		for (size_t begin = 0; begin + shortest <= end; begin++) {
			double sum = p->sum[end] - p->sum[begin];
			double with = cost[begin] - sum * sum / (end - begin) + penalty;

			if (with < cost[end]) {
				cost[end] = with;
				from[end] = (uint32_t)begin;
			}
		}
	}
	for (size_t end = n; end; end = from[end])
		count++;
	for (size_t end = n, k = count; end; end = from[end])
		start[--k] = from[end];
	return count;
}

static double drawn_value(struct noise *noise, int kind, double *level, size_t i)
{
	if (noise_uniform(noise) < 0.03)
		*level = 5 * noise_normal(noise);
	switch (kind) {
	case 0:
		return noise_normal(noise);
	case 1:
		return *level + noise_normal(noise);
	case 2:
		return rint(*level + noise_normal(noise));
	case 3:
		return *level;
	case 4:
		return 0.1 * i + noise_normal(noise);
	default:
		return 0.05 * i;
	}
}

static double cost_of(const struct partition *p, const uint32_t *start, size_t count, size_t n)
{
	double cost = 0;

	for (size_t k = 0; k < count; k++)
		cost += partition_rest(p, start[k], k + 1 < count ? start[k + 1] : n);
	return cost;
}

TEST_GROUP("partition");

/* An exact slope has several best partitions. */
TEST_LOOP(cheapest_partition, 6)
{
	RELEASED(partition, p = PARTITION_INIT);
	struct noise noise = { 40 + _i };

	for (int round = 0; round < 600; round++) {
		size_t n = 6 + (size_t)((PARTED - 6) * noise_uniform(&noise)), shortest = 1 + round % 5;
		double penalty = 0.5 + 25 * noise_uniform(&noise), level = 0, v[PARTED];
		uint32_t start[PARTED], plain[PARTED];
		size_t count;

		for (size_t i = 0; i < n; i++)
			v[i] = drawn_value(&noise, _i, &level, i);
		ck_assert(!partition_load(&p, v, n));
		count = partition_cut(&p, start, n, penalty, shortest);
		ck_assert_uint_eq(count, plain_cut(&p, plain, n, penalty, shortest));
		if (_i < 5)
			ck_assert_mem_eq(start, plain, count * sizeof *start);
		ck_assert_double_eq_tol(cost_of(&p, start, count, n), cost_of(&p, plain, count, n), 1e-9);
	}
}

TEST_GROUP_WITH("rates", setup, teardown);

/* 4,000 series without a step may have 4 by chance. */
TEST_LOOP(noise_alone, NOISE_KINDS)
{
	struct noise noise = { 2026 };
	double v[BUILDS];
	int series = 0;

	for (int i = 0; i < 1000; i++) {
		noise_series(&noise, (enum noise_kind)_i, v, BUILDS);
		series += *found(v, BUILDS, 0.01) != '\0';
	}
	ck_assert_msg(series <= 1, "%s: %d", noise_name[_i], series);
}

/* Adds builds until a step is found; half of the series need at most so many. */
static const struct { enum noise_kind kind; double step; size_t builds; } steps[] = {
	{ NOISE_NORMAL, 0.2, 3 }, { NOISE_NORMAL, -0.2, 3 }, { NOISE_NORMAL, 0.1, 6 },
	{ NOISE_SPIKES, 0.2, 3 }, { NOISE_SPIKES, 0.1, 6 },
};

#define BEFORE 120
#define ROUNDS 61

static size_t builds_to_see(const double *v, size_t most)
{
	const struct change *list;
	size_t n;

	for (size_t builds = 1; builds < most; builds++) {
		ck_assert(!changepoints_find(detector, &list, &n, v, BEFORE + builds, 0.01));
		if (n == 1 && list->at + 3 >= BEFORE && list->at <= BEFORE + 3)
			return builds;
	}
	return most;
}

TEST_EACH(seen_soon, steps)
{
	struct noise noise = { 77 };
	double v[BEFORE + 10];
	int in_time = 0;

	for (int i = 0; i < ROUNDS; i++) {
		noise_series(&noise, steps[_i].kind, v, BEFORE + 10);
		for (size_t j = BEFORE; j < BEFORE + 10; j++)
			v[j] *= 1 + steps[_i].step;
		in_time += builds_to_see(v, 10) <= steps[_i].builds;
	}
	ck_assert_msg(in_time > ROUNDS / 2, "%d of %d", in_time, ROUNDS);
}

/* Several steps in strong noise, with disturbances of some builds between. */

struct score {
	int right, wrong, missed;
};

static size_t plant(struct noise *noise, double *v, uint32_t *at)
{
	static const double size[] = { 0.05, 0.1, 0.2, 0.5 };
	size_t planted = 1 + (size_t)(3 * noise_uniform(noise)), each = BUILDS / planted;

	for (size_t i = 0; i < BUILDS; i++)
		v[i] = pow(v[i] / 100, 1 / 3.0);	/* 1 % of noise */
	for (size_t k = 0; k < planted; k++) {
		double by = 1 + size[(size_t)(4 * noise_uniform(noise))];

		at[k] = k * each + 15 + (size_t)((each - 30) * noise_uniform(noise));
		by = noise_uniform(noise) < 0.5 ? by : 1 / by;
		for (size_t i = at[k]; i < BUILDS; i++)
			v[i] *= by;
		for (size_t i = at[k] + 8; i < at[k] + 8 + k; i++)
			v[i] *= 1.7;
	}
	return planted;
}

static void add_score(struct score *s, const struct change *list, size_t n, const uint32_t *at,
		      size_t planted)
{
	int right = 0;

	for (size_t k = 0; k < planted; k++) {
		bool is = false;

		for (size_t i = 0; i < n; i++)
			is |= list[i].at + 3 >= at[k] && list[i].at <= at[k] + 3;
		right += is;
	}
	s->right += right;
	s->missed += planted - right;
	s->wrong += n - right;
}

TEST_LOOP(planted_steps, NOISE_KINDS)
{
	struct noise noise = { 300 + _i };
	struct score s = { 0 };
	double v[BUILDS];

	for (int i = 0; i < 100; i++) {
		const struct change *list;
		uint32_t at[4];
		size_t n, planted;

		noise_series(&noise, (enum noise_kind)_i, v, BUILDS);
		planted = plant(&noise, v, at);
		ck_assert(!changepoints_find(detector, &list, &n, v, BUILDS, 0.01));
		add_score(&s, list, n, at, planted);
	}
	ck_assert_msg(2.0 * s.right / (2 * s.right + s.wrong + s.missed) >= 0.97,
		      "%s: %d right, %d wrong, %d missed", noise_name[_i], s.right, s.wrong, s.missed);
}

/* The attributes of a change. */

TEST_GROUP_WITH("series", setup, teardown);

TEST(attributes_of_a_change)
{
	struct noise noise = { 3 };
	const struct change *list;
	double v[BUILDS];
	size_t n;

	noise_series(&noise, NOISE_NORMAL, v, BUILDS);
	for (size_t i = 200; i < BUILDS; i++)
		v[i] *= 1.1;
	for (size_t i = 0; i < BUILDS; i += 10)
		v[i] = NAN;
	ck_assert(!changepoints_find(detector, &list, &n, v, BUILDS, 0.01));
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_ge(list->at, list->first);
	ck_assert_uint_le(list->at, list->last);
	ck_assert(list->first >= 194 && list->last <= 206);
	ck_assert_uint_le(list->first, 201);
	ck_assert_uint_ge(list->last, 200);
	ck_assert(fabs(list->before - 100) < 1 && fabs(list->after - 110) < 1);
	ck_assert(fabs(list->effect - 0.1) < 0.01);
	ck_assert(list->p < 1e-20);
	ck_assert_str_eq(found(v, BUILDS, 0.2), "");
}

/* The interval contains the place about as often as promised. If builds correlate, steps that are
 * hardly larger than the noise are found where the noise helps. */
static const struct { enum noise_kind kind; double alike, step, least; } certain[] = {
	{ NOISE_NORMAL, 0, 0.05, 0.93 }, { NOISE_SPIKES, 0, 0.05, 0.93 },
	{ NOISE_ALIKE, 0, 0.06, 0.93 }, { NOISE_STUDENT, 0, 0.06, 0.92 },
	{ NOISE_STUDENT, 0, 0.1, 0.92 }, { NOISE_NORMAL, 0.6, 0.06, 0.92 },
	{ NOISE_NORMAL, 0.6, 0.1, 0.95 }, { NOISE_NORMAL, 0.8, 0.1, 0.95 },
};

TEST_EACH(interval_holds, certain)
{
	struct noise noise = { 8 };
	int within = 0, of = 0;

	for (int i = 0; i < 400; i++) {
		double v[120], by = 1, alike = certain[_i].alike;
		const struct change *list, *nearest = NULL;
		size_t n;

		noise_series(&noise, certain[_i].kind, v, ARRAY_SIZE(v));
		for (size_t j = 0; alike > 0 && j < ARRAY_SIZE(v); j++) {
			by = pow(by, alike) * pow(v[j] / 100, j ? sqrt(1 - alike * alike) : 1);
			v[j] = 100 * by;
		}
		for (size_t j = 60; j < ARRAY_SIZE(v); j++)
			v[j] *= 1 + certain[_i].step;
		ck_assert(!changepoints_find(detector, &list, &n, v, ARRAY_SIZE(v), 0.01));
		for (size_t j = 0; j < n; j++) {
			if (!nearest || abs((int)list[j].at - 60) < abs((int)nearest->at - 60))
				nearest = &list[j];
		}
		of += nearest != NULL;
		within += nearest && nearest->first <= 60 && 60 <= nearest->last;
	}
	ck_assert_int_gt(of, 300);
	ck_assert_msg(within >= certain[_i].least * of, "%d of %d", within, of);
}

/* If a third of the builds are outliers, the place is not that of an outlier beside it. */
TEST(place_beside_outliers)
{
	struct noise noise = { 21 };
	int of = 0, near = 0;

	for (int i = 0; i < 1000; i++) {
		const struct change *list;
		double v[160];
		size_t n;

		for (size_t j = 0; j < ARRAY_SIZE(v); j++) {
			double spread = noise_uniform(&noise) < 0.3 ? 0.06 : 0.005;

			v[j] = (j < 80 ? 1 : 1.02) * exp(spread * noise_normal(&noise));
		}
		ck_assert(!changepoints_find(detector, &list, &n, v, ARRAY_SIZE(v), 0.01));
		of += n == 1;
		near += n == 1 && abs((int)list->at - 80) <= 1;
	}
	ck_assert_int_gt(of, 900);
	ck_assert_msg(near >= 0.75 * of, "%d of %d", near, of);
}

/* Series as runs of values, with added noise. */
struct run_of {
	unsigned n;
	double value;
};

static const struct { const char *what, *at; double noise; struct run_of run[6]; } made[] = {
	{ "nothing", "", 0, { { 0 } } },
	{ "one build", "", 0, { { 1, 5 } } },
	{ "too few", "", 0, { { 4, 5 }, { 4, 50 } } },
	{ "always the same", "", 0, { { 50, 7 } } },
	{ "zero", "", 0, { { 50, 0 } } },
	{ "a count", "30 ", 0, { { 30, 7 }, { 30, 8 } } },
	{ "from zero", "30 ", 0, { { 30, 0 }, { 30, 4 } } },
	{ "zero for the last three builds", "60 ", 0, { { 60, 4 }, { 3, 0 } } },
	{ "below zero", "30 ", 0, { { 30, -10 }, { 30, -12 } } },
	{ "across zero", "30 ", 0.01, { { 30, -1 }, { 30, 1 } } },
	{ "one build is other", "", 0.02, { { 40, 1 }, { 1, 9 }, { 40, 1 } } },
	{ "four builds are other", "", 0.02, { { 40, 1 }, { 4, 2 }, { 40, 1 } } },
	{ "the last two builds are other", "", 0.02, { { 80, 1 }, { 2, 2 } } },
	{ "the last three builds are other", "80 ", 0.02, { { 80, 1 }, { 3, 2 } } },
	{ "of the last five builds each other one is", "", 0.02,
	  { { 55, 1 }, { 1, 1.3 }, { 1, 1 }, { 1, 1.3 }, { 1, 1 }, { 1, 1.3 } } },
	{ "the first builds are other", "", 0.02, { { 4, 2 }, { 80, 1 } } },
	{ "two weeks are other", "40 54 ", 0.02, { { 40, 1 }, { 14, 2 }, { 40, 1 } } },
	{ "seven builds are other", "", 0.02, { { 40, 1 }, { 7, 2 }, { 40, 1 } } },
	{ "eight builds are other", "40 48 ", 0.02, { { 40, 1 }, { 8, 2 }, { 40, 1 } } },
	{ "small steps after a disturbance", "57 132 ", 0.01,
	  { { 22, 1 }, { 5, 2.25 }, { 30, 1 }, { 75, 1.1 }, { 45, 1.2 } } },
	{ "two builds between", "40 ", 0.01, { { 38, 1 }, { 2, 1.001 }, { 40, 2 } } },
	{ "less than matters", "", 0.001, { { 90, 1 }, { 90, 1.005 } } },
	{ "enormous", "30 ", 0, { { 30, 1e300 }, { 30, 1e308 } } },
	{ "tiny", "30 ", 0, { { 30, 1e-300 }, { 30, 5e-324 } } },
	{ "enormous and below zero", "30 ", 0, { { 30, -1 }, { 30, 1e308 } } },
	{ "one enormous", "31 ", 0.02, { { 30, 1 }, { 1, 1.7e308 }, { 30, -1e-10 } } },
	{ "creeping", "50 100 ", 0.01, { { 50, 1 }, { 50, 1.03 }, { 50, 1.06 } } },
};

static size_t make(double *v, int which)
{
	struct noise noise = { 5 };
	size_t n = 0;

	for (const struct run_of *r = made[which].run; r < made[which].run + 6; r++) {
		for (unsigned i = 0; i < r->n; i++)
			v[n++] = r->value + made[which].noise * noise_normal(&noise);
	}
	return n;
}

TEST_EACH(made_up, made)
{
	double v[200];
	size_t n = make(v, _i);

	ck_assert_msg(!strcmp(found(v, n, 0.01), made[_i].at), "%s: %s", made[_i].what,
		      found(v, n, 0.01));
}

/* Memory of a task of a real make, in KiB: of a suspect step and a clear one, the clear one
 * stays. */
TEST(few_builds)
{
	static const double v[] = { 6008, 6008, 6008, 5880, 6008, 5912, 5880, 5908, 5900, 5856,
				    67424, 67424, 67328, 67200, 67328, 67232 };

	ck_assert_str_eq(found(v, ARRAY_SIZE(v), 0.01), "10 ");
}

/* The result does not depend on the unit, on an earlier series, or on builds without a
 * value. */
TEST(same_again)
{
	struct noise noise = { 11 };
	double v[BUILDS], w[2 * BUILDS];
	char before[1024];

	noise_series(&noise, NOISE_SPIKES, v, BUILDS);
	for (size_t i = 100; i < 250; i++)
		v[i] *= 0.8;
	strcpy(before, found(v, BUILDS, 0.01));
	ck_assert_str_eq(before, "100 250 ");
	ck_assert_str_eq(found(v, 50, 0.01), "");
	for (size_t i = 0; i < BUILDS; i++) {
		v[i] *= 1024;
		w[2 * i] = v[i];
		w[2 * i + 1] = i % 2 ? NAN : INFINITY;
	}
	ck_assert_str_eq(found(v, BUILDS, 0.01), before);
	ck_assert_str_eq(found(w, ARRAY_SIZE(w), 0.01), "200 500 ");
}

TEST(too_many)
{
	double *v = calloc(CHANGEPOINTS_MAX + 1, sizeof *v);
	const struct change *list;
	size_t n;

	ck_assert_int_eq(changepoints_find(detector, &list, &n, v, CHANGEPOINTS_MAX + 1, 0), -EFBIG);
	ck_assert(!list && !n);
	free(v);
}

TEST_MAIN(changepoints);
