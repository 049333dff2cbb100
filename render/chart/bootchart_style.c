/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "base/cursor.h"
#include "render/chart/bootchart.h"
#include "render/chart/palette.h"

#include <string.h>

/*
 * bootchart.css names colours as $ink, $c0 ... A declaration "fill:$ink" becomes two:
 * the plain colour on light ground, for readers that know no variables, and
 * var(--ink), which those that do take instead.
 *
 * Of each of the eight there are three: c0, the colour of the palette; e0, for its lines
 * and edges (palette_edge()); n0, for words upon it (palette_words()).
 */
struct named {
	char name[8];
	uint32_t rgb;
};

#define NAMED_COLOURS (5 + 3 * COLOURS)

static void set_named(struct named *n, const char *name, int digit, uint32_t rgb)
{
	struct buf b;

	buf_init_fixed(&b, n->name, sizeof n->name);
	buf_adds(&b, name);
	if (digit >= 0)
		buf_addi(&b, digit);
	n->rgb = rgb & 0xffffff;
}

static void name_colours(struct named *n, const struct palette *p)
{
	set_named(n++, "ground", -1, p->ground);
	set_named(n++, "ink", -1, p->ink);
	set_named(n++, "faint", -1, p->faint);
	set_named(n++, "grid", -1, p->grid);
	set_named(n++, "outline", -1, p->outline);
	for (int i = 0; i < COLOURS; i++) {
		set_named(n++, "c", i, p->colour[i]);
		set_named(n++, "e", i, palette_edge(p, p->colour[i]));
		set_named(n++, "n", i, palette_words(p, p->colour[i]));
	}
}

static void add_own(struct buf *b, int i, uint32_t colour, const struct palette *p)
{
	buf_addf(b, "--c%d:#%06x;--e%d:#%06x;--n%d:#%06x;", i, (unsigned)colour,
		 i, (unsigned)palette_edge(p, colour),
		 i, (unsigned)palette_words(p, colour));
}

/* Within an element of the class, the steps of a scale are the first of the eight. */
static void add_scale(struct buf *b, const char *class, const uint32_t *step,
		      const struct palette *p)
{
	buf_addf(b, ".%s{", class);
	for (int i = 0; i < PALETTE_STEPS; i++)
		add_own(b, i, step[i], p);
	add_own(b, COLOUR_GREY, p->ground, p);
	buf_adds(b, "}\n");
}

static void add_variables(struct buf *b, const struct palette *p)
{
	struct named named[NAMED_COLOURS];

	name_colours(named, p);
	buf_adds(b, "#bb,#bb-app,.bb-body{");
	for (size_t i = 0; i < NAMED_COLOURS; i++)
		buf_addf(b, "--%s:#%06x;", named[i].name, (unsigned)named[i].rgb);
	buf_adds(b, "}\n");
	add_scale(b, "colours-share", p->share, p);
}

static size_t name_length(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
}

/* property: from the last brace or semicolon to the dollar, "fill:". */
static void add_colour(struct buf *b, struct slice property, struct slice name,
		       const struct named *named)
{
	for (size_t i = 0; i < NAMED_COLOURS; i++) {
		if (!slice_is(name, named[i].name))
			continue;
		buf_addf(b, "#%06x;", (unsigned)named[i].rgb);
		buf_add(b, property.p, property.len);
		buf_addf(b, "var(--%s)", named[i].name);
	}
}

static void add_sheet(struct buf *b, const char *css)
{
	struct named named[NAMED_COLOURS];
	const char *from = css, *begin = css;

	name_colours(named, &palette_light);
	for (const char *p = css; *p; p++) {
		if (*p == '{' || *p == ';') {
			begin = p + 1;
		} else if (*p == '$') {
			struct slice name = { p + 1, name_length(p + 1) };

			buf_add(b, from, (size_t)(p - from));
			add_colour(b, (struct slice){ begin, (size_t)(p - begin) }, name, named);
			p += name.len;
			from = p + 1;
		}
	}
	buf_adds(b, from);
}

void bootchart_style(struct buf *css)
{
	add_variables(css, &palette_light);
	buf_adds(css, "@media screen and (prefers-color-scheme:dark){\n");
	add_variables(css, &palette_dark);
	buf_adds(css, "}\n");
	add_sheet(css, bootchart_css);
	buf_adds(css, bootchart_app_css);
}
