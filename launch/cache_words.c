/* SPDX-License-Identifier: MIT */
#include "launch/cache_words.h"

#include "command/shell.h"

#include <string.h>

#define NESTING_MAX 3

static bool is_cache(struct slice word)
{
	struct slice name = shell_base_name(word);

	return slice_is(name, "ccache") || slice_is(name, "sccache");
}

/* The last word of the last echo in the backquotes: what it prints goes before the rest. */
static struct slice echoed(struct slice quoted)
{
	struct slice word, last = { "", 0 };
	struct cursor c;

	cursor_init(&c, quoted.p, quoted.len);
	while (!cursor_at_end(&c)) {
		bool echo = shell_word(&c, &word) && slice_is(word, "echo");

		while (echo && shell_word(&c, &word))
			last = word;
		shell_next_command(&c);
	}
	shell_unquote(&last);
	return last;
}

static int find_in(const struct cache_words *w, struct slice command, bool after_cache,
		   unsigned nesting);

static int take_backquoted(const struct cache_words *w, struct slice word, bool after_cache)
{
	const char *close = memchr(word.p + 1, '`', word.len - 1);
	struct slice quoted, rest, before;
	struct buf b = BUF_INIT;
	int r;

	if (!close)
		return 0;
	quoted = (struct slice){ word.p + 1, (size_t)(close - word.p - 1) };
	rest = (struct slice){ close + 1, (size_t)(word.p + word.len - close - 1) };
	before = echoed(quoted);
	r = rest.len ? w->word(w->context, rest, after_cache) : 0;
	if (r || !before.len || !rest.len)
		return r;
	buf_add(&b, before.p, before.len);
	buf_add(&b, rest.p, rest.len);
	r = buf_error(&b);
	if (!r)
		r = w->word(w->context, (struct slice){ b.data, b.len }, after_cache);
	buf_release(&b);
	return r;
}

static int take_word(const struct cache_words *w, struct slice word, bool after_cache,
		     unsigned nesting)
{
	struct buf plain = BUF_INIT;
	struct slice text;
	int r;

	if (*word.p == '`')
		return take_backquoted(w, word, after_cache);
	if (!memchr(word.p, '\\', word.len) && !memchr(word.p, '\'', word.len) &&
	    !memchr(word.p, '"', word.len))
		return w->word(w->context, word, after_cache);
	shell_add_plain(&plain, word);
	r = buf_error(&plain);
	text = (struct slice){ plain.data, plain.len };
	if (!r && text.len)
		r = w->word(w->context, text, after_cache);
	if (!r && nesting < NESTING_MAX && text.len && memchr(text.p, ' ', text.len))
		r = find_in(w, text, after_cache, nesting + 1);
	buf_release(&plain);
	return r;
}

static int find_in(const struct cache_words *w, struct slice command, bool after_cache,
		   unsigned nesting)
{
	struct slice word;
	struct cursor c;
	int r = 0;

	cursor_init(&c, command.p, command.len);
	while (!r && !cursor_at_end(&c)) {
		while (!r && shell_word(&c, &word)) {
			if (is_cache(word))
				after_cache = true;
			else if (*word.p != '-')
				r = take_word(w, word, after_cache, nesting);
		}
		shell_next_command(&c);
	}
	return r;
}

int cache_words_find(const struct cache_words *w, const char *command)
{
	return find_in(w, slice_of(command), false, 0);
}
