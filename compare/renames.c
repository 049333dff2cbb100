/* SPDX-License-Identifier: MIT */
#include "compare/renames.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARTS_MAX 8		/* of a name that are compared */
#define ALIKE 0.75
#define GROUP_MAX 1000		/* larger groups of candidates are skipped */

struct renames {
	struct rename_task *gone, *now;
	size_t n_gone, n_now;
	struct keyed *keyed;	/* unpaired tasks: index, new ones after those that are gone */
};

static struct rename_task *task_of(const struct renames *r, int64_t index)
{
	return (size_t)index < r->n_gone ? &r->gone[index] : &r->now[index - (int64_t)r->n_gone];
}

static void pair(struct renames *r, int64_t gone, int64_t now, enum rename_reason reason)
{
	struct rename_task *a = task_of(r, gone), *b = task_of(r, now);

	a->reason = b->reason = reason;
	a->other = (uint32_t)(now - (int64_t)r->n_gone);
	b->other = (uint32_t)gone;
}

struct part {
	const char *p;
	size_t len;
};

static bool is_between(const char *name, const char *p)
{
	return *p == '/' || (*p == ' ' && p > name && p[-1] == ':');
}

/* The last n parts, separated by / and ": "; NULL if there are fewer. */
static const char *last_parts(const char *name, unsigned n)
{
	const char *p = name + strlen(name);

	while (p > name) {
		if (is_between(name, p - 1) && !--n)
			return p;
		p--;
	}
	return n == 1 && *name ? name : NULL;
}

/* With its / or ": ". */
static struct part directory(const char *name)
{
	const char *base = last_parts(name, 1);

	return (struct part){ name, base ? (size_t)(base - name) : 0 };
}

static struct part suffix(const char *name)
{
	const char *base = name + directory(name).len, *dot = strrchr(base, '.');

	return dot && dot > base ? (struct part){ dot, strlen(dot) } :
	       (struct part){ base + strlen(base), 0 };
}

/* The name without directory and suffix. */
static struct part stem(const char *name)
{
	const char *base = name + directory(name).len;

	return (struct part){ base, (size_t)(suffix(name).p - base) };
}

static struct part recipe(const char *name)
{
	const char *end = strstr(name, ": ");

	return (struct part){ name, end ? (size_t)(end - name) : 0 };
}

static bool part_is(struct part a, struct part b)
{
	return a.len == b.len && !memcmp(a.p, b.p, a.len);
}

/* The share of the longer one that is equal at beginning and end. */
static double likeness(struct part a, struct part b)
{
	size_t least = MIN(a.len, b.len), most = a.len + b.len - least;
	size_t begin = 0, end = 0;

	while (begin < least && a.p[begin] == b.p[begin])
		begin++;
	while (end < least - begin && a.p[a.len - 1 - end] == b.p[b.len - 1 - end])
		end++;
	return most ? (double)(begin + end) / (double)most : 0;
}

typedef bool key_of(const struct rename_task *t, unsigned parts, uint64_t *key);
typedef void pair_group(struct renames *r, const struct keyed *group, size_t n);

static size_t collect_keys(struct renames *r, key_of *key, unsigned parts)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_gone + r->n_now; i++) {
		const struct rename_task *t = task_of(r, (int64_t)i);

		r->keyed[n].value = (int64_t)i;
		if (t->reason == RENAME_NONE && key(t, parts, &r->keyed[n].key))
			n++;
	}
	return n;
}

static int each_group(struct renames *r, key_of *key, unsigned parts, pair_group *work)
{
	size_t n = collect_keys(r, key, parts), end;
	int error = sort_keyed(r->keyed, n);

	if (error)
		return error;
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && r->keyed[end].key == r->keyed[i].key; end++)
			;
		if (end > i + 1)
			work(r, r->keyed + i, end - i);
	}
	return 0;
}

static uint64_t kind_hash(const struct rename_task *t)
{
	return hash_bytes(0, t->kind, strlen(t->kind));
}

static bool moved_key(const struct rename_task *t, unsigned parts, uint64_t *key)
{
	const char *last = t->recipe ? NULL : last_parts(t->name, parts);

	if (!last)
		return false;
	*key = hash_bytes(kind_hash(t), last, strlen(last));
	return true;
}

static void pair_only(struct renames *r, const struct keyed *group, size_t n)
{
	int64_t first = group[0].value, second = group[1].value;

	if (n == 2 && first < (int64_t)r->n_gone && second >= (int64_t)r->n_gone &&
	    part_is(stem(task_of(r, first)->name), stem(task_of(r, second)->name)))
		pair(r, first, second, RENAME_MOVED);
}

static int find_moved(struct renames *r)
{
	int error = 0;

	for (unsigned parts = PARTS_MAX; !error && parts; parts--)
		error = each_group(r, moved_key, parts, pair_only);
	return error;
}

static bool similar_key(const struct rename_task *t, unsigned parts, uint64_t *key)
{
	struct part dir = directory(t->name), end = suffix(t->name);

	(void)parts;
	*key = hash_bytes(hash_bytes(kind_hash(t), dir.p, dir.len), end.p, end.len);
	return true;
}

static bool recipe_key(const struct rename_task *t, unsigned parts, uint64_t *key)
{
	struct part p = recipe(t->name);

	(void)parts;
	if (!t->recipe || !t->whole)
		return false;
	*key = hash_bytes(kind_hash(t), p.p + p.len, strlen(p.p + p.len));
	return true;
}

/* The one of [first, last) that resembles a task most, last if that is not unique. */
static size_t nearest(const struct renames *r, const struct keyed *group, size_t of, size_t first,
		      size_t last, struct part part(const char *))
{
	struct part name = part(task_of(r, group[of].value)->name);
	double best = 0;
	size_t found = last;

	for (size_t i = first; i < last; i++) {
		double like = likeness(name, part(task_of(r, group[i].value)->name));

		if (like > best) {
			best = like;
			found = i;
		} else if (like == best) {
			found = last;
		}
	}
	return best >= ALIKE ? found : last;
}

static void pair_nearest(struct renames *r, const struct keyed *group, size_t n,
			 struct part part(const char *))
{
	size_t gone = 0;

	while (gone < n && group[gone].value < (int64_t)r->n_gone)
		gone++;
	if (!gone || gone == n || n > GROUP_MAX)
		return;
	for (size_t i = 0; i < gone; i++) {
		size_t other = nearest(r, group, i, gone, n, part);

		if (other < n && nearest(r, group, other, 0, gone, part) == i)
			pair(r, group[i].value, group[other].value, RENAME_SIMILAR);
	}
}

static void pair_stems(struct renames *r, const struct keyed *group, size_t n)
{
	pair_nearest(r, group, n, stem);
}

static void pair_recipes(struct renames *r, const struct keyed *group, size_t n)
{
	pair_nearest(r, group, n, recipe);
}

int renames_find(struct rename_task *gone, size_t n_gone, struct rename_task *now, size_t n_now)
{
	struct renames r = { gone, now, n_gone, n_now, NULL };
	int error;

	for (size_t i = 0; i < n_gone + n_now; i++)
		task_of(&r, (int64_t)i)->reason = RENAME_NONE;
	if (!n_gone || !n_now)
		return 0;
	r.keyed = array_new(n_gone + n_now, sizeof *r.keyed);
	if (!r.keyed)
		return -ENOMEM;
	error = find_moved(&r);
	if (!error)
		error = each_group(&r, similar_key, 0, pair_stems);
	if (!error)
		error = each_group(&r, recipe_key, 0, pair_recipes);
	free(r.keyed);
	return error;
}
