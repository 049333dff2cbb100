/* SPDX-License-Identifier: MIT */
#include "render/plot/plot.h"

#include "render/plot/drawing.h"
#include "render/plot/script.h"

#include <errno.h>

const char *const plot_word[PLOTS + 1] = { "cpu", "disk", "memory", NULL };
const char *const plot_format_word[PLOT_FORMATS + 1] = { "svg", "png", "pdf", "term", NULL };

/* Stretches a picture is cut into: not more than it has columns of pixels. */
#define STRETCHES 1000

static void describe(struct buf *b, const struct plot_page *page)
{
	buf_adds(b, page->subtitle);
	for (size_t i = 0; i < page->n_panes; i++) {
		const struct pane *p = &page->pane[i];

		buf_addf(b, ". %s", p->title);
		for (size_t j = 0; j < p->n_layers; j++)
			buf_addf(b, "%s%s %s", j ? "; " : ": ", p->layer[j].label,
				 p->layer[j].values);
	}
}

int plot_draw_page(struct drawing *d, const struct plot_page *page, unsigned columns,
		   unsigned lines, struct buf *out, struct error *err)
{
	if (d->format == PLOT_TERM) {
		script_add_term_data(&d->data, page);
		term_add(&d->script, page, columns, lines);
	} else {
		script_add_data(&d->data, page);
		script_add(&d->script, page, d->format);
		describe(&d->description, page);
	}
	return drawing_draw(d, out, err);
}

int plot_draw(const struct plot *p, const struct summary *s, const struct panels *panels,
	      struct buf *out, struct error *err)
{
	const char *word = plot_word[p->chart], *ending = plot_format_word[p->format];
	unsigned columns = p->columns ? p->columns : 80, lines = p->lines ? p->lines : 24;
	bool term = p->format == PLOT_TERM;
	struct plot_page page;
	struct buf path = BUF_INIT;
	struct drawing d = {
		.word = word, .format = p->format, .title = page.title, .timeout_ms = p->timeout_ms,
		.keep_in = p->keep ? p->directory : NULL, .stop_fd = p->stop_fd,
		.colour = p->colour,
	};
	int r = plot_page_make(&page, p->chart, s, panels, term ? term_stretches(columns) : STRETCHES);

	buf_addf(&path, "%s/%s.%s", p->directory ? p->directory : "", word, ending);
	d.path = buf_str(&path);
	if (r == -ENODATA) {
		error_set(err, r, NULL, 0, 0, "nothing was recorded that %s%s%s shows", word,
			  term ? "" : ".", term ? "" : ending);
	} else if (r || buf_error(&path)) {
		r = error_sys(err, r ? r : buf_error(&path), NULL, word);
	} else {
		r = plot_draw_page(&d, &page, columns, lines, out, err);
	}
	drawing_release(&d);
	buf_release(&path);
	plot_page_release(&page);
	return r;
}
