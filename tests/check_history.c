/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/history.h"
#include "compare/verdict.h"
#include "compare/history_group.h"
#include "stats/creep.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/support.h"

#include <sched.h>

#define BUILDS 180
#define LONG_US 1e8		/* of this length; every twentieth matters */

struct found {
	struct builds builds;
	struct rules rules;
	struct history history;
};

static void find(struct found *f, const struct known_list *known, uint32_t task)
{
	struct error err = { 0 };

	ck_assert_msg(!history_find(&f->history, &f->builds, &f->rules, known, task, &err), "%s",
		      err.message);
}

static void make(struct found *f, const struct made *made)
{
	ck_assert(!made_series(&f->builds, made));
	rules_init(&f->rules);
}

static void release(struct found *f)
{
	history_release(&f->history);
	builds_release(&f->builds);
}

/* The event of a build, or NULL. */
static const struct history_event *event_at(const struct history *h, uint32_t build)
{
	for (size_t i = 0; i < h->n_events; i++) {
		if (h->event[i].at == build)
			return &h->event[i];
	}
	return NULL;
}

/* Generated builds of so many tasks with one change each, from one build on. */
static size_t plant(struct made_change *change, size_t n, size_t first, size_t build, double by)
{
	for (size_t i = 0; i < n; i++)
		change[i] = (struct made_change){ .task = first + i, .build = build, .by = by };
	return n;
}

/* Invariants of every history. */
static void is_sound(const struct history *h, const struct builds *builds)
{
	size_t next = 0;

	for (size_t i = 0; i < h->n_events; i++) {
		const struct history_event *e = &h->event[i];

		ck_assert_uint_eq(e->first_change, next);
		ck_assert_uint_gt(e->n_changes, 0);
		ck_assert(e->first <= e->at && e->at <= e->last && e->last < builds->n);
		ck_assert(!i || e->at <= h->event[i - 1].at);
		next += e->n_changes;
		for (size_t k = e->first_change; k < next; k++) {
			const struct history_change *c = &h->change[k];

			ck_assert_uint_eq(c->event, i);
			ck_assert(c->change.first <= c->change.at && c->change.at <= c->change.last);
			ck_assert_int_eq(c->creep, h->change[e->first_change].creep);
		}
	}
	ck_assert_uint_eq(next, h->n_changes);
}

TEST_GROUP("found");

TEST(planted_steps)
{
	struct made_change change[40];
	size_t n = plant(change, 20, 30, 100, 0.2);
	struct made made = { .seed = 5, .tasks = 300, .builds = BUILDS, .noise = 0.03, .spikes = 0.01,
			     .host = 0.02, .level_us = LONG_US, .change = change };
	struct found f;
	const struct history_event *e;

	n += plant(change + n, 10, 100, 104, -0.2);
	made.n_changes = n;
	make(&f, &made);
	find(&f, NULL, HISTORY_ALL);
	is_sound(&f.history, &f.builds);
	ck_assert_uint_eq(f.history.n_series, 4 * 300 + 4 + 2);
	e = event_at(&f.history, 100);
	ck_assert_ptr_nonnull(e);
	ck_assert(e->worse && !e->host && e->n_changes >= 70);
	ck_assert(e->contribution[METRIC_WALL] > 18 * 0.2 * LONG_US &&
		  e->contribution[METRIC_WALL] < 22 * 0.2 * LONG_US);
	e = event_at(&f.history, 104);
	ck_assert_ptr_nonnull(e);
	ck_assert(!e->worse && e->n_changes >= 35);
	for (size_t i = 0; i < f.history.n_changes; i++) {
		const struct history_change *c = &f.history.change[i];
		bool planted = (c->task >= 30 && c->task < 50) || (c->task >= 100 && c->task < 110);

		ck_assert(planted || c->task == TASK_TOTAL);
		ck_assert(!planted || fabs(fabs(c->change.effect) - 0.2) < 0.05);
	}
	release(&f);
}

/* A slow machine or a new compiler: not the change of one task. */
TEST(host_is_no_task)
{
	struct made_change change = { .task = MADE_ALL, .build = 90, .by = 0.1,
				      .metrics = METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU) };
	struct made made = { .seed = 6, .tasks = 200, .builds = BUILDS, .noise = 0.03, .host = 0.02,
			     .level_us = LONG_US, .n_changes = 1, .change = &change };
	struct found f;

	make(&f, &made);
	find(&f, NULL, HISTORY_ALL);
	is_sound(&f.history, &f.builds);
	ck_assert_uint_eq(f.history.n_events, 1);
	ck_assert(f.history.event[0].host && f.history.event[0].worse);
	for (size_t i = 0; i < f.history.n_changes; i++) {
		ck_assert_uint_ge(f.history.change[i].task, TASK_HOST);
		ck_assert(fabs(f.history.change[i].change.effect - 0.1) < 0.02);
	}
	release(&f);
}

/* The total is what was measured, also if the machine becomes faster when tasks become slower. */
TEST(total_is_as_measured)
{
	struct made_change change[41] = {
		{ .task = MADE_ALL, .build = 60, .by = -0.2 },
	};
	struct made made = { .seed = 8, .tasks = 100, .builds = 90, .noise = 0.02, .host = 0.01,
			     .level_us = LONG_US, .change = change };
	struct found f;
	double before = 0, after = 0;
	size_t n = 0;

	made.n_changes = 1 + plant(change + 1, 10, 20, 60, 0.1);
	make(&f, &made);
	for (size_t b = 50; b < 60; b++) {
		before += build_total(&f.builds.build[b], METRIC_WALL) / 10;
		after += build_total(&f.builds.build[b + 10], METRIC_WALL) / 10;
	}
	find(&f, NULL, HISTORY_ALL);
	is_sound(&f.history, &f.builds);
	for (size_t i = 0; i < f.history.n_changes; i++) {
		const struct history_change *c = &f.history.change[i];

		if (c->task != TASK_TOTAL || c->metric != METRIC_WALL)
			continue;
		n++;
		ck_assert_double_eq_tol(c->change.before, before, 0.02 * before);
		ck_assert_double_eq_tol(c->change.after, after, 0.02 * after);
	}
	ck_assert_uint_ge(n, 1);
	release(&f);
}

/* What failed the check for some builds and ended is in the history as begun and ended, whatever the
 * change points say. */
TEST_RANGE(ended, 1, 7)
{
	struct made_change change[20];
	struct made made = { .seed = (uint64_t)_i, .tasks = 100, .builds = 70, .noise = 0.03, .host = 0.02,
			     .level_us = LONG_US, .change = change };
	struct verdict verdict;
	struct error err = { 0 };
	struct found f;
	size_t n = 0;

	made.n_changes = plant(change, 6, 10, 40, 0.2);
	for (size_t i = 0; i < made.n_changes; i++)
		change[i].until = 43 + i;
	make(&f, &made);
	ck_assert_int_eq(history_make(&f.history, &verdict, &f.builds, &f.rules, NULL, HISTORY_ALL, &err), 0);
	is_sound(&f.history, &f.builds);
	for (size_t i = 0; i < verdict.n_past; i++) {
		const struct verdict_finding *past = &verdict.past[i];
		bool begun = false, ended = false;

		ck_assert(past->worse && past->since <= past->at && past->at <= past->until);
		for (size_t k = 0; k < f.history.n_changes; k++) {
			const struct history_change *c = &f.history.change[k];

			if (c->task != past->task || c->metric != past->metric)
				continue;
			begun = begun || (c->change.after > c->change.before && c->change.first <= past->last &&
					  c->change.last >= past->first);
			ended = ended || (c->change.after < c->change.before && c->change.first <= past->until &&
					  c->change.last >= past->until);
		}
		ck_assert_msg(begun && ended, "task %u", past->task);
		n += past->task >= 10 && past->task < 16;
	}
	ck_assert_uint_ge(n, 6);
	verdict_release(&verdict);
	release(&f);
}

/* If the machine is another one, the event has that. */
TEST(other_machine)
{
	struct made_change change[20];
	struct made made = { .seed = 7, .tasks = 100, .builds = BUILDS, .noise = 0.02,
			     .level_us = LONG_US, .change = change };
	struct found f;

	made.n_changes = plant(change, 10, 0, 60, 0.3);
	made.n_changes += plant(change + 10, 10, 50, 120, 0.3);
	make(&f, &made);
	for (size_t i = 0; i < f.builds.n; i++)
		f.builds.build[i].circumstances = i < 120;
	find(&f, NULL, HISTORY_ALL);
	ck_assert_ptr_nonnull(event_at(&f.history, 60));
	ck_assert_ptr_nonnull(event_at(&f.history, 120));
	ck_assert(!event_at(&f.history, 60)->host);
	ck_assert(event_at(&f.history, 120)->host);
	release(&f);
}

/* Noise alone is not a change. */
static const struct made quiet[] = {
	{ .seed = 1, .tasks = 400, .builds = 365, .noise = 0.03, .host = 0.02, .level_us = LONG_US },
	{ .seed = 2, .tasks = 400, .builds = 365, .noise = 0.03, .spikes = 0.02, .level_us = LONG_US },
	{ .seed = 3, .tasks = 400, .builds = 365, .noise = 0.03, .alike = 0.3, .level_us = LONG_US },
	{ .seed = 4, .tasks = 400, .builds = 365, .noise = 0.03, .student = 3, .level_us = LONG_US },
	{ .seed = 5, .tasks = 400, .builds = 90, .noise = 0.05, .missing = 0.2, .passing = 0.5,
	  .level_us = LONG_US },
	{ .seed = 6, .tasks = 30, .builds = 1, .noise = 0.03, .level_us = LONG_US },
	{ .seed = 6, .tasks = 30, .builds = 2, .noise = 0.03, .level_us = LONG_US },
	{ .seed = 6, .tasks = 30, .builds = 3, .noise = 0.03, .level_us = LONG_US },
	{ .seed = 6, .tasks = 0, .builds = 40, .noise = 0.03, .level_us = LONG_US },
};

TEST_EACH(nothing_changes, quiet)
{
	struct found f;

	make(&f, &quiet[_i]);
	/* Tasks that are removed reduce the build's totals. */
	for (size_t i = 0; i < f.builds.n; i++)
		memset(f.builds.build[i].total, -1, sizeof f.builds.build[i].total);
	find(&f, NULL, HISTORY_ALL);
	ck_assert_uint_eq(f.history.n_changes, 0);
	ck_assert_uint_eq(f.history.n_events, 0);
	release(&f);
}

TEST(slowly)
{
	struct made_change change[] = {
		{ .task = 3, .build = 30, .until = 150, .by = 0.15, .creep = true },
		{ .task = 4, .build = 35, .until = 155, .by = 0.15, .creep = true },
		{ .task = 9, .build = 80, .by = 0.15 },
	};
	struct made made = { .seed = 8, .tasks = 60, .builds = BUILDS, .noise = 0.03,
			     .level_us = LONG_US, .n_changes = ARRAY_SIZE(change), .change = change };
	size_t slow = 0, steps = 0;
	struct found f;

	make(&f, &made);
	f.rules.metrics = METRIC_BIT(METRIC_WALL);
	find(&f, NULL, HISTORY_ALL);
	is_sound(&f.history, &f.builds);
	for (size_t i = 0; i < f.history.n_changes; i++) {
		const struct history_change *c = &f.history.change[i];

		if (c->task == TASK_TOTAL)
			continue;
		ck_assert(fabs(c->change.effect - 0.15) < 0.03);
		ck_assert_int_eq(c->creep, c->task != 9);
		slow += c->creep;
		steps += !c->creep;
		ck_assert(!c->creep || (c->change.first < 60 && c->change.last > 125));
	}
	ck_assert_uint_eq(slow, 2);
	ck_assert_uint_eq(steps, 1);
	ck_assert_uint_eq(f.history.n_events, 2);
	release(&f);
}

/* Drifts and steps, distinguished in most of many series. */
static const struct {
	double step, slope;
	size_t least_creep, most_creep;	/* of 100 */
} drifts[] = {
	{ 0, 0, 0, 0 }, { 0, 0.1, 90, 100 }, { 0, -0.1, 90, 100 }, { 0.1, 0, 0, 2 }, { -0.2, 0, 0, 2 },
};

TEST_EACH(creep_or_step, drifts)
{
	struct noise noise = { 30 };
	struct changepoints *points = changepoints_new();
	struct creep_finder *finder = creep_finder_new();
	size_t creeps = 0;

	for (int i = 0; i < 100; i++) {
		double v[365];
		const struct change *change;
		const struct creep *creep;
		size_t n, n_creep;

		noise_series(&noise, i % 2 ? NOISE_NORMAL : NOISE_SPIKES, v, ARRAY_SIZE(v));
		for (size_t k = 0; k < ARRAY_SIZE(v); k++) {
			double part = k < 120 ? 0 : k < 240 ? (k - 120) / 120.0 : 1;

			v[k] *= (1 + drifts[_i].slope * part) * (k < 180 ? 1 : 1 + drifts[_i].step);
		}
		ck_assert(!changepoints_find(points, &change, &n, v, ARRAY_SIZE(v), 0.01));
		ck_assert(!creep_find(finder, &creep, &n_creep, points, change, n));
		creeps += n_creep > 0;
	}
	ck_assert_msg(creeps >= drifts[_i].least_creep && creeps <= drifts[_i].most_creep, "%zu", creeps);
	creep_finder_free(finder);
	changepoints_free(points);
}

/* A clock goes back, two builds have the same time: the order stays. */
TEST(clocks)
{
	struct made_change change[10];
	struct made made = { .seed = 9, .tasks = 50, .builds = 60, .noise = 0.02, .level_us = LONG_US,
			     .change = change };
	struct found f;

	made.n_changes = plant(change, 10, 5, 30, 0.4);
	make(&f, &made);
	for (size_t i = 0; i < f.builds.n; i++)
		f.builds.build[i].start_s = i % 3 ? (int64_t)(1000000 - 7 * i) : i % 2 ? -1 : 5;
	find(&f, NULL, HISTORY_ALL);
	is_sound(&f.history, &f.builds);
	ck_assert_ptr_nonnull(event_at(&f.history, 30));
	release(&f);
}

static void same(const struct history *a, const struct history *b)
{
	ck_assert_uint_eq(a->n_changes, b->n_changes);
	ck_assert_uint_eq(a->n_events, b->n_events);
	for (size_t i = 0; i < a->n_changes; i++) {
		const struct history_change *x = &a->change[i], *y = &b->change[i];

		ck_assert(x->task == y->task && x->metric == y->metric && x->event == y->event);
		ck_assert(x->change.at == y->change.at && x->change.p == y->change.p &&
			  x->change.after == y->change.after);
	}
}

TEST(one_processor_or_more)
{
	struct made_change change[20];
	struct made made = { .seed = 10, .tasks = 500, .builds = 60, .noise = 0.03,
			     .level_us = LONG_US, .change = change };
	struct found f;
	struct history first;
	cpu_set_t all, one;

	made.n_changes = plant(change, 20, 100, 30, 0.3);
	make(&f, &made);
	find(&f, NULL, HISTORY_ALL);
	first = f.history;
	ck_assert(!sched_getaffinity(0, sizeof all, &all));
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++) {
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	}
	ck_assert(!sched_setaffinity(0, sizeof one, &one));
	find(&f, NULL, HISTORY_ALL);
	sched_setaffinity(0, sizeof all, &all);
	same(&first, &f.history);
	history_release(&first);
	release(&f);
}

TEST(one_task)
{
	struct made_change change = { .task = 7, .build = 40, .by = 0.3 };
	struct made made = { .seed = 11, .tasks = 50, .builds = 80, .noise = 0.02,
			     .level_us = LONG_US, .n_changes = 1, .change = &change };
	struct error err = { 0 };
	double series[80];
	struct found f;

	make(&f, &made);
	find(&f, NULL, 7);
	ck_assert_uint_eq(f.history.n_series, 4);
	ck_assert_uint_eq(f.history.n_changes, 4);
	ck_assert_uint_eq(f.history.n_events, 1);
	ck_assert(!history_series(&f.history, &f.builds, 7, METRIC_WALL, series, &err));
	ck_assert(fabs(series[79] / series[0] - 1.3) < 0.15);
	history_release(&f.history);
	find(&f, NULL, 8);
	ck_assert_uint_eq(f.history.n_changes, 0);
	release(&f);
}

/* A note on a change or after it, before the next change, is about it. */
static const struct {
	uint32_t build;
	const char *pattern;
	int marked;		/* 0: no change, 1: the first, 2: the second */
} said[] = {
	{ 40, "*", 1 }, { 55, "*", 1 }, { 60, "*", 2 }, { 79, "*", 2 }, { 10, "*", 0 },
	{ 60, "", 0 }, { 60, "nobody", 0 },
};

TEST_EACH(known_changes, said)
{
	struct made_change change[] = {
		{ .task = 7, .build = 40, .by = 0.3 }, { .task = 7, .build = 60, .by = 0.3 },
	};
	struct made made = { .seed = 12, .tasks = 30, .builds = 80, .noise = 0.01,
			     .level_us = LONG_US, .n_changes = 2, .change = change };
	struct known known = { .kind = KNOWN_ACKNOWLEDGED, .build = said[_i].build,
			       .pattern = said[_i].pattern, .metrics = METRICS_USUAL };
	struct known_list list = { 1, &known };
	struct found f;

	make(&f, &made);
	find(&f, &list, 7);
	ck_assert_uint_eq(f.history.n_changes, 8);
	for (size_t i = 0; i < f.history.n_changes; i++) {
		const struct history_change *c = &f.history.change[i];

		ck_assert_int_eq(c->known != NULL, said[_i].marked == (c->change.at < 50 ? 1 : 2));
	}
	release(&f);
}

/* Ignored tasks are not tested; changes below their limits are not reported. */
TEST_LOOP(gates, 4)
{
	struct made_change change[] = {
		{ .task = 3, .build = 40, .by = 0.3 }, { .task = 4, .build = 40, .by = 0.3 },
	};
	struct made made = { .seed = 13, .tasks = 30, .builds = 80, .noise = 0.01,
			     .level_us = LONG_US, .n_changes = 2, .change = change };
	struct rule rule = { .metrics = METRICS_USUAL, .share = NAN, .amount = NAN, .floor = NAN,
			     .ignored = -1 };
	struct found f;

	make(&f, &made);
	f.rules.metrics = METRIC_BIT(METRIC_WALL);
	rule.pattern = f.builds.task[3].name;
	f.rules.n = 1;
	f.rules.rule = &rule;
	if (_i == 0)
		rule.ignored = 1;
	else if (_i == 1)
		rule.share = 0.5;
	else if (_i == 2)
		rule.amount = 0.4 * LONG_US;
	else
		rule.floor = 2 * LONG_US;
	find(&f, NULL, HISTORY_ALL);
	for (size_t i = 0; i < f.history.n_changes; i++)
		ck_assert_uint_ne(f.history.change[i].task, 3);
	ck_assert_uint_ge(f.history.n_changes, 1);
	ck_assert_uint_eq(f.history.n_series, _i == 0 ? 31 : 32);
	release(&f);
}

/* Grouping alone: intervals, and the events they become. */
static const struct {
	const char *what;
	struct {
		unsigned n;
		uint32_t first, at, last;
	} step[6];
	const char *events;	/* "build:changes ", the newest first */
} groups[] = {
	{ "one build", { { 5, 50, 50, 50 } }, "50:5 " },
	{ "two builds", { { 5, 50, 50, 50 }, { 5, 51, 51, 51 } }, "51:5 50:5 " },
	{ "a wide one goes to the nearest", { { 5, 50, 50, 50 }, { 1, 40, 58, 70 }, { 5, 60, 60, 60 } },
	  "60:6 50:5 " },
	{ "a stray", { { 20, 50, 50, 50 }, { 1, 52, 52, 52 } }, "50:21 " },
	{ "too far for a stray", { { 20, 50, 50, 50 }, { 1, 56, 56, 57 } }, "56:1 50:20 " },
	{ "too many for strays", { { 20, 50, 50, 50 }, { 5, 52, 52, 52 } }, "52:5 50:20 " },
	{ "a chain", { { 4, 10, 20, 30 }, { 4, 25, 35, 45 }, { 4, 40, 50, 60 }, { 4, 55, 65, 75 },
		       { 4, 70, 80, 90 } }, "80:4 65:4 50:4 35:4 20:4 " },
	{ "wide ones", { { 4, 10, 20, 30 }, { 4, 12, 22, 32 }, { 1, 20, 28, 40 } }, "20:9 " },
};

TEST_GROUP("events");

TEST_EACH(grouped, groups)
{
	struct history_change change[64];
	struct build build[100] = { 0 };
	struct builds builds = { .n = 100, .build = build };
	RELEASED(history, h = { .change = malloc(sizeof change) });
	RELEASED(buf, text = BUF_INIT);

	for (size_t k = 0; k < ARRAY_SIZE(groups[_i].step); k++) {
		for (unsigned i = 0; i < groups[_i].step[k].n; i++)
			h.change[h.n_changes++] = (struct history_change){
				.task = (uint32_t)h.n_changes, .metric = METRIC_WALL,
				.change = { .at = groups[_i].step[k].at, .first = groups[_i].step[k].first,
					    .last = groups[_i].step[k].last, .before = 1e7, .after = 2e7 },
			};
	}
	ck_assert(!history_group(&h, &builds));
	is_sound(&h, &builds);
	for (size_t i = 0; i < h.n_events; i++)
		buf_addf(&text, "%u:%zu ", h.event[i].at, h.event[i].n_changes);
	ck_assert_msg(!strcmp(buf_str(&text), groups[_i].events), "%s: %s", groups[_i].what,
		      buf_str(&text));
}

TEST_MAIN(history);
