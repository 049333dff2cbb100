/* SPDX-License-Identifier: MIT */
#include "report/build_page.h"

#include "analyse/output_excerpt.h"
#include "render/chart/bootchart.h"
#include "render/chart/panels.h"
#include "report/log_page.h"
#include "report/page_static.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>

#define NONCE_BYTES 16

struct saved {
	struct markup h;
	struct view *view;
	const struct show_options *show;
	char nonce[2 * NONCE_BYTES + 1];
};

/* What no recording can know: a script in a name or a line would lack it. */
static int make_nonce(struct saved *p)
{
	unsigned char bytes[NONCE_BYTES];

	if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
		return -errno;
	for (size_t i = 0; i < NONCE_BYTES; i++)
		snprintf(p->nonce + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static void add_policy(struct saved *p)
{
	struct markup *h = &p->h;

	markup_begin(h, "meta");
	markup_attr(h, "http-equiv", "Content-Security-Policy");
	markup_begin_attr(h, "content");
	buf_addf(h->out, "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'nonce-%s'; "
		 "base-uri 'none'; form-action 'none'\"", p->nonce);
	markup_end(h);
}

static void add_link(struct markup *h, const char *to, const char *text)
{
	markup_begin(h, "a");
	markup_attr(h, "href", to);
	markup_text(h, text);
	markup_end(h);
}

static void add_head(struct saved *p, struct buf *out)
{
	const char *command = recording_build(p->view->sum->rec, "command");
	struct markup *h = &p->h;

	html_head(h, out, command ? command : "A build", NULL);
	h->nonce = p->nonce;
	add_policy(p);
	html_more_style(h, "log", page_log_css);
	markup_end(h);
	markup_open(h, "body", "saved");
	markup_begin(h, "nav");
	markup_attr(h, "aria-label", "Parts of the page");
	add_link(h, "#chart", "Chart and tasks");
	if (p->show->output->output)
		add_link(h, "#output", "Output");
	markup_end(h);
	markup_begin(h, "main");
}

static int add_overview(struct saved *p)
{
	struct doc d;
	int r;

	markup_begin(&p->h, "section");
	doc_init_html(&d, &p->h);
	r = show_doc(&d, p->view, p->show);
	doc_release(&d);
	markup_end(&p->h);
	return r;
}

static int draw(struct saved *p, const struct output_excerpt *excerpt, const struct panels *panels)
{
	const struct build_output *output = p->show->output;
	struct chart_input in = {
		.sum = p->view->sum, .panels = panels, .by = LANES_WORKER,
		.lines = output->tasks.lines, .excerpt = excerpt,
	};
	struct chart chart = { 0 };
	int r = chart_make(&chart, &in);

	chart.nonce = p->nonce;
	if (!r)
		r = bootchart_write(markup_content(&p->h), &chart);
	chart_release(&chart);
	return r;
}

static int add_chart(struct saved *p)
{
	const struct build_output *output = p->show->output;
	struct output_excerpt excerpt = { 0 };
	struct panels panels = { 0 };
	int r = panels_make(&panels, p->view->sum);

	markup_begin(&p->h, "section");
	markup_attr(&p->h, "id", "chart");
	markup_leaf(&p->h, "h2", NULL, "Chart and tasks");
	if (!r && output->output)
		r = output_excerpt_make(&excerpt, output->output, &output->tasks, p->view->sum->rec);
	if (!r)
		r = draw(p, output->output ? &excerpt : NULL, &panels);
	markup_end(&p->h);
	output_excerpt_release(&excerpt);
	panels_release(&panels);
	return r;
}

static int add_output(struct saved *p)
{
	const struct build_output *output = p->show->output;
	int r;

	if (!output->output)
		return 0;
	markup_begin(&p->h, "section");
	markup_attr(&p->h, "id", "output");
	markup_leaf(&p->h, "h2", NULL, "Output");
	r = log_page_part(&p->h, p->view->sum, &output->tasks, output->output);
	markup_end(&p->h);
	return r;
}

int build_page_write(struct buf *out, struct view *v, const struct show_options *o)
{
	struct saved p = { .view = v, .show = o };
	int r = make_nonce(&p);

	if (r)
		return r;
	add_head(&p, out);
	r = add_overview(&p);
	if (!r && v->sum->n_ran)
		r = add_chart(&p);
	if (!r)
		r = add_output(&p);
	markup_end(&p.h);
	if (o->output->output)
		html_script(&p.h, "log", page_log_js);
	html_document_end(&p.h);
	return r ? r : buf_error(out);
}
