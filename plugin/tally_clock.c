/* SPDX-License-Identifier: MIT */
#include "plugin/tally_clock.h"

#include "plugin/buildbeat_plugin.h"

#include <stdbool.h>
#include <sys/resource.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define CALIBRATION_NS 1000000
#define TRIES 8

/* i386 has no product of 128 bits, without which the counter in ns would not be exact. */
static __attribute__((cold)) bool is_invariant(void)
{
#ifdef __x86_64__
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && d >> 8 & 1;
#elif defined(__aarch64__)
	return true;
#else
	return false;
#endif
}

/* The counter and the time at the same moment: of some tries the one that took least. */
static uint64_t pair(uint64_t *ns)
{
	uint64_t best = UINT64_MAX, ticks = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = tally_clock_wall(), now = tally_clock_ticks();
		uint64_t after = tally_clock_wall();

		if (after - before < best) {
			best = after - before;
			*ns = before + best / 2;
			ticks = now;
		}
	}
	return ticks;
}

static void calibrate(struct tally_clock *c)
{
	uint64_t start_ns, end_ns, end;

	c->start = pair(&start_ns);
	while (tally_clock_wall() - start_ns < CALIBRATION_NS)
		;
	end = pair(&end_ns);
	/* otherwise the thread did not run for seconds */
	if (end > c->start && end_ns - start_ns < UINT32_MAX)
		c->ns_per_tick = ((end_ns - start_ns) << 32) / (end - c->start);
}

__attribute__((cold)) void tally_clock_set(struct tally_clock *c, int32_t kind)
{
	bool known = kind > BUILDBEAT_CLOCK_DEFAULT && kind <= BUILDBEAT_CLOCK_HOST;

	c->kind = known ? kind : BUILDBEAT_CLOCK_DEFAULT;
	c->ns_per_tick = 0;
	if (kind == BUILDBEAT_CLOCK_HOST && !c->now)
		c->kind = BUILDBEAT_CLOCK_DEFAULT;
	if (kind == BUILDBEAT_CLOCK_TSC) {
		if (is_invariant())
			calibrate(c);
		if (!c->ns_per_tick)
			c->kind = BUILDBEAT_CLOCK_WALL;
	}
}

uint64_t tally_clock_other(const struct tally_clock *c)
{
	struct timespec t = { 0 };
	struct rusage usage = { 0 };

	switch (c->kind) {
	case BUILDBEAT_CLOCK_CPU:
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	case BUILDBEAT_CLOCK_FAULTS:
		getrusage(RUSAGE_THREAD, &usage);
		return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	case BUILDBEAT_CLOCK_HOST:
		return c->now(c->data);
	case BUILDBEAT_CLOCK_TSC:
		return tally_clock_counter(c);
	default:
		return tally_clock_wall();
	}
}
