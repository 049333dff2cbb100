/* SPDX-License-Identifier: MIT */
#include "command/shell.h"

#include "base/utf8.h"

#include <string.h>

static bool is_separator(char c)
{
	return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')';
}

/* The end of the quotes, backquotes or $() that begin at p; not after end. */
static const char *pass_quoted(const char *p, const char *end)
{
	char close = *p == '$' ? ')' : *p;
	unsigned depth = 1;

	for (p += *p == '$' ? 2 : 1; p < end; p++) {
		if (*p == '\\' && close != '\'' && p + 1 < end)
			p++;
		else if (close == ')' && *p == '(')
			depth++;
		else if (*p == close && !--depth)
			return p + 1;
	}
	return end;
}

bool shell_begins_quoted(const char *p, const char *end)
{
	return *p == '\'' || *p == '"' || *p == '`' ||
	       (*p == '$' && p + 1 < end && p[1] == '(');
}

bool shell_word(struct cursor *c, struct slice *word)
{
	const char *p;

	for (;;) {
		cursor_blanks(c);
		if (!cursor_literal(c, "\\\n"))
			break;
	}
	p = c->p;
	while (p < c->end && *p != ' ' && *p != '\t' && !is_separator(*p)) {
		if (*p == '\\' && p + 1 < c->end)
			p += 2;
		else if (*p == '>' && p + 1 < c->end && p[1] == '&')
			p += 2;
		else if (shell_begins_quoted(p, c->end))
			p = pass_quoted(p, c->end);
		else
			p++;
	}
	*word = (struct slice){ c->p, (size_t)(p - c->p) };
	c->p = p;
	return word->len;
}

void shell_next_command(struct cursor *c)
{
	struct slice word;

	while (shell_word(c, &word))
		;
	while (c->p < c->end && (is_separator(*c->p) || *c->p == ' ' || *c->p == '\t'))
		c->p++;
}

bool shell_is_assignment(struct slice word)
{
	const char *equals = memchr(word.p, '=', word.len);

	if (!equals || equals == word.p)
		return false;
	for (const char *p = word.p; p < equals; p++) {
		if (!(*p >= 'A' && *p <= 'Z') && !(*p >= 'a' && *p <= 'z') &&
		    !(*p >= '0' && *p <= '9') && *p != '_')
			return false;
	}
	return true;
}

bool shell_unquote(struct slice *s)
{
	if (s->len < 2 || (s->p[0] != '\'' && s->p[0] != '"') || s->p[s->len - 1] != s->p[0])
		return false;
	s->p++;
	s->len -= 2;
	return true;
}

struct slice shell_base_name(struct slice word)
{
	const char *slash;

	shell_unquote(&word);
	slash = memrchr(word.p, '/', word.len);
	if (slash)
		word = (struct slice){ slash + 1, (size_t)(word.p + word.len - slash - 1) };
	return word;
}

/* In double quotes, a backslash only escapes these characters. */
static bool is_escape(const char *p, const char *end, char quote)
{
	return *p == '\\' && p + 1 < end && quote != '\'' &&
	       (!quote || strchr("$`\"\\", p[1]));
}

void shell_add_plain(struct buf *b, struct slice word)
{
	const char *end = word.p + word.len;
	char quote = 0;

	for (const char *p = word.p; p < end; p++) {
		if (is_escape(p, end, quote))
			buf_addc(b, *++p);
		else if (quote ? *p == quote : *p == '\'' || *p == '"')
			quote = quote ? 0 : *p;
		else
			buf_addc(b, *p);
	}
}

static bool is_bare(const char *word)
{
	size_t n = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789_@%+=:,./-");

	return n && !word[n];
}

static void add_quoted(struct buf *b, const char *p, size_t len)
{
	buf_addc(b, '\'');
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '\'')
			buf_adds(b, "'\\''");
		else
			buf_addc(b, p[i]);
	}
	buf_addc(b, '\'');
}

static void quote_word(struct buf *b, const char *word)
{
	if (is_bare(word))
		buf_adds(b, word);
	else
		add_quoted(b, word, strlen(word));
}

void shell_quote_words(struct buf *b, char *const *argv)
{
	for (size_t i = 0; argv[i]; i++) {
		if (i)
			buf_addc(b, ' ');
		quote_word(b, argv[i]);
	}
}

/* The length of the text before the next character that is not, or is, safe to print. */
static size_t run_length(const char *p, bool safe)
{
	size_t len = strlen(p), at = 0, n;
	uint32_t code;

	for (; at < len; at += n) {
		n = utf8_decode((const unsigned char *)p + at, len - at, &code);
		if ((code == '\n' || !utf8_is_unsafe(code)) != safe)
			break;
	}
	return at;
}

void shell_add_shown(struct buf *b, const char *word)
{
	if (is_bare(word)) {
		buf_adds(b, word);
		return;
	}
	if (!*word)
		buf_adds(b, "''");
	while (*word) {
		size_t n = run_length(word, true);

		if (n)
			add_quoted(b, word, n);
		word += n;
		n = run_length(word, false);
		if (n)
			buf_adds(b, "\"$(printf '");
		for (size_t i = 0; i < n; i++)
			buf_addf(b, "\\%03o", (unsigned char)word[i]);
		if (n)
			buf_adds(b, "')\"");
		word += n;
	}
}
