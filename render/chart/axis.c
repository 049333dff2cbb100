/* SPDX-License-Identifier: MIT */
#include "render/chart/axis.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define MS 1000LL
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* Numbers an axis may end at, and ticks may be apart, times a power of ten. */
static const int64_t tops[] = { 10, 12, 15, 16, 20, 25, 30, 40, 50, 60, 80 };
static const int64_t steps[] = { 10, 20, 25, 30, 40, 50 };

/* A unit of labels: its size in numbers of the axis, and its name. */
struct scale {
	int64_t size;
	const char *name;
};

static const struct scale of_bytes[] = {
	{ 1, " B" }, { 1LL << 10, " KiB" }, { 1LL << 20, " MiB" }, { 1LL << 30, " GiB" },
	{ 1LL << 40, " TiB" }, { 1LL << 50, " PiB" }, { 1LL << 60, " EiB" },
};
static const struct scale of_rate[] = {
	{ 1, " B/s" }, { 1LL << 10, " KiB/s" }, { 1LL << 20, " MiB/s" }, { 1LL << 30, " GiB/s" },
	{ 1LL << 40, " TiB/s" }, { 1LL << 50, " PiB/s" }, { 1LL << 60, " EiB/s" },
};
static const struct scale of_count[] = {
	{ 100, "" }, { 100000000, " M" }, { 100000000000000, " T" },
};
static const struct scale of_share[] = {
	{ 100, " %" }, { 100000000000, " G%" },
};
/* A unit serves up to twice the next. */
static const struct scale of_time[] = {
	{ 1, " us" }, { MS, " ms" }, { SECOND, " s" }, { MINUTE, " min" }, { HOUR, " h" },
	{ 1000 * HOUR, " kh" },
};

/* The largest unit of which `value` has at least `least`. */
static const struct scale *find_scale(const struct scale *scale, size_t n, int64_t value,
				      int64_t least)
{
	while (n > 1 && value / scale[n - 1].size < least)
		n--;
	return &scale[n - 1];
}

static const struct scale *scale_of(enum axis_unit unit, int64_t ceiling)
{
#define FIND(list, least) find_scale(list, ARRAY_SIZE(list), ceiling, least)
	switch (unit) {
	case AXIS_SHARE: return FIND(of_share, 1);
	case AXIS_COUNT: return FIND(of_count, 1);
	case AXIS_TIME: return FIND(of_time, 2);
	case AXIS_BYTES_A_SECOND: return FIND(of_rate, 1);
	default: return FIND(of_bytes, 1);
	}
#undef FIND
}

static bool is_bytes(enum axis_unit unit)
{
	return unit == AXIS_BYTES || unit == AXIS_BYTES_A_SECOND;
}

/* 4, 6 or 8 times a power of two: halves and more are round; small ones are whole. */
static int64_t ceiling_binary(int64_t max)
{
	int64_t quarter = 1;

	while (quarter < max / 8 + (max % 8 != 0))
		quarter = sat_mul(quarter, 2);
	for (int64_t n = 1; n <= 8; n++) {
		if (n != 5 && n != 7 && sat_mul(quarter, n) >= max)
			return sat_mul(quarter, n);
	}
	return INT64_MAX;
}

/* Of whole things. */
static int64_t ceiling_decimal(int64_t max)
{
	for (int64_t power = 1; power < INT64_MAX; power = sat_mul(power, 10)) {
		for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
			int64_t top = sat_mul(tops[i], power);

			if (top / 10 >= max && top % 10 == 0)
				return top / 10;
		}
	}
	return INT64_MAX;
}

int64_t axis_ceiling(int64_t max, enum axis_unit unit)
{
	int64_t whole = 1;

	if (max < 1)
		max = 1;
	if (is_bytes(unit))
		return ceiling_binary(max);
	if (unit == AXIS_SHARE && max > 8000 && max <= 10000)
		return 10000;
	if (unit != AXIS_SHARE)
		whole = scale_of(unit, max)->size;
	return sat_mul(ceiling_decimal(max / whole + (max % whole != 0)), whole);
}

/* Ticks on an axis */

/* Is n 1, 2, 2.5, 3, 4 or 5 times a power of ten. */
static bool is_round(int64_t n)
{
	for (n = sat_mul(n, 10); n >= 10 && n % 10 == 0 && n > 50; n /= 10)
		;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (n == steps[i])
			return true;
	}
	return false;
}

/* How many decimals a multiple of step has in a unit; 3: too many. */
static int decimals(int64_t step, int64_t size)
{
	int n = 0;

	for (int64_t rest = step % size; rest && n < 3; rest = sat_mul(rest, 10) % size)
		n++;
	return n;
}

/* Ticks this far apart: readable. */
static bool is_good_step(int64_t step, enum axis_unit unit, const struct scale *scale)
{
	if (unit == AXIS_TIME)
		return step % scale->size == 0 && is_round(step / scale->size);
	if (unit == AXIS_COUNT && step % 100)
		return false;
	return decimals(step, scale->size) <= 2 && (is_bytes(unit) || is_round(step));
}

static void set_label(struct tick *t, int64_t step, const struct scale *scale)
{
	if (!t->value)
		snprintf(t->label, sizeof t->label, "0");
	else
		snprintf(t->label, sizeof t->label, "%.*f%s", decimals(step, scale->size) % 3,
			 (double)t->value / (double)scale->size, scale->name);
}

size_t axis_ticks(struct tick *tick, size_t most, int64_t ceiling, enum axis_unit unit)
{
	const struct scale *scale = scale_of(unit, ceiling);
	int64_t parts = most > 11 ? 10 : (int64_t)most - 1;

	while (parts > 1 && (ceiling % parts || !is_good_step(ceiling / parts, unit, scale)))
		parts--;
	for (int64_t i = 0; i <= parts; i++) {
		tick[i].value = ceiling / parts * i;
		set_label(&tick[i], ceiling / parts, scale);
	}
	return (size_t)parts + 1;
}

/* Ticks of time */

static const int64_t time_steps[] = {
	1, 2, 5, 10, 20, 50, 100, 200, 500,
	1 * MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS,
	1 * SECOND, 2 * SECOND, 5 * SECOND, 10 * SECOND, 15 * SECOND, 30 * SECOND,
	1 * MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE, 30 * MINUTE,
	1 * HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR,
	1 * DAY, 2 * DAY, 5 * DAY, 10 * DAY, 20 * DAY, 50 * DAY,
};

/* Beyond, microseconds would make labels too long. */
#define FINE_US 1000000000000

static int64_t first_multiple(int64_t from, int64_t step)
{
	return from / step + (from % step != 0);
}

static int64_t time_step(size_t most, int64_t from_us, int64_t until_us)
{
	size_t i = until_us >= FINE_US ? 9 : 0;
	int64_t step = 0;

	for (;; i++) {
		bool listed = i < ARRAY_SIZE(time_steps);

		step = listed ? time_steps[i] : sat_mul(step, 2);
		if (until_us / step - first_multiple(from_us, step) < (int64_t)most ||
		    step == INT64_MAX)
			return step;
	}
}

/* A part of a second: in the unit that suits all of them. */
static void label_fraction(char *label, size_t size, int64_t us, int64_t step, int64_t until_us)
{
	int digits = 6;

	if (step < MS && until_us < 10 * MS) {
		snprintf(label, size, "%d us", (int)us);
		return;
	}
	if (step >= MS && until_us < 10 * SECOND) {
		snprintf(label, size, "%d ms", (int)(us / MS));
		return;
	}
	for (; digits && step % 10 == 0; step /= 10)
		digits--;
	snprintf(label, size, "%.*f s", digits, (double)us / SECOND);
}

static void label_time(char *label, size_t size, int64_t us, int64_t step, int64_t until_us)
{
	long long s = us / SECOND;

	if (!us)
		snprintf(label, size, "0");
	else if (step < SECOND)
		label_fraction(label, size, us, step, until_us);
	else if (step >= DAY)
		snprintf(label, size, "%lld d", us / DAY);
	else if (step >= HOUR)
		snprintf(label, size, "%lld h", us / HOUR);
	else if (until_us < MINUTE || (us < MINUTE && until_us < HOUR))
		snprintf(label, size, "%lld s", s);
	else if (us < HOUR && step >= MINUTE)
		snprintf(label, size, "%lld min", s / 60);
	else if (until_us < HOUR)
		snprintf(label, size, "%lldm %02lds", s / 60, (long)(s % 60));
	else if (step >= MINUTE)
		snprintf(label, size, "%lldh %02ldm", s / 3600, (long)(s / 60 % 60));
	else
		snprintf(label, size, "%lld:%02ld:%02ld", s / 3600, (long)(s / 60 % 60),
			 (long)(s % 60));
}

size_t axis_time_ticks(struct tick *tick, size_t most, int64_t from_us, int64_t until_us)
{
	int64_t step, last;
	size_t n = 0;

	from_us = MAX(from_us, 0);
	if (!most || until_us < from_us)
		return 0;
	step = time_step(most, from_us, until_us);
	last = until_us / step;
	for (int64_t i = first_multiple(from_us, step); i <= last && n < most; i++, n++) {
		tick[n].value = i * step;
		label_time(tick[n].label, sizeof tick[n].label, i * step, step, until_us);
	}
	return n;
}

/* One decimal where that is news: "0.04", "3.5", "12". */
static void add_count(struct buf *b, int64_t hundredths)
{
	if (hundredths < 0)
		buf_adds(b, "-");
	else if (hundredths % 100 == 0 || hundredths >= 995)
		text_add_count(b, llrint((double)hundredths / 100));
	else
		buf_addf(b, "%.*f", hundredths < 10 ? 2 : 1, (double)hundredths / 100);
}

void axis_add_value(struct buf *b, enum axis_unit unit, int64_t value)
{
	switch (unit) {
	case AXIS_SHARE:
		text_add_percent(b, value < 0 ? -1 : (double)value / 10000);
		break;
	case AXIS_BYTES:
		text_add_bytes(b, value);
		break;
	case AXIS_BYTES_A_SECOND:
		text_add_bytes(b, value);
		if (value >= 0)
			buf_adds(b, "/s");
		break;
	case AXIS_COUNT:
		add_count(b, value);
		break;
	case AXIS_TIME:
		text_add_time(b, value);
		break;
	}
}
