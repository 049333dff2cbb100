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

static bool parse_digits(struct cursor *c, unsigned digits, char behind, int *n)
{
	*n = 0;
	for (; digits; digits--) {
		if (cursor_at_end(c) || *c->p < '0' || *c->p > '9')
			return false;
		*n = *n * 10 + *c->p++ - '0';
	}
	return !behind || cursor_byte(c, behind);
}

bool clock_parse_iso(struct cursor *c, int64_t *wall_s)
{
	struct tm tm = { 0 };

	if (!parse_digits(c, 4, '-', &tm.tm_year) || !parse_digits(c, 2, '-', &tm.tm_mon) ||
	    !parse_digits(c, 2, 'T', &tm.tm_mday) || !parse_digits(c, 2, ':', &tm.tm_hour) ||
	    !parse_digits(c, 2, ':', &tm.tm_min) || !parse_digits(c, 2, '\0', &tm.tm_sec))
		return false;
	if (tm.tm_year < CLOCK_FIRST_YEAR || tm.tm_year > CLOCK_LAST_YEAR || tm.tm_mon < 1 ||
	    tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
	    tm.tm_min > 59 || tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	*wall_s = timegm(&tm);
	return true;
}
