/* SPDX-License-Identifier: MIT */
#include "write/markdown.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

/* ":word:" and the like, which GitHub makes a picture; not the time 10:30:00. */
static bool is_shortcode(const char *colon)
{
	size_t n = strspn(colon + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-");

	return n && colon[n + 1] == ':' && !(n == 2 && strspn(colon + 1, "0123456789") == 2);
}

/*
 * GitHub and GitLab look for @NAME, #123, :word: and addresses in the text after Markdown was
 * parsed. An empty comment splits that text, and shows nothing.
 */
static bool is_split_after(const char *p, const char *begin)
{
	return *p == '@' || (*p == '#' && p[1] >= '0' && p[1] <= '9') ||
	       (*p == '!' && p[1] >= '0' && p[1] <= '9') ||
	       (*p == ':' && (is_shortcode(p) || p[1] == '/')) ||
	       (*p == '-' && p - begin >= 2 && !strncasecmp(p - 2, "gh", 2));
}

/* What makes a paragraph an item of a list: "- ", "+ ", "12. " or "12) ". */
static bool is_item_mark(const char *p, const char *begin)
{
	if (p == begin)
		return (*p == '-' || *p == '+') && p[1] == ' ';
	return (*p == '.' || *p == ')') && (!p[1] || p[1] == ' ') &&
	       strspn(begin, "0123456789") == (size_t)(p - begin);
}

void markdown_add_short(struct buf *b, const char *text, size_t columns)
{
	struct buf shown = BUF_PART_OF(b);
	const char *begin;

	text_add_name(&shown, text, columns);
	begin = buf_str(&shown);
	for (const char *p = begin; *p; p++) {
		if (*p == '<')
			buf_adds(b, "&lt;");
		else if (*p == '&')
			buf_adds(b, "&amp;");
		else if (*p == '.' && p - begin >= 3 && strspn(p - 3, "wW") == 3)
			buf_adds(b, "&#46;");
		else if (*p == ' ' && (p == begin || p[-1] == ' ' || !p[1]))
			buf_adds(b, "&#32;");
		else {
			if (strchr("\\`*_{}[]>#|~!@", *p) || is_item_mark(p, begin))
				buf_addc(b, '\\');
			buf_addc(b, *p);
		}
		if (is_split_after(p, begin))
			buf_adds(b, "<!-- -->");
	}
	buf_release(&shown);
}

void markdown_add(struct buf *b, const char *text)
{
	markdown_add_short(b, text, 0);
}

void markdown_add_name(struct buf *b, const char *name, size_t columns)
{
	buf_adds(b, "<code>");
	markdown_add_short(b, name, columns);
	buf_adds(b, "</code>");
}

/* The fence is longer than all rows of backquotes. */
void markdown_add_block(struct buf *b, const struct buf *lines)
{
	size_t longest = 2, run = 0;

	for (size_t i = 0; i < lines->len; i++) {
		run = lines->data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	buf_addc(b, '\n');
	for (size_t i = 0; i <= longest; i++)
		buf_addc(b, '`');
	buf_adds(b, "text\n");
	buf_add(b, lines->data, lines->len);
	for (size_t i = 0; i <= longest; i++)
		buf_addc(b, '`');
	buf_addc(b, '\n');
}
