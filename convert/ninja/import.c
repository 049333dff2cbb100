/* SPDX-License-Identifier: MIT */
#include "convert/converters.h"

#include "base/array.h"
#include "command/ninja_hash.h"
#include "convert/builder.h"
#include "convert/ninja/edge.h"
#include "convert/ninja/ninja_log.h"
#include "recording/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Reads the newest build from .ninja_log, with data about its commands from build.ninja. */

#define MTIME_MIN_NS 100000000000000000	/* old versions of ninja write seconds, or 0 */
#define BUILDS_APART_MS 60000		/* runs that began within this time may be one build */

struct import {
	struct builder b;
	uint32_t instance;
	struct ninja_log log;
	bool has_graph;
	struct ninja_graph graph;
	struct ninja_waits waits;
	uint32_t *edge;		/* of each line of the log */
	bool in_order;		/* the newest build is at the end of the log */
	int64_t newest_ms;	/* when it began, -1: not known */
	struct buf name, key, command;
};

static const char *string(struct import *m, struct buf *b, struct slice s)
{
	buf_clear(b);
	buf_add(b, s.p, s.len);
	if (buf_error(b))
		m->b.error = -ENOMEM;
	return buf_str(b);
}

/* Which build */

/* When the ninja that wrote the line began, -1: not known. */
static int64_t began_ms(const struct import *m, const struct ninja_log_line *l)
{
	if (l->mtime_ns < MTIME_MIN_NS)
		return -1;
	return l->mtime_ns / 1000000 - (m->log.version < 6 ? l->end_ms : l->start_ms);
}

/* If ninja has rewritten its log, the last lines are not those of the newest build. */
static void find_newest(struct import *m)
{
	int64_t last_ms = -1;

	m->newest_ms = -1;
	for (size_t i = 0; i < m->log.n; i++) {
		int64_t ms = began_ms(m, &m->log.line[i]);

		if (ms > m->newest_ms)
			m->newest_ms = ms;
		if (m->log.line[i].order >= m->log.newest && ms > last_ms)
			last_ms = ms;
	}
	m->in_order = m->newest_ms < 0 || last_ms > m->newest_ms - BUILDS_APART_MS;
}

static bool is_newest(const struct import *m, const struct ninja_log_line *l)
{
	if (m->in_order)
		return l->order >= m->log.newest;
	return began_ms(m, l) > m->newest_ms - BUILDS_APART_MS;
}

/* Most lines agree on the start; lines of outputs that did not change do not. */
static int set_start(struct import *m)
{
	int64_t *ms = array_new(m->log.n, sizeof *ms);
	size_t n = 0;

	if (!ms)
		return -ENOMEM;
	for (size_t i = 0; i < m->log.n; i++) {
		const struct ninja_log_line *l = &m->log.line[i];

		if (is_newest(m, l) && began_ms(m, l) >= 0)
			ms[n++] = began_ms(m, l);
	}
	if (n)
		builder_start_wall(&m->b, ninja_log_median(ms, n) * 1000000);
	free(ms);
	return 0;
}

/* Tasks */

/* The command in build.ninja; NULL if it has changed since it ran. */
static const char *command(struct import *m, const struct ninja_edge *e, uint64_t hash)
{
	struct buf *b = &m->command;
	size_t len = ninja_edge_command(&m->graph, e, b);

	if (buf_error(b) || hash != (m->log.version < 7 ? ninja_hash_murmur(b->data, b->len) :
				     ninja_hash_rapid(b->data, b->len)))
		return NULL;
	buf_cut(b, len);
	return buf_str(b);
}

static void add_place(struct import *m, uint32_t task, const struct ninja_edge *e)
{
	struct event_place place = { .file = m->graph.file[e->file], .line = (int32_t)e->line };
	struct ninja_pool pool;

	if (ninja_edge_pool(&m->graph, e, &pool)) {
		place.pool = string(m, &m->key, pool.name);
		place.depth = pool.depth;
	}
	builder_place(&m->b, task, &place);
}

/* The phony edges that tasks so far waited for. */
static void add_groups(struct import *m)
{
	const struct ninja_graph *g = &m->graph;
	uint32_t group, edge;

	while ((group = ninja_waits_group(&m->waits)) != NINJA_NO_EDGE) {
		const struct ninja_edge *e = &g->edge[group];

		builder_group(&m->b, m->instance, string(m, &m->key, ninja_edge_out(g, e, 0)));
		for (size_t i = 0; i < e->all_in; i++) {
			edge = ninja_waits_for(&m->waits, e, i);
			if (edge != NINJA_NO_EDGE)
				builder_in(&m->b, string(m, &m->key, ninja_edge_out(
					g, &g->edge[edge], 0)));
		}
	}
}

/* Add the task of n lines. */
static void add_task(struct import *m, size_t line, size_t n)
{
	const struct ninja_log_line *l = &m->log.line[line];
	const struct ninja_graph *g = &m->graph;
	const struct ninja_edge *e = m->edge[line] == NINJA_NO_EDGE ? NULL :
		&g->edge[m->edge[line]];
	struct slice name = e ? ninja_edge_out(g, e, 0) : l->output;
	struct builder_task t;
	uint32_t task;

	builder_task_init(&t);
	t.name = string(m, &m->name, name);
	t.start_us = l->start_ms * 1000;
	t.end_us = l->end_ms * 1000;
	t.state = TASK_DONE;
	t.status = 0;
	if (e) {
		t.key = string(m, &m->key, ninja_edge_rule(g, e));
		t.kind = ninja_edge_kind(g, e);
		t.command = command(m, e, l->hash);
	}
	task = builder_task(&m->b, m->instance, &t);
	if (e)
		add_place(m, task, e);
	for (size_t i = 0; i < n; i++) {
		if (!slice_is(l[i].output, t.name))
			builder_out(&m->b, task, string(m, &m->key, l[i].output));
	}
	for (size_t i = 0; e && i < e->all_in; i++) {
		uint32_t edge = ninja_waits_for(&m->waits, e, i);

		if (edge != NINJA_NO_EDGE)
			builder_after(&m->b, task, string(m, &m->key, ninja_edge_out(
				g, &g->edge[edge], 0)));
	}
	if (e)
		add_groups(m);
}

static void add_tasks(struct import *m)
{
	unsigned n_left_out = 0;
	bool times = false;

	for (size_t i = 0, n; i < m->log.n; i += n) {
		size_t most = ninja_log_run(&m->log, i);

		/* Several edges may have run the same command at the same time. */
		for (n = 1; n < most && m->edge[i + n] == m->edge[i]; n++)
			;
		if (is_newest(m, &m->log.line[i]))
			add_task(m, i, n);
		else
			n_left_out++;
		times |= is_newest(m, &m->log.line[i]) && m->log.line[i].end_ms > 0;
	}
	if (n_left_out)
		builder_warn(&m->b, NINJA_LOG_NAME ": %u commands last ran in earlier builds and "
			     "are left out", n_left_out);
	if (m->log.n && !times)
		builder_warn(&m->b, NINJA_LOG_NAME ": no times, because samurai does not write "
			     "them");
	if (m->log.damaged)
		builder_warn(&m->b, NINJA_LOG_NAME ": %u damaged lines left out%s", m->log.damaged,
			     m->log.torn ? ", the last is torn" : "");
	if (m->has_graph && m->graph.n_skipped)
		builder_warn(&m->b, "%s:%u: %s", m->graph.skipped.path, m->graph.skipped.line,
			     m->graph.skipped.message);
}

/* build.ninja */

static bool is_builddir(const struct ninja_graph *g, const char *parent, const char *dir)
{
	struct slice name = ninja_graph_variable(g, "builddir");
	struct buf path = BUF_INIT;
	struct stat one, two;
	bool is;

	if (!name.len)
		return false;
	if (*name.p != '/')
		buf_addf(&path, "%s/", parent);
	buf_add(&path, name.p, name.len);
	is = !stat(buf_str(&path), &one) && !stat(dir, &two) && one.st_dev == two.st_dev &&
	     one.st_ino == two.st_ino;
	buf_release(&path);
	return is;
}

/* build.ninja is in the log's directory; or in the directory above, if the former is its
 * builddir. */
static int read_graph(struct import *m, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct buf dir = BUF_INIT, parent = BUF_INIT;
	int r;

	buf_add(&dir, slash ? path : ".", slash > path ? (size_t)(slash - path) : 1);
	buf_addf(&parent, "%s/..", buf_str(&dir));
	r = buf_error(&dir) ? -ENOMEM : buf_error(&parent);
	if (!r)
		r = ninja_graph_read(&m->graph, dir.data, NINJA_BUILD_NAME, infile_read_regular,
				     NULL);
	if (r && r != -ENOMEM) {
		r = ninja_graph_read(&m->graph, parent.data, NINJA_BUILD_NAME,
				     infile_read_regular, NULL);
		if (!r && !is_builddir(&m->graph, parent.data, dir.data)) {
			ninja_graph_release(&m->graph);
			r = -ENOENT;
		}
	}
	buf_release(&dir);
	buf_release(&parent);
	m->has_graph = !r;
	return r == -ENOMEM ? r : 0;
}

static int find_edges(struct import *m, const char *path)
{
	int r = read_graph(m, path);

	if (!r && m->has_graph)
		r = ninja_waits_init(&m->waits, &m->graph);
	m->edge = r ? NULL : array_new(m->log.n, sizeof *m->edge);
	for (size_t i = 0; m->edge && i < m->log.n; i++) {
		const struct ninja_log_line *l = &m->log.line[i];

		m->edge[i] = m->has_graph ? ninja_graph_producer(&m->graph, l->output) :
			NINJA_NO_EDGE;
		if (m->edge[i] != NINJA_NO_EDGE && is_newest(m, l))
			m->waits.ran[m->edge[i]] = true;
	}
	return m->edge ? 0 : -ENOMEM;
}

int ninja_read(struct recording *rec, const char *path, struct error *err)
{
	struct import m = { .instance = 0 };
	int r = ninja_log_read(&m.log, path, infile_read, err);

	if (r)
		return r;
	find_newest(&m);
	builder_init(&m.b, rec, path);
	builder_build(&m.b, "tool", "ninja");
	m.instance = builder_instance(&m.b, "ninja", NULL, NULL, NO_INDEX);
	r = find_edges(&m, path);
	if (!r)
		r = set_start(&m);
	if (!r)
		add_tasks(&m);
	else
		error_sys(err, r, path, NULL);
	r = builder_end(&m.b, r, path, err);
	ninja_waits_release(&m.waits);
	if (m.has_graph)
		ninja_graph_release(&m.graph);
	ninja_log_release(&m.log);
	free(m.edge);
	buf_release(&m.name);
	buf_release(&m.key);
	buf_release(&m.command);
	return r;
}

bool ninja_recognise(const struct convert_file *file)
{
	size_t n = strlen(NINJA_LOG_SIGNATURE);

	return !file->is_dir && file->len > n && !memcmp(file->head, NINJA_LOG_SIGNATURE, n);
}
