/* SPDX-License-Identifier: MIT */
#include "sampler/roster.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int roster_init(struct roster *r, size_t max, bool (*counts)(void *, struct slice), void *ctx)
{
	*r = (struct roster){ .max = max, .counts = counts, .ctx = ctx };
	r->entry = calloc(max, sizeof *r->entry);
	return r->entry ? 0 : -ENOMEM;
}

void roster_release(struct roster *r)
{
	free(r->entry);
	*r = (struct roster){ 0 };
}

static bool is_named(const struct roster_entry *e, struct slice name)
{
	return e->name_len == name.len && !memcmp(e->name, name.p, name.len);
}

static struct roster_entry *search(struct roster *r, struct slice name)
{
	struct roster_entry *e;

	for (size_t i = 0; i < r->n; i++)
		if (is_named(&r->entry[i], name))
			return &r->entry[i];
	if (r->n == r->max)
		return NULL;
	e = &r->entry[r->n++];
	*e = (struct roster_entry){ .name_len = name.len, .group = ROSTER_NO_GROUP };
	memcpy(e->name, name.p, name.len);
	e->counted = r->counts(r->ctx, name);
	return e;
}

bool roster_counts(struct roster *r, struct slice name)
{
	struct roster_entry *e = NULL;

	if (name.len && name.len < GROUP_NAME_MAX)
		e = search(r, name);
	return e && e->counted;
}

/* The name is at another place or is new: move it to its line. */
static void look_up(struct roster *r, size_t line, struct slice name)
{
	struct roster_entry *e = search(r, name);
	struct roster_entry swap;

	if (!e || line >= r->n)
		return;
	swap = r->entry[line];
	r->entry[line] = *e;
	*e = swap;
}

struct roster_entry *roster_find(struct roster *r, size_t line, struct slice name)
{
	if (!name.len || name.len >= GROUP_NAME_MAX || line >= r->max)
		return NULL;
	if (line >= r->n || !is_named(&r->entry[line], name))
		look_up(r, line, name);
	if (line >= r->n || !is_named(&r->entry[line], name))
		return NULL;
	return r->entry[line].counted ? &r->entry[line] : NULL;
}

static void place_entry(struct roster_entry *e, struct table *t)
{
	if (e->group == ROSTER_NO_GROUP)
		e->group = table_group(t, (struct slice){ e->name, e->name_len });
}

void roster_count(struct roster_entry *e, struct table *t, const uint64_t *now, size_t n)
{
	if (t)
		place_entry(e, t);
	for (size_t i = 0; i < n; i++) {
		uint64_t step = table_step(&e->last[i], now[i]);

		if (t && e->seen)
			table_add(t, e->group, i, step);
	}
	e->seen = true;
}

void roster_place(struct roster *r, struct table *t)
{
	for (;;) {
		struct roster_entry *best = NULL;

		for (size_t i = 0; i < r->n; i++) {
			struct roster_entry *e = &r->entry[i];

			if (e->counted && e->seen && e->group == ROSTER_NO_GROUP &&
			    (!best || e->last[0] > best->last[0]))
				best = e;
		}
		if (!best)
			return;
		place_entry(best, t);
	}
}
