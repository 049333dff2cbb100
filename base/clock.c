/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <time.h>

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return now_ns(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
	return now_ns(CLOCK_REALTIME);
}

static bool utc(struct tm *tm, int64_t wall_ns)
{
	time_t seconds = (time_t)(wall_ns / 1000000000);

	return gmtime_r(&seconds, tm);
}

void clock_add_iso(struct buf *b, int64_t wall_ns)
{
	char text[64];
	struct tm tm;

	if (utc(&tm, wall_ns))
		buf_add(b, text, strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm));
}

void clock_add_name(struct buf *b, int64_t wall_ns)
{
	char text[64];
	struct tm tm;

	if (utc(&tm, wall_ns))
		buf_add(b, text, strftime(text, sizeof text, "%Y%m%d%H%M%S", &tm));
}
