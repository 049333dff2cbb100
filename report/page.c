/* SPDX-License-Identifier: MIT */
#include "report/page_parts.h"

#include "base/arena.h"
#include "base/minmax.h"
#include "report/amount.h"
#include "report/page_static.h"
#include "report/words_change.h"

#include <math.h>
#include <string.h>

#define SHORT_ID 10

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

void page_add_build_revisions(struct buf *b, const struct builds *builds, uint32_t build)
{
	const struct build *n = &builds->build[build];

	for (size_t i = 0; i < n->n_revisions; i++) {
		const struct revision *r = &n->revision[i];

		if (i)
			buf_adds(b, ", ");
		if (n->n_revisions > 1)
			buf_addf(b, "%s ", last_part(r->source));
		buf_addf(b, "%.*s%s", SHORT_ID, r->commit, r->dirty ? " with uncommitted changes" :
			 "");
	}
}

void page_cell_task(struct markup *h, const struct page *p, uint32_t task, enum metric m)
{
	markup_open(h, "th", "name");
	markup_attr(h, "scope", "row");
	if (task == TASK_HOST) {
		markup_text(h, words_task(p->builds, task));
	} else {
		markup_open(h, "a", "task");
		markup_attr(h, "href", "#tasks");
		markup_attr_int(h, "data-row", MIN(task, p->builds->n_tasks));
		markup_attr(h, "data-metric", metric_info[m].name);
		markup_text(h, words_task(p->builds, task));
		markup_end(h);
	}
	markup_end(h);
	markup_leaf(h, "td", "metric", metric_info[m].title);
}

void page_cell_shared(struct markup *h, const struct page *p, const struct shared_group *group, uint32_t tasks,
		      uint32_t of, enum metric m)
{
	struct buf text = BUF_PART_OF(h->out);

	words_add_shared(&text, p->builds, group, tasks, of);
	markup_open(h, "th", "name");
	markup_attr(h, "scope", "row");
	markup_text(h, buf_str(&text));
	markup_end(h);
	markup_leaf(h, "td", "metric", metric_info[m].title);
	buf_release(&text);
}

static void cell_number(struct markup *h, const char *class, struct buf *text)
{
	markup_leaf(h, "td", class, buf_str(text));
	buf_clear(text);
}

void page_cells_change(struct markup *h, uint32_t task, enum metric m, double before,
		       double after, double effect)
{
	struct buf text = BUF_PART_OF(h->out);

	if (task == TASK_HOST) {
		buf_addf(&text, "x %.2f", before);
		cell_number(h, "number before", &text);
		buf_addf(&text, "x %.2f", after);
		cell_number(h, "number after", &text);
	} else {
		amount_add(&text, metric_info[m].unit, before);
		cell_number(h, "number before", &text);
		amount_add(&text, metric_info[m].unit, after);
		cell_number(h, "number after", &text);
	}
	amount_add_share(&text, effect);
	cell_number(h, after > before ? "number change worse" : after < before ?
		    "number change better" : "number change same", &text);
	if (task != TASK_HOST)
		amount_add_change(&text, metric_info[m].unit, after - before);
	cell_number(h, "number difference", &text);
	buf_release(&text);
}

/* A note is anybody's: only URLs of the web become links. */
static void add_bug(struct markup *h, const char *bug)
{
	markup_text(h, "; ");
	if (!known_is_url(bug)) {
		markup_text(h, bug);
		return;
	}
	markup_begin(h, "a");
	markup_attr(h, "href", bug);
	markup_attr(h, "rel", "noreferrer");
	markup_text(h, bug);
	markup_end(h);
}

static void add_handling(struct markup *h, const struct known *known)
{
	if (known->owner) {
		markup_text(h, "; owner ");
		markup_text(h, known->owner);
	}
	if (known->bug)
		add_bug(h, known->bug);
}

static void add_fix(struct markup *h, const char *before, const struct known *known)
{
	struct buf text = BUF_PART_OF(h->out);

	buf_addf(&text, "%s%.*s", before, SHORT_ID, known->fixed_by);
	markup_text(h, buf_str(&text));
	buf_release(&text);
}

void page_add_reason(struct markup *h, const struct known *known)
{
	if (!known)
		return;
	if (*known->reason) {
		markup_text(h, known->invalid ? ", invalid: " : ": ");
		markup_text(h, known->reason);
	}
	add_handling(h, known);
	if (known->fixed_by)
		add_fix(h, "; to be fixed by ", known);
}

void page_add_overdue(struct markup *h, const struct known *known)
{
	if (!known)
		return;
	add_fix(h, "; not fixed by ", known);
	markup_text(h, ": ");
	markup_text(h, known->reason);
	add_handling(h, known);
}

void page_cell_rate(struct markup *h, double rate)
{
	struct buf text = BUF_PART_OF(h->out);

	if (isnan(rate))
		buf_addc(&text, '-');
	else if (rate < 1e-4)
		buf_adds(&text, "< 0.01 %");
	else
		buf_addf(&text, "%.2g %%", rate * 100);
	cell_number(h, "number rate", &text);
	buf_release(&text);
}

void page_row_of_heads(struct markup *h, const char *const *head, size_t n)
{
	markup_begin(h, "thead");
	markup_begin(h, "tr");
	for (size_t i = 0; i < n; i++) {
		bool number = *head[i] == '#', named = head[i][number];

		markup_open(h, named ? "th" : "td", number ? "number" : NULL);
		if (named)
			markup_attr(h, "scope", "col");
		markup_text(h, head[i] + number);
		markup_end(h);
	}
	markup_end(h);
	markup_end(h);
}

static void add_chart(struct markup *h, const struct page *p, int i)
{
	const struct page_chart *chart = &p->chart[i];
	struct buf text = BUF_PART_OF(h->out);

	buf_adds(&text, i ? "the newest build, " : "compared with ");
	words_add_day(&text, p->builds, chart->build);
	if (p->builds->build[chart->build].n_revisions)
		buf_adds(&text, ", ");
	page_add_build_revisions(&text, p->builds, chart->build);
	markup_open(h, "figure", "chart");
	markup_leaf(h, "figcaption", NULL, buf_str(&text));
	if (chart->picture) {
		markup_open(h, "div", "stage");
		markup_attr_int(h, "data-chart", i);
		markup_attr_int(h, "data-bytes", (int64_t)chart->picture->n_deflated);
		markup_attr_int(h, "data-width", chart->picture->width);
		markup_attr_int(h, "data-height", chart->picture->height);
		markup_attr(h, "data-title", buf_str(&text));
		markup_end(h);
	} else {
		markup_leaf(h, "p", "faint", chart->why);
	}
	markup_end(h);
	buf_release(&text);
}

int page_write(struct buf *out, const struct page *page)
{
	struct buf title = BUF_PART_OF(out);
	struct markup h;
	int r;

	buf_addf(&title, "%s: builds", page->builds->ref);
	html_document(&h, out, buf_str(&title), NULL);
	buf_release(&title);
	page_part_header(&h, page);
	markup_begin(&h, "main");
	page_part_verdict(&h, page);
	page_part_events(&h, page);
	markup_begin(&h, "section");
	markup_attr(&h, "id", "tasks");
	markup_leaf(&h, "h2", NULL, "Tasks and trends");
	markup_begin(&h, "noscript");
	markup_leaf(&h, "p", NULL, "The table of tasks, the trends and the bootcharts need "
		  "JavaScript.");
	markup_end(&h);
	markup_end(&h);
	markup_begin(&h, "section");
	markup_attr(&h, "id", "charts");
	markup_leaf(&h, "h2", NULL, "Bootcharts");
	markup_open(&h, "div", "pair");
	if (page->builds->n > 1)
		add_chart(&h, page, 0);
	add_chart(&h, page, 1);
	markup_end(&h);
	markup_end(&h);
	markup_end(&h);
	r = page_part_data(&h, page);
	html_script(&h, "report", page_js);
	html_document_end(&h);
	return r ? r : buf_error(out);
}
