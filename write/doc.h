/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_WRITE_DOC_H
#define BUILDBEAT_WRITE_DOC_H

#include "base/json.h"
#include "base/text.h"
#include "write/markup.h"

/*
 * A document for people or programs, in one format. One builder makes it for all formats and asks
 * doc_is() where they differ in what they have; how a part looks in a format only the writers know.
 * Each part is written when it is complete, so that a document takes no memory of its own. Texts
 * may be any bytes: each writer makes them safe. Errors are those of the buffer.
 */
enum doc_format { DOC_TERMINAL = 1, DOC_MARKDOWN = 2, DOC_HTML = 4, DOC_JSON = 8 };

/* What a column has. Strings are at the left, everything else at the right. */
enum doc_type {
	DOC_STRING, DOC_COUNT, DOC_US, DOC_KB, DOC_BYTES,
	DOC_REAL, DOC_PERCENT,	/* with one decimal */
};

struct doc_column {
	const char *title;	/* for people */
	const char *key;	/* in JSON, which lacks columns without one */
	enum doc_type type;
	unsigned in;		/* formats that have it; 0: all */
	uint8_t gap;		/* on a terminal: blanks before it, */
	uint16_t width;		/* its own, */
	uint8_t drop;		/* and, if not 0, the narrow one lacks it, the largest numbers first */
	uint8_t least;		/* of a measured table: it gives up columns for the others, down to these */
	bool shorten;		/* to the width, on a terminal */
	bool right;		/* a string at the right */
	bool last;		/* on a terminal: at the end of the line, in what is left of its width */
	bool below;		/* on a terminal: in the next line, if the text does not fit */
	bool arrow, colon;	/* what is before it in lists; the arrow on a terminal, too */
};

struct doc_table {
	const char *title;	/* a heading, written if there is a row; NULL: none */
	const char *label;	/* of the table in HTML; NULL: the title */
	const char *key;	/* of the array in JSON */
	const struct doc_column *column;	/* at most DOC_COLUMNS */
	size_t n_columns;
	bool heads;		/* people see the titles of columns */
	bool empty;		/* even without a row */
	bool list;		/* Markdown has a list */
	enum tone tone;		/* of the titles on a terminal */
	size_t least;		/* columns of a terminal that the last column has in any case */
	size_t room;		/* and those that it has before others are dropped */
	const char *class;	/* in HTML */
	const char *more;	/* how to see the rows that are left out, on a terminal */
};

#define DOC_COLUMNS 48

struct doc_cell {
	struct buf text, after;
	double number;
	int64_t n;
	bool null, code, whole;
	enum tone tone;
	const char *class;
};

enum doc_line { DOC_NO_LINE, DOC_ITEM, DOC_NOTE, DOC_SENTENCE };

#define DOC_NAME_COLUMNS 200	/* of a name in Markdown */

struct doc_writer;

struct doc {
	enum doc_format format;
	struct buf *out;
	const struct style *style;	/* of the terminal */
	struct markup *html;
	struct json *json;

	const struct doc_writer *writer;
	const struct doc_table *table;	/* the open one, or NULL */
	bool begun, in_row;		/* the table, a row of it */
	bool measuring;			/* rows, lines and headings are not written */
	size_t at;			/* the next cell */
	enum tone row_tone;
	size_t depth, deep;		/* of the row, and the column that is indented */
	bool dropped[DOC_COLUMNS];	/* from the table, on a terminal */
	size_t width[DOC_COLUMNS];	/* there */
	size_t indent;			/* of the line, on a terminal */
	size_t blanks;			/* to be written before the next text, */
	size_t borrowed;		/* without those that are taken already */
	size_t taken;			/* columns there without the last one */
	struct doc_cell cell[DOC_COLUMNS];
	struct buf scratch;
	enum doc_line line;		/* that is being made, */
	enum tone line_tone;		/* and there its tone, */
	size_t line_least;		/* and the width that it has in any case; 0: all of it */
	bool facts;			/* facts come one after the other */
	size_t labels;			/* columns of their labels on a terminal; the caller may change it */
	struct buf text;
};

/* The document is a part of the caller's output: lines, or elements of an open HTML element or JSON
 * object. Always release. */
void doc_init_terminal(struct doc *d, struct buf *out, const struct style *style);
/* Markdown, or a terminal with this style. */
void doc_init_people(struct doc *d, struct buf *out, const struct style *style, bool markdown);
void doc_init_html(struct doc *d, struct markup *html);
void doc_init_json(struct doc *d, struct json *json);
void doc_release(struct doc *d);

/* formats: bits */
static inline bool doc_is(const struct doc *d, unsigned formats)
{
	return d->format & formats;
}

/* Does the open table have this column here? Where a terminal is narrow, it may lack some. */
static inline bool doc_has(const struct doc *d, size_t column)
{
	const struct doc_column *c = &d->table->column[column];

	return (!c->in || (c->in & d->format)) && !d->dropped[column];
}

/* Writes what is being made, before the caller adds to the output itself. */
void doc_flush(struct doc *d);

void doc_heading(struct doc *d, const char *title);

/* The title of the whole document. The first words are code if that is set; `rest` is for Markdown. */
void doc_title(struct doc *d, const char *title, bool code, const char *rest);

/* A fact: a label and parts, each ended by a NUL, between which a line of a terminal may break. Facts
 * that follow each other are one table in Markdown. For struct facts, hence the type of d. */
void doc_fact(void *d, const char *label, enum tone tone, const struct buf *parts);

/* The first line: its first words stand out, on a terminal in this tone. */
void doc_lead(struct doc *d, enum tone tone, const char *strong, const char *rest);

/* A line, to which the caller adds its text before the next part; nothing if that is empty. An item
 * is indented on a terminal and one of a list in Markdown, a note is a paragraph. Items can come
 * between the rows of a table that only a terminal has. */
struct buf *doc_item(struct doc *d, size_t indent);
struct buf *doc_note(struct doc *d);

/* An item that is not indented, and breaks between its words on a terminal. */
struct buf *doc_sentence(struct doc *d);

/* A line without text. */
void doc_empty_line(struct doc *d);

/* The line just begun has this tone on a terminal. It is shortened there to the width, but not below
 * `least` columns. */
void doc_line_tone(struct doc *d, enum tone tone);
void doc_line_shorten(struct doc *d, size_t least);

/*
 * A table has rows, a row has a value for each of its columns, in their order and also for those
 * that the format lacks. The end has the number of rows that were left out.
 */
void doc_table(struct doc *d, const struct doc_table *t);
void doc_row(struct doc *d);
void doc_table_end(struct doc *d, size_t more);

/* On a terminal, columns can be as wide as their texts: true if the caller shall make all rows twice,
 * before doc_table() and after it. `width` is the most that a column may take where width is limited
 * (0: no limit). Lines between the rows are not measured. */
bool doc_measure(struct doc *d, const struct doc_table *t);

/* The row just begun is a part of the one before: its name is indented by so many steps. */
void doc_depth(struct doc *d, size_t depth);

/* All of the row has this tone on a terminal. */
void doc_row_tone(struct doc *d, enum tone tone);

void doc_str(struct doc *d, const char *s);	/* NULL: nothing, null in JSON */
void doc_num(struct doc *d, int64_t n);		/* negative: unknown, null in JSON */
void doc_real(struct doc *d, double n);

/* The value has this text for people, which the caller adds before the next one, and this number for
 * programs and to sort by (NAN: unknown). */
struct buf *doc_text(struct doc *d, double number);

/* The value just made has this tone on a terminal; in Markdown, TONE_FAINT is emphasis, TONE_ALARM and
 * TONE_TITLE are strong. It has this class in HTML. It is code, such as the name of a
 * program, which is not endless in Markdown. */
void doc_tone(struct doc *d, enum tone tone);
void doc_class(struct doc *d, const char *class);
void doc_code(struct doc *d);

/* A text of ours behind the value just made. On a terminal it takes the room of the last column's value,
 * if that leaves enough, and is faint; in other columns, that of the blanks before the next value.
 * HTML, JSON and lists of Markdown do not have it. */
struct buf *doc_after(struct doc *d);

/* It is not shortened where a terminal is narrow. */
void doc_whole(struct doc *d);

#endif
