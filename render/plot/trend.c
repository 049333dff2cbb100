/* SPDX-License-Identifier: MIT */
#include "render/plot/trend.h"

#include "render/plot/drawing.h"
#include "render/plot/trend_script.h"

#include <errno.h>
#include <string.h>

#define COLUMNS 80
#define LINES 24

static int format_of(enum plot_format *format, const char *path, struct error *err)
{
	const char *end = path ? strrchr(path, '.') : ".term";

	for (*format = PLOT_SVG; *format < PLOT_FORMATS; (*format)++) {
		if (end && !strcmp(end + 1, plot_format_word[*format]) &&
		    (*format == PLOT_TERM) == !path)
			return 0;
	}
	return error_set(err, -EINVAL, path, 0, 0, "the name of a picture ends with .svg, .png or "
			 ".pdf");
}

/* What is seen, for those who hear it. */
static void describe(struct buf *b, const struct trend *t)
{
	buf_adds(b, t->subtitle);
	for (size_t i = 0; i < t->n_panes; i++) {
		const struct trend_pane *p = &t->pane[i];

		buf_addf(b, ". %s: ", p->title);
		if (!p->n_changes)
			buf_adds(b, "no change");
		for (size_t k = 0; k < p->n_changes; k++) {
			buf_addf(b, "%s%s since ", k ? ", " : "", p->change[k].label);
			trend_add_day(b, t, p->change[k].at);
		}
	}
}

int trend_draw(const struct trend *t, const struct trend_output *o, struct buf *out,
	       struct error *err)
{
	struct trend_axis axis[TREND_PANES];
	struct drawing d = {
		.word = TREND_WORD, .title = t->title, .path = o->path, .named = true,
		.timeout_ms = DRAWING_TIMEOUT_MS, .colour = o->colour,
	};
	int r = format_of(&d.format, o->path, err);

	if (r)
		return r;
	for (size_t i = 0; i < t->n_panes; i++) {
		if (trend_axis_make(&axis[i], t, &t->pane[i]))
			return error_set(err, -ENODATA, NULL, 0, 0, "%s: there is nothing to draw",
					 t->title);
	}
	trend_add_data(&d.data, t, axis);
	describe(&d.description, t);
	if (d.format == PLOT_TERM)
		trend_term_add(&d.script, t, axis, o->columns ? o->columns : COLUMNS,
			       o->lines ? o->lines : LINES);
	else
		trend_script_add(&d.script, t, axis, d.format);
	r = drawing_draw(&d, out, err);
	drawing_release(&d);
	return r;
}
