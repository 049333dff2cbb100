/* SPDX-License-Identifier: MIT */
#include "stats/creep.h"
#include "base/array.h"
#include "tests/noise.h"
#include "tests/support.h"

/* How often one slope, one step or several steps are reported as creep, for each noise. */

#define LONGEST 260
#define SERIES 150

/* Each step, or slope of `builds` builds, adds `size`; `apart` builds from one to the next. */
static const struct shape {
	const char *what;
	int n, builds, apart;
	double size;
	bool ends;		/* with builds after it */
	double least, most;	/* share of the series reported as creep */
} shapes[] = {
	{ "a small step", 1, 0, 0, 0.08, true, 0, 0.03 },
	{ "a step", 1, 0, 0, 0.15, true, 0, 0.02 },
	{ "a large step", 1, 0, 0, 0.3, true, 0, 0.02 },
	{ "a large new step", 1, 0, 0, 0.3, false, 0, 0.02 },
	{ "two steps at once", 2, 0, 4, 0.2, true, 0, 0.15 },
	{ "two steps within days", 2, 0, 8, 0.2, true, 0, 0.06 },
	{ "two steps within weeks", 2, 0, 14, 0.2, true, 0, 0.02 },
	{ "two steps within months", 2, 0, 40, 0.1, true, 0, 0.06 },
	{ "three steps within days", 3, 0, 10, 0.2, true, 0, 0.1 },
	{ "a slope of 14 builds", 1, 14, 0, 0.3, true, 0.5, 1 },
	{ "a slope of 14 builds, going on", 1, 14, 0, 0.3, false, 0.35, 1 },
	{ "a slope of 20 builds", 1, 20, 0, 0.3, true, 0.8, 1 },
	{ "a slope of 28 builds", 1, 28, 0, 0.3, true, 0.9, 1 },
	{ "a slope of 28 builds, going on", 1, 28, 0, 0.3, false, 0.8, 1 },
	{ "a slope of 80 builds", 1, 80, 0, 0.15, true, 0.85, 1 },
	{ "a slope of 80 builds, going on", 1, 80, 0, 0.15, false, 0.8, 1 },
};

static size_t draw(double *v, struct noise *noise, enum noise_kind kind, const struct shape *s)
{
	int at = 40 + (int)(80 * noise_uniform(noise)), last = at + (s->n - 1) * s->apart;
	int tail = s->ends ? 20 + (int)(40 * noise_uniform(noise)) : s->builds ? 0 : 20;
	int n = last + s->builds + tail;

	noise_series(noise, kind, v, (size_t)n);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < s->n; k++) {
			int since = i - at - k * s->apart + 1;
			double share = s->builds ? (double)since / s->builds : since > 0;

			v[i] *= 1 + s->size * fmin(fmax(share, 0), 1);
		}
	}
	return (size_t)n;
}

static double share_of_creep(const struct shape *s, enum noise_kind kind)
{
	struct changepoints *points = changepoints_new();
	struct creep_finder *finder = creep_finder_new();
	struct noise noise = { 7000 + kind };
	int creeping = 0;

	ck_assert(points && finder);
	for (int i = 0; i < SERIES; i++) {
		const struct change *change;
		const struct creep *creep;
		size_t n_changes, n_creep, n;
		double v[LONGEST];

		n = draw(v, &noise, kind, s);
		ck_assert_uint_le(n, LONGEST);
		ck_assert(!changepoints_find(points, &change, &n_changes, v, n, 0.01));
		ck_assert(!creep_find(finder, &creep, &n_creep, points, change, n_changes));
		creeping += n_creep > 0;
		for (size_t k = 0; k < n_creep; k++) {
			ck_assert_uint_lt(creep[k].begin, creep[k].end);
			ck_assert_uint_le(creep[k].end, n_changes);
			ck_assert_uint_ge(creep[k].change.last, creep[k].change.first + CREEP_SHORTEST - 1);
			ck_assert_uint_lt(creep[k].change.last, n);
		}
	}
	creep_finder_free(finder);
	changepoints_free(points);
	return (double)creeping / SERIES;
}

TEST_EACH(steps_and_slopes, shapes)
{
	const struct shape *s = &shapes[_i];

	for (enum noise_kind kind = 0; kind < NOISE_KINDS; kind++) {
		double share = share_of_creep(s, kind);

		ck_assert_msg(s->least <= share && share <= s->most, "%s, %s: %.2f", s->what,
			      noise_name[kind], share);
	}
}

/* Ten years in which the value triples: no two months differ by much. */
TEST(slow_drift)
{
	enum { BUILDS = 3650 };
	struct changepoints *points = changepoints_new();
	struct creep_finder *finder = creep_finder_new();
	struct noise noise = { 5 };
	const struct change *change;
	const struct creep *creep;
	size_t n_changes, n_creep, covered = 0;
	double v[BUILDS];

	ck_assert(points && finder);
	noise_series(&noise, NOISE_NORMAL, v, BUILDS);
	for (size_t i = 0; i < BUILDS; i++)
		v[i] *= 1 + 2.0 * (double)i / BUILDS;
	ck_assert(!changepoints_find(points, &change, &n_changes, v, BUILDS, 0.01));
	ck_assert_uint_gt(n_changes, 15);
	ck_assert(!creep_find(finder, &creep, &n_creep, points, change, n_changes));
	for (size_t i = 0; i < n_creep; i++)
		covered += creep[i].change.last - creep[i].change.first;
	ck_assert_uint_gt(covered, BUILDS / 2);
	creep_finder_free(finder);
	changepoints_free(points);
}

TEST_MAIN(creep);
