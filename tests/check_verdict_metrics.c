/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/verdict.h"
#include "tests/made_series.h"
#include "tests/support.h"

/* What check says of a metric does not depend on which other metrics it looks at. */

#define TASKS 60
#define BUILDS 32
#define WALL METRIC_BIT(METRIC_WALL)
#define CPU METRIC_BIT(METRIC_CPU)
#define MEMORY METRIC_BIT(METRIC_MEMORY)

static const unsigned sets[] = {
	WALL, CPU, WALL | CPU, MEMORY, WALL | MEMORY, METRICS_USUAL, METRIC_BIT(METRICS) - 1,
};

static size_t next_of(const struct verdict *v, enum metric m, size_t i)
{
	while (i < v->n && v->finding[i].metric != m)
		i++;
	return i;
}

static size_t same_findings(const struct verdict *a, const struct verdict *b, enum metric m)
{
	size_t i = next_of(a, m, 0), k = next_of(b, m, 0), n = 0;

	for (; i < a->n && k < b->n; i = next_of(a, m, i + 1), k = next_of(b, m, k + 1)) {
		const struct verdict_finding *f = &a->finding[i], *g = &b->finding[k];

		ck_assert_uint_eq(f->task, g->task);
		ck_assert_uint_eq(f->state, g->state);
		ck_assert(f->worse == g->worse && f->fails == g->fails && f->back == g->back);
		ck_assert(f->since == g->since && f->at == g->at && f->builds == g->builds);
		ck_assert_msg(f->before == g->before && f->now == g->now && f->low == g->low && f->high == g->high &&
			      f->rate == g->rate, "task %u %s: %g -> %g (%g %g) rate %g; %g -> %g (%g %g) rate %g",
			      f->task, metric_word[m], f->before, f->now, f->low, f->high, f->rate, g->before, g->now,
			      g->low, g->high, g->rate);
		n++;
	}
	ck_assert(i == a->n && k == b->n);
	ck_assert(isnan(a->host[m]) ? isnan(b->host[m]) : a->host[m] == b->host[m]);
	return n;
}

TEST_GROUP("verdict_metrics");

TEST_LOOP(same, 8)
{
	/* Some tasks change in one metric, some in several, by amounts that are found or hardly. */
	struct made_change change[] = {
		{ .task = 3, .metrics = WALL, .build = 29, .by = 0.3 }, { .task = 9, .metrics = CPU, .build = 28, .by = 0.1 },
		{ .task = 17, .build = 30, .by = 0.2 }, { .task = 21, .metrics = MEMORY, .build = 20, .by = 0.3 },
		{ .task = 33, .metrics = WALL | CPU, .build = 29, .by = 0.08 + 0.01 * _i },
		{ .task = 41, .build = 31, .by = 0.4 }, { .task = 52, .build = 12, .until = 24, .by = 0.3 },
	};
	struct made made = { .seed = 40 + (uint64_t)_i, .tasks = TASKS, .builds = BUILDS, .noise = 0.025, .host = 0.02,
			     .spikes = _i % 2 ? 0.02 : 0, .change = change, .n_changes = ARRAY_SIZE(change) };
	struct verdict v[ARRAY_SIZE(sets)];
	size_t found[METRICS] = { 0 };
	struct error err = { 0 };
	struct builds builds;
	struct rules rules;

	made_series_rules(&rules);
	ck_assert(!made_series(&builds, &made));
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		rules.metrics = sets[i];
		ck_assert_msg(!verdict_make(&v[i], &builds, &rules, NULL, &err), "%s", err.message);
		for (size_t k = 0; k < v[i].n; k++)
			ck_assert(sets[i] & METRIC_BIT(v[i].finding[k].metric));
		for (size_t k = 0; k < i; k++) {
			for (enum metric m = 0; m < METRICS; m++) {
				if (sets[i] & sets[k] & METRIC_BIT(m))
					found[m] += same_findings(&v[i], &v[k], m);
			}
		}
	}
	ck_assert(found[METRIC_WALL] && found[METRIC_CPU] && found[METRIC_MEMORY]);
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		verdict_release(&v[i]);
	builds_release(&builds);
}

TEST_MAIN(verdict_metrics);
