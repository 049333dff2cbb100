/* SPDX-License-Identifier: MIT */
#include "cli/repeat.h"

#include "base/clock.h"
#include "cli/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#define DAY_US INT64_C(86400000000)

int repeat_init(struct repeat *r, const char *command, int64_t interval_us, int64_t count,
		struct error *err)
{
	*r = (struct repeat){ .interval_us = interval_us, .count = count };
	r->next_us = clock_mono_ns() / 1000;
	if (interval_us < REPEAT_LEAST_US || interval_us > DAY_US)
		return error_say(err, -EINVAL, "%s: option '--interval': expected from 10ms to 24h",
				 command);
	return 0;
}

/* At fixed times: what an output costs does not delay the next. */
static void wait_for_next(struct repeat *r)
{
	int64_t now_us = clock_mono_ns() / 1000;
	struct timespec until;

	r->next_us += r->interval_us;
	if (r->next_us < now_us)
		r->next_us = now_us;
	until = (struct timespec){ r->next_us / 1000000, r->next_us % 1000000 * 1000 };
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

int repeat_output(struct repeat *r, struct buf *text, int result, struct error *err)
{
	result = output_end(text, result, NULL, err);
	if (result)
		return result;
	/* main() reports the error */
	if ((r->count && ++r->done == r->count) || fflush(stdout) || ferror(stdout))
		return 0;
	wait_for_next(r);
	return 1;
}
