/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

#define DEPTH 2		/* columns of a step of the indentation */

static void heading(struct doc *d, const char *title)
{
	buf_clear(&d->scratch);
	text_add_name(&d->scratch, title, 0);
	text_title(d->out, d->style, buf_str(&d->scratch));
}

static void lead(struct doc *d, enum tone tone, const char *strong, const char *rest)
{
	text_tone(d->out, d->style, tone);
	text_add_name(d->out, strong, 0);
	text_tone(d->out, d->style, TONE_PLAIN);
	text_add_name(d->out, rest, 0);
	buf_addc(d->out, '\n');
}

static void line(struct doc *d, const char *text)
{
	text_add_blanks(d->out, d->indent);
	text_add_name(d->out, text, 0);
	buf_addc(d->out, '\n');
}

/* Columns of the terminal that all but the last one take. */
static size_t taken(const struct doc *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->table->n_columns; i++) {
		const struct doc_column *c = &d->table->column[i];

		if (doc_has(d, i))
			n += c->gap + (c->last ? 0 : c->width);
	}
	return n;
}

/* Drops the columns with the largest number. False: there is none. */
static bool drop(struct doc *d)
{
	unsigned most = 0;

	for (size_t i = 0; i < d->table->n_columns; i++) {
		if (doc_has(d, i) && d->table->column[i].drop > most)
			most = d->table->column[i].drop;
	}
	for (size_t i = 0; most && i < d->table->n_columns; i++)
		d->dropped[i] |= d->table->column[i].drop == most;
	return most;
}

/* Blanks are written with the next text, so that no line ends with those of a column. */
static void put_text(struct doc *d, const char *text)
{
	if (!*text)
		return;
	text_add_blanks(d->out, d->blanks);
	d->blanks = 0;
	buf_adds(d->out, text);
}

/* Values that do not fit beside the name are in the next line. */
static bool is_narrow(const struct doc *d, size_t i)
{
	return d->table->column[i].below && d->style->width &&
	       d->taken + d->cell[i].text.len > d->style->width;
}

/* What is left for the last column; 0: any length. */
static size_t left(const struct doc *d, size_t indent)
{
	size_t width = d->style->width, used = d->taken + indent;

	return !width ? 0 : width > used + d->table->least ? width - used : d->table->least;
}

static const char *shown(struct doc *d, size_t i, bool heads)
{
	const char *title = d->table->column[i].title;

	return !heads ? buf_str(&d->cell[i].text) : title ? title : "";
}

static size_t name_room(const struct doc *d, size_t indent)
{
	return d->style->width > indent ? d->style->width - indent : 1;
}

static void put_before(struct doc *d, const struct doc_column *c, size_t indent, bool after_text,
		       bool narrow)
{
	const char *arrow = c->colon ? NULL : doc_before(c, after_text, " -> ");

	if (narrow && c->below) {
		buf_addc(d->out, '\n');
		d->blanks = d->table->column->gap + DEPTH * d->depth + 2;
	} else if (arrow) {
		put_text(d, arrow);
	} else {
		d->blanks += c->gap + indent;
	}
}

static void put(struct doc *d, size_t i, bool heads, bool after_text, bool narrow)
{
	const struct doc_column *c = &d->table->column[i];
	const struct doc_cell *cell = &d->cell[i];
	const char *text = shown(d, i, heads);
	enum tone tone = heads ? TONE_PLAIN : cell->tone ? cell->tone : d->row_tone;
	size_t indent = i == d->deep ? DEPTH * d->depth : 0, n, pad;
	size_t width = c->width > indent ? c->width - indent : 0;

	if (!*text && !c->width && !c->last)
		return;
	buf_clear(&d->scratch);
	n = text_add_name(&d->scratch, text, heads || cell->whole ? 0 : c->last ? left(d, indent) :
			  !c->shorten ? 0 : narrow ? name_room(d, c->gap + indent) : width);
	pad = c->last || narrow || n > width ? 0 : width - n;
	put_before(d, c, indent, after_text, narrow);
	d->blanks += doc_is_right(c) ? pad : 0;
	if (tone != TONE_PLAIN)
		text_tone(d->out, d->style, tone);
	put_text(d, buf_str(&d->scratch));
	if (tone != TONE_PLAIN)
		text_tone(d->out, d->style, TONE_PLAIN);
	d->blanks += doc_is_right(c) ? 0 : pad;
}

/* A line of titles, or of the cells. */
static void put_line(struct doc *d, bool heads)
{
	size_t n = d->table->n_columns, last = n;
	bool after_text = false, narrow = false;

	for (size_t i = 0; i < n && !heads; i++)
		narrow |= doc_has(d, i) && is_narrow(d, i);
	for (size_t k = 0; k <= n; k++) {
		size_t i = k < n ? k : last;

		if (i == n || !doc_has(d, i))
			continue;
		if (k < n && d->table->column[i].last) {
			last = i;
			continue;
		}
		put(d, i, heads, after_text, narrow);
		after_text = *shown(d, i, heads);
	}
	d->blanks = 0;
	buf_addc(d->out, '\n');
}

static void table(struct doc *d)
{
	do
		d->taken = taken(d);
	while (d->style->width && d->taken + d->table->room > d->style->width && drop(d));
	d->depth = d->deep = 0;
	for (size_t i = 0; i < d->table->n_columns; i++)
		d->deep = d->table->column[i].last ? i : d->deep;
	if (!d->table->heads)
		return;
	text_tone(d->out, d->style, d->table->tone);
	put_line(d, true);
	text_tone(d->out, d->style, TONE_PLAIN);
}

static void row(struct doc *d)
{
	put_line(d, false);
}

static void table_end(struct doc *d, size_t more)
{
	if (more)
		buf_addf(d->out, "  and %zu more%s\n", more, d->table->more ? d->table->more : "");
}

const struct doc_writer doc_terminal = { heading, lead, line, table, row, table_end };
