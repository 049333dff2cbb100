/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "render/chart/chart_legend.h"
#include "render/chart/label.h"

#include <string.h>

#define SWATCH 10		/* its width and height */
#define SWATCH_RISE 9		/* of its top above the baseline of the words */

static void add_box(struct markup *s, const char *class, const struct key *k, double top,
		    double height)
{
	struct svg_path p;

	svg_path_init(&p, s, class);
	svg_path_rect(&p, k->x, k->y - SWATCH_RISE + top, SWATCH, height);
	svg_path_end(&p);
}

static void add_sign(struct markup *s, const char *class, const struct key *k,
		     void (*add)(struct svg_path *p, double x, double y))
{
	struct svg_path p;

	svg_path_init(&p, s, class);
	add(&p, k->x + SWATCH / 2.0, k->y - SWATCH_RISE + SWATCH / 2.0);
	svg_path_end(&p);
}

/* As the mark looks on a bar. */
static void add_mark_swatch(struct markup *s, const struct key *k)
{
	if (!strcmp(k->id, "cpu")) {
		add_box(s, "bar c0", k, 0, SWATCH);
		add_box(s, "cpu c0", k, SWATCH * 0.4, SWATCH * 0.6);
	} else if (!strcmp(k->id, "failed")) {
		add_sign(s, "badge", k, add_badge);
		add_sign(s, "cross", k, add_cross);
	} else if (!strcmp(k->id, "killed")) {
		add_sign(s, "badge", k, add_badge);
		add_sign(s, "bolt", k, add_bolt);
	} else if (!strcmp(k->id, "unfinished")) {
		struct svg_path p;

		svg_path_init(&p, s, k->id);
		add_open_end(&p, k->x, k->y - SWATCH_RISE, SWATCH, SWATCH);
		svg_path_end(&p);
	} else if (!strcmp(k->id, "spread")) {
		add_box(s, "area c0", k, SWATCH * 0.5, SWATCH * 0.5);
		add_box(s, "band all", k, 0, SWATCH);
	} else if (!strcmp(k->id, "gap")) {
		add_box(s, k->id, k, 0, SWATCH);
	} else if (!strcmp(k->id, "critical")) {
		add_box(s, k->id, k, 0.5, SWATCH - 1);
	} else {
		add_box(s, k->id, k, SWATCH * 0.35, strcmp(k->id, "ghost") ? MARK_THIN :
			MARK_GHOST_HEIGHT);
	}
}

static void add_colour_swatch(struct markup *s, const struct key *k)
{
	char class[] = "swatch c0";

	class[8] = (char)('0' + k->colour);
	if (k->mark == MARK_LINE)
		add_box(s, class, k, 4, 2.5);
	else
		add_box(s, class, k, 0, SWATCH);
}

static void add_words(struct markup *s, const struct key *k)
{
	struct buf label = BUF_INIT;

	label_add(&label, k->label, k->width, LEGEND_SIZE);
	markup_begin(s, "text");
	svg_attr_number(s, "x", k->x + (k->id ? LEGEND_SWATCH : 0));
	svg_attr_number(s, "y", k->y);
	markup_text_buf(s, &label);
	if (k->figures) {
		markup_text(s, label.len ? " " : "");
		markup_begin(s, "tspan");
		markup_attr(s, "class", "figures");
		markup_text(s, k->figures);
		markup_end(s);
	}
	markup_end(s);
	buf_release(&label);
}

void add_key(struct markup *s, const struct key *k, const char *attribute)
{
	markup_begin(s, "g");
	markup_attr(s, "class", "key");
	if (k->id)
		markup_attr(s, attribute, k->id);
	if (k->meaning) {
		markup_begin(s, "title");
		markup_text(s, k->meaning);
		markup_end(s);
	}
	if (k->id && !strcmp(attribute, "data-mark"))
		add_mark_swatch(s, k);
	else if (k->id)
		add_colour_swatch(s, k);
	add_words(s, k);
	markup_end(s);
}

void part_legend(struct markup *s, const struct chart *c)
{
	markup_begin(s, "g");
	markup_attr(s, "id", "legend");
	for (size_t i = 0; i < c->kinds.n; i++)
		add_key(s, &c->kinds.key[i], "data-kind");
	for (size_t i = 0; i < c->marks.n; i++)
		add_key(s, &c->marks.key[i], "data-mark");
	markup_end(s);
}
