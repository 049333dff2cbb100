/* SPDX-License-Identifier: MIT */
#include "live/query.h"

#include "base/cursor.h"
#include "base/hex.h"

#include <errno.h>
#include <string.h>

/* Append the decoded bytes up to one of `until`, and a NUL. False: not decodable. */
static bool decode(struct cursor *c, const char *until, char **to)
{
	for (; c->p < c->end && !strchr(until, *c->p); c->p++) {
		int byte = *c->p == '+' ? ' ' : (unsigned char)*c->p;

		if (byte == '%') {
			byte = c->end - c->p < 3 ? -1 : hex_byte(c->p + 1);
			c->p += 2;
		}
		if (byte <= 0)
			return false;
		*(*to)++ = (char)byte;
	}
	/* strchr() finds a NUL, too */
	if (c->p < c->end && !*c->p)
		return false;
	*(*to)++ = '\0';
	return true;
}

int query_parse(struct query *q, const char *text, size_t len)
{
	struct cursor c;
	char *to = q->text;

	q->n = 0;
	/* Decoded, it has at most a NUL more. */
	if (len >= sizeof q->text)
		return -EINVAL;
	cursor_init(&c, text, len);
	while (!cursor_at_end(&c)) {
		const char *key = to, *value;

		if (cursor_byte(&c, '&'))
			continue;
		if (q->n == QUERY_MAX || !decode(&c, "=&", &to))
			return -EINVAL;
		value = to - 1;
		if (cursor_byte(&c, '=')) {
			value = to;
			if (!decode(&c, "&", &to))
				return -EINVAL;
		}
		if (query_text(q, key))
			return -EINVAL;
		q->key[q->n] = key;
		q->value[q->n++] = value;
	}
	return 0;
}

const char *query_text(const struct query *q, const char *key)
{
	for (size_t i = 0; i < q->n; i++) {
		if (!strcmp(q->key[i], key))
			return q->value[i];
	}
	return NULL;
}

int query_number(const struct query *q, const char *key, int64_t min, int64_t max,
		 int64_t otherwise, int64_t *out, struct error *err)
{
	const char *text = query_text(q, key);
	struct cursor c;

	*out = otherwise;
	if (!text)
		return 0;
	cursor_init(&c, text, strlen(text));
	if (cursor_i64(&c, out) && cursor_at_end(&c) && *out >= min && *out <= max)
		return 0;
	return error_say(err, -EINVAL, "parameter '%.100s': expected a number from %lld to %lld, "
			 "not '%.100s'", key, (long long)min, (long long)max, text);
}

bool query_flag(const struct query *q, const char *key)
{
	const char *text = query_text(q, key);

	return text && (!*text || !strcmp(text, "1"));
}
