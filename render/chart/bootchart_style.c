#include "bootchart_parts.h"
#include "bootchart_text.h"
#include "cursor.h"
#include "palette.h"

#include <stddef.h>
#include <string.h>

/*
 * bootchart.css names colours as $ink, $c0 ... A declaration "fill:$ink" becomes two:
 * the plain colour on light ground, for readers that know no variables, and
 * var(--ink), which those that do take instead.
 */

static const struct {
	const char *name;
	size_t offset;
} colours[] = {
	{ "ground", offsetof(struct palette, ground) },
	{ "ink", offsetof(struct palette, ink) },
	{ "faint", offsetof(struct palette, faint) },
	{ "grid", offsetof(struct palette, grid) },
	{ "outline", offsetof(struct palette, outline) },
	{ "c0", offsetof(struct palette, colour[0]) },
	{ "c1", offsetof(struct palette, colour[1]) },
	{ "c2", offsetof(struct palette, colour[2]) },
	{ "c3", offsetof(struct palette, colour[3]) },
	{ "c4", offsetof(struct palette, colour[4]) },
	{ "c5", offsetof(struct palette, colour[5]) },
	{ "c6", offsetof(struct palette, colour[6]) },
	{ "c7", offsetof(struct palette, colour[7]) },
};

#define N_COLOURS (sizeof colours / sizeof *colours)

static void add_colour(struct buf *b, const struct palette *p, size_t i)
{
	uint32_t rgb;

	memcpy(&rgb, (const char *)p + colours[i].offset, sizeof rgb);
	buf_addf(b, "#%06x", (unsigned)(rgb & 0xffffff));
}

static void add_variables(struct buf *b, const struct palette *p)
{
	buf_adds(b, "#bb{");
	for (size_t i = 0; i < N_COLOURS; i++) {
		buf_addf(b, "--%s:", colours[i].name);
		add_colour(b, p, i);
		buf_addc(b, ';');
	}
	buf_adds(b, "}\n");
}

static size_t name_length(const char *p)
{
	return strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
}

/* property: from the last brace or semicolon to the colon, as in the sheet. */
static void add_declaration(struct buf *b, struct slice property, const char *name)
{
	size_t len = name_length(name);

	for (size_t i = 0; i < N_COLOURS; i++) {
		if (!slice_is((struct slice){ name, len }, colours[i].name))
			continue;
		add_colour(b, &palette_light, i);
		buf_addc(b, ';');
		buf_add(b, property.p, property.len);
		buf_addf(b, "var(--%s)", colours[i].name);
	}
}

static void add_sheet(struct buf *b, const char *css)
{
	const char *from = css, *begin = css;

	for (const char *p = css; *p; p++) {
		if (*p == '{' || *p == ';') {
			begin = p + 1;
		} else if (*p == '$') {
			buf_add(b, from, (size_t)(p - from));
			add_declaration(b, (struct slice){ begin, (size_t)(p - begin) }, p + 1);
			p += name_length(p + 1);
			from = p + 1;
		}
	}
	buf_adds(b, from);
}

void part_style(struct svg *s)
{
	struct buf css = BUF_INIT;

	add_variables(&css, &palette_light);
	buf_adds(&css, "@media screen and (prefers-color-scheme:dark){\n");
	add_variables(&css, &palette_dark);
	buf_adds(&css, "}\n");
	add_sheet(&css, bootchart_css);
	svg_verbatim(s, buf_str(&css));
	if (buf_error(&css) && !s->out->error)
		s->out->error = buf_error(&css);
	buf_release(&css);
}
