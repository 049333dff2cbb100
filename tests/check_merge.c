/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/name_table.h"
#include "compare/merge.h"
#include "tests/made_tasks.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Builds made of those of one or two generated series, by any map, as merge.h describes them. */

#define PARTS 2
#define BUILDS 12
#define TASKS 80
#define GENERATED 200

struct generated {
	char text[PARTS][BUILDS][1024];	/* of made_tasks() */
	bool has[PARTS][BUILDS][TASKS];
	size_t n_parts, n_builds[PARTS];
	uint32_t to[PARTS][BUILDS];
	size_t n;			/* merged builds */
};

static size_t below(struct noise *noise, size_t n)
{
	return (size_t)(noise_uniform(noise) * (double)n);
}

/* Often the tasks of the build before; task t of part 1 is task t + 20 of part 0. */
static void generate(struct generated *g, struct noise *noise)
{
	g->n_parts = 1 + below(noise, PARTS);
	for (size_t p = 0; p < g->n_parts; p++) {
		size_t first = g->n, builds = 1 + below(noise, 3);

		g->n_builds[p] = BUILDS - below(noise, 4);
		for (size_t i = 0; i < g->n_builds[p]; i++) {
			bool same = i && noise_uniform(noise) < 0.5;
			char *text = g->text[p][i];

			strcpy(text, "t00");
			g->has[p][i][0] = true;
			for (size_t t = 1; t < TASKS; t++) {
				bool *has = &g->has[p][i][t];

				*has = same ? g->has[p][i - 1][t] : t > 20 * p && noise_uniform(noise) < 0.7;
				if (*has)
					strcat(text, support_path(" t%02zu", t));
			}
			strcat(text, support_path(" [p%zu-%zu]", p, i));
			if (i && noise_uniform(noise) < 0.4 && builds > 1)
				builds--, first++;
			g->to[p][i] = (uint32_t)first;
			if (!i || g->to[p][i - 1] != first)
				continue;
			if (first > g->n && noise_uniform(noise) < 0.2)
				g->to[p][i] = (uint32_t)first - 1;
			if (noise_uniform(noise) < 0.1)
				g->to[p][i] = MERGE_NONE;
		}
		g->n = first + 1;
	}
}

/* The number of a generated task in its part, as made_tasks() counts. */
static size_t number(const struct generated *g, size_t p, size_t task)
{
	size_t n = 0;
	bool seen[TASKS] = { false };

	for (size_t i = 0; i < g->n_builds[p]; i++) {
		for (size_t t = 0; t < TASKS; t++) {
			if (!g->has[p][i][t] || seen[t])
				continue;
			if (t == task)
				return n;
			seen[t] = true;
			n++;
		}
	}
	return n;
}

static int by_value(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;

	return (a > b) - (a < b);
}

/* The expected value, NaN if no member ran the task. */
static float expected(const struct generated *g, size_t build, size_t task)
{
	float v[BUILDS];
	size_t n = 0;

	for (size_t p = 0; p < g->n_parts; p++) {
		for (size_t i = 0; i < g->n_builds[p]; i++) {
			if (g->to[p][i] == build && g->has[p][i][task])
				v[n++] = made_tasks_value(number(g, p, task), i);
		}
	}
	qsort(v, n, sizeof *v, by_value);
	return !n ? NAN : (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* shown[t]: where the task of the name is now. */
static void check_builds(const struct generated *g, const struct builds *builds,
			 const uint32_t *shown)
{
	size_t words = builds->n_tasks / 64 + 1;
	float *all = malloc((builds->n * builds->n_tasks + 1) * sizeof *all);
	float *row = malloc((builds->n_tasks + 1) * sizeof *row);
	uint64_t *set = calloc(words, sizeof *set), *before = calloc(words, sizeof *before);
	struct error err = { 0 };

	ck_assert_int_eq(builds->load(builds, METRIC_WALL, all, &err), 0);
	for (uint32_t i = 0; i < builds->n; i++) {
		int r;

		memset(set, 0, words * sizeof *set);
		ck_assert_int_eq(builds->row(builds, i, METRIC_WALL, row, &err), 0);
		r = builds->ran(builds, i, set, &err);
		ck_assert_int_ge(r, 0);
		if (r)
			memcpy(set, before, words * sizeof *set);
		memcpy(before, set, words * sizeof *set);
		for (size_t t = 0; t < builds->n_tasks; t++) {
			size_t task = (size_t)atoi(builds->task[t].name + 1), at = shown[t];
			float value = expected(g, i, task);

			ck_assert_int_eq(isnan(value), isnan(all[at * builds->n + i]));
			ck_assert_int_eq(isnan(value), isnan(row[at]));
			ck_assert_int_eq(isnan(value), !(set[at / 64] >> at % 64 & 1));
			if (!isnan(value)) {
				ck_assert_float_eq(value, row[at]);
				ck_assert_float_eq(value, all[at * builds->n + i]);
			}
		}
	}
	free(all);
	free(row);
	free(set);
	free(before);
}

TEST_LOOP(merged, GENERATED)
{
	static struct generated g;
	struct noise noise = { .state = (uint64_t)_i + 1 };
	struct merge_part part[PARTS];
	struct error err = { 0 };
	RELEASED(builds, builds);
	uint32_t shown[TASKS], place[TASKS];
	bool has[BUILDS * PARTS] = { false };

	memset(&g, 0, sizeof g);
	generate(&g, &noise);
	for (size_t p = 0; p < g.n_parts; p++) {
		const char *text[BUILDS];

		for (size_t i = 0; i < g.n_builds[p]; i++) {
			text[i] = g.text[p][i];
			if (g.to[p][i] != MERGE_NONE)
				has[g.to[p][i]] = true;
		}
		made_tasks(&part[p].builds, text, g.n_builds[p]);
		part[p].to = g.to[p];
	}
	for (size_t i = 0; i < g.n; i++)
		ck_assert(has[i]);
	ck_assert_int_eq(merge_builds(&builds, g.n, part, g.n_parts, &err), 0);
	ck_assert_uint_eq(builds.n, g.n);
	for (size_t t = 0; t < builds.n_tasks; t++)
		shown[t] = (uint32_t)t;
	check_builds(&g, &builds, shown);
	for (uint32_t i = 0; i < builds.n; i++) {
		struct name_table names = { .arena = arena_new() };
		size_t newest = 0, p = 0;

		for (size_t k = 0; k < g.n_parts * BUILDS; k++) {
			if (k % BUILDS < g.n_builds[k / BUILDS] && g.to[k / BUILDS][k % BUILDS] == i) {
				newest = k % BUILDS;
				p = k / BUILDS;
			}
		}
		ck_assert_int_eq(builds.packages(&builds, i, &names, &err), 0);
		ck_assert_uint_eq(names.n, 1);
		ck_assert_uint_ne(name_table_find(&names, slice_of(support_path("p%zu-%zu", p, newest))),
				  NAME_TABLE_NONE);
		name_table_release(&names);
		arena_free(names.arena);
	}
	/* Joined tasks get other numbers: here all do, in the reverse order. */
	for (size_t t = 0; t < builds.n_tasks; t++)
		place[t] = (uint32_t)(builds.n_tasks - 1 - t);
	builds.join(&builds, place);
	check_builds(&g, &builds, place);
}

TEST_MAIN(merge);
