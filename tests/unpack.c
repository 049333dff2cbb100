/* SPDX-License-Identifier: MIT */
#include "tests/unpack.h"

#include "base/cursor.h"
#include "tests/support.h"

#include <zlib.h>

static unsigned digit_of(char c)
{
	ck_assert_msg(c >= '!' && c <= '~' && c != '<' && c != '>' && c != '&',
		      "character %d", c);
	return (unsigned)(c - '!') - (c > '&') - (c > '<') - (c > '>');
}

size_t unpack_characters(uint8_t *out, size_t n, const char *p, size_t len)
{
	uint64_t bits = 0;
	unsigned held = 0;
	size_t at = 0;

	ck_assert_uint_eq(len % 2, 0);
	for (size_t i = 0; i < len; i += 2) {
		unsigned pair = digit_of(p[i]) * 91 + digit_of(p[i + 1]);

		ck_assert_uint_lt(pair, 1 << 13);
		bits |= (uint64_t)pair << held;
		for (held += 13; held >= 8 && at < n; held -= 8, bits >>= 8)
			out[at++] = (uint8_t)bits;
	}
	return at;
}

static uint32_t leb(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		ck_assert(*p < end && shift < 35);
		v |= (uint64_t)(**p & 127) << shift;
		if (*(*p)++ < 128)
			return (uint32_t)v;
	}
}

static void block(const uint8_t **p, const uint8_t *end, int64_t *out, size_t n)
{
	uint32_t least = leb(p, end);
	unsigned first = *(*p)++, width = first & 127;
	size_t bytes = (n * width + 7) / 8;

	ck_assert(width <= 32 && (size_t)(end - *p) >= bytes);
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;

		for (unsigned k = 0; k < width; k++) {
			size_t bit = i * width + k;

			v |= (uint64_t)((*p)[bit / 8] >> bit % 8 & 1) << k;
		}
		out[i] = (int64_t)(v + least);
	}
	*p += bytes;
	for (unsigned k = first > 127 ? *(*p)++ : 0; k; k--) {
		size_t i = *(*p)++;

		ck_assert_uint_lt(i, n);
		out[i] += (int64_t)leb(p, end) << width;
	}
}

int64_t *unpack_numbers(const uint8_t **p, const uint8_t *end, char type, size_t n)
{
	int64_t *out = calloc(n + 1, sizeof *out);

	ck_assert_ptr_nonnull(out);
	for (size_t i = 0; i < n; i += 64)
		block(p, end, out + i, n - i < 64 ? n - i : 64);
	for (size_t i = 0; i < n && type != 'u'; i++) {
		out[i] = out[i] & 1 ? -(out[i] + 1) / 2 : out[i] / 2;
		if (type == 'd' && i)
			out[i] = (int32_t)(uint32_t)(out[i] + out[i - 1]);
	}
	return out;
}

/* The next of a list of ["name",...] in the JSON; its other elements follow at *p. */
static bool next_entry(struct cursor *c, char *name, size_t size)
{
	struct slice s;
	const char *from;

	if (cursor_byte(c, ']'))
		return false;
	cursor_byte(c, ',');
	ck_assert(cursor_byte(c, '[') && cursor_byte(c, '"'));
	from = c->p;
	while (c->p < c->end && *c->p != '"')
		c->p++;
	s = (struct slice){ from, (size_t)(c->p - from) };
	ck_assert(s.len < size && cursor_byte(c, '"') && cursor_byte(c, ','));
	memcpy(name, s.p, s.len);
	name[s.len] = '\0';
	return true;
}

static size_t take_number(struct cursor *c)
{
	uint64_t n;

	ck_assert(cursor_long_u64(c, &n));
	return (size_t)n;
}

static struct cursor after(const struct unpacked *u, const char *key)
{
	const char *at = strstr(u->json, key);
	struct cursor c;

	ck_assert_msg(at, "no %s", key);
	at += strlen(key);
	cursor_init(&c, at, strlen(at));
	return c;
}

static void read_numbers(struct unpacked *u, const uint8_t **p, const uint8_t *end)
{
	struct cursor c = after(u, "\"numbers\":[");
	struct unpacked_numbers *n = u->numbers;

	for (; next_entry(&c, n->name, sizeof n->name); n++) {
		ck_assert_uint_lt(++u->n_numbers, UNPACKED_MAX);
		cursor_byte(&c, '"');
		n->type = *c.p++;
		ck_assert(cursor_byte(&c, '"') && cursor_byte(&c, ','));
		n->n = take_number(&c);
		while (c.p < c.end && *c.p++ != ']')	/* a unit */
			;
		n->value = unpack_numbers(p, end, n->type, n->n);
	}
}

static void split(struct unpacked_text *t, const char *text, size_t len)
{
	t->line = calloc(len + 1, sizeof *t->line);
	for (const char *end = text + len, *nl; text < end; text = nl + 1) {
		nl = memchr(text, '\n', (size_t)(end - text));
		ck_assert_ptr_nonnull(nl);
		t->line[t->n++] = strndup(text, (size_t)(nl - text));
	}
}

static void read_texts(struct unpacked *u, const uint8_t *packed, size_t len)
{
	z_stream z = { .next_in = (unsigned char *)packed, .avail_in = (unsigned)len };
	struct cursor c = after(u, "\"texts\":[");
	size_t total = 0, at = 0, size[8];
	char *text;

	while (next_entry(&c, u->text[u->n_texts].name, sizeof u->text->name)) {
		size[u->n_texts] = take_number(&c);
		total += size[u->n_texts++];
		cursor_byte(&c, ']');
	}
	text = malloc(total + 1);
	z.next_out = (unsigned char *)text;
	z.avail_out = (unsigned)total + 1;
	ck_assert_int_eq(inflateInit2(&z, -MAX_WBITS), Z_OK);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.total_out, total);
	ck_assert_uint_eq(z.avail_in, 0);
	for (size_t i = 0; i < u->n_texts; at += size[i++])
		split(&u->text[i], text + at, size[i]);
	inflateEnd(&z);
	free(text);
}

void unpack(struct unpacked *u, const char *packed, size_t len)
{
	const char *nl = memchr(packed, '\n', len);
	size_t n_numbers, n_texts, size = len;
	uint8_t *bytes = malloc(size);
	const uint8_t *p = bytes;
	struct cursor c;

	ck_assert_ptr_nonnull(nl);
	*u = (struct unpacked){ .json = strndup(packed, (size_t)(nl - packed)) };
	c = after(u, "\"packed\":[");
	n_numbers = take_number(&c);
	ck_assert(cursor_byte(&c, ','));
	n_texts = take_number(&c);
	size = unpack_characters(bytes, size, nl + 1, len - (size_t)(nl + 1 - packed));
	ck_assert_uint_ge(size, n_numbers + n_texts);
	read_numbers(u, &p, bytes + n_numbers);
	ck_assert_ptr_eq(p, bytes + n_numbers);
	read_texts(u, p, n_texts);
	free(bytes);
}

void unpacked_release(struct unpacked *u)
{
	for (size_t i = 0; i < u->n_numbers; i++)
		free(u->numbers[i].value);
	for (size_t i = 0; i < u->n_texts; i++) {
		for (size_t k = 0; k < u->text[i].n; k++)
			free(u->text[i].line[k]);
		free(u->text[i].line);
	}
	free(u->json);
}

const struct unpacked_numbers *unpacked_numbers(const struct unpacked *u, const char *name)
{
	for (size_t i = 0; i < u->n_numbers; i++) {
		if (!strcmp(u->numbers[i].name, name))
			return &u->numbers[i];
	}
	ck_abort_msg("no column %s", name);
}

const struct unpacked_text *unpacked_text(const struct unpacked *u, const char *name)
{
	for (size_t i = 0; i < u->n_texts; i++) {
		if (!strcmp(u->text[i].name, name))
			return &u->text[i];
	}
	ck_abort_msg("no texts %s", name);
}

int64_t unpacked_at(const struct unpacked *u, const char *name, size_t i)
{
	const struct unpacked_numbers *n = unpacked_numbers(u, name);

	if (!n->n)
		return 0;
	ck_assert_uint_lt(i, n->n);
	return n->value[i];
}

int64_t unpacked_json(const struct unpacked *u, const char *name)
{
	char key[64];
	struct cursor c;

	snprintf(key, sizeof key, "\"%s\":", name);
	c = after(u, key);
	return (int64_t)take_number(&c);
}
