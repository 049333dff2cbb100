/* SPDX-License-Identifier: MIT */
#include "send/partial.h"

#include <stdbool.h>
#include <string.h>

/* A field of protobuf, of the kinds that a partial success has. */
struct field {
	unsigned number;
	uint64_t value;		/* a varint */
	const unsigned char *p;	/* a text or message; NULL: another kind */
	size_t len;
};

struct input {
	const unsigned char *p, *end;
};

static bool read_varint(struct input *in, uint64_t *n)
{
	*n = 0;
	for (unsigned shift = 0; shift < 64 && in->p < in->end; shift += 7) {
		unsigned char c = *in->p++;

		*n |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80)
			return true;
	}
	return false;
}

static bool skip(struct input *in, uint64_t n)
{
	if (n > (uint64_t)(in->end - in->p))
		return false;
	in->p += n;
	return true;
}

/* The next field. False at the end, and where the rest is not protobuf. */
static bool next_field(struct input *in, struct field *f)
{
	uint64_t key, len;

	*f = (struct field){ 0 };
	if (!read_varint(in, &key))
		return false;
	f->number = (unsigned)(key >> 3);
	switch (key & 7) {
	case 0:
		return read_varint(in, &f->value);
	case 1:
		return skip(in, 8);
	case 2:
		if (!read_varint(in, &len))
			return false;
		f->p = in->p;
		f->len = (size_t)len;
		return skip(in, len);
	case 5:
		return skip(in, 4);
	}
	return false;
}

/* One line of printable text, whatever it was. */
static void take_message(struct partial *p, const struct field *f)
{
	size_t n = f->len < sizeof p->message - 1 ? f->len : sizeof p->message - 1;

	for (size_t i = 0; i < n; i++)
		p->message[i] = f->p[i] < ' ' || f->p[i] > '~' ? ' ' : (char)f->p[i];
	p->message[n] = '\0';
}

void partial_read(struct partial *p, const char *body, size_t len)
{
	struct input in = { (const unsigned char *)body, (const unsigned char *)body + len };
	struct field outer, f;

	*p = (struct partial){ 0 };
	while (len && next_field(&in, &outer)) {
		struct input inner = { outer.p, outer.p + outer.len };

		if (outer.number != 1 || !outer.p)
			continue;
		while (next_field(&inner, &f)) {
			if (f.number == 1 && !f.p)
				p->rejected = f.value > INT64_MAX ? 0 : (int64_t)f.value;
			else if (f.number == 2 && f.p)
				take_message(p, &f);
		}
	}
}
