/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_TALLY_CLOCK_H
#define BUILDBEAT_PLUGIN_TALLY_CLOCK_H

#include <stdint.h>
#include <time.h>

/* What runs are measured by. All code that depends on the processor is here and in
 * tally_clock.c. */
struct tally_clock {
	int32_t kind;		/* BUILDBEAT_CLOCK_WALL, ...; 0: none */
	uint64_t (*now)(void *data);
	void *data;
	uint64_t start;		/* of the counter */
	uint64_t ns_per_tick;	/* times 2^32 */
};

#if defined(__x86_64__) || defined(__i386__)
static inline uint64_t tally_clock_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t tally_clock_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#else
static inline uint64_t tally_clock_ticks(void)
{
	return 0;
}
#endif

/* Set kind, and measure the speed of the counter if it is used: this takes a millisecond. Wall time
 * replaces a counter that does not run at one speed on all processors, whatever they do. */
void tally_clock_set(struct tally_clock *c, int32_t kind);

static inline __attribute__((always_inline)) uint64_t tally_clock_wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The counter in ns. */
static inline uint64_t tally_clock_counter(const struct tally_clock *c)
{
	uint64_t ticks = tally_clock_ticks() - c->start;

#ifdef __SIZEOF_INT128__
	return (uint64_t)((unsigned __int128)ticks * c->ns_per_tick >> 32);
#else
	return (ticks >> 32) * c->ns_per_tick + ((ticks & UINT32_MAX) * (c->ns_per_tick >> 4) >> 28);
#endif
}

/* The other clocks: a system call, or the host's function. */
uint64_t tally_clock_other(const struct tally_clock *c);

#endif
