/* SPDX-License-Identifier: MIT */
/*
 * The tables of the heap shim, each beside a slow model of it; the weights of what is recorded; the
 * variables that arm a program.
 */
#include "heap/heap_env.h"
#include "heap/image_write.h"
#include "heap/live_blocks.h"
#include "heap/ranges.h"
#include "heap/sample.h"
#include "tests/support.h"

static uint64_t next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Weights */

#define SIZES 6

/* For conditions in loops: Check writes something for each of its assertions. */
static void expect(bool holds, int line)
{
	if (!holds)
		ck_abort_msg("line %d", line);
}
#define EXPECT(condition) expect(condition, __LINE__)

/* What one thread allocates: each size's bytes, those that remain, and their estimates. */
struct stream {
	double truth[SIZES], estimate[SIZES], variance[SIZES], count[SIZES], n[SIZES];
	double all, all_estimate;
};

static void run_stream(struct stream *s, uint64_t seed, uint64_t period, const size_t *sizes,
		       size_t n)
{
	struct sample_state sample = { .random = seed };
	int64_t left = sample_begin(&sample, period);
	uint64_t state = seed;

	*s = (struct stream){ 0 };
	for (size_t i = 0; i < n; i++) {
		unsigned which = (unsigned)next(&state) % SIZES;
		size_t size = sizes[which] + next(&state) % sizes[which];
		bool remains = next(&state) % 10 != 0;
		struct sample_weight w = { 0 };

		left -= (int64_t)size;
		if (left < 0) {
			w = sample_weight(size, period);
			left = sample_next(&sample, period, left);
		}
		EXPECT(left >= 0);
		s->all += (double)size;
		s->all_estimate += (double)w.bytes;
		if (!remains)
			continue;
		s->truth[which] += (double)size;
		s->n[which]++;
		s->estimate[which] += (double)w.bytes;
		s->count[which] += (double)w.count / HEAP_UNIT;
		s->variance[which] += (double)w.variance * 1024 * 1024;
	}
}

TEST_GROUP("weights");

/* Estimates of sizes have no bias, and two standard errors have 95 % of them. The sum of all
 * allocations is within a few periods. */
TEST_LOOP(estimates, 3)
{
	static const size_t sizes[][SIZES] = {
		{ 16, 100, 1000, 5000, 20000, 60000 },
		{ 16, 20, 24, 32, 40, 48 },
		{ 10000, 30000, 60000, 65536, 100000, 300000 },
	};
	static const struct {
		size_t n;
		uint64_t period, within;	/* the sum of all: periods */
	} is[] = { { 4000, 65536, 60 }, { 200000, 8192, 3 }, { 2000, 65536, 50 } };
	const uint64_t period = is[_i].period;
	double bias[SIZES] = { 0 }, bias_variance[SIZES] = { 0 }, counts[SIZES] = { 0 };
	double truths[SIZES] = { 0 }, ns[SIZES] = { 0 };
	int inside = 0, all = 0, seeds = _i == 1 ? 60 : 1000;
	struct stream s;

	for (int seed = 0; seed < seeds; seed++) {
		run_stream(&s, (uint64_t)seed * 7919 + 1, period, sizes[_i], is[_i].n);
		for (int k = 0; k < SIZES; k++) {
			double difference = s.estimate[k] - s.truth[k];

			bias[k] += difference;
			bias_variance[k] += difference * difference;
			truths[k] += s.truth[k];
			counts[k] += s.count[k];
			ns[k] += s.n[k];
			/* of few samples, the error is not known well */
			if (s.truth[k] > 30 * (double)period) {
				inside += fabs(difference) <= 2 * sqrt(s.variance[k]);
				all++;
			}
		}
		ck_assert_double_lt(fabs(s.all_estimate - s.all), (double)(is[_i].within * period));
	}
	for (int k = 0; k < SIZES; k++) {
		double error = sqrt(bias_variance[k]);

		ck_assert_msg(fabs(bias[k]) <= 5 * error, "size %zu: bias %g of %g, error %g",
			      sizes[_i][k], bias[k], truths[k], error);
		ck_assert_double_lt(fabs(counts[k] / ns[k] - 1), 0.3);
	}
	if (all)
		ck_assert_msg(inside > all * 0.92, "%d of %d", inside, all);
}

/* A weight is one over the probability, which a run over all beginnings counts. */
TEST(probabilities)
{
	const uint64_t period = 1000;
	uint64_t seed = 0;

	for (size_t size = 1; size < 2200; size += 97) {
		struct sample_weight w = sample_weight(size, period);
		int hits = 0, tries = 20000;
		double p, expected = (double)HEAP_UNIT / (double)w.count;

		for (int i = 0; i < tries; i++) {
			struct sample_state s = { .random = seed++ };

			hits += sample_begin(&s, period) < (int64_t)size;
		}
		p = (double)hits / tries;
		ck_assert_msg(fabs(p - expected) < 5 * sqrt(expected / tries) + 1e-3,
			      "size %zu: %g, not %g", size, p, expected);
		ck_assert_double_lt(fabs((double)w.bytes - (double)size / expected),
				    0.01 * (double)size / expected + 1);
	}
}

TEST(extreme_weights)
{
	struct sample_weight w = sample_weight(12345, 0);
	struct sample_state s = { 0 };

	ck_assert_uint_eq(w.bytes, 12345);
	ck_assert_uint_eq(w.count, HEAP_UNIT);
	ck_assert_uint_eq(w.variance, 0);
	w = sample_weight((size_t)1 << 46, 524288);
	ck_assert_uint_eq(w.bytes, (size_t)1 << 46);
	ck_assert_uint_eq(w.variance, 0);
	w = sample_weight(1, SAMPLE_PERIOD_MAX);
	ck_assert_uint_eq(w.bytes, SAMPLE_PERIOD_MAX);
	/* a period of one byte: everything is recorded */
	ck_assert_int_eq(sample_begin(&s, 1), 0);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(sample_next(&s, 1, -i - 1), 0);
}

/* Tables and their models */

TEST_GROUP("tables");

TEST_LOOP(live_blocks, 4)
{
	enum { ADDRESSES = 20000 };
	struct live_block *model = calloc(ADDRESSES, sizeof *model), got;
	bool *there = calloc(ADDRESSES, sizeof *there);
	uint64_t state = (uint64_t)_i;
	/* neighbours, or far from each other */
	uintptr_t step = _i % 2 ? 16 : 0x10f0, base = 0x7f0000000000;

	for (int i = 0; i < 300000; i++) {
		size_t k = next(&state) % ADDRESSES;
		/* mostly growing, then mostly shrinking */
		bool add = next(&state) % 100 < (i < 150000 ? 60 : 30);

		if (there[k] && !add) {
			EXPECT(live_take(base + k * step, &got));
			EXPECT(got.site == model[k].site);
			EXPECT(got.size == model[k].size);
			there[k] = false;
		} else if (!there[k] && add) {
			model[k].site = (uint32_t)next(&state);
			model[k].size = next(&state) << (next(&state) % 17);
			EXPECT(live_put(base + k * step, model[k]));
			there[k] = true;
		} else if (!there[k]) {
			EXPECT(!live_take(base + k * step, &got));
		}
	}
	for (size_t k = 0; k < ADDRESSES; k++)
		EXPECT(live_take(base + k * step, &got) == there[k]);
	live_reset();
	EXPECT(!live_take(base, &got));
	free(model);
	free(there);
}

#define PAGES 400
#define PAGE 4096

/* What the image says of each page; 0: nothing. */
static void pages_of_image(uint32_t *site)
{
	memset(site, 0, PAGES * sizeof *site);
	for (uint32_t i = 0; i < image_head->n_ranges; i++) {
		const struct heap_range *r = image_range(i);

		EXPECT(r->sequence % 2 == 0);
		if (!r->end)
			continue;
		for (uint64_t page = r->start / PAGE; page < r->end / PAGE; page++) {
			EXPECT(site[page] == 0);
			site[page] = r->site;
		}
	}
}

TEST_LOOP(mapped_ranges, 4)
{
	uint32_t model[PAGES] = { 0 }, shown[PAGES], expected[PAGES];
	uint64_t state = (uint64_t)_i;
	struct range taken;

	EXPECT(!image_create(support_tmpdir(), getpid(), 1));
	for (int i = 0; i < 3000; i++) {
		uintptr_t first = next(&state) % PAGES, last = first + 1 + next(&state) % 20;
		uint32_t site = next(&state) % 5 ? (uint32_t)next(&state) % 1000 + 1 : HEAP_NONE;
		size_t removed = 0, expected_removed = 0;

		last = last > PAGES ? PAGES : last;
		for (uintptr_t p = first; p < last; p++)
			expected_removed += model[p] != 0;
		while (ranges_take(&taken, first * PAGE, last * PAGE)) {
			for (uintptr_t p = taken.start / PAGE; p < taken.end / PAGE; p++) {
				EXPECT(p >= first && p < last);
				EXPECT(model[p] == taken.site);
				model[p] = 0;
				removed++;
			}
		}
		EXPECT(removed == expected_removed);
		if (next(&state) % 3) {
			EXPECT(ranges_add((struct range){
				.start = first * PAGE, .end = last * PAGE, .site = site,
				.counts = true }));
			for (uintptr_t p = first; p < last; p++)
				model[p] = site;
		}
		for (size_t p = 0; p < PAGES; p++) {
			const struct range *r = ranges_find(p * PAGE, p * PAGE + 1);

			EXPECT(r ? r->site : 0 == model[p]);
			expected[p] = model[p] == HEAP_NONE ? 0 : model[p];
		}
		pages_of_image(shown);
		EXPECT(!memcmp(shown, expected, sizeof expected));
	}
	/* slots are used again */
	ck_assert_uint_lt(image_head->n_ranges, PAGES);
	ranges_reset();
	image_forget();
}

/* Arming */

TEST_GROUP("arming");

TEST_LOOP(rules, 13)
{
	static const struct {
		const char *rules, *name;
		int64_t period;		/* -1: it does not match */
	} cases[] = {
		{ "0:ld", "ld", 0 },
		{ "0:ld", "ld.bfd", -1 },
		{ "524288:ld|ld.*|lld", "ld.bfd", 524288 },
		{ "1:a;2:b|c;3:*", "c", 2 },
		{ "1:a;2:b|c;3:*", "d", 3 },
		{ "1:cc1*", "cc1plus", 1 },
		{ "1:[ab]x", "bx", 1 },
		{ "1:", "", -1 },
		{ "", "a", -1 },
		{ "x:a;7:a", "a", 7 },
		{ ":a", "a", -1 },
		{ "1", "1", -1 },
		{ "99999999999999999999999:a", "a", -1 },
	};
	uint64_t period = 0;
	bool match = heap_env_match(cases[_i].rules, cases[_i].name, &period);

	ck_assert_int_eq(match, cases[_i].period >= 0);
	if (match)
		ck_assert_int_eq((int64_t)period, cases[_i].period);
	ck_assert(!heap_env_match(NULL, "a", &period));
}

TEST(now)
{
	uint64_t period;
	pid_t pid;

	ck_assert(heap_env_now("12:524288", &pid, &period));
	ck_assert_int_eq(pid, 12);
	ck_assert_uint_eq(period, 524288);
	ck_assert(!heap_env_now(NULL, &pid, &period));
	ck_assert(!heap_env_now("12", &pid, &period));
	ck_assert(!heap_env_now("12:", &pid, &period));
	ck_assert(!heap_env_now("12:5x", &pid, &period));
	ck_assert(!heap_env_now("99999999999:5", &pid, &period));
}

TEST_LOOP(environment, 10)
{
	static const struct {
		const char *before, *after;	/* after "": the variable is gone */
	} cases[] = {
		{ "LD_PRELOAD=/x/buildbeat-heap.so", "" },
		{ "LD_PRELOAD=/x/buildbeat-heap.so:/x/buildbeat-arm.so", "LD_PRELOAD=/x/buildbeat-arm.so" },
		{ "LD_PRELOAD=/a.so:/x/buildbeat-heap.so:/b.so", "LD_PRELOAD=/a.so:/b.so" },
		{ "LD_PRELOAD=/a.so /x/buildbeat-heap.so /b.so", "LD_PRELOAD=/a.so:/b.so" },
		{ "LD_PRELOAD=/a.so:/b.so", "LD_PRELOAD=/a.so:/b.so" },
		{ "LD_PRELOAD=/a.so /b.so", "LD_PRELOAD=/a.so /b.so" },
		{ "LD_PRELOAD=/my-buildbeat-heap.so", "LD_PRELOAD=/my-buildbeat-heap.so" },
		{ "LD_PRELOAD=", "LD_PRELOAD=" },
		{ "BUILDBEAT_HEAP_NOW=1:2", "" },
		{ "BUILDBEAT_HEAP_DIR=/d", "BUILDBEAT_HEAP_DIR=/d" },
	};
	char first[] = "A=1", last[] = "Z=2", text[100];
	char *env[] = { first, text, last, NULL };
	size_t n = cases[_i].after[0] != '\0';

	strcpy(text, cases[_i].before);
	heap_env_take(env);
	ck_assert_str_eq(env[0], "A=1");
	if (n)
		ck_assert_str_eq(env[1], cases[_i].after);
	ck_assert_str_eq(env[1 + n], "Z=2");
	ck_assert_ptr_null(env[2 + n]);
	ck_assert_str_eq(heap_env_find(env, "Z"), "2");
	ck_assert_ptr_null(heap_env_find(env, "ZZ"));
	heap_env_take(NULL);
}

TEST_MAIN(heap);
