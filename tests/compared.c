/* SPDX-License-Identifier: MIT */
#include "tests/compared.h"

#include "tests/support.h"

const struct chart_other *compared_make(struct compared *c, const struct summary *base,
					const struct summary *now)
{
	*c = (struct compared){ .other.sum = base };
	if (!base)
		return NULL;
	ck_assert_int_eq(pairs_make(&c->pairs, base, now), 0);
	c->other.same = c->pairs.same;
	c->other.n_same = c->pairs.n_same;
	c->other.n_only_here = c->pairs.n_only_now;
	c->other.n_only_there = c->pairs.n_only_base;
	return &c->other;
}

void compared_release(struct compared *c)
{
	pairs_release(&c->pairs);
}
