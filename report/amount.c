/* SPDX-License-Identifier: MIT */
#include "report/amount.h"

#include "analyse/words.h"
#include "base/text.h"

#include <math.h>
#include <time.h>

#define KB 1024

/* What does not fit is as large as can be said. */
static int64_t whole(double value)
{
	return value < 9e18 ? llround(value) : INT64_MAX;
}

void amount_add(struct buf *b, enum unit unit, double value)
{
	if (!(value >= 0)) {
		buf_addc(b, '-');
		return;
	}
	switch (unit) {
	case UNIT_US:
		text_add_time(b, whole(value));
		break;
	case UNIT_KB:
		text_add_bytes(b, whole(value * KB));
		break;
	case UNIT_BYTES:
		text_add_bytes(b, whole(value));
		break;
	case UNIT_COUNT:
		buf_addi(b, whole(value));
		break;
	case UNIT_STATUS:
		words_add_status(b, whole(value));
		break;
	}
}

void amount_add_change(struct buf *b, enum unit unit, double value)
{
	if (isnan(value)) {
		buf_addc(b, '-');
		return;
	}
	if (value)
		buf_addc(b, value > 0 ? '+' : '-');
	amount_add(b, unit, fabs(value));
}

void amount_add_share(struct buf *b, double share)
{
	if (isnan(share))
		buf_addc(b, '-');
	else if (isinf(share))
		buf_adds(b, "new");
	else if (share >= 1)
		buf_addf(b, "x %.*f", share < 9 ? 1 : 0, 1 + share);
	else
		buf_addf(b, "%+.*f %%", fabs(share) < 0.0995 ? 1 : 0, 100 * share);
}

void amount_add_day(struct buf *b, int64_t time_s)
{
	time_t t = (time_t)time_s;
	struct tm tm;

	if (time_s < 0 || !gmtime_r(&t, &tm))
		buf_addc(b, '-');
	else
		buf_addf(b, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}
