/* SPDX-License-Identifier: MIT */
#include "report/amount_read.h"

#include "base/array.h"
#include "base/cursor.h"

#define DECIMALS 6

/* Digits, and a point and more of them or not; the same in every locale. */
static bool read_decimal(struct cursor *c, double *value)
{
	uint64_t n, digits = 0;
	double one = 1;

	if (!cursor_u64(c, &n) || n > 1000000000000)
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
