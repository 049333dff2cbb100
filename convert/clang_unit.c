/* SPDX-License-Identifier: MIT */
#include "convert/clang_unit.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/str.h"
#include "convert/converters.h"
#include "convert/gunzip.h"
#include "convert/trace.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#define HEAD 65536

/* One trace */

struct reading {
	struct trace trace;
	int64_t wall_us;
};

static int add_part(void *context, const struct json_value *value, unsigned line)
{
	struct reading *r = context;
	const char *name = json_member_text(value, "name");
	struct trace_words words = { 0 };

	(void)line;
	if (value->name) {
		if (!strcmp(value->name, "beginningOfTime") && !json_number(value, 0, &r->wall_us))
			r->wall_us = -1;
		return 0;
	}
	if (!strncmp(name, "Total ", 6) || !strncmp(name, "Total: ", 7))
		return 0;
	words.category = trace_text(&r->trace, name, strlen(name));
	return words.category ? trace_add(&r->trace, value, &words) : -ENOMEM;
}

/* Short phases that follow each other, joined into one. */
struct group {
	const struct trace_piece *first;
	unsigned n;
	bool mixed;		/* of several categories */
	int64_t sum_us;
};

struct keeper {
	struct clang_units *u;
	const struct trace *trace;
	int64_t least_us;
	struct group group[CLANG_DEPTH_MAX];	/* of each level */
	int error;
};

static void keep_longest(struct keeper *k, int64_t begin_us, int64_t length_us, const char *name)
{
	struct clang_units *u = k->u;
	const char *copy = arena_text(u->arena, name, strlen(name));
	struct clang_phase *p = copy ? array_add(&u->phase, &u->n_phases, sizeof *p) : NULL;

	if (p)
		*p = (struct clang_phase){ begin_us, begin_us + length_us, copy };
	else
		k->error = -ENOMEM;
}

static void end_group(struct keeper *k, struct group *g)
{
	struct buf name = BUF_INIT;

	if (g->n && g->sum_us >= k->least_us) {
		if (g->n > 1)
			buf_addf(&name, "%u %s", g->n,
				 g->mixed ? "short phases" :
				 trace_said(k->trace, g->first->category));
		else
			buf_adds(&name, trace_said(k->trace, g->first->name));
		keep_longest(k, g->first->begin_us, g->sum_us, buf_str(&name));
		buf_release(&name);
	}
	*g = (struct group){ 0 };
}

static void end_groups(struct keeper *k, uint32_t depth)
{
	for (; depth < CLANG_DEPTH_MAX; depth++)
		end_group(k, &k->group[depth]);
}

static void join_group(struct group *g, const struct trace_piece *p, int64_t length_us)
{
	if (!g->n++)
		g->first = p;
	g->mixed |= p->category != g->first->category;
	g->sum_us += length_us;
}

/* Phases inside a short phase are even shorter: they are skipped. */
static void keep_phases(struct keeper *k)
{
	uint32_t short_depth = UINT32_MAX, track = UINT32_MAX;

	for (size_t i = 0; i < k->trace->n_pieces && !k->error; i++) {
		const struct trace_piece *p = &k->trace->piece[i];
		int64_t length_us = trace_end_us(k->trace, p) - p->begin_us;

		if (p->track != track) {
			end_groups(k, 0);
			short_depth = UINT32_MAX;
			track = p->track;
		}
		if (p->depth > short_depth || p->depth >= CLANG_DEPTH_MAX)
			continue;
		short_depth = UINT32_MAX;
		end_groups(k, length_us < k->least_us ? p->depth + 1 : p->depth);
		if (length_us >= k->least_us) {
			keep_longest(k, p->begin_us, length_us, trace_said(k->trace, p->name));
		} else {
			join_group(&k->group[p->depth], p, length_us);
			short_depth = p->depth;
		}
	}
	end_groups(k, 0);
}

static const char *tool_of(const struct trace *t)
{
	for (size_t i = 0; i < t->n_processes; i++) {
		if (t->process[i].name)
			return trace_said(t, t->process[i].name);
	}
	return "";
}

static int add_unit(struct clang_units *u, const char *path, struct reading *r)
{
	struct trace *t = &r->trace;
	struct clang_unit *grown = array_grow(u->unit, u->n, sizeof *grown);
	const char *copy = arena_text(u->arena, path, strlen(path));
	const char *tool = arena_text(u->arena, tool_of(t), strlen(tool_of(t)));
	struct keeper k = { .u = u, .trace = t };
	int64_t length_us = 0;

	if (grown)
		u->unit = grown;
	if (!grown || !copy || !tool)
		return -ENOMEM;
	for (size_t i = 0; i < t->n_pieces; i++) {
		if (trace_end_us(t, &t->piece[i]) > length_us)
			length_us = trace_end_us(t, &t->piece[i]);
	}
	k.least_us = MAX(length_us / CLANG_SHARE, CLANG_LEAST_US);
	grown[u->n] = (struct clang_unit){ copy, tool, -1, length_us, u->n_phases, 0 };
	if (r->wall_us >= 0 &&
	    !__builtin_add_overflow(r->wall_us, t->start_us, &grown[u->n].wall_us) &&
	    grown[u->n].wall_us > INT64_MAX / 2000)
		grown[u->n].wall_us = -1;
	keep_phases(&k);
	grown[u->n].n_phases = u->n_phases - grown[u->n].first_phase;
	u->n++;
	return k.error;
}

static int read_trace(struct clang_units *u, struct reading *r, const char *path,
		      struct error *err)
{
	struct json_parts parts = { "traceEvents", add_part, r };
	unsigned line;
	int status = trace_init(&r->trace);

	r->trace.threads_only = true;
	if (!status)
		status = json_read_parts(path, &parts, NULL, &line, err);
	if (!status)
		status = trace_finish(&r->trace);
	if (!status && !r->trace.n_pieces)
		return error_set(err, -EINVAL, path, line, 0, "no phase of a compilation in it");
	return status ? status : add_unit(u, path, r);
}

static int read_file(struct clang_units *u, const char *path, struct error *err)
{
	struct reading reading = { .wall_us = -1 };
	int r = read_trace(u, &reading, path, err);

	trace_release(&reading.trace);
	return trace_error(r, path, err);
}

/* All traces in a directory */

/* 1 or 0, or a negative errno with err if the file cannot be read. A damaged file is no trace. */
static int is_clang(const char *path, struct error *err)
{
	char head[HEAD];
	int r = 0;
	struct gunzip *g = gunzip_open(path, &r, err);
	ssize_t n = g ? gunzip_read(g, head, sizeof head, err) : r;
	struct convert_file file = { path, false, head, n > 0 ? (size_t)n : 0 };

	gunzip_close(g);
	if (n < 0)
		return n == -EINVAL ? 0 : (int)n;
	return n > 0 && trace_is_clang(&file);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int read_entry(struct clang_units *u, const FTSENT *e, struct error *err)
{
	int is = e->fts_level == FTS_ROOTLEVEL;

	switch (e->fts_info) {
	case FTS_F:
		if (!is && str_ends(e->fts_name, ".json"))
			is = is_clang(e->fts_path, err);
		return is > 0 ? read_file(u, e->fts_path, err) : is;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		return error_sys(err, e->fts_errno ? -e->fts_errno : -EIO, e->fts_path, NULL);
	default:
		return e->fts_level == FTS_ROOTLEVEL && e->fts_info == FTS_DEFAULT ?
		       read_file(u, e->fts_path, err) : 0;
	}
}

static int read_path(struct clang_units *u, const char *path, struct error *err)
{
	char *copy = strdup(path);
	char *paths[] = { copy, NULL };
	FTS *tree = copy ?
		fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name) : NULL;
	int r = tree ? 0 : error_sys(err, copy ? -errno : -ENOMEM, path, NULL);
	size_t before = u->n;
	FTSENT *e;

	while (!r && (e = fts_read(tree)))
		r = read_entry(u, e, err);
	if (tree)
		fts_close(tree);
	free(copy);
	if (!r && u->n == before)
		r = error_set(err, -EINVAL, path, 0, 0, "no trace of clang in it");
	return r;
}

int clang_units_read(struct clang_units *u, const char *const *path, size_t n,
		     struct error *err)
{
	int r = 0;

	*u = (struct clang_units){ .arena = arena_new() };
	if (!u->arena)
		return error_sys(err, -ENOMEM, path[0], NULL);
	for (size_t i = 0; i < n && !r; i++)
		r = read_path(u, path[i], err);
	return r;
}

void clang_units_release(struct clang_units *u)
{
	free(u->unit);
	free(u->phase);
	arena_free(u->arena);
	*u = (struct clang_units){ 0 };
}
