/* SPDX-License-Identifier: MIT */
#include "sampler/cputime.h"

#include "base/minmax.h"

#include <time.h>

/* Until the ends of some processes were seen, an end is assumed to take this long at most, and so
 * much more for each MiB. */
#define END_US 100
#define END_MIB_US 128

/* The kernel's numbering of a process's clock in scheduler time (CPUCLOCK_SCHED), as
 * clock_getcpuclockid(3) makes it, which would ask the kernel first. */
#define PROCESS_CLOCK(pid) ((clockid_t)(~(unsigned)(pid) << 3 | 2))

void cputime_init(struct cputime *c)
{
	struct timespec tick;

	*c = (struct cputime){ .tick_us = 10000 };
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &tick) && !tick.tv_sec && tick.tv_nsec)
		c->tick_us = tick.tv_nsec / 1000;
}

int64_t cputime_of_thread(const struct cputime *c, const struct cputime_thread *t,
			  int64_t wall_us)
{
	int64_t us = t->run_us;

	if (us < 0 || t->slept)
		return us;
	us = MIN(t->age_us - t->wait_us, t->run_us + c->tick_us);
	/* it counts as born while its parent still prepares that, and may be interrupted */
	if (wall_us >= 0)
		us = MIN(us, wall_us - t->wait_us);
	return MAX(us, t->run_us);
}

/* Two classes to each doubling. */
static unsigned size_of(int64_t rss_kb)
{
	unsigned size = 0;

	while (rss_kb > 3 && size + 2 < CPUTIME_SIZES) {
		rss_kb /= 2;
		size += 2;
	}
	return size + (rss_kb > 2);
}

int64_t cputime_of_end(struct cputime *c, int64_t elapsed_us, int64_t rss_kb)
{
	int64_t *usual = &c->usual_us[size_of(rss_kb)];

	if (elapsed_us < 0)
		return 0;
	if (!*usual)
		*usual = MIN(elapsed_us, END_US + rss_kb / 1024 * END_MIB_US);
	/* most are not interrupted: near the shortest of late */
	else if (elapsed_us < *usual)
		*usual -= (*usual - elapsed_us) / 4;
	else
		*usual += MIN(elapsed_us - *usual, *usual / 16 + 1);
	return MIN(elapsed_us, *usual);
}

int64_t cputime_of_process(int32_t pid)
{
	struct timespec ts;

	if (clock_gettime(PROCESS_CLOCK(pid), &ts))
		return -1;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

void cputime_split(struct event_end *e, int64_t cpu_us)
{
	double user = e->user_us > 0 ? (double)e->user_us : 0;
	double system = e->system_us > 0 ? (double)e->system_us : 0;

	if (cpu_us < 0)
		return;
	e->system_us = system > 0 ? (int64_t)(system / (user + system) * (double)cpu_us) : 0;
	e->user_us = cpu_us - e->system_us;
}
