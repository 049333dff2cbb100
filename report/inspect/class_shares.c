/* SPDX-License-Identifier: MIT */
#include "report/inspect/class_shares.h"

#include "base/text.h"

#define NAMED 4			/* classes, and parts of each */
#define LEAST_SHARE 0.03	/* of the whole: smaller ones are not named */
#define DIVIDED_SHARE 0.1	/* of the whole: parts of smaller classes are not named */
#define NAME_COLUMNS 60

static int64_t value_of(const struct class_shares *s, uint32_t class)
{
	int64_t v = classes_value(s->c, class, s->snapshot, s->value);

	return s->since == SIZE_MAX ? v : v - classes_value(s->c, class, s->since, s->value);
}

static double share_of(const struct class_shares *s, uint32_t class)
{
	int64_t whole = value_of(s, 0);

	return whole > 0 ? (double)value_of(s, class) / (double)whole : 0;
}

static bool is_leaf(const struct classes *c, uint32_t i)
{
	return i + 1 == c->n || c->item[i + 1].depth <= c->item[i].depth;
}

/* The classes without children that have most of a class, the largest first, at most NAMED; not
 * "other". Returns how many. */
static size_t leaves_of(const struct class_shares *s, uint32_t class, uint32_t leaf[NAMED])
{
	const struct classes *c = s->c;
	size_t n = 0;

	for (uint32_t i = class + 1; i < c->n && c->item[i].depth > c->item[class].depth; i++) {
		int64_t value = value_of(s, i);
		size_t at = n;

		if (!is_leaf(c, i) || c->item[i].other || value <= 0)
			continue;
		for (; at && value_of(s, leaf[at - 1]) < value; at--) {
			if (at < NAMED)
				leaf[at] = leaf[at - 1];
		}
		if (at < NAMED)
			leaf[at] = i;
		n += n < NAMED;
	}
	return n;
}

static void add_parts(struct buf *out, const struct class_shares *s, uint32_t class)
{
	uint32_t leaf[NAMED];
	size_t n = leaves_of(s, class, leaf), named = 0;

	for (size_t i = 0; i < n && share_of(s, leaf[i]) >= LEAST_SHARE; i++, named++) {
		buf_adds(out, named ? ", " : " (");
		text_add_name(out, s->c->item[leaf[i]].name, NAME_COLUMNS);
		buf_addc(out, ' ');
		text_add_percent(out, share_of(s, leaf[i]));
	}
	buf_adds(out, named ? ")" : "");
}

/* The largest class of the first level that is smaller than the last one, or as large and behind
 * it; 0: there is none. */
static uint32_t next_class(const struct class_shares *s, uint32_t last)
{
	const struct classes *c = s->c;
	uint32_t best = 0;

	for (uint32_t i = 1; i < c->n; i++) {
		int64_t v = value_of(s, i);

		if (c->item[i].depth != 1 ||
		    (last && (v > value_of(s, last) || (v == value_of(s, last) && i <= last))))
			continue;
		if (!best || v > value_of(s, best))
			best = i;
	}
	return best;
}

void class_shares_add(struct buf *out, const struct class_shares *s)
{
	uint32_t class = 0;

	for (int i = 0; i < NAMED && s->c->n && (class = next_class(s, class)); i++) {
		if (share_of(s, class) < LEAST_SHARE)
			break;
		buf_adds(out, i ? ", " : ": ");
		text_add_percent(out, share_of(s, class));
		buf_addc(out, ' ');
		text_add_name(out, s->c->item[class].name, NAME_COLUMNS);
		if (share_of(s, class) >= DIVIDED_SHARE)
			add_parts(out, s, class);
	}
	buf_addc(out, '.');
}
