/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/minmax.h"
#include "convert/clang_unit.h"
#include "convert/converters.h"
#include "recording/store.h"
#include "recording/store_join.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NUMBER 4294967296u	/* of spans: hosts number theirs from 1 */
#define SLACK_US 200000		/* most that the two clocks may differ */
#define APPEND_SIZE 65536

/* A path that a task wrote, without ".", ".." and the suffix. */
struct product {
	uint32_t task;
	uint32_t next;		/* with the same hash of the base name, NO_INDEX at the end */
	const char *stem;
};

struct matcher {
	const struct recording *rec;
	struct arena *arena;
	struct index bases;	/* hash of a base name -> newest product */
	size_t n;
	struct product *product;
	bool *filled;		/* tasks that have spans from a trace */
};

static uint64_t hash_of(const char *s)
{
	return hash_fnv64(s, strlen(s));
}

static void add_part(struct buf *b, const char *p, size_t len)
{
	const char *slash;

	if (!len || (len == 1 && *p == '.'))
		return;
	if (len != 2 || memcmp(p, "..", 2)) {
		buf_addc(b, '/');
		buf_add(b, p, len);
		return;
	}
	slash = b->len ? memrchr(b->data, '/', b->len) : NULL;
	if (slash)
		buf_cut(b, (size_t)(slash - b->data));
}

static void add_parts(struct buf *b, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		add_part(b, path, n);
		path += n + (path[n] == '/');
	}
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The path of name in dir without its suffix; absolute if dir is. NULL: out of memory. */
static const char *stem_of(struct matcher *m, const char *dir, const char *name)
{
	struct buf b = BUF_INIT;
	const char *dot, *text;

	if (*name != '/')
		add_parts(&b, dir);
	add_parts(&b, name);
	dot = strrchr(base_of(buf_str(&b)), '.');
	if (dot && dot > base_of(b.data))
		buf_cut(&b, (size_t)(dot - b.data));
	text = buf_error(&b) ? NULL : arena_text(m->arena, buf_str(&b), b.len);
	buf_release(&b);
	return text;
}

static int add_product(struct matcher *m, uint32_t task, const char *name)
{
	const char *dir = m->rec->instance[m->rec->task[task].instance].cwd;
	const char *cwd = recording_build(m->rec, "cwd");
	const char *stem = stem_of(m, *dir || !cwd ? dir : cwd, name);
	struct product *p = stem ? array_add(&m->product, &m->n, sizeof *p) : NULL;

	if (!p)
		return -ENOMEM;
	*p = (struct product){ task, NO_INDEX, stem };
	index_find(&m->bases, hash_of(base_of(stem)), 0, &p->next);
	return index_put(&m->bases, hash_of(base_of(stem)), 0, (uint32_t)m->n - 1);
}

static int add_products(struct matcher *m)
{
	const struct recording *rec = m->rec;
	int r = 0;

	for (uint32_t i = 0; i < rec->n_tasks && !r; i++) {
		const struct task *t = &rec->task[i];

		if (t->start_us < 0 || t->hosts)
			continue;
		if (*t->name)
			r = add_product(m, i, t->name);
		for (uint32_t k = 0; k < t->n_out && !r; k++)
			r = add_product(m, i, rec->out[t->first_out + k]);
	}
	return r;
}

/* One unit */

/* When it began, in the recording's time; INT64_MIN: not known. */
static int64_t unit_start_us(const struct recording *rec, const struct clang_unit *unit)
{
	if (unit->wall_us < 0 || rec->start_wall_ns < 0)
		return INT64_MIN;
	return unit->wall_us - rec->start_wall_ns / 1000;
}

/* How many bytes both have in common at their ends. */
static size_t same_end(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), same = 0;

	while (same < n && same < m && a[n - 1 - same] == b[m - 1 - same])
		same++;
	return same;
}

/* How well a product fits; 0: not at all. A file in another directory fits only if the time is
 * known, because many directories may have a file of that name. */
static size_t fit(const struct matcher *m, const struct clang_unit *unit, const char *stem,
		  const struct product *p)
{
	const struct task *t = &m->rec->task[p->task];
	int64_t start_us = unit_start_us(m->rec, unit);
	bool known = start_us != INT64_MIN;

	if (strcmp(base_of(stem), base_of(p->stem)) ||
	    (known && (start_us < t->start_us - SLACK_US ||
		       start_us + unit->length_us > recording_task_end_us(m->rec, t) + SLACK_US)))
		return 0;
	if (!strcmp(stem, p->stem))
		return SIZE_MAX;
	return known ? 1 + same_end(stem, p->stem) : 0;
}

static uint32_t find_task(const struct matcher *m, const struct clang_unit *unit,
			  const char *stem)
{
	uint32_t at = NO_INDEX, task = NO_INDEX;
	size_t best = 0;

	index_find(&m->bases, hash_of(base_of(stem)), 0, &at);
	for (; at != NO_INDEX; at = m->product[at].next) {
		size_t is = fit(m, unit, stem, &m->product[at]);

		if (is > best) {
			best = is;
			task = m->product[at].task;
		}
	}
	return task;
}

/* Appending */

static int64_t within(int64_t us, const struct task *t, int64_t end_us)
{
	return us < t->start_us ? t->start_us : MIN(end_us, us);
}

static void append_phases(const struct matcher *m, struct store *s, struct buf *b,
			  const struct clang_units *u, const struct clang_unit *unit, uint32_t task)
{
	const struct task *t = &m->rec->task[task];
	const char *inst = m->rec->instance[t->instance].id;
	int64_t start_us = unit_start_us(m->rec, unit), end_us = recording_task_end_us(m->rec, t);

	if (start_us == INT64_MIN)
		start_us = t->start_us;
	for (size_t i = 0; i < unit->n_phases; i++) {
		const struct clang_phase *p = &u->phase[unit->first_phase + i];

		event_add_span_begin(b, within(start_us + p->begin_us, t, end_us), inst, t->seq,
				     FIRST_NUMBER + i, p->name);
		event_add_span_end(b, within(start_us + p->end_us, t, end_us), inst, t->seq,
				   FIRST_NUMBER + i);
		if (b->len > APPEND_SIZE)
			store_append(s, b);
	}
}

static int match_units(struct matcher *m, struct store *s, const struct clang_units *u)
{
	const struct recording *rec = m->rec;
	struct buf lines = BUF_INIT;
	int found = 0, r = 0;

	/* ExecuteCompiler is clang's outermost phase. */
	for (size_t i = 0; i < rec->n_spans; i++) {
		if (rec->span[i].task < rec->n_tasks &&
		    !strcmp(rec->span[i].name, "ExecuteCompiler"))
			m->filled[rec->span[i].task] = true;
	}
	for (size_t i = 0; i < u->n && !r; i++) {
		char real[PATH_MAX];
		const char *stem = stem_of(m, "", realpath(u->unit[i].path, real) ? real :
						  u->unit[i].path);
		uint32_t task = stem ? find_task(m, &u->unit[i], stem) : NO_INDEX;

		r = stem ? 0 : -ENOMEM;
		found += task != NO_INDEX;
		if (task == NO_INDEX || m->filled[task])
			continue;
		m->filled[task] = true;
		append_phases(m, s, &lines, u, &u->unit[i], task);
	}
	if (lines.len)
		store_append(s, &lines);
	if (!r)
		r = buf_error(&lines) ? buf_error(&lines) : store_error(s);
	buf_release(&lines);
	return r ? r : found;
}

static int match(const struct recording *rec, struct store *s, const struct clang_units *u)
{
	struct matcher m = { .rec = rec, .arena = arena_new(),
			     .filled = array_new_zero(rec->n_tasks, sizeof *m.filled) };
	int r = m.arena && m.filled ? add_products(&m) : -ENOMEM;

	if (!r)
		r = match_units(&m, s, u);
	arena_free(m.arena);
	index_release(&m.bases);
	free(m.product);
	free(m.filled);
	return r;
}

int clang_read_into(const struct recording *rec, const char *dir, const char *const *path,
		    size_t n, struct error *err)
{
	struct store store = STORE_INIT;
	struct clang_units u;
	int r = clang_units_read(&u, path, n, err);

	if (!r && !(r = store_join_dir(&store, dir, err))) {
		r = match(rec, &store, &u);
		if (r < 0)
			error_sys(err, r, dir, "cannot add to the recording");
		store_close(&store);
	}
	clang_units_release(&u);
	return r;
}
