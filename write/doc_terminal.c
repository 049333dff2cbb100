/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

#include "base/minmax.h"

#include <string.h>

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

static void set_tone(struct doc *d, enum tone tone)
{
	if (tone != TONE_PLAIN)
		text_tone(d->out, d->style, tone);
}

static void reset_tone(struct doc *d, enum tone tone)
{
	if (tone != TONE_PLAIN)
		text_tone(d->out, d->style, TONE_PLAIN);
}

static void title(struct doc *d, const char *title, bool code, const char *rest)
{
	(void)code;
	(void)rest;
	text_tone(d->out, d->style, TONE_TITLE);
	text_add_name(d->out, title, d->style->width);
	text_tone(d->out, d->style, TONE_PLAIN);
	buf_addc(d->out, '\n');
}

/* After a text, a word or a part that does not fit begins a line of its own. Returns the column behind it. */
static size_t put_next(struct doc *d, size_t at, size_t indent, const char *text, size_t len, size_t behind)
{
	size_t width = d->style->width, columns = text_columns(text, len);

	if (width && at + 1 + columns + behind > width) {
		buf_addc(d->out, '\n');
		text_add_blanks(d->out, indent);
		at = indent;
	} else {
		buf_addc(d->out, ' ');
		at++;
	}
	buf_add(d->out, text, len);
	return at + columns;
}

static void fact(struct doc *d, const char *label, enum tone tone, const struct buf *parts)
{
	const char *p = parts->data, *end = p + parts->len;
	size_t at = d->labels + text_columns(p, strlen(p));

	text_tone(d->out, d->style, TONE_FAINT);
	buf_adds(d->out, label);
	text_tone(d->out, d->style, TONE_PLAIN);
	text_add_blanks(d->out, d->labels - strlen(label));
	text_tone(d->out, d->style, tone);
	buf_adds(d->out, p);
	while ((p += strlen(p) + 1) < end) {
		buf_addc(d->out, ',');
		at = put_next(d, at + 1, d->labels, p, strlen(p), 1);
	}
	text_tone(d->out, d->style, TONE_PLAIN);
	buf_addc(d->out, '\n');
}

#define SENTENCE_INDENT 2	/* of its lines after the first */

static void put_sentence(struct doc *d, const char *text)
{
	size_t n = strcspn(text, " "), at = text_columns(text, n);

	buf_add(d->out, text, n);
	while (*(text += n)) {
		n = strcspn(++text, " ");
		at = put_next(d, at, SENTENCE_INDENT, text, n, 0);
	}
}

static void line(struct doc *d, const char *text)
{
	size_t width = d->style->width, least = d->line_least;

	text_add_blanks(d->out, d->indent);
	set_tone(d, d->line_tone);
	if (d->line == DOC_SENTENCE)
		put_sentence(d, text);
	else
		text_add_name(d->out, text, !least || !width ? 0 : MAX(least, width - MIN(width, d->indent)));
	reset_tone(d, d->line_tone);
	buf_addc(d->out, '\n');
}

/* Where the first columns of a terminal were dropped, the next one begins where they did. */
static size_t gap(const struct doc *d, size_t i)
{
	const struct doc_column *c = d->table->column;
	size_t first = 0, shown;

	while (first < i && c[first].in && !(c[first].in & DOC_TERMINAL))
		first++;
	for (shown = first; shown < i && !doc_has(d, shown); shown++)
		;
	return c[shown == i ? first : i].gap;
}

/* Columns of the terminal that all but the last one take. */
static size_t taken(const struct doc *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->table->n_columns; i++) {
		const struct doc_column *c = &d->table->column[i];

		if (doc_has(d, i))
			n += gap(d, i) + (c->last ? 0 : d->width[i]);
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

static void put_before(struct doc *d, size_t i, size_t indent, bool after_text, bool narrow)
{
	const struct doc_column *c = &d->table->column[i];
	const char *arrow = c->colon ? NULL : doc_before(c, after_text, " -> ");

	if (narrow && c->below) {
		buf_addc(d->out, '\n');
		d->blanks = d->table->column->gap + DEPTH * d->depth + 2;
	} else if (arrow) {
		put_text(d, arrow);
	} else {
		size_t blanks = gap(d, i);

		d->blanks += blanks - MIN(blanks, d->borrowed) + indent;
	}
	d->borrowed = 0;
}

/* The width of a cell, which may be shortened; 0: any length. *after is the text behind it, or empty. */
static size_t room(const struct doc *d, size_t i, size_t indent, bool narrow, const char **after)
{
	const struct doc_column *c = &d->table->column[i];
	size_t n, behind = strlen(*after);

	if (d->cell[i].whole || (!c->last && !c->shorten))
		return 0;
	if (!c->last)
		return narrow ? name_room(d, c->gap + indent) : d->width[i] - MIN(indent, d->width[i]);
	n = left(d, indent);
	if (n > behind + d->table->least)
		return n - behind;
	*after = n ? "" : *after;
	return n;
}

static void put(struct doc *d, size_t i, bool heads, bool after_text, bool narrow)
{
	const struct doc_column *c = &d->table->column[i];
	const struct doc_cell *cell = &d->cell[i];
	const char *text = shown(d, i, heads), *after = heads ? "" : buf_str(&d->cell[i].after);
	enum tone tone = heads ? TONE_PLAIN : cell->tone ? cell->tone : d->row_tone;
	size_t indent = i == d->deep ? DEPTH * d->depth : 0, n, pad;
	size_t width = d->width[i] > indent ? d->width[i] - indent : 0;

	if (!*text && !d->width[i] && !c->last)
		return;
	buf_clear(&d->scratch);
	n = text_add_name(&d->scratch, text, heads ? 0 : room(d, i, indent, narrow, &after));
	pad = c->last || narrow || n > width ? 0 : width - n;
	put_before(d, i, indent, after_text, narrow);
	d->blanks += doc_is_right(c) ? pad : 0;
	set_tone(d, tone);
	put_text(d, buf_str(&d->scratch));
	reset_tone(d, tone);
	d->blanks += doc_is_right(c) ? 0 : pad;
	if (!*after)
		return;
	set_tone(d, c->last ? TONE_FAINT : TONE_PLAIN);
	buf_adds(d->out, after);
	reset_tone(d, c->last ? TONE_FAINT : TONE_PLAIN);
	d->borrowed = strlen(after);
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
	d->blanks = d->borrowed = 0;
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

const struct doc_writer doc_terminal = {
	.title = title, .fact = fact, .heading = heading, .lead = lead, .line = line, .table = table, .row = row,
	.table_end = table_end,
};
