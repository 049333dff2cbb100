/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

#include "base/minmax.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define DOC_LABELS 11		/* columns of the labels of facts */

static void init(struct doc *d, enum doc_format format, struct buf *out,
		 const struct doc_writer *writer)
{
	*d = (struct doc){ .format = format, .out = out, .writer = writer };
	d->scratch = d->text = (struct buf)BUF_PART_OF(out);
	d->labels = DOC_LABELS;
	for (size_t i = 0; i < DOC_COLUMNS; i++)
		d->cell[i].text = d->cell[i].after = (struct buf)BUF_PART_OF(out);
}

void doc_init_terminal(struct doc *d, struct buf *out, const struct style *style)
{
	init(d, DOC_TERMINAL, out, &doc_terminal);
	d->style = style;
}

void doc_init_people(struct doc *d, struct buf *out, const struct style *style, bool markdown)
{
	if (markdown)
		init(d, DOC_MARKDOWN, out, &doc_markdown);
	else
		doc_init_terminal(d, out, style);
}

void doc_init_html(struct doc *d, struct markup *html)
{
	init(d, DOC_HTML, html->out, &doc_html);
	d->html = html;
}

void doc_init_json(struct doc *d, struct json *json)
{
	init(d, DOC_JSON, json->out, &doc_json);
	d->json = json;
}

/* Tables */

static void begin(struct doc *d)
{
	d->begun = true;
	if (d->table->title)
		d->writer->heading(d, d->table->title);
	d->writer->table(d);
}

static void measure(struct doc *d)
{
	for (size_t i = 0; i < d->table->n_columns; i++) {
		const struct buf *text = &d->cell[i].text;

		d->width[i] = MAX(d->width[i], text->len ? text_columns(text->data, text->len) : 0);
	}
}

/* The line or the row that is being made is complete. */
void doc_flush(struct doc *d)
{
	d->facts = false;
	if (d->line && d->text.len && !d->measuring)
		d->writer->line(d, buf_str(&d->text));
	d->line = DOC_NO_LINE;
	if (!d->in_row)
		return;
	assert(d->at == d->table->n_columns);
	d->in_row = false;
	if (d->measuring)
		measure(d);
	else
		d->writer->row(d);
}

/* The first column that can has what the others leave. */
static void share_width(struct doc *d)
{
	const struct doc_column *c = d->table->column;
	size_t taken = 0, n = d->table->n_columns, giving = n;

	for (size_t i = 0; i < n; i++) {
		if (!doc_has(d, i))
			continue;
		if (c[i].width && d->style->width)
			d->width[i] = MIN(d->width[i], c[i].width);
		giving = giving == n && c[i].least ? i : giving;
		taken += c[i].gap + d->width[i];
	}
	if (giving == n || !d->style->width || taken <= d->style->width)
		return;
	taken -= d->style->width;
	d->width[giving] = d->width[giving] > taken + c[giving].least ? d->width[giving] - taken :
			   MIN(d->width[giving], c[giving].least);
}

bool doc_measure(struct doc *d, const struct doc_table *t)
{
	assert(!d->table && t->n_columns <= DOC_COLUMNS);
	doc_flush(d);
	if (d->format != DOC_TERMINAL)
		return false;
	d->table = t;
	d->begun = d->measuring = true;
	for (size_t i = 0; i < t->n_columns; i++)
		d->width[i] = t->heads && t->column[i].title ? strlen(t->column[i].title) : 0;
	return true;
}

void doc_table(struct doc *d, const struct doc_table *t)
{
	assert((!d->table || d->measuring) && t->n_columns <= DOC_COLUMNS);
	doc_flush(d);
	d->table = t;
	d->begun = false;
	for (size_t i = 0; i < t->n_columns; i++) {
		d->dropped[i] = false;
		if (!d->measuring)
			d->width[i] = t->column[i].width;
	}
	if (d->measuring)
		share_width(d);
	d->measuring = false;
	if (t->empty || d->format == DOC_JSON)
		begin(d);
}

void doc_row(struct doc *d)
{
	doc_flush(d);
	if (!d->begun)
		begin(d);
	d->in_row = true;
	d->at = 0;
	d->depth = 0;
	d->row_tone = TONE_PLAIN;
}

void doc_depth(struct doc *d, size_t depth)
{
	d->depth = depth;
}

void doc_row_tone(struct doc *d, enum tone tone)
{
	d->row_tone = tone;
}

void doc_table_end(struct doc *d, size_t more)
{
	doc_flush(d);
	if (more && !d->begun)
		begin(d);
	if (d->begun)
		d->writer->table_end(d, more);
	d->table = NULL;
}

/* Lines */

void doc_title(struct doc *d, const char *title, bool code, const char *rest)
{
	doc_flush(d);
	d->writer->title(d, title, code, rest);
}

void doc_fact(void *to, const char *label, enum tone tone, const struct buf *parts)
{
	struct doc *d = to;

	if (!d->facts)
		doc_flush(d);
	d->writer->fact(d, label, tone, parts);
	d->facts = true;
}

void doc_heading(struct doc *d, const char *title)
{
	doc_flush(d);
	if (!d->measuring)
		d->writer->heading(d, title);
}

void doc_lead(struct doc *d, enum tone tone, const char *strong, const char *rest)
{
	doc_flush(d);
	d->writer->lead(d, tone, strong, rest);
}

static struct buf *add_line(struct doc *d, enum doc_line line, size_t indent)
{
	doc_flush(d);
	if (d->table && !d->begun)
		begin(d);
	buf_clear(&d->text);
	d->line = line;
	d->line_tone = TONE_PLAIN;
	d->line_least = 0;
	d->indent = indent;
	return &d->text;
}

struct buf *doc_sentence(struct doc *d)
{
	return add_line(d, DOC_SENTENCE, 0);
}

void doc_empty_line(struct doc *d)
{
	doc_flush(d);
	buf_addc(d->out, '\n');
}

void doc_line_shorten(struct doc *d, size_t least)
{
	d->line_least = least;
}

void doc_line_tone(struct doc *d, enum tone tone)
{
	d->line_tone = tone;
}

struct buf *doc_item(struct doc *d, size_t indent)
{
	return add_line(d, DOC_ITEM, indent);
}

struct buf *doc_note(struct doc *d)
{
	return add_line(d, DOC_NOTE, 0);
}

void doc_release(struct doc *d)
{
	doc_flush(d);
	for (size_t i = 0; i < DOC_COLUMNS; i++) {
		buf_release(&d->cell[i].text);
		buf_release(&d->cell[i].after);
	}
	buf_release(&d->scratch);
	buf_release(&d->text);
}

/* Values */

static struct doc_cell *next(struct doc *d)
{
	struct doc_cell *c = &d->cell[d->at];

	assert(d->table && d->at < d->table->n_columns);
	d->at++;
	buf_clear(&c->text);
	buf_clear(&c->after);
	c->tone = TONE_PLAIN;
	c->class = NULL;
	c->null = c->code = c->whole = false;
	return c;
}

void doc_str(struct doc *d, const char *s)
{
	struct doc_cell *c = next(d);

	c->null = !s;
	c->number = NAN;
	buf_adds(&c->text, s ? s : "");
}

static int64_t in_bytes(int64_t kb)
{
	return kb < 0 ? -1 : kb % (INT64_MAX / 1024) * 1024;
}

void doc_num(struct doc *d, int64_t n)
{
	enum doc_type type = d->table->column[d->at].type;
	struct doc_cell *c = next(d);

	c->n = n;
	c->number = (double)n;
	if (d->format == DOC_JSON)
		return;
	if (type == DOC_US)
		text_add_time(&c->text, n);
	else if (type == DOC_KB || type == DOC_BYTES)
		text_add_bytes(&c->text, type == DOC_KB ? in_bytes(n) : n);
	else if (n < 0)
		buf_addc(&c->text, '-');
	else
		buf_addi(&c->text, n);
}

struct buf *doc_text(struct doc *d, double number)
{
	struct doc_cell *c = next(d);

	c->number = number;
	c->n = fabs(number) < 9e18 ? (int64_t)number : -1;
	return &c->text;
}

void doc_real(struct doc *d, double n)
{
	bool percent = d->table->column[d->at].type == DOC_PERCENT;
	struct buf *text = doc_text(d, n);

	if (isfinite(n))
		buf_addf(text, percent ? "%.1f %%" : "%.1f", n);
	else
		buf_addc(text, '-');
}

void doc_tone(struct doc *d, enum tone tone)
{
	d->cell[d->at - 1].tone = tone;
}

void doc_class(struct doc *d, const char *class)
{
	d->cell[d->at - 1].class = class;
}

void doc_code(struct doc *d)
{
	d->cell[d->at - 1].code = true;
}

struct buf *doc_after(struct doc *d)
{
	return &d->cell[d->at - 1].after;
}

void doc_whole(struct doc *d)
{
	d->cell[d->at - 1].whole = true;
}
