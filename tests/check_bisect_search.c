/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "bisect/bisect.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Whole searches in a linear history on a simulated machine: how often they end at the wrong
 * commit, and after how many builds. */

#define COMMITS 65		/* good and 64 revisions after it */
#define SEARCHES 100
#define MOST 12

struct world {
	char id[COMMITS][8];
	int culprit;		/* the first bad revision */
	double ratio;
	struct noise noise;
	enum noise_kind kind;
	bool fails[COMMITS];
	size_t slower_at;	/* from this build on the machine is slower */
	double slower;
	size_t built;
};

static int number(const char *id)
{
	return (id[0] - '0') * 10 + id[1] - '0';
}

static int measure(void *context, const char *id, double *value, const char **why,
		   struct error *err)
{
	struct world *w = context;
	int i = number(id);

	(void)err;
	*why = w->fails[i] ? "it fails" : NULL;
	noise_series(&w->noise, w->kind, value, 1);
	*value *= i >= w->culprit ? w->ratio : 1;
	*value *= w->slower && w->built >= w->slower_at ? w->slower : 1;
	w->built++;
	return 0;
}

/* The middle first, then its neighbours. */
static int between(void *context, const struct bisect *b, const char ***id, size_t *n,
		   struct error *err)
{
	struct world *w = context;
	int good = 0, bad = number(b->nearest_bad), middle;

	(void)err;
	for (size_t i = 0; i < b->n; i++) {
		if (b->commit[i].state == BISECT_GOOD && number(b->commit[i].id) > good)
			good = number(b->commit[i].id);
	}
	*id = malloc((size_t)(bad - good) * sizeof **id);
	ck_assert_ptr_nonnull(*id);
	*n = 0;
	middle = (good + bad) / 2;
	for (int away = 0; away <= bad - good; away++) {
		if (middle - away > good)
			(*id)[(*n)++] = w->id[middle - away];
		if (away && middle + away <= bad)
			(*id)[(*n)++] = w->id[middle + away];
	}
	ck_assert_uint_eq(*n, (size_t)(bad - good));
	return 0;
}

static int parent(void *context, const char *id, const char **before, struct error *err)
{
	struct world *w = context;

	(void)err;
	*before = w->id[number(id) - 1];
	return 0;
}

static void search(struct bisect *b, struct world *w)
{
	struct error err = { 0 };

	for (int i = 0; i < COMMITS; i++)
		snprintf(w->id[i], sizeof w->id[i], "%02d", i);
	*b = (struct bisect){
		.measure = measure, .between = between, .parent = parent, .context = w,
		.most = MOST, .matters = { .share = 0.05 },
	};
	ck_assert_msg(!bisect_search(b, w->id[0], w->id[COMMITS - 1], &err), "%s", err.message);
	ck_assert_uint_eq(b->runs, w->built);
}

static const struct {
	enum noise_kind kind;
	double ratio;
	double builds;		/* limit of the mean */
} cases[] = {
	{ NOISE_NORMAL, 1.2, 31 }, { NOISE_NORMAL, 1.1, 44 }, { NOISE_NORMAL, 0.8, 30 },
	{ NOISE_SPIKES, 1.2, 34 }, { NOISE_STUDENT, 1.2, 36 }, { NOISE_NORMAL, 2, 29 },
};

/* Six halvings; one search in a hundred may be wrong. */
TEST_EACH(errs_as_stated, cases)
{
	size_t wrong = 0, found = 0, builds = 0;

	for (int i = 0; i < SEARCHES; i++) {
		struct world w = { .noise = { (uint64_t)(_i * 1000 + i) }, .culprit = 1 + i % 64,
				   .kind = cases[_i].kind, .ratio = cases[_i].ratio };
		struct bisect b;

		search(&b, &w);
		if (b.end == BISECT_FOUND) {
			found++;
			wrong += number(b.left[0]) != w.culprit;
			ck_assert_ptr_nonnull(b.before);
			ck_assert_double_le(b.error, BISECT_ERROR);
		} else if (b.end == BISECT_RANGE) {
			size_t in = 0;

			for (size_t k = 0; k < b.n_left; k++)
				in += number(b.left[k]) == w.culprit;
			wrong += !in;
		}
		builds += b.runs;
		bisect_release(&b);
	}
	printf("# %s, x %.1f: %zu of %d found, %zu wrong, %.1f builds\n",
	       noise_name[cases[_i].kind], cases[_i].ratio, found, SEARCHES, wrong,
	       (double)builds / SEARCHES);
	ck_assert_uint_ge(found, SEARCHES * 7 / 10);
	ck_assert_uint_le(wrong, BISECT_ERROR * SEARCHES + 3 * sqrt(BISECT_ERROR * SEARCHES));
	ck_assert_double_le((double)builds / SEARCHES, cases[_i].builds);
}

/* A machine that slows by half the change, as much, or more. Smaller changes are noticed
 * only where they would matter. */
TEST_LOOP(machine_changes, 4)
{
	static const double slower[] = { 1.1, 1.2, 1.5, 0.8 };
	size_t wrong = 0, drifts = 0;

	for (int i = 0; i < SEARCHES; i++) {
		struct world w = { .noise = { 77 + (uint64_t)i }, .culprit = 1 + i % 64,
				   .ratio = 1.2, .slower = slower[_i],
				   .slower_at = 8 + (size_t)i % 10 };
		struct bisect b;

		search(&b, &w);
		wrong += b.end == BISECT_FOUND && number(b.left[0]) != w.culprit;
		drifts += b.drifts;
		bisect_release(&b);
	}
	printf("# machine x %.1f: %zu wrong, %zu noticed\n", slower[_i], wrong, drifts);
	ck_assert_uint_ge(drifts, slower[_i] == 1.1 ? SEARCHES / 5 : SEARCHES * 8 / 10);
	ck_assert_uint_le(wrong, SEARCHES / 25);
}

TEST(no_difference)
{
	struct world w = { .noise = { 5 }, .culprit = 1, .ratio = 1 };
	RELEASED(bisect, b);

	search(&b, &w);
	ck_assert_int_ne(b.end, BISECT_FOUND);
	ck_assert_int_ne(b.end, BISECT_RANGE);
	ck_assert_uint_eq(b.n, 2);
	ck_assert_uint_le(b.runs, 2 * MOST);
}

/* The culprit and its neighbours cannot be built. */
TEST(some_fail)
{
	struct world w = { .noise = { 6 }, .culprit = 20, .ratio = 1.3 };
	RELEASED(bisect, b);

	w.fails[19] = w.fails[20] = w.fails[21] = w.fails[32] = true;
	search(&b, &w);
	ck_assert_int_eq(b.end, BISECT_RANGE);
	ck_assert_uint_eq(b.n_left, 4);
	for (size_t i = 0; i < b.n_left; i++)
		ck_assert(number(b.left[i]) >= 19 && number(b.left[i]) <= 22);
	ck_assert_uint_ge(b.failed, 3);
}

/* The bad revision is the culprit and the only bad one. */
TEST_LOOP(ends, 2)
{
	struct world w = { .noise = { 6 }, .culprit = _i ? COMMITS - 1 : 1, .ratio = 1.5 };
	RELEASED(bisect, b);

	search(&b, &w);
	ck_assert_int_eq(b.end, BISECT_FOUND);
	ck_assert_int_eq(number(b.left[0]), w.culprit);
	ck_assert_int_eq(number(b.before), w.culprit - 1);
	ck_assert_double_eq_tol(b.own.effect, 0.5, 0.15);
}

/* Good does not build: there is nothing to search. */
TEST(good_fails)
{
	struct world w = { .noise = { 6 }, .culprit = 4, .ratio = 1.5, .fails = { true } };
	struct bisect b = {
		.measure = measure, .between = between, .parent = parent, .context = &w,
		.most = MOST,
	};
	struct error err = { 0 };

	ck_assert_int_eq(bisect_search(&b, "00", "64", &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.message, "good revision 00 cannot be measured: it fails"));
	bisect_release(&b);
}

TEST_MAIN(bisect_search);
