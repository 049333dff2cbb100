/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/utf8.h"

#include <string.h>

#define MARK "..."
#define MARK_COLUMNS 3

void text_tone(struct buf *b, const struct style *s, enum tone tone)
{
	/* People with any colour vision can distinguish them: weights, and yellow and cyan, not red and
 * green. */
	static const char *const codes[] = {
		[TONE_PLAIN] = "\033[0m", [TONE_TITLE] = "\033[1m", [TONE_FAINT] = "\033[2m",
		[TONE_ALARM] = "\033[1;33m", [TONE_BAR] = "\033[36m",
	};

	if (s->colour)
		buf_adds(b, codes[tone]);
}

void text_title(struct buf *out, const struct style *style, const char *title)
{
	buf_addc(out, '\n');
	text_tone(out, style, TONE_TITLE);
	buf_adds(out, title);
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
}

void text_add_time(struct buf *b, int64_t us)
{
	int64_t seconds = us / 1000000 + (us % 1000000 >= 500000);

	if (us < 0)
		buf_adds(b, "-");
	else if (!us)
		buf_adds(b, "0 s");
	else if (us < 1000)
		buf_addf(b, "%d us", (int)us);
	else if (us < 9950)
		buf_addf(b, "%.1f ms", (double)us / 1e3);
	else if (us < 999500)
		buf_addf(b, "%.0f ms", (double)us / 1e3);
	else if (us < 9995000)
		buf_addf(b, "%.2f s", (double)us / 1e6);
	else if (us < 59950000)
		buf_addf(b, "%.1f s", (double)us / 1e6);
	else if (seconds < 3600)
		buf_addf(b, "%dm %02ds", (int)(seconds / 60), (int)(seconds % 60));
	else
		buf_addf(b, "%lldh %02dm", (long long)(seconds / 3600),
			 (int)(seconds % 3600 / 60));
}

void text_add_ns(struct buf *b, int64_t ns)
{
	if (ns > 0 && ns < 1000)
		buf_addf(b, "%d ns", (int)ns);
	else
		text_add_time(b, ns / 1000 + (ns % 1000 >= 500));
}

void text_add_bytes(struct buf *b, int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double n = (double)bytes;
	size_t unit = 0;

	if (bytes < 0) {
		buf_adds(b, "-");
		return;
	}
	for (; n >= 999.5 && unit + 1 < ARRAY_SIZE(units); unit++)
		n /= 1024;
	/* a half up: no two sizes that are printed differently may have one code of a chart */
	if (unit && n < 9.95)
		buf_addf(b, "%.1f %s", (double)(int)(n * 10 + .5) / 10, units[unit]);
	else
		buf_addf(b, "%d %s", (int)(n + .5), units[unit]);
}

void text_add_count(struct buf *b, int64_t n)
{
	static const char units[] = "MGTPE";
	double value = (double)n / 1e6;
	size_t unit = 0;

	if (n < 1000000) {
		if (n < 0)
			buf_addc(b, '-');
		else
			buf_addi(b, n);
		return;
	}
	for (; value >= 999.5; unit++)
		value /= 1000;
	buf_addf(b, "%.*f %c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

void text_add_percent(struct buf *b, double share)
{
	double percent = share * 100;

	if (!(share >= 0))
		buf_adds(b, "-");
	else
		buf_addf(b, "%.*f %%", percent >= 9.95 || share == 0 ? 0 : percent >= 0.995 ? 1 : 2,
			 percent);
}

void text_add_blanks(struct buf *b, size_t n)
{
	while (n-- > 0)
		buf_addc(b, ' ');
}

bool text_add_bar(struct buf *b, const struct style *s, double share, unsigned width)
{
	unsigned n = !(share > 0) ? 0 : share >= 1 ? width : (unsigned)(share * width + 0.5);

	if (!n)
		return false;
	text_tone(b, s, TONE_BAR);
	while (n-- > 0)
		buf_addc(b, '#');
	text_tone(b, s, TONE_PLAIN);
	return true;
}

/* Names */

struct glyph {
	const char *p;
	size_t len;		/* bytes of the name */
	uint32_t code;		/* a byte that is not UTF-8: UTF8_BAD_BYTE + it */
	unsigned columns;	/* as printed, escaped or not */
	bool escaped;
};

/* Code points that take no or two columns. */
struct range {
	uint32_t from, to;
};

static bool in(const struct range *r, size_t n, uint32_t code)
{
	for (size_t i = 0; i < n; i++) {
		if (code >= r[i].from && code <= r[i].to)
			return true;
	}
	return false;
}

static unsigned width_of(uint32_t code)
{
	static const struct range none[] = {
		{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x610, 0x61a },
		{ 0x64b, 0x65f }, { 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x20d0, 0x20ff },
		{ 0x3099, 0x309a }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	};
	static const struct range two[] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};

	if (code < 0x300)
		return 1;
	if (in(none, ARRAY_SIZE(none), code))
		return 0;
	return in(two, ARRAY_SIZE(two), code) ? 2 : 1;
}

static unsigned escape_columns(uint32_t code)
{
	if (code == '\n' || code == '\t' || code == '\r')
		return 2;
	return code < 0xa0 || code >= UTF8_BAD_BYTE ? 4 : code < 0x10000 ? 6 : 10;
}

static void next_glyph(struct glyph *g, const char *p, size_t len)
{
	g->p = p;
	g->len = utf8_decode((const unsigned char *)p, len, &g->code);
	g->escaped = utf8_is_unsafe(g->code);
	g->columns = g->escaped ? escape_columns(g->code) : width_of(g->code);
}

static void add_glyph(struct buf *b, const struct glyph *g)
{
	if (!g->escaped)
		buf_add(b, g->p, g->len);
	else if (g->code == '\n' || g->code == '\t' || g->code == '\r')
		buf_adds(b, g->code == '\n' ? "\\n" : g->code == '\t' ? "\\t" : "\\r");
	else if (g->code < 0xa0 || g->code >= UTF8_BAD_BYTE)
		buf_addf(b, "\\x%02x", (unsigned)(g->code & 0xff));
	else
		buf_addf(b, g->code < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)g->code);
}

void text_add_lines(struct buf *b, const char *text, size_t len)
{
	struct glyph g;

	for (size_t i = 0; i < len; i += g.len) {
		next_glyph(&g, text + i, len - i);
		g.escaped &= g.code != '\n' && g.code != '\t';
		add_glyph(b, &g);
	}
}

/* Most texts are only of these: the printable characters of ASCII, a column each. How many come first. */
static size_t plain_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] >= ' ' && s[n] <= '~')
		n++;
	return n;
}

size_t text_columns(const char *s, size_t len)
{
	size_t columns = plain_length(s, len);
	struct glyph g;

	for (size_t i = columns; i < len; i += g.len) {
		next_glyph(&g, s + i, len - i);
		columns += g.columns;
	}
	return columns;
}

/* The glyphs that lie within columns [from, to) of the whole. */
static size_t add_part(struct buf *b, const char *s, size_t len, size_t from, size_t to)
{
	size_t at = MIN(plain_length(s, len), to), added = at - MIN(at, from);
	struct glyph g;

	buf_add(b, s + at - added, added);
	for (size_t i = at; i < len && at < to; i += g.len) {
		next_glyph(&g, s + i, len - i);
		if (at >= from && at + g.columns <= to) {
			add_glyph(b, &g);
			added += g.columns;
		}
		at += g.columns;
	}
	return added;
}

size_t text_add_name(struct buf *b, const char *name, size_t width)
{
	size_t len = strlen(name), columns = text_columns(name, len), head;

	if (!width || columns <= width)
		return add_part(b, name, len, 0, columns + 1);
	if (width <= 2 * MARK_COLUMNS)
		return add_part(b, name, len, 0, width);
	/* The end of a path is the more specific part. */
	head = (width - MARK_COLUMNS) / 3;
	head = add_part(b, name, len, 0, head);
	buf_adds(b, MARK);
	head += MARK_COLUMNS;
	return head + add_part(b, name, len, columns - (width - head), columns + 1);
}
