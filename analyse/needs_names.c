/* SPDX-License-Identifier: MIT */
#include "analyse/needs_names.h"

#include "analyse/names.h"
#include "analyse/path.h"
#include "base/hash.h"
#include "base/index.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* Most names that tasks wait for are files that no task makes. So the ends of names are stored
 * first, as bits: only names with an end that both sides have are compared. */
#define END_BITS 20
#define END_WORDS ((1u << END_BITS) / 64)

struct named_path {
	uint64_t hash;		/* 0: free */
	uint32_t last;
};

struct naming {
	const struct summary *s;
	struct needs_names *x;
	struct arena *memory;
	uint64_t *after_end, *target_end;	/* bits */
	uint64_t *instance;		/* hashes of their directories */
	struct index directories;	/* hash of instance's and part -> index below */
	uint64_t *directory;
	size_t n_directories, mask;
	struct buf path, full;
	struct slice part;		/* the directory of the last name, and its instance */
	uint32_t part_instance;
	uint64_t part_hash;
};

static bool has_bit(const uint64_t *bits, uint32_t at)
{
	return bits[at / 64] >> at % 64 & 1;
}

static void set(uint64_t *bits, uint32_t at)
{
	bits[at / 64] |= (uint64_t)1 << at % 64;
}

/* The last eight bytes behind the last slash, of a name that ends plain. */
static uint32_t end_of(struct slice name)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7f;
	uint64_t bytes = 0, slashes;

	if (name.len >= sizeof bytes)
		memcpy(&bytes, name.p + name.len - sizeof bytes, sizeof bytes);
	else
		memcpy((char *)&bytes + sizeof bytes - name.len, name.p, name.len);
	bytes = le64toh(bytes);
	slashes = bytes ^ 0x2f2f2f2f2f2f2f2f;
	slashes = ~(((slashes & low) + low) | slashes | low);
	if (slashes)
		bytes &= ~(~(uint64_t)0 >> __builtin_clzll(slashes));
	return (uint32_t)(hash_mix(bytes) >> (64 - END_BITS));
}

static bool ends_plain(struct slice name)
{
	char last = name.len ? name.p[name.len - 1] : '/', before;

	if (last != '.')
		return last != '/';
	before = name.len > 1 ? name.p[name.len - 2] : '/';
	return before != '/' && before != '.';
}

static int make_plain(struct naming *n, uint32_t instance, struct slice *name)
{
	path_join(&n->path, slice_of(n->s->rec->instance[instance].cwd), *name);
	*name = (struct slice){ n->path.data, n->path.len };
	return buf_error(&n->path);
}

/* The hash of the plain path of a part of a name, which ends before a slash. */
static int hash_directory(struct naming *n, uint32_t instance, struct slice part, uint64_t *hash)
{
	uint64_t key = hash_bytes(n->instance[instance], part.p, part.len), *grown;
	struct slice plain = part.len ? part : slice_of("/");
	uint32_t at;

	if (index_find(&n->directories, key, part.len, &at)) {
		*hash = n->directory[at];
		return 0;
	}
	grown = array_grow(n->directory, n->n_directories, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	n->directory = grown;
	if (make_plain(n, instance, &plain) ||
	    index_put(&n->directories, key, part.len, (uint32_t)n->n_directories))
		return -ENOMEM;
	*hash = n->directory[n->n_directories++] = hash_bytes(0, plain.p, plain.len);
	return 0;
}

static bool is_last_part(const struct naming *n, uint32_t instance, struct slice part)
{
	return n->part.p && n->part_instance == instance && n->part.len == part.len &&
	       !memcmp(n->part.p, part.p, part.len);
}

static uint64_t hash_plain(struct slice path)
{
	const char *slash = memrchr(path.p, '/', path.len);
	struct slice dir = slice_of(".");
	size_t before = slash ? (size_t)(slash - path.p) : 0;

	if (slash)
		dir = before ? (struct slice){ path.p, before } : slice_of("/");
	before = slash ? before + 1 : 0;
	return hash_bytes(hash_bytes(0, dir.p, dir.len), path.p + before, path.len - before) | 1;
}

/* The hash of the plain path of a name; never 0. */
static int hash_name(struct naming *n, uint32_t instance, struct slice name, uint64_t *hash)
{
	const char *slash = memrchr(name.p, '/', name.len);
	struct slice part = { name.p, slash ? (size_t)(slash - name.p) : 0 };
	uint64_t directory = n->instance[instance];

	if (!ends_plain(name)) {
		if (make_plain(n, instance, &name))
			return -ENOMEM;
		*hash = hash_plain(name);
		return 0;
	}
	if (slash && !is_last_part(n, instance, part)) {
		if (hash_directory(n, instance, part, &n->part_hash))
			return -ENOMEM;
		n->part = part;
		n->part_instance = instance;
	}
	if (slash) {
		directory = n->part_hash;
		name.len -= part.len + 1;
		name.p = slash + 1;
	}
	*hash = hash_bytes(directory, name.p, name.len) | 1;
	return 0;
}

static int note_end(struct naming *n, uint64_t *bits, uint32_t instance, struct slice name,
		    uint32_t *end)
{
	if (!ends_plain(name) && make_plain(n, instance, &name))
		return -ENOMEM;
	*end = end_of(name);
	set(bits, *end);
	return 0;
}

static struct named_path *find(const struct naming *n, uint64_t hash)
{
	for (size_t at = hash >> 1 & n->mask;; at = (at + 1) & n->mask) {
		struct named_path *p = &n->x->path[at];

		if (!p->hash || p->hash == hash)
			return p;
	}
}

/* The name by which other tasks wait for it: tasks of different recipes have the same names. */
static struct slice name_for_others(struct naming *n, const struct task *t)
{
	if (!name_is_recipe(n->s->rec, t))
		return slice_of(t->name);
	buf_clear(&n->full);
	buf_adds(&n->full, t->key);
	buf_addc(&n->full, '/');
	buf_adds(&n->full, t->name);
	n->part.p = NULL;	/* it may be in there */
	return (struct slice){ n->full.data, n->full.len };
}

static int add_name(struct naming *n, uint32_t instance, struct slice name, uint32_t *path)
{
	struct named_path *p;
	uint64_t hash;
	uint32_t end;

	if (!name.len || (ends_plain(name) && !has_bit(n->after_end, end_of(name))))
		return 0;
	if (note_end(n, n->target_end, instance, name, &end) ||
	    hash_name(n, instance, name, &hash))
		return -ENOMEM;
	p = find(n, hash);
	*p = (struct named_path){ hash, NO_INDEX };
	*path = (uint32_t)(p - n->x->path);
	return 0;
}

static int add_targets(struct naming *n)
{
	int r = 0;

	for (size_t i = 0; i < n->s->n_targets && !r; i++) {
		const struct task *t = &n->s->rec->task[n->s->target[i].first_task];
		struct slice name = name_for_others(n, t);

		r = buf_error(&n->full);
		if (!r)
			r = add_name(n, t->instance, name, &n->x->of_target[i]);
	}
	return r;
}

static int add_outs(struct naming *n)
{
	const struct recording *rec = n->s->rec;
	int r = 0;

	for (size_t i = 0; i < rec->n_tasks && rec->n_out && !r; i++) {
		const struct task *t = &rec->task[i];

		for (uint32_t k = t->first_out; k < t->first_out + t->n_out && !r; k++)
			r = add_name(n, t->instance, slice_of(rec->out[k]), &n->x->of_out[k]);
	}
	return r;
}

static int add_groups(struct naming *n)
{
	const struct recording *rec = n->s->rec;
	int r = 0;

	for (size_t i = 0; i < rec->n_groups && !r; i++)
		r = add_name(n, rec->group[i].instance, slice_of(rec->group[i].name),
			     &n->x->of_group[i]);
	return r;
}

/* A name that tasks wait for: first its end, into after_end and *of; then, with find_path, its path
 * into *of. */
static int look_at(struct naming *n, uint32_t instance, const char *text, bool find_path,
		   uint32_t *of)
{
	struct named_path *p;
	uint64_t hash;
	bool known;

	if (!find_path)
		return note_end(n, n->after_end, instance, slice_of(text), of);
	known = has_bit(n->target_end, *of);
	*of = NO_INDEX;
	if (!known)
		return 0;
	if (hash_name(n, instance, slice_of(text), &hash))
		return -ENOMEM;
	p = find(n, hash);
	if (p->hash)
		*of = (uint32_t)(p - n->x->path);
	return 0;
}

static int look_at_all(struct naming *n, bool find_paths)
{
	const struct recording *rec = n->s->rec;
	int r = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		for (size_t k = t->first_after; !r && k < (size_t)t->first_after + t->n_after; k++)
			r = look_at(n, t->instance, rec->after[k], find_paths, &n->x->of_after[k]);
	}
	for (size_t i = 0; i < rec->n_groups; i++) {
		const struct target_group *g = &rec->group[i];

		for (size_t k = g->first_in; !r && k < (size_t)g->first_in + g->n_in; k++)
			r = look_at(n, g->instance, rec->in[k], find_paths, &n->x->of_in[k]);
	}
	return r;
}

static int hash_instances(struct naming *n)
{
	const struct recording *rec = n->s->rec;

	for (uint32_t i = 0; i < rec->n_instances; i++) {
		struct slice cwd = slice_of("");

		if (make_plain(n, i, &cwd))
			return -ENOMEM;
		n->instance[i] = hash_bytes(0, cwd.p, cwd.len);
	}
	return 0;
}

static int allocate(struct naming *n)
{
	const struct recording *rec = n->s->rec;
	struct needs_names *x = n->x;
	size_t n_targets = n->s->n_targets;

	n->mask = 15;
	while (n->mask < 2 * (n_targets + rec->n_out + rec->n_groups))
		n->mask = 2 * n->mask + 1;
	x->n_paths = n->mask + 1;
	x->of_after = needs_zeros(n->memory, rec->n_after, sizeof *x->of_after);
	x->of_target = needs_zeros(n->memory, n_targets, sizeof *x->of_target);
	x->of_out = needs_zeros(n->memory, rec->n_out, sizeof *x->of_out);
	x->of_group = needs_zeros(n->memory, rec->n_groups, sizeof *x->of_group);
	x->of_in = needs_zeros(n->memory, rec->n_in, sizeof *x->of_in);
	x->path = needs_zeros(n->memory, n->mask, sizeof *x->path);
	n->after_end = needs_zeros(n->memory, END_WORDS, sizeof *n->after_end);
	n->target_end = needs_zeros(n->memory, END_WORDS, sizeof *n->target_end);
	n->instance = needs_zeros(n->memory, rec->n_instances, sizeof *n->instance);
	if (!x->of_after || !x->of_target || !x->of_out || !x->of_group || !x->of_in || !x->path || !n->after_end ||
	    !n->target_end || !n->instance)
		return -ENOMEM;
	memset(x->of_target, 0xff, n_targets * sizeof *x->of_target);
	memset(x->of_out, 0xff, rec->n_out * sizeof *x->of_out);
	memset(x->of_group, 0xff, rec->n_groups * sizeof *x->of_group);
	return 0;
}

int needs_names_make(struct needs_names *x, const struct summary *s, struct arena *memory)
{
	struct naming n = { .s = s, .x = x, .memory = memory };
	int r;

	r = allocate(&n);
	if (!r)
		r = hash_instances(&n);
	if (!r)
		r = look_at_all(&n, false);
	if (!r)
		r = add_targets(&n);
	if (!r)
		r = add_outs(&n);
	if (!r)
		r = add_groups(&n);
	if (!r)
		r = look_at_all(&n, true);
	index_release(&n.directories);
	buf_release(&n.path);
	buf_release(&n.full);
	free(n.directory);
	return r;
}

uint32_t *needs_names_last(const struct needs_names *x, uint32_t path)
{
	return &x->path[path].last;
}
