/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_texts.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* At most `most` bytes, not ending within a character. */
static size_t cut(const char *text, size_t n, size_t most)
{
	if (n <= most)
		return n;
	n = most - 3;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

static char *mempset(char *p, char c, size_t n)
{
	memset(p, c, n);
	return p + n;
}

/* What turns the direction of writing would do so in the page as well. */
static void put_line(struct buf *out, const char *text, size_t n, bool whole)
{
	char *p;

	if (buf_reserve(out, n + 4))
		return;
	p = out->data + out->len;
	for (size_t i = 0, more; i < n; i += more) {
		uint32_t code;

		more = utf8_decode((const unsigned char *)text + i, n - i, &code);
		if (more == 3 && utf8_is_unsafe(code))
			p = mempcpy(p, UTF8_REPLACEMENT, more);
		else if (code < UTF8_BAD_BYTE && utf8_is_unsafe(code))
			p = mempset(p, code < 0x80 ? ' ' : '?', more);
		else
			p = mempcpy(p, text + i, more);
	}
	if (!whole)
		p = mempcpy(p, "...", 3);
	*p++ = '\n';
	out->len = (size_t)(p - out->data);
}

void texts_put(struct buf *out, const char *text, size_t most)
{
	size_t n = strnlen(text, most + 1), kept = cut(text, n, most);

	put_line(out, text, kept, kept == n);
}

static bool is_text(const struct dictionary *d, uint32_t i, const char *text, size_t n)
{
	const char *p = d->out.data + d->at[i];

	return d->out.len - d->at[i] > n && !memcmp(p, text, n) && p[n] == '\n';
}

/* Two texts of one hash: the later ones of the second are there again each time. */
uint32_t dictionary_add(struct dictionary *d, const char *text)
{
	size_t n = strnlen(text, TEXT_MAX + 1), kept = cut(text, n, TEXT_MAX);
	uint64_t hash = hash_bytes(0, text, kept);
	size_t *grown;
	uint32_t i;

	if (d->out.error)
		return 0;
	if (index_find(&d->index, hash, n, &i)) {
		if (n != kept || is_text(d, i, text, n))
			return i + 1;
	} else if (index_put(&d->index, hash, n, (uint32_t)d->n)) {
		d->out.error = -ENOMEM;
	}
	grown = array_grow(d->at, d->n, sizeof *grown);
	if (!grown) {
		d->out.error = -ENOMEM;
		return 0;
	}
	d->at = grown;
	d->at[d->n++] = d->out.len;
	put_line(&d->out, text, kept, kept == n);
	return 0;
}

void dictionary_release(struct dictionary *d)
{
	buf_release(&d->out);
	free(d->at);
	index_release(&d->index);
	*d = (struct dictionary)DICTIONARY_INIT;
}
