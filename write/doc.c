/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

#include <assert.h>
#include <math.h>

static void init(struct doc *d, enum doc_format format, struct buf *out,
		 const struct doc_writer *writer)
{
	*d = (struct doc){ .format = format, .out = out, .writer = writer };
	d->scratch = d->text = (struct buf)BUF_PART_OF(out);
	for (size_t i = 0; i < DOC_COLUMNS; i++)
		d->cell[i].text = (struct buf)BUF_PART_OF(out);
}

void doc_init_terminal(struct doc *d, struct buf *out, const struct style *style)
{
	init(d, DOC_TERMINAL, out, &doc_terminal);
	d->style = style;
}

void doc_init_markdown(struct doc *d, struct buf *out)
{
	init(d, DOC_MARKDOWN, out, &doc_markdown);
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

/* The line or the row that is being made is complete. */
void doc_flush(struct doc *d)
{
	if (d->line && d->text.len)
		d->writer->line(d, buf_str(&d->text));
	d->line = DOC_NO_LINE;
	if (!d->in_row)
		return;
	assert(d->at == d->table->n_columns);
	d->in_row = false;
	d->writer->row(d);
}

void doc_table(struct doc *d, const struct doc_table *t)
{
	assert(!d->table && t->n_columns <= DOC_COLUMNS);
	doc_flush(d);
	d->table = t;
	d->begun = false;
	for (size_t i = 0; i < t->n_columns; i++)
		d->dropped[i] = false;
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

void doc_heading(struct doc *d, const char *title)
{
	doc_flush(d);
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
	d->indent = indent;
	return &d->text;
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
	for (size_t i = 0; i < DOC_COLUMNS; i++)
		buf_release(&d->cell[i].text);
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

void doc_whole(struct doc *d)
{
	d->cell[d->at - 1].whole = true;
}
