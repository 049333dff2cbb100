/* SPDX-License-Identifier: MIT */
#include "report/amount.h"

#include "analyse/words.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/text.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define KB 1024
#define DECIMALS 6

/* Values that do not fit become the largest number. */
static int64_t whole(double value)
{
	return value < 9e18 ? llround(value) : INT64_MAX;
}

const char *const amount_unit_word[] = {
	[UNIT_US] = "us", [UNIT_KB] = "kb", [UNIT_BYTES] = "bytes", [UNIT_COUNT] = "count",
	[UNIT_STATUS] = "status",
};

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
		text_add_count(b, whole(value));
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

static void add_percent(struct buf *b, double share)
{
	buf_addf(b, "%+.*f %%", fabs(share) < 0.0995 ? 1 : 0, 100 * share);
}

static bool is_factor(double share)
{
	return share >= 1;
}

void amount_add_share(struct buf *b, double share)
{
	if (isnan(share))
		buf_addc(b, '-');
	else if (isinf(share))
		buf_adds(b, "new");
	else if (is_factor(share))
		buf_addf(b, "x %.*f", share < 9 ? 1 : 0, 1 + share);
	else
		add_percent(b, share);
}

void amount_add_interval(struct buf *b, double share, double low, double high)
{
	if (is_factor(share)) {
		buf_addf(b, "x %.*f to %.*f", low < 9 ? 2 : 0, 1 + low, high < 9 ? 2 : 0, 1 + high);
		return;
	}
	add_percent(b, low);
	buf_adds(b, " to ");
	add_percent(b, high);
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

/* "12" or "12.5", independent of the locale. */
static bool read_decimal(struct cursor *c, double *value)
{
	uint64_t n, digits = 0;
	double one = 1;

	if (!cursor_u64(c, &n) || n > 1000000000000000)
		return false;
	if (cursor_byte(c, '.')) {
		const char *first = c->p;

		for (; !cursor_at_end(c) && *c->p >= '0' && *c->p <= '9'; c->p++) {
			digits = digits * 10 + (uint64_t)(*c->p - '0');
			one *= 10;
		}
		if (c->p == first || c->p - first > DECIMALS)
			return false;
	}
	*value = (double)n + (double)digits / one;
	return true;
}

bool amount_read_share(double *share, const char *text)
{
	struct cursor c;
	double value;
	bool percent;

	cursor_init(&c, text, strlen(text));
	if (!read_decimal(&c, &value))
		return false;
	cursor_blanks(&c);
	percent = cursor_byte(&c, '%');
	if (!cursor_at_end(&c))
		return false;
	*share = percent ? value / 100 : value;
	return true;
}

bool amount_read(struct amount *amount, const char *text)
{
	static const struct {
		const char *word;
		enum unit unit;
		double factor;
	} units[] = {
		{ "", UNIT_COUNT, 1 },
		{ "us", UNIT_US, 1 }, { "ms", UNIT_US, 1e3 }, { "s", UNIT_US, 1e6 },
		{ "min", UNIT_US, 60e6 }, { "h", UNIT_US, 3600e6 },
		{ "B", UNIT_BYTES, 1 }, { "KiB", UNIT_BYTES, 1024 },
		{ "MiB", UNIT_BYTES, 1048576 }, { "GiB", UNIT_BYTES, 1073741824 },
		{ "K", UNIT_BYTES, 1024 }, { "M", UNIT_BYTES, 1048576 }, { "G", UNIT_BYTES, 1073741824 },
	};
	struct cursor c;
	double value;

	cursor_init(&c, text, strlen(text));
	if (!read_decimal(&c, &value))
		return false;
	cursor_blanks(&c);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (slice_is((struct slice){ c.p, (size_t)(c.end - c.p) }, units[i].word)) {
			*amount = (struct amount){ value * units[i].factor, units[i].unit };
			return true;
		}
	}
	return false;
}

bool amount_in(double *value, const struct amount *amount, enum unit unit)
{
	bool kb = unit == UNIT_KB && amount->unit == UNIT_BYTES;

	if (!kb && amount->unit != unit && amount->value != 0)
		return false;
	*value = kb ? amount->value / 1024 : amount->value;
	return true;
}

bool amount_read_time(int64_t *us, const char *text)
{
	struct amount amount;
	double value;

	if (!amount_read(&amount, text))
		return false;
	if (amount.unit == UNIT_COUNT)
		amount = (struct amount){ amount.value * 1e6, UNIT_US };
	if (!amount_in(&value, &amount, UNIT_US))
		return false;
	*us = value < 9e18 ? (int64_t)value : INT64_MAX;
	return true;
}
