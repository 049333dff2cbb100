/* SPDX-License-Identifier: MIT */
#include "write/doc_writer.h"

#include "write/markdown.h"

#include <string.h>

static void title(struct doc *d, const char *title, bool code, const char *rest)
{
	buf_adds(d->out, "### ");
	if (code)
		markdown_add_name(d->out, title, DOC_NAME_COLUMNS);
	else
		markdown_add(d->out, title);
	markdown_add(d->out, rest);
	buf_addc(d->out, '\n');
}

static void fact(struct doc *d, const char *label, enum tone tone, const struct buf *parts)
{
	const char *mark = tone == TONE_ALARM ? "**" : "", *end = parts->data + parts->len;

	buf_addf(d->out, "%s| %s | %s", d->facts ? "" : "\n| | |\n|---|---|\n", label, mark);
	for (const char *p = parts->data; p < end; p += strlen(p) + 1) {
		buf_adds(d->out, p == parts->data ? "" : ", ");
		markdown_add_short(d->out, p, 2 * DOC_NAME_COLUMNS);
	}
	buf_addf(d->out, "%s |\n", mark);
}

static void heading(struct doc *d, const char *title)
{
	bool list = d->table && d->table->list;

	buf_adds(d->out, list ? "\n" : "\n#### ");
	markdown_add(d->out, title);
	buf_adds(d->out, list ? ":\n\n" : "\n\n");
}

static void lead(struct doc *d, enum tone tone, const char *strong, const char *rest)
{
	(void)tone;
	buf_adds(d->out, "**");
	markdown_add(d->out, strong);
	buf_adds(d->out, "**");
	markdown_add(d->out, rest);
	buf_adds(d->out, "\n\n");
}

static void line(struct doc *d, const char *text)
{
	buf_adds(d->out, d->line != DOC_NOTE ? "- " : "\n");
	markdown_add_short(d->out, text, d->line == DOC_SENTENCE ? 4 * DOC_NAME_COLUMNS : 0);
	buf_addc(d->out, '\n');
}

static void table(struct doc *d)
{
	const struct doc_table *t = d->table;

	if (t->list)
		return;
	/* after an empty line */
	if (d->out->len > 1 && memcmp(d->out->data + d->out->len - 2, "\n\n", 2) != 0)
		buf_addc(d->out, '\n');
	for (size_t i = 0; i < t->n_columns; i++) {
		if (doc_has(d, i))
			buf_addf(d->out, "| %s ", t->column[i].title ? t->column[i].title : "");
	}
	buf_adds(d->out, "|\n");
	for (size_t i = 0; i < t->n_columns; i++) {
		if (doc_has(d, i))
			buf_adds(d->out, doc_is_right(&t->column[i]) ? "|---:" : "|---");
	}
	buf_adds(d->out, "|\n");
}

static void item(struct doc *d)
{
	bool after_text = false, begun = false;

	buf_addc(d->out, '-');
	for (size_t i = 0; i < d->table->n_columns; i++) {
		const char *before = doc_before(&d->table->column[i], after_text, " → ");
		const char *text = buf_str(&d->cell[i].text);

		if (!doc_has(d, i))
			continue;
		after_text = *text;
		if (!after_text)
			continue;
		buf_adds(d->out, before ? before : " ");
		/* "---" alone would be a line across the page */
		if (!begun && (*text == '-' || *text == '+') && text[1] != ' ')
			buf_addc(d->out, '\\');
		begun = true;
		markdown_add(d->out, text);
	}
	buf_addc(d->out, '\n');
}

static void cell(struct doc *d, struct doc_cell *c)
{
	static const char *const mark[] = {
		[TONE_PLAIN] = "", [TONE_TITLE] = "**", [TONE_FAINT] = "*", [TONE_ALARM] = "**", [TONE_BAR] = "",
	};

	buf_adds(d->out, mark[c->tone]);
	if (c->code)
		markdown_add_name(d->out, buf_str(&c->text), DOC_NAME_COLUMNS);
	else
		markdown_add(d->out, buf_str(&c->text));
	buf_adds(d->out, mark[c->tone]);
	buf_add(d->out, c->after.data, c->after.len);
}

static void row(struct doc *d)
{
	if (d->table->list) {
		item(d);
		return;
	}
	for (size_t i = 0; i < d->table->n_columns; i++) {
		if (!doc_has(d, i))
			continue;
		buf_adds(d->out, "| ");
		for (size_t k = 0; !i && k < d->depth; k++)
			buf_adds(d->out, "&emsp;");
		cell(d, &d->cell[i]);
		buf_addc(d->out, ' ');
	}
	buf_adds(d->out, "|\n");
}

static void table_end(struct doc *d, size_t more)
{
	if (more)
		buf_addf(d->out, d->table->list ? "- and %zu more\n" : "\nand %zu more\n", more);
}

const struct doc_writer doc_markdown = {
	.title = title, .fact = fact, .heading = heading, .lead = lead, .line = line, .table = table, .row = row,
	.table_end = table_end,
};
