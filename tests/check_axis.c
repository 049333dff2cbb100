/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/axis.h"
#include "tests/support.h"

#define HOUR 3600000000LL
#define YEAR (365 * 24 * HOUR)

static const char *text(enum axis_unit unit, int64_t value)
{
	static struct buf b;

	buf_clear(&b);
	axis_add_value(&b, unit, value);
	return buf_str(&b);
}

static const struct { enum axis_unit unit; int64_t value; const char *text; } texts[] = {
	{ AXIS_SHARE, 0, "0 %" }, { AXIS_SHARE, 6300, "63 %" }, { AXIS_SHARE, 421, "4.2 %" },
	{ AXIS_SHARE, 1, "0.01 %" }, { AXIS_SHARE, -1, "-" }, { AXIS_SHARE, 10000, "100 %" },
	{ AXIS_BYTES, 1503238554, "1.4 GiB" }, { AXIS_BYTES, -1, "-" },
	{ AXIS_BYTES_A_SECOND, 12 << 20, "12 MiB/s" }, { AXIS_BYTES_A_SECOND, 0, "0 B/s" },
	{ AXIS_BYTES_A_SECOND, INT64_MIN, "-" },
	{ AXIS_COUNT, 350, "3.5" }, { AXIS_COUNT, 1200, "12" }, { AXIS_COUNT, 4, "0.04" },
	{ AXIS_COUNT, 0, "0" }, { AXIS_COUNT, 994, "9.9" }, { AXIS_COUNT, 996, "10" },
	{ AXIS_COUNT, 100, "1" }, { AXIS_COUNT, -1, "-" },
	{ AXIS_TIME, 4200000, "4.20 s" }, { AXIS_TIME, -1, "-" },
};

TEST_EACH(units, texts)
{
	ck_assert_str_eq(text(texts[_i].unit, texts[_i].value), texts[_i].text);
}

/* Axes of values */

static const struct {
	enum axis_unit unit;
	int64_t max;
	size_t most;
	int64_t ceiling;
	const char *labels;
} axes[] = {
	{ AXIS_SHARE, 0, 5, 1, "0|0.01 %" },
	{ AXIS_SHARE, 10000, 6, 10000, "0|20 %|40 %|60 %|80 %|100 %" },
	{ AXIS_SHARE, 8001, 5, 10000, "0|25 %|50 %|75 %|100 %" },
	{ AXIS_SHARE, 8000, 5, 8000, "0|20 %|40 %|60 %|80 %" },
	{ AXIS_SHARE, 1130, 5, 1200, "0|3 %|6 %|9 %|12 %" },
	{ AXIS_SHARE, 47, 6, 50, "0|0.1 %|0.2 %|0.3 %|0.4 %|0.5 %" },
	{ AXIS_SHARE, 10000, 2, 10000, "0|100 %" },
	{ AXIS_BYTES, 24104LL << 20, 5, 24LL << 30, "0|6 GiB|12 GiB|18 GiB|24 GiB" },
	{ AXIS_BYTES, 24104LL << 20, 3, 24LL << 30, "0|12 GiB|24 GiB" },
	{ AXIS_BYTES, 1, 5, 1, "0|1 B" },
	{ AXIS_BYTES, 5, 5, 6, "0|2 B|4 B|6 B" },
	{ AXIS_BYTES, 1000, 3, 1024, "0|0.5 KiB|1.0 KiB" },
	{ AXIS_BYTES, 1200 << 20, 4, 1536 << 20, "0|0.5 GiB|1.0 GiB|1.5 GiB" },
	{ AXIS_BYTES_A_SECOND, 600 << 20, 6, 768 << 20,
	  "0|192 MiB/s|384 MiB/s|576 MiB/s|768 MiB/s" },
	{ AXIS_BYTES, INT64_MAX, 2, INT64_MAX, "0|8 EiB" },
	{ AXIS_COUNT, 0, 6, 100, "0|1" },
	{ AXIS_COUNT, 101, 6, 200, "0|1|2" },
	{ AXIS_COUNT, 1600, 6, 1600, "0|4|8|12|16" },
	{ AXIS_COUNT, 6400, 6, 8000, "0|20|40|60|80" },
	{ AXIS_COUNT, 20000, 5, 20000, "0|50|100|150|200" },
	{ AXIS_TIME, 90000000, 6, 100000000, "0|20 s|40 s|60 s|80 s|100 s" },
	{ AXIS_TIME, 9 * HOUR, 6, 10 * HOUR, "0|2 h|4 h|6 h|8 h|10 h" },
};

static const char *join(const struct tick *tick, size_t n)
{
	static struct buf b;

	buf_clear(&b);
	for (size_t i = 0; i < n; i++) {
		buf_adds(&b, i ? "|" : "");
		buf_adds(&b, tick[i].label);
	}
	return buf_str(&b);
}

TEST_EACH(axes_as_people_draw_them, axes)
{
	struct tick tick[16];
	size_t n;

	ck_assert_int_eq(axis_ceiling(axes[_i].max, axes[_i].unit), axes[_i].ceiling);
	n = axis_ticks(tick, axes[_i].most, axes[_i].ceiling, axes[_i].unit);
	ck_assert_str_eq(join(tick, n), axes[_i].labels);
}

static uint64_t state = 1;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Every order of magnitude is equally likely. */
static int64_t draw_size(unsigned bits)
{
	return (int64_t)(draw() >> (64 - 1 - draw() % bits));
}

/* The unit after the number. */
static const char *unit_of(const char *label)
{
	return label + strspn(label, "0123456789.");
}

/* Check's assertions write to a file each time, which is too slow here. */
static void must(bool holds, const char *what, const struct tick *tick, size_t n)
{
	if (!holds)
		ck_abort_msg("%s: %s", what, join(tick, n));
}

/* Values and labels rise, differ, and have one unit; a bare "0" has any. */
static void check_ticks(const struct tick *tick, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strnlen(tick[i].label, sizeof tick[i].label);

		must(len > 0 && len < sizeof tick[i].label, "length", tick, n);
		for (size_t k = 0; k < i; k++)
			must(strcmp(tick[i].label, tick[k].label), "twice", tick, n);
		if (!i)
			continue;
		must(tick[i].value > tick[i - 1].value, "not rising", tick, n);
		must(i < 2 || tick[i].value - tick[i - 1].value == tick[1].value - tick[0].value,
		     "not even", tick, n);
		if (strcmp(tick[i - 1].label, "0") && !strpbrk(tick[i].label, "mh:"))
			must(!strcmp(unit_of(tick[i].label), unit_of(tick[i - 1].label)), "units",
			     tick, n);
	}
}

TEST_LOOP(any_axis, AXIS_TIME + 1)
{
	enum axis_unit unit = (enum axis_unit)_i;

	for (unsigned round = 0; round < 5000; round++) {
		int64_t max = draw_size(63), ceiling = axis_ceiling(max, unit);
		size_t most = 2 + draw() % 11, n;
		struct tick tick[16];

		n = axis_ticks(tick, most, ceiling, unit);
		must(ceiling >= max && ceiling >= 1, "too low", tick, n);
		/* At most half of the picture is empty. */
		if (max > 200 && unit != AXIS_TIME && max < (int64_t)1 << 56)
			must(ceiling / 2 <= max, "too high", tick, n);
		must(axis_ceiling(ceiling, unit) == ceiling, "not its own ceiling", tick, n);
		must(n <= most && n >= 2, "number", tick, n);
		must(!tick[0].value && tick[n - 1].value == ceiling, "ends", tick, n);
		check_ticks(tick, n);
	}
}

/* For all usual values, an axis with room for six ticks has at least three; one of bytes
 * needs room for three. */
TEST(axes_have_ticks)
{
	for (int64_t max = 200; max < (int64_t)1 << 50; max += max / 7) {
		struct tick tick[6];

		for (unsigned unit = 0; unit <= AXIS_COUNT; unit++)
			ck_assert_uint_ge(axis_ticks(tick, 6, axis_ceiling(max, (enum axis_unit)unit),
						     (enum axis_unit)unit), 3);
		ck_assert_uint_eq(axis_ticks(tick, 3, axis_ceiling(max, AXIS_BYTES), AXIS_BYTES), 3);
	}
}

/* Axes of time */

static const struct { int64_t from_us, until_us; size_t most; const char *labels; } times[] = {
	{ 0, 0, 5, "0" }, { 5, 5, 5, "5 us" }, { 0, 1, 5, "0|1 us" },
	{ 0, 10500000, 12, "0|1 s|2 s|3 s|4 s|5 s|6 s|7 s|8 s|9 s|10 s" },
	{ 0, 10500000, 4, "0|5 s|10 s" },
	{ 0, 90000000, 8, "0|15 s|30 s|45 s|1m 00s|1m 15s|1m 30s" },
	{ 60000000, 150000000, 5, "1m 00s|1m 30s|2m 00s|2m 30s" },
	{ 0, 1800000000, 7, "0|5 min|10 min|15 min|20 min|25 min|30 min" },
	{ 2 * HOUR, 2 * HOUR + 600000000, 4, "2h 00m|2h 05m|2h 10m" },
	{ 0, 10 * HOUR, 11, "0|1 h|2 h|3 h|4 h|5 h|6 h|7 h|8 h|9 h|10 h" },
	{ 10 * HOUR, 10 * HOUR + 30000000, 4, "10:00:00|10:00:10|10:00:20|10:00:30" },
	{ 0, 10 * YEAR, 4, "0|1600 d|3200 d" },
	{ 1230000, 1236000, 4, "1230 ms|1232 ms|1234 ms|1236 ms" },
	{ 71230000, 71236000, 4, "71.230 s|71.232 s|71.234 s|71.236 s" },
	{ 1200, 1500, 4, "1200 us|1300 us|1400 us|1500 us" },
	{ 100000, 400000, 4, "100 ms|200 ms|300 ms|400 ms" },
	{ 7, 7, 0, "" }, { 9, 3, 5, "" },
};

TEST_EACH(times_as_people_write_them, times)
{
	struct tick tick[16];
	size_t n = axis_time_ticks(tick, times[_i].most, times[_i].from_us, times[_i].until_us);

	ck_assert_str_eq(join(tick, n), times[_i].labels);
}

TEST(any_time)
{
	for (unsigned round = 0; round < 10000; round++) {
		int64_t span = draw_size(50) % (10 * YEAR);
		int64_t from = round % 3 ? draw_size(50) % (10 * YEAR - span) : 0;
		size_t most = 1 + draw() % 15, n;
		struct tick tick[16];

		n = axis_time_ticks(tick, most, from, from + span);
		must(n <= most, "too many", tick, n);
		check_ticks(tick, n);
		for (size_t i = 0; i < n; i++)
			must(tick[i].value >= from && tick[i].value <= from + span, "outside",
			     tick, n);
		/* Half of the room is used, and more with steps of 1, 2, 5. */
		if (!from && span >= 20 && most >= 4)
			must(2 * n + 2 >= most, "few", tick, n);
	}
}

TEST_MAIN(axis);
