/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

#include <math.h>
#include <string.h>

static void title(struct doc *d, const char *title, bool code, const char *rest)
{
	(void)code;
	markup_begin(d->html, "h1");
	markup_text(d->html, title);
	markup_text(d->html, rest);
	markup_end(d->html);
}

static void fact(struct doc *d, const char *label, enum tone tone, const struct buf *parts)
{
	const char *end = parts->data + parts->len;

	markup_open(d->html, "p", tone == TONE_ALARM ? "fact alarm" : "fact");
	markup_leaf(d->html, "span", "faint", label);
	for (const char *p = parts->data; p < end; p += strlen(p) + 1) {
		markup_text(d->html, p == parts->data ? " " : ", ");
		markup_text(d->html, p);
	}
	markup_end(d->html);
}

static void heading(struct doc *d, const char *title)
{
	markup_leaf(d->html, "h2", NULL, title);
}

static void lead(struct doc *d, enum tone tone, const char *strong, const char *rest)
{
	markup_begin(d->html, "p");
	markup_leaf(d->html, "strong", tone == TONE_ALARM ? "alarm" : NULL, strong);
	markup_text(d->html, rest);
	markup_end(d->html);
}

static void line(struct doc *d, const char *text)
{
	markup_leaf(d->html, "p", NULL, text);
}

/* A box that may scroll can be reached with the keyboard. */
static void table(struct doc *d)
{
	const struct doc_table *t = d->table;
	const char *label = t->label ? t->label : t->title ? t->title : "Table";
	struct markup *h = d->html;

	markup_open(h, "div", "scroll");
	markup_attr(h, "tabindex", "0");
	markup_attr(h, "role", "region");
	markup_attr(h, "aria-label", label);
	markup_open(h, "table", t->class);
	markup_attr(h, "aria-label", label);
	if (t->heads) {
		markup_begin(h, "thead");
		markup_begin(h, "tr");
		for (size_t i = 0, n = 0; i < t->n_columns; i++) {
			if (!doc_has(d, i))
				continue;
			markup_open(h, "th", n++ ? "number" : NULL);
			markup_attr(h, "scope", "col");
			markup_text(h, t->column[i].title);
			markup_end(h);
		}
		markup_end(h);
		markup_end(h);
	}
	markup_begin(h, "tbody");
}

/* The script sorts by this. */
static void attr_number(struct markup *h, double number)
{
	char memory[40];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	if (isfinite(number))
		buf_addf(&b, "%.9g", number);
	else
		buf_adds(&b, isinf(number) ? "1e99" : "-1e99");
	markup_attr(h, "data-n", buf_str(&b));
}

/* The first cell of a row says what it is about. */
static void row(struct doc *d)
{
	struct markup *h = d->html;

	markup_begin(h, "tr");
	for (size_t i = 0, n = 0; i < d->table->n_columns; i++) {
		const struct doc_cell *c = &d->cell[i];
		bool number = doc_is_number(&d->table->column[i]);

		if (!doc_has(d, i))
			continue;
		markup_open(h, n ? "td" : "th", number ? "number" : c->class);
		if (!n++)
			markup_attr(h, "scope", "row");
		else if (number)
			attr_number(h, c->number);
		markup_text(h, buf_str(&d->cell[i].text));
		markup_end(h);
	}
	markup_end(h);
}

static void table_end(struct doc *d, size_t more)
{
	for (int i = 0; i < 3; i++)
		markup_end(d->html);
	if (!more)
		return;
	buf_clear(&d->scratch);
	buf_addf(&d->scratch, "and %zu more", more);
	markup_leaf(d->html, "p", NULL, buf_str(&d->scratch));
}

const struct doc_writer doc_html = {
	.title = title, .fact = fact, .heading = heading, .lead = lead, .line = line, .table = table, .row = row, .table_end = table_end,
};
