/* SPDX-License-Identifier: MIT */
#include "render/chart/match.h"

#include "analyse/path.h"
#include "base/hash.h"
#include "recording/recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORESEEN 16

/* The tasks of a that differ only in their order and have no partner yet. */
struct same {
	uint64_t hash;		/* 0: free */
	uint32_t first, last;
};

/* One build's side. */
struct side {
	const struct summary *s;
	struct buf build;	/* its directory */
	uint64_t *instance;	/* hashes of their directories */
	uint64_t *task;		/* of what makes a task the same, by its place in order */
};

static struct slice build_slice(const struct side *x)
{
	return (struct slice){ x->build.data, x->build.len };
}

static int side_init(struct side *x, const struct summary *s)
{
	const struct recording *rec = s->rec;
	struct buf plain = BUF_INIT;
	int r = -ENOMEM;

	*x = (struct side){ .s = s };
	path_of_build(&x->build, rec);
	x->instance = malloc((rec->n_instances + 1) * sizeof *x->instance);
	x->task = malloc((s->n_ran + 1) * sizeof *x->task);
	if (buf_error(&x->build) || !x->instance || !x->task)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_instances; i++) {
		struct slice dir;

		path_join(&plain, slice_of(rec->instance[i].cwd), slice_of(""));
		if (buf_error(&plain))
			goto out;
		dir = path_relative((struct slice){ plain.data, plain.len }, build_slice(x));
		x->instance[i] = hash_bytes(0, dir.p, dir.len);
	}
	for (size_t i = 0; i < s->n_ran; i++) {
		const struct task *t = &rec->task[s->order[i]];
		struct slice key = slice_of(t->key), name = slice_of(t->name);
		uint64_t h = x->instance[t->instance];
		struct recipe recipe;

		if (rec->source.recipe_keys) {
			recipe_parse(&recipe, t->key);
			key = recipe.name;
		}
		if (*t->name == '/')
			name = path_relative(name, build_slice(x));
		if (key.len)
			h = hash_bytes(h, key.p, key.len);
		x->task[i] = hash_bytes(h, name.p, name.len) | 1;
	}
	r = 0;
out:
	buf_release(&plain);
	return r;
}

static void side_release(struct side *x)
{
	buf_release(&x->build);
	free(x->instance);
	free(x->task);
}

static struct same *find(struct same *table, size_t mask, uint64_t hash)
{
	for (size_t at = hash >> 1 & mask;; at = (at + 1) & mask) {
		if (!table[at].hash || table[at].hash == hash)
			return &table[at];
	}
}

/* Where the tasks a few further on will be looked for. */
static void foresee(const struct same *table, size_t mask, const struct side *x, size_t i)
{
	if (i + FORESEEN < x->s->n_ran)
		__builtin_prefetch(&table[x->task[i + FORESEEN] >> 1 & mask]);
}

/* next: of each task of a, the one after it that is the same. */
static void add_all(const struct side *a, struct same *table, size_t mask, uint32_t *next)
{
	for (size_t i = 0; i < a->s->n_ran; i++) {
		uint32_t task = a->s->order[i];
		struct same *same = find(table, mask, a->task[i]);

		foresee(table, mask, a, i);
		next[task] = NO_INDEX;
		if (same->hash)
			next[same->last] = task;
		else
			*same = (struct same){ a->task[i], task, task };
		same->last = task;
	}
}

static void take_all(struct match *m, const struct side *b, struct same *table, size_t mask,
		     const uint32_t *next)
{
	for (size_t i = 0; i < b->s->n_ran; i++) {
		struct same *same = find(table, mask, b->task[i]);

		foresee(table, mask, b, i);
		if (!same->hash || same->first == NO_INDEX) {
			m->n_only_b++;
			continue;
		}
		m->other[same->first] = b->s->order[i];
		same->first = next[same->first];
		m->n_common++;
	}
}

int match_make(struct match *m, const struct summary *a, const struct summary *b)
{
	size_t n = a->rec->n_tasks, mask = 15;
	uint32_t *next = malloc((n + 1) * sizeof *next);
	struct side from = { 0 }, to = { 0 };
	struct same *table;
	int r = -ENOMEM;

	while (mask < 2 * a->n_ran)
		mask = 2 * mask + 1;
	table = calloc(mask + 1, sizeof *table);
	*m = (struct match){ .other = malloc((n + 1) * sizeof *m->other) };
	if (m->other)
		memset(m->other, 0xff, n * sizeof *m->other);
	if (m->other && next && table && !side_init(&from, a) && !side_init(&to, b)) {
		add_all(&from, table, mask, next);
		take_all(m, &to, table, mask, next);
		m->n_only_a = a->n_ran - m->n_common;
		r = 0;
	}
	side_release(&from);
	side_release(&to);
	free(table);
	free(next);
	return r;
}

void match_release(struct match *m)
{
	free(m->other);
	*m = (struct match){ 0 };
}
