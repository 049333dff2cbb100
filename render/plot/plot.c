/* SPDX-License-Identifier: MIT */
#include "render/plot/plot_run.h"

#include "render/plot/drawing.h"
#include "render/plot/script.h"

#include <errno.h>

const char *const plot_word[PLOTS + 1] = { "cpu", "disk", "memory", NULL };
const char *const plot_format_word[PLOT_FORMATS + 1] = { "svg", "png", "pdf", "term", NULL };

/* Stretches a picture is cut into: not more than it has columns of pixels. */
#define STRETCHES 1000

static void describe(struct buf *b, const struct figure *f)
{
	buf_adds(b, f->subtitle);
	for (size_t i = 0; i < f->n_panes; i++) {
		const struct pane *p = &f->pane[i];

		buf_addf(b, ". %s", p->title);
		for (size_t j = 0; j < p->n_layers; j++)
			buf_addf(b, "%s%s %s", j ? "; " : ": ", p->layer[j].label, p->layer[j].figures);
	}
}

static void write_down(struct drawing *d, const struct figure *f, const struct plot *p)
{
	if (p->format == PLOT_TERM) {
		term_add_data(&d->data, f);
		term_add(&d->script, f, p->columns ? p->columns : 80, p->lines ? p->lines : 24);
	} else {
		script_add_data(&d->data, f);
		script_add(&d->script, f, p->format);
		describe(&d->description, f);
	}
}

int plot_draw_within(const struct plot *p, const struct summary *s, const struct panels *panels,
		     struct buf *out, int timeout_ms, struct error *err)
{
	const char *word = plot_word[p->chart];
	struct figure f;
	struct buf path = BUF_INIT;
	struct drawing d = {
		.word = word, .format = p->format, .title = f.title, .timeout_ms = timeout_ms,
		.keep_in = p->keep ? p->directory : NULL, .stop_fd = p->stop_fd, .colour = p->colour,
	};
	int r = figure_make(&f, p->chart, s, panels, p->format == PLOT_TERM ?
			    term_stretches(p->columns ? p->columns : 80) : STRETCHES);

	buf_addf(&path, "%s/%s.%s", p->directory ? p->directory : "", word, plot_format_word[p->format]);
	d.path = buf_str(&path);
	if (r == -ENODATA) {
		error_set(err, r, NULL, 0, 0, "nothing was recorded that %s%s%s shows", word,
			  p->format == PLOT_TERM ? "" : ".",
			  p->format == PLOT_TERM ? "" : plot_format_word[p->format]);
	} else if (r || buf_error(&path)) {
		r = error_sys(err, r ? r : buf_error(&path), NULL, word);
	} else {
		write_down(&d, &f, p);
		r = drawing_draw(&d, out, err);
	}
	drawing_release(&d);
	buf_release(&path);
	figure_release(&f);
	return r;
}

int plot_draw(const struct plot *p, const struct summary *s, const struct panels *panels,
	      struct buf *out, struct error *err)
{
	return plot_draw_within(p, s, panels, out, DRAWING_TIMEOUT_MS, err);
}
