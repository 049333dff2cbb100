/* SPDX-License-Identifier: MIT */
#include "render/chart/bootchart_parts.h"

#include "render/chart/bar_name.h"

#include <string.h>

/* Names in bars. Those of one colour and size are one group. */

#define PAD_WIDE 4.0		/* on both sides of a name */
#define PAD_NARROW 2.0
#define NARROW 60.0		/* pixels of such a bar */
#define SIGN_WIDTH 13.0		/* kept free at the end of a bar that has a sign there */
#define SIGN_BAR 40.0		/* pixels of a bar, where that is so */

double bootchart_name_size(const struct bar *b)
{
	return b->named >= 13.5 ? BAR_NAME_SIZE : b->named >= BAR_NAME_HEIGHT ?
	       BAR_NAME_SMALL : 0;
}

static double room_in(const struct bar *b)
{
	return b->width - 2 * (b->width < NARROW ? PAD_NARROW : PAD_WIDE) -
	       (b->ended_badly && b->width >= SIGN_BAR ? SIGN_WIDTH : 0);
}

static void add_name(struct markup *s, const struct summary *sum, enum lanes_by by,
		     const struct bar *b, double size)
{
	struct buf name = BUF_PART_OF(s->out);

	if (b->task == NO_INDEX)
		bar_name_add_count(&name, b->n_tasks, room_in(b), size);
	else if (b->part_us)
		bar_name_add_part(&name, sum, by, b->task, b->part_us, room_in(b), size);
	else
		bar_name_add(&name, sum, by, b->task, room_in(b), size);
	if (name.len) {
		markup_begin(s, "text");
		svg_attr_number(s, "x", b->x + (b->width < NARROW ? PAD_NARROW : PAD_WIDE));
		svg_attr_number(s, "y", b->y + b->named / 2 + size * 0.36);
		markup_text_buf(s, &name);
		markup_end(s);
	}
	buf_release(&name);
}

static void add_group(struct markup *s, const struct summary *sum, enum lanes_by by,
		      const struct bar *bar, size_t n, int colour, double size)
{
	char class[] = "name n0 small";
	bool begun = false;

	class[6] = (char)('0' + colour);
	if (size > BAR_NAME_SMALL)
		class[7] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (bar[i].colour != colour || bar[i].width < BAR_NAME_LEAST ||
		    bootchart_name_size(&bar[i]) != size)
			continue;
		if (!begun) {
			markup_begin(s, "g");
			markup_attr(s, "class", class);
			begun = true;
		}
		add_name(s, sum, by, &bar[i], size);
	}
	if (begun)
		markup_end(s);
}

int bootchart_names(struct markup *s, const struct summary *sum, enum lanes_by by,
		    const struct bar *bar, size_t n)
{
	bootchart_stretches(s, sum, by, bar, n);
	for (int colour = 0; colour < COLOURS; colour++) {
		add_group(s, sum, by, bar, n, colour, BAR_NAME_SIZE);
		add_group(s, sum, by, bar, n, colour, BAR_NAME_SMALL);
	}
	return buf_error(s->out);
}
