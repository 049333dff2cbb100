/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_REPEAT_H
#define BUILDBEAT_CLI_REPEAT_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/options.h"

#include <stdint.h>

/* Outputs that commands repeat: --interval and --count. */
#define REPEAT_MAX 1000000000
#define REPEAT_LEAST_US 10000

#define REPEAT_OPTIONS(interval_us, count, interval_help, count_help) \
	{ OPT(OPTION_TIME, int64_t, 'i', "interval", interval_us, "TIME", interval_help) }, \
	{ OPT_NUMBER(0, "count", count, 1, REPEAT_MAX, "N", count_help) }

struct repeat {
	int64_t interval_us, count;	/* count 0: without end */
	int64_t done, next_us;
};

/* 0, or -EINVAL with err if the interval is shorter than 10 ms or longer than a day. */
int repeat_init(struct repeat *r, const char *command, int64_t interval_us, int64_t count,
		struct error *err);

/*
 * Write an output to standard output at once, and release it. Then wait until the next is due: 1,
 * or 0 after the last one, or a negative errno with err.
 */
int repeat_output(struct repeat *r, struct buf *text, int result, struct error *err);

#endif
