/* SPDX-License-Identifier: MIT */
#include "report/markdown.h"

#include "base/text.h"

#include <string.h>

void markdown_add(struct buf *b, const char *text)
{
	struct buf shown = BUF_PART_OF(b);

	text_add_name(&shown, text, 0);
	for (const char *p = buf_str(&shown); *p; p++) {
		if (*p == '<')
			buf_adds(b, "&lt;");
		else if (*p == '&')
			buf_adds(b, "&amp;");
		else {
			if (strchr("\\`*_{}[]>#|~!@", *p))
				buf_addc(b, '\\');
			buf_addc(b, *p);
		}
	}
	buf_release(&shown);
}

void markdown_add_row(struct buf *b, const char *indent, struct buf *cell, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_addf(b, "| %s", i ? "" : indent);
		markdown_add(b, buf_str(&cell[i]));
		buf_addc(b, ' ');
	}
	buf_adds(b, "|\n");
}

void markdown_row(struct buf *b, const char *const *cell, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "| %s ", cell[i]);
	buf_adds(b, "|\n");
}

void markdown_rule(struct buf *b, const char *columns)
{
	for (; *columns; columns++)
		buf_adds(b, *columns == 'r' ? "|---:" : "|---");
	buf_adds(b, "|\n");
}
