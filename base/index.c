/* SPDX-License-Identifier: MIT */
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>

static size_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b << 32 ^ b >> 32) * 0xd6e8feb86659fd93u;

	h = (h ^ h >> 32 ^ b) * 0xd6e8feb86659fd93u;
	return (size_t)(h ^ h >> 32);
}

/* The slot of the key, or the free one for it. */
static struct index_slot *slot_of(const struct index *x, uint64_t a, uint64_t b)
{
	size_t i = hash(a, b) & x->mask;

	while (x->slot[i].used && (x->slot[i].a != a || x->slot[i].b != b))
		i = (i + 1) & x->mask;
	return &x->slot[i];
}

bool index_find(const struct index *x, uint64_t a, uint64_t b, uint32_t *value)
{
	const struct index_slot *s;

	if (!x->slot)
		return false;
	s = slot_of(x, a, b);
	if (s->used)
		*value = s->value;
	return s->used;
}

static int grow_index(struct index *x)
{
	size_t n = x->slot ? 2 * (x->mask + 1) : 64;
	struct index bigger = { calloc(n, sizeof *x->slot), n - 1, x->n };

	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; x->slot && i <= x->mask; i++) {
		if (x->slot[i].used)
			*slot_of(&bigger, x->slot[i].a, x->slot[i].b) = x->slot[i];
	}
	free(x->slot);
	*x = bigger;
	return 0;
}

int index_put(struct index *x, uint64_t a, uint64_t b, uint32_t value)
{
	struct index_slot *s;

	if ((!x->slot || x->n >= x->mask / 4 * 3) && grow_index(x))
		return -ENOMEM;
	s = slot_of(x, a, b);
	x->n += !s->used;
	*s = (struct index_slot){ a, b, value, 1 };
	return 0;
}

/* Move later keys of the same run of slots down, so that there is no gap before them. */
void index_remove(struct index *x, uint64_t a, uint64_t b)
{
	struct index_slot *s = x->slot ? slot_of(x, a, b) : NULL;
	size_t gap;

	if (!s || !s->used)
		return;
	gap = (size_t)(s - x->slot);
	for (size_t i = (gap + 1) & x->mask; x->slot[i].used; i = (i + 1) & x->mask) {
		size_t home = hash(x->slot[i].a, x->slot[i].b) & x->mask;

		if (((i - home) & x->mask) < ((i - gap) & x->mask))
			continue;
		x->slot[gap] = x->slot[i];
		gap = i;
	}
	x->slot[gap] = (struct index_slot){ .used = 0 };
	x->n--;
}

void index_release(struct index *x)
{
	free(x->slot);
	*x = (struct index)INDEX_INIT;
}
