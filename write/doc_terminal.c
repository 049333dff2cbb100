/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

static void heading(struct doc *d, const char *title)
{
	buf_clear(&d->scratch);
	text_add_name(&d->scratch, title, 0);
	text_title(d->out, d->style, buf_str(&d->scratch));
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

static bool has_blank_end(const struct buf *b, size_t start)
{
	return b->len > start && b->data[b->len - 1] == ' ';
}

static void put(struct doc *d, size_t i, const char *text, enum tone tone, bool after_text)
{
	const struct doc_column *c = &d->table->column[i];
	const char *before = c->colon ? NULL : doc_before(c, after_text, " -> ");
	size_t n;

	if (!*text && !c->width && !c->last)
		return;
	buf_clear(&d->scratch);
	n = text_add_name(&d->scratch, text, c->last ? d->left : c->shorten ? c->width : 0);
	if (before)
		buf_adds(d->out, before);
	else
		text_add_blanks(d->out, c->gap);
	if (doc_is_number(c) && n < c->width)
		text_add_blanks(d->out, c->width - n);
	if (tone != TONE_PLAIN)
		text_tone(d->out, d->style, tone);
	buf_adds(d->out, buf_str(&d->scratch));
	if (tone != TONE_PLAIN)
		text_tone(d->out, d->style, TONE_PLAIN);
	if (!doc_is_number(c) && !c->last && n < c->width)
		text_add_blanks(d->out, c->width - n);
}

/* A line of titles, or of the cells. */
static void put_line(struct doc *d, bool heads)
{
	size_t n = d->table->n_columns, last = n, start = d->out->len;
	bool after_text = false;

	for (size_t k = 0; k <= n; k++) {
		size_t i = k < n ? k : last;
		const char *text;

		if (i == n || !doc_has(d, i))
			continue;
		if (k < n && d->table->column[i].last) {
			last = i;
			continue;
		}
		text = heads ? d->table->column[i].title : buf_str(&d->cell[i].text);
		put(d, i, text ? text : "", heads ? TONE_PLAIN : d->cell[i].tone, after_text);
		after_text = text && *text;
	}
	while (has_blank_end(d->out, start))
		buf_cut(d->out, d->out->len - 1);
}

static void table(struct doc *d)
{
	unsigned width = d->style->width;

	while (width && taken(d) + d->table->room > width && drop(d))
		;
	d->left = !width ? 0 : width > taken(d) + d->table->least ? width - taken(d) : d->table->least;
	if (!d->table->heads)
		return;
	text_tone(d->out, d->style, d->table->tone);
	put_line(d, true);
	text_tone(d->out, d->style, TONE_PLAIN);
	buf_addc(d->out, '\n');
}

static void row(struct doc *d)
{
	put_line(d, false);
	buf_addc(d->out, '\n');
}

static void table_end(struct doc *d, size_t more)
{
	if (more)
		buf_addf(d->out, "  and %zu more%s\n", more, d->table->more ? d->table->more : "");
}

const struct doc_writer doc_terminal = { heading, table, row, table_end };
