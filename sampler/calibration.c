/* SPDX-License-Identifier: MIT */
#include "sampler/calibration.h"

#include "base/array.h"
#include "base/clock.h"

#include <errno.h>

#define ROUNDS 8000		/* a loop: 25 us at 4 GHz */
#define LOOPS_LEAST 8
#define LOOPS_AGREE 20		/* that find no shorter time: the clock of the core is up */
#define LIMIT_NS 4000000
#define TABLE_SIZE 1024
#define MULTIPLIER 0x9e3779b97f4a7c15u

#define CHAINS 8
#define CHAIN_ROUNDS 2000
#define ROUND_CYCLES 8

static void fill_table(uint32_t table[TABLE_SIZE])
{
	uint64_t x = 1;

	for (int i = 0; i < TABLE_SIZE; i++) {
		x = x * MULTIPLIER + 1;
		table[i] = (uint32_t)(x >> 32);
	}
}

static inline uint64_t step(uint64_t x, const uint32_t table[TABLE_SIZE])
{
	return (x ^ table[(x >> 20) % TABLE_SIZE]) * MULTIPLIER;
}

/* The chains are variables and not an array, so that they are in registers. */
static __attribute__((noinline)) void loop(const uint32_t table[TABLE_SIZE])
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;

	for (int i = 0; i < ROUNDS; i++) {
		a = step(a, table);
		b = step(b, table);
		c = step(c, table);
		d = step(d, table);
		e = step(e, table);
		f = step(f, table);
		g = step(g, table);
		h = step(h, table);
	}
	a ^= b ^ c ^ d ^ e ^ f ^ g ^ h;
	__asm__ volatile("" : : "r"(a));
}

/* Two instructions of one cycle, which no processor is known to combine, and no compiler can. */
static inline uint64_t two_cycles(uint64_t x)
{
	x = ~x;
	__asm__ volatile("" : "+r"(x));
	x = -x;
	__asm__ volatile("" : "+r"(x));
	return x;
}

static __attribute__((noinline)) void chain(void)
{
	uint64_t x = 1;

	for (int i = 0; i < CHAIN_ROUNDS; i++)
		x = two_cycles(two_cycles(two_cycles(two_cycles(x))));
}

static int64_t clock_of_core_mhz(void)
{
	int64_t least_ns = INT64_MAX;

	for (int i = 0; i < CHAINS; i++) {
		int64_t start_ns = clock_mono_ns(), ns;

		chain();
		ns = clock_mono_ns() - start_ns;
		if (ns < least_ns)
			least_ns = ns;
	}
	return least_ns > 0 ? CHAIN_ROUNDS * ROUND_CYCLES * 1000 / least_ns : -1;
}

__attribute__((cold)) void calibration_run(struct calibration *c)
{
	uint32_t table[TABLE_SIZE];
	int64_t sum_ns = 0, least_ns = INT64_MAX;
	int saved = errno, n = 0, agree = 0;

	fill_table(table);
	while (n < LOOPS_LEAST || (agree < LOOPS_AGREE && sum_ns < LIMIT_NS)) {
		int64_t ns = clock_mono_ns();

		loop(table);
		ns = clock_mono_ns() - ns;
		agree = ns < least_ns - least_ns / 200 ? 0 : agree + 1;
		if (ns < least_ns)
			least_ns = ns;
		sum_ns += ns;
		n++;
	}
	*c = (struct calibration){
		least_ns > 0 ? least_ns : -1, sum_ns / n, clock_of_core_mhz(),
	};
	errno = saved;
}

void calibration_add(struct buf *b, const char *when, const struct calibration *c)
{
	const struct {
		const char *unit;
		int64_t value;
	} lines[] = { { "least_ns", c->least_ns }, { "mean_ns", c->mean_ns }, { "mhz", c->mhz } };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (lines[i].value > 0)
			buf_addf(b, "calibration_%s_%s: %lld\n", when, lines[i].unit,
				 (long long)lines[i].value);
	}
}
