/* SPDX-License-Identifier: MIT */
#include "render/plot/script.h"

#include "base/utf8.h"
#include "render/chart/axis.h"

#include <string.h>

/* The words and numbers of gnuplot's language that all scripts are made of. */

#define TICKS_MAX 32

/* Characters with a meaning in a line or string of any version of gnuplot are written as a
 * number, and so is every character not known to be harmless. Two single quotes are one,
 * but not where a string begins. */
static bool is_harmless(unsigned char c)
{
	return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || (c && strchr(" %()+,-./:=_", c));
}

void script_add_text(struct buf *b, const char *text)
{
	buf_addc(b, '"');
	for (size_t len = strlen(text), n; len; text += n, len -= n) {
		unsigned char c = (unsigned char)*text;
		uint32_t code;

		n = utf8_decode((const unsigned char *)text, len, &code);
		if (c >= 0x80 && utf8_is_unsafe(code))
			buf_adds(b, UTF8_REPLACEMENT);
		else if (is_harmless(c))
			buf_add(b, text, n);
		else
			buf_addf(b, "\\%03o", c);
	}
	buf_addc(b, '"');
}

void script_add_number(struct buf *b, int64_t value, unsigned decimals)
{
	uint64_t n = value < 0 ? -(uint64_t)value : (uint64_t)value, unit = 1;

	for (; decimals && n % 10 == 0; decimals--)
		n /= 10;
	for (unsigned i = 0; i < decimals; i++)
		unit *= 10;
	if (value < 0)
		buf_addc(b, '-');
	buf_addu(b, n / unit);
	if (!decimals)
		return;
	buf_addc(b, '.');
	for (n %= unit; unit > 1; n %= unit) {
		unit /= 10;
		buf_addc(b, (char)('0' + n / unit));
	}
}

void script_add_value(struct buf *b, enum axis_unit unit, int64_t value)
{
	if (value == BAND_ABSENT) {
		buf_adds(b, "NaN");
		return;
	}
	switch (unit) {
	case AXIS_SHARE:
	case AXIS_COUNT:
		script_add_number(b, value, 2);
		break;
	case AXIS_BYTES:
	case AXIS_BYTES_A_SECOND:
		buf_addi(b, value);
		break;
	case AXIS_TIME:
		script_add_number(b, value, 6);
		break;
	}
}

static void add_tick(struct buf *b, const struct tick *t, enum axis_unit unit, bool first)
{
	char text[2 * sizeof t->label];
	struct buf label;

	/* Labels of ticks are formats. */
	buf_init_fixed(&label, text, sizeof text);
	for (const char *p = t->label; *p; p++) {
		if (*p == '%')
			buf_addc(&label, '%');
		buf_addc(&label, *p);
	}
	buf_adds(b, first ? "" : ", ");
	script_add_text(b, buf_str(&label));
	buf_addc(b, ' ');
	script_add_value(b, unit, t->value);
}

static void add_list(struct buf *b, const struct tick *tick, size_t n, enum axis_unit unit)
{
	buf_addc(b, '(');
	for (size_t i = 0; i < n; i++)
		add_tick(b, &tick[i], unit, i == 0);
	buf_adds(b, ")");
}

void script_add_ticks(struct buf *b, enum axis_unit unit, int64_t ceiling, size_t most)
{
	struct tick tick[TICKS_MAX];

	add_list(b, tick, axis_ticks(tick, most < TICKS_MAX ? most : TICKS_MAX, ceiling, unit),
		 unit);
}

void script_add_time_ticks(struct buf *b, const struct pane *p, size_t most)
{
	struct tick tick[TICKS_MAX];

	add_list(b, tick, axis_time_ticks(tick, most < TICKS_MAX ? most : TICKS_MAX, p->from_us,
					  p->until_us), AXIS_TIME);
}
