/* SPDX-License-Identifier: MIT */
#include "cli/fit_sentence.h"

#include "base/array.h"
#include "base/text.h"

#include <string.h>

#define WORD_LEAST 16		/* columns of a shortened name */

static size_t columns(struct buf *b)
{
	return text_columns(buf_str(b), b->len);
}

/* Shortens the longest word by as much as the text is too long, but not below WORD_LEAST. False: there is none. */
static bool shorten_word(struct buf *text, size_t n)
{
	const char *sentence = buf_str(text), *at = sentence;
	size_t longest = 0, width = 0, excess = columns(text) - n;
	struct buf word = BUF_PART_OF(text), all = BUF_PART_OF(text);

	for (const char *p = sentence; *p; p += strcspn(p, " "), p += *p == ' ') {
		if (text_columns(p, strcspn(p, " ")) <= width)
			continue;
		at = p;
		longest = strcspn(p, " ");
		width = text_columns(p, longest);
	}
	if (width > WORD_LEAST) {
		buf_add(&word, at, longest);
		buf_add(&all, sentence, (size_t)(at - sentence));
		text_add_name(&all, buf_str(&word), width > excess + WORD_LEAST ? width - excess : WORD_LEAST);
		buf_adds(&all, at + longest);
		buf_clear(text);
		buf_add(text, all.data, all.len);
	}
	buf_release(&word);
	buf_release(&all);
	return width > WORD_LEAST;
}

/* False: the sentence has only one. */
static bool drop_last_clause(struct buf *sentence)
{
	static const char *const ends[] = { "; ", ": ", ", " };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *text = buf_str(sentence), *last = NULL;

		for (const char *p = text; (p = strstr(p, ends[i])); p++)
			last = p;
		if (!last)
			continue;
		buf_cut(sentence, (size_t)(last - text));
		buf_addc(sentence, '.');
		return true;
	}
	return false;
}

void fit_sentence(struct buf *out, const char *sentence, size_t n)
{
	struct buf rest = BUF_PART_OF(out);
	bool fits;

	buf_adds(&rest, sentence);
	do {
		buf_clear(out);
		buf_add(out, buf_str(&rest), rest.len);
		fits = true;
		while (columns(out) > n && fits)
			fits = shorten_word(out, n);
	} while (!fits && drop_last_clause(&rest));
	buf_release(&rest);
}
