/* SPDX-License-Identifier: MIT */
#include "convert/bazel_date.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"

#include <stdio.h>
#include <string.h>

/* Names of time zones that mean one offset, in minutes east of Greenwich. */
static const struct {
	const char *name;
	int minutes;
} zones[] = {
	{ "UTC", 0 }, { "GMT", 0 }, { "Z", 0 }, { "WET", 0 }, { "WEST", 60 }, { "CET", 60 },
	{ "CEST", 120 }, { "MET", 60 }, { "MEST", 120 }, { "EET", 120 }, { "EEST", 180 },
	{ "SAST", 120 }, { "MSK", 180 }, { "TRT", 180 }, { "IDT", 180 }, { "PKT", 300 },
	{ "NPT", 345 }, { "ICT", 420 }, { "WIB", 420 }, { "SGT", 480 }, { "HKT", 480 },
	{ "PHT", 480 }, { "AWST", 480 }, { "JST", 540 }, { "KST", 540 }, { "ACST", 570 },
	{ "ACDT", 630 }, { "AEST", 600 }, { "AEDT", 660 }, { "NZST", 720 }, { "NZDT", 780 },
	{ "BRT", -180 }, { "BRST", -120 }, { "ART", -180 }, { "CLT", -240 }, { "CLST", -180 },
	{ "NST", -210 }, { "NDT", -150 }, { "EST", -300 }, { "EDT", -240 }, { "CDT", -300 },
	{ "MST", -420 }, { "MDT", -360 }, { "PST", -480 }, { "PDT", -420 }, { "AKST", -540 },
	{ "AKDT", -480 }, { "HST", -600 },
};

static bool parse_two(struct cursor *c, int *n)
{
	if (c->end - c->p < 2 || c->p[0] < '0' || c->p[0] > '9' || c->p[1] < '0' || c->p[1] > '9')
		return false;
	*n = (c->p[0] - '0') * 10 + c->p[1] - '0';
	c->p += 2;
	return true;
}

/* +02:00, +0200 or +02 */
static bool parse_offset(struct cursor *c, int *minutes)
{
	int sign = cursor_byte(c, '-') ? -1 : cursor_byte(c, '+') ? 1 : 0, hour, minute = 0;

	if (!sign || !parse_two(c, &hour) || hour > 18)
		return false;
	if (cursor_byte(c, ':') && !parse_two(c, &minute))
		return false;
	if (!cursor_at_end(c) && !minute && *c->p >= '0' && *c->p <= '9' && !parse_two(c, &minute))
		return false;
	*minutes = sign * (hour * 60 + minute);
	return minute < 60 && cursor_at_end(c);
}

static bool parse_zone(struct slice zone, int *minutes)
{
	struct cursor c;

	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		if (slice_is(zone, zones[i].name)) {
			*minutes = zones[i].minutes;
			return true;
		}
	}
	cursor_init(&c, zone.p, zone.len);
	if (!cursor_literal(&c, "GMT"))
		cursor_literal(&c, "UTC");
	return parse_offset(&c, minutes);
}

/* The milliseconds in ".206537", or 0. */
static int fraction_ms(struct cursor *c)
{
	int ms = 0, unit = 100;

	if (!cursor_byte(c, '.'))
		return 0;
	for (; !cursor_at_end(c) && *c->p >= '0' && *c->p <= '9'; c->p++, unit /= 10)
		ms += (*c->p - '0') * unit;
	return ms;
}

/* The words of "Tue Mar 15 10:33:36 CET 2022" as "2022-03-15T10:33:36", and the zone. */
static bool reorder(char iso[32], struct slice *zone, const char *text)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct slice word[6];	/* day of the week, month, day, time, zone, year */
	const char *month = NULL;
	struct cursor c;

	cursor_init(&c, text, strlen(text));
	for (size_t i = 0; i < ARRAY_SIZE(word); i++) {
		if (!cursor_word(&c, &word[i], 16))
			return false;
		cursor_blanks(&c);
	}
	for (size_t i = 0; i < 12 && word[1].len == 3; i++) {
		if (!memcmp(months + 3 * i, word[1].p, 3))
			month = months + 3 * i;
	}
	if (!month || !cursor_at_end(&c) || word[2].len > 2)
		return false;
	*zone = word[4];
	snprintf(iso, 32, "%.*s-%02d-%s%.*sT%.*s", (int)word[5].len, word[5].p,
		 (int)(month - months) / 3 + 1, word[2].len == 1 ? "0" : "", (int)word[2].len,
		 word[2].p, (int)word[3].len, word[3].p);
	return true;
}

bool bazel_date(const char *text, int64_t *ms)
{
	struct slice zone = { NULL, 0 };
	struct cursor c;
	char iso[32];
	int64_t wall_s;
	int minutes, more_ms = 0;

	if (reorder(iso, &zone, text)) {
		cursor_init(&c, iso, strlen(iso));
		if (!clock_parse_iso(&c, &wall_s) || !cursor_at_end(&c))
			return false;
	} else {
		cursor_init(&c, text, strlen(text));
		if (!clock_parse_iso(&c, &wall_s))
			return false;
		more_ms = fraction_ms(&c);
		zone = (struct slice){ c.p, (size_t)(c.end - c.p) };
	}
	if (!parse_zone(zone, &minutes))
		return false;
	*ms = (wall_s - minutes * INT64_C(60)) * 1000 + more_ms;
	return true;
}
