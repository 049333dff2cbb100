/* SPDX-License-Identifier: MIT */
#include "report/diff_output.h"

#include "base/array.h"
#include "report/amount.h"
#include "report/diff_picture.h"
#include "report/html.h"
#include "report/page_static.h"

#include <math.h>

static void add_runs(struct doc *doc, const struct diff *d)
{
	static const struct doc_column columns[] = { { 0 }, { 0 }, { 0 } };
	static const struct doc_table table = {
		.label = "Builds", .column = columns, .n_columns = ARRAY_SIZE(columns),
	};

	doc_table(doc, &table);
	for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
		for (size_t i = 0; i < d->n_runs[s]; i++) {
			doc_row(doc);
			doc_str(doc, s == DIFF_BASE ? "base" : "new");
			doc_str(doc, d->run[s][i].path);
			doc_class(doc, "name");
			amount_add_day(doc_text(doc, NAN), d->run[s][i].start_s);
		}
	}
	doc_table_end(doc, 0);
}

static void add_head(struct doc *doc, const struct diff *d, const struct diff_picture *picture)
{
	struct markup *h = doc->html;
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "header");
	markup_leaf(h, "h1", NULL, diff_is_worse(d) ? "The build is worse" : "Builds compared");
	diff_add_warning(&text, d);
	if (text.len)
		*text.data = 'T';
	if (text.len)
		markup_leaf(h, "p", "alarm", buf_str(&text));
	buf_clear(&text);
	diff_picture_add_answer(h, picture);
	buf_adds(&text, "Verdict: ");
	diff_add_verdict(&text, d);
	buf_addc(&text, '.');
	markup_leaf(h, "p", NULL, buf_str(&text));
	buf_clear(&text);
	buf_adds(&text, "Thresholds: ");
	diff_add_thresholds(&text, d);
	markup_leaf(h, "p", NULL, buf_str(&text));
	buf_clear(&text);
	buf_adds(&text, "Tasks: ");
	diff_add_counts(&text, d);
	markup_leaf(h, "p", NULL, buf_str(&text));
	for (enum metric m = 0; m < METRICS; m++) {
		buf_clear(&text);
		diff_add_common(&text, d, m);
		if (!text.len)
			continue;
		markup_begin(h, "p");
		markup_text(h, "Common factor of all tasks: ");
		markup_text(h, buf_str(&text));
		markup_end(h);
	}
	add_runs(doc, d);
	markup_end(h);
	buf_release(&text);
}

int diff_html(struct buf *out, const struct diff_view *v)
{
	struct diff_picture picture;
	struct markup h;
	struct doc doc;
	int r = diff_picture_make(&picture, v);

	html_document(&h, out, "Builds compared", v->site);
	doc_init_html(&doc, &h);
	add_head(&doc, v->diff, &picture);
	markup_begin(&h, "main");
	if (!r) {
		diff_picture_add_ranked(&h, &picture);
		r = diff_lanes_add(&h, &picture);
	}
	if (!r)
		r = diff_doc(&doc, v);
	markup_end(&h);
	diff_picture_release(&picture);
	doc_release(&doc);
	html_script(&h, "diff", page_diff_js);
	html_document_end(&h);
	return r ? r : buf_error(out);
}
