/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "stats/hostfactor.h"
#include "tests/made_series.h"
#include "tests/support.h"

#define BUILDS 40

static struct builds builds;
static struct hostfactor host;

static void make(struct made made)
{
	made.builds = BUILDS;
	ck_assert(!made_series(&builds, &made));
	ck_assert(!hostfactor_find(&host, made_series_values(&builds, METRIC_WALL), made.tasks, BUILDS, 0));
	ck_assert_uint_eq(host.n, BUILDS);
}

static void teardown(void)
{
	hostfactor_release(&host);
	builds_release(&builds);
}

static size_t events(void)
{
	size_t n = 0;

	for (size_t i = 0; i < host.n; i++)
		n += host.event[i];
	return n;
}

/* A build in which all tasks are slower is found, whatever single tasks do. */
static const struct {
	const char *what;
	struct made made;
	double off;		/* largest deviation from the planted one */
} slow[] = {
	{ "all alike", { .tasks = 400, .noise = 0.03 }, 0.01 },
	{ "uneven noise", { .tasks = 400, .noise = 0.04, .uneven = 0.7, .spikes = 0.02 }, 0.01 },
	{ "heavy tails", { .tasks = 400, .noise = 0.03, .student = 3 }, 0.01 },
	{ "many are not there", { .tasks = 400, .noise = 0.03, .missing = 0.3, .passing = 0.3 }, 0.01 },
	{ "few", { .tasks = HOSTFACTOR_FEWEST, .noise = 0.01 }, 0.03 },
	{ "more than have a say", { .tasks = HOSTFACTOR_TASKS + 500, .noise = 0.03 }, 0.005 },
};

#define SLOW_BUILD 33

TEST_GROUP_WITH("hostfactor", NULL, teardown);

TEST_EACH(slow_build, slow)
{
	static const struct made_change changes[] = {
		{ .task = MADE_ALL, .metrics = METRIC_BIT(METRIC_WALL), .build = SLOW_BUILD,
		  .until = SLOW_BUILD + 1, .by = 0.15 },
		{ .task = 3, .build = 20, .by = 0.5 },
		{ .task = 5, .build = SLOW_BUILD, .by = 1 },
	};
	struct made made = slow[_i].made;

	made.seed = 7;
	made.change = changes;
	made.n_changes = ARRAY_SIZE(changes);
	make(made);
	ck_assert_msg(fabs(host.ln[SLOW_BUILD] - log(1.15)) < slow[_i].off, "%s: %g", slow[_i].what,
		      exp(host.ln[SLOW_BUILD]));
	ck_assert(host.event[SLOW_BUILD]);
	ck_assert_uint_eq(events(), 1);
	for (size_t i = 0; i < BUILDS; i++)
		ck_assert(i == SLOW_BUILD || fabs(host.ln[i]) < slow[_i].off);
}

/* A constant property of the host is not an event. */
TEST(usual_noise)
{
	double squares = 0;

	make((struct made){ .seed = 3, .tasks = 300, .noise = 0.03, .host = 0.03 });
	ck_assert_uint_eq(events(), 0);
	for (size_t i = 0; i < BUILDS; i++)
		squares += host.ln[i] * host.ln[i];
	ck_assert(sqrt(squares / BUILDS) > 0.02 && sqrt(squares / BUILDS) < 0.04);
	ck_assert(host.spread > 0.015 && host.spread < 0.05);
}

/* A few tasks have no common factor. */
static const struct made too_little[] = {
	{ .tasks = 0 }, { .tasks = 1, .noise = 0.03, .host = 0.1 },
	{ .tasks = HOSTFACTOR_FEWEST - 1, .noise = 0.03, .host = 0.1 },
	{ .tasks = 50, .noise = 0.03, .host = 0.1, .missing = 1 },
};

TEST_EACH(nothing_known, too_little)
{
	make(too_little[_i]);
	for (size_t i = 0; i < BUILDS; i++)
		ck_assert(host.ln[i] == 0 && !host.event[i]);
}

TEST(short_tasks_have_no_say)
{
	float values[30 * 8];

	for (size_t k = 0; k < 30; k++) {
		for (size_t i = 0; i < 8; i++)
			values[k * 8 + i] = k < 18 ? (i == 7 ? 10 : 1) : 100;
	}
	ck_assert(!hostfactor_find(&host, values, 30, 8, 0));
	ck_assert(host.event[7] && fabs(host.ln[7] - log(10)) < 1e-6);
	hostfactor_release(&host);
	ck_assert(!hostfactor_find(&host, values, 30, 8, 50));
	ck_assert(host.ln[7] == 0 && !host.event[7]);
}

/* Zero, negative values and NAN are not times. */
TEST(odd_values)
{
	static const float odd[] = { 0, -1, NAN, INFINITY };
	float values[20 * 8];

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = i % 5 == 4 ? odd[i / 5 % 4] : i % 8 == 6 ? 2 : 1;
	ck_assert(!hostfactor_find(&host, values, 20, 8, 0));
	for (size_t i = 0; i < 8; i++)
		ck_assert(fabs(host.ln[i] - (i == 6 ? log(2) : 0)) < 1e-6);
}

TEST_MAIN(hostfactor);
