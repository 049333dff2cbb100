/* SPDX-License-Identifier: MIT */
#include "convert/formats.h"

#include "command/ninja_hash.h"
#include "convert/builder.h"
#include "convert/ninja/build.h"
#include "convert/ninja/log.h"
#include "convert/ninja/rule.h"
#include "convert/ninja/waits.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Reading .ninja_log: the newest build in it, with what build.ninja tells. */

#define MTIME_MIN_NS 100000000000000000	/* older ninjas write seconds, or nothing */
#define BUILDS_APART_MS 60000		/* what began so near may be one build */

struct import {
	struct builder b;
	struct ninja_log log;
	bool has_build;
	struct ninja_build build;
	struct ninja_waits waits;
	uint32_t instance;
	struct buf text;
	bool in_order;		/* the newest build is what stands last in the log */
	int64_t newest_ms;	/* and when it began, -1: not known */
	unsigned left_out;	/* commands of earlier builds */
};

/* Which build */

/* When the ninja began that wrote the line, -1: not known. */
static int64_t began_ms(const struct import *m, const struct ninja_log_line *l)
{
	if (l->mtime_ns < MTIME_MIN_NS)
		return -1;
	return l->mtime_ns / 1000000 - (m->log.version < 6 ? l->end_ms : l->start_ms);
}

static int64_t latest_ms(const struct import *m, uint32_t from)
{
	int64_t latest = -1;

	for (size_t i = 0; i < m->log.n; i++) {
		int64_t ms = began_ms(m, &m->log.line[i]);

		if (m->log.line[i].order >= from && ms > latest)
			latest = ms;
	}
	return latest;
}

/* A log that ninja wrote anew is in no order: then what stands last is not the newest. */
static void find_newest(struct import *m)
{
	int64_t last = latest_ms(m, m->log.newest);

	m->newest_ms = latest_ms(m, 0);
	m->in_order = m->newest_ms < 0 || last > m->newest_ms - BUILDS_APART_MS;
}

static bool is_newest(const struct import *m, const struct ninja_log_line *l)
{
	if (m->in_order)
		return l->order >= m->log.newest;
	return began_ms(m, l) > m->newest_ms - BUILDS_APART_MS;
}

static int by_size(const void *a, const void *b)
{
	const int64_t *one = a, *two = b;

	return (*one > *two) - (*one < *two);
}

/* Most lines agree on when it began; those of outputs that stayed as they were do not. */
static void set_start(struct import *m)
{
	int64_t *ms = malloc((m->log.n + 1) * sizeof *ms);
	size_t n = 0;

	if (!ms) {
		m->b.error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < m->log.n; i++) {
		const struct ninja_log_line *l = &m->log.line[i];

		if (is_newest(m, l) && began_ms(m, l) >= 0)
			ms[n++] = began_ms(m, l);
	}
	if (n) {
		qsort(ms, n, sizeof *ms, by_size);
		builder_start_wall(&m->b, ms[n / 2] * 1000000);
	}
	free(ms);
}

/* Tasks */

static uint32_t edge_of(const struct import *m, const struct ninja_log_line *l)
{
	uint32_t path = m->has_build ? text_table_find(&m->build.path, l->output) : NO_TEXT;
	uint32_t edge = path == NO_TEXT ? NO_EDGE : m->build.producer[path];

	return edge != NO_EDGE && ninja_edge_is_phony(&m->build.edge[edge]) ? NO_EDGE : edge;
}

static const char *string(struct import *m, struct slice s)
{
	const char *text = builder_text(&m->b, s.p, s.len);

	return text ? text : "";
}

/* The command of build.ninja, if it is still the one that ran. */
static const char *command(struct import *m, const struct ninja_edge *e, uint64_t hash)
{
	struct buf *b = &m->text;
	size_t len, response;

	buf_clear(b);
	ninja_build_command(&m->build, e, b);
	len = b->len;
	buf_adds(b, NINJA_HASH_RSPFILE);
	response = b->len;
	ninja_build_rspfile(&m->build, e, b);
	if (b->len == response)
		buf_cut(b, len);
	if (buf_error(b) || hash != (m->log.version < 7 ? ninja_hash_murmur(b->data, b->len) :
				     ninja_hash_rapid(b->data, b->len)))
		return NULL;
	buf_cut(b, len);
	return buf_str(b);
}

static void add_waits(struct import *m, uint32_t task, const struct ninja_edge *e)
{
	uint32_t edge;

	for (size_t i = 0; i <= (size_t)e->n_in + e->n_implicit_in; i++) {
		if (ninja_waits_for(&m->waits, e, i, &edge)) {
			m->b.error = -ENOMEM;
			return;
		}
		if (edge != NO_EDGE)
			builder_after(&m->b, task, string(m, ninja_edge_out(&m->build,
						&m->build.edge[edge], 0)));
	}
}

static void add_task(struct import *m, const struct ninja_log_line *l, size_t n)
{
	uint32_t edge = edge_of(m, l), task;
	const struct ninja_edge *e = edge == NO_EDGE ? NULL : &m->build.edge[edge];
	struct builder_task t;

	builder_task_init(&t);
	t.name = string(m, l->output);
	t.start_us = l->start_ms * 1000;
	t.end_us = l->end_ms * 1000;
	t.state = TASK_DONE;
	t.status = 0;
	if (e) {
		t.name = string(m, ninja_edge_out(&m->build, e, 0));
		t.key = string(m, ninja_build_rule(&m->build, e));
		t.kind = ninja_rule_kind(ninja_build_rule(&m->build, e));
		t.command = command(m, e, l->hash);
	}
	task = builder_task(&m->b, m->instance, &t);
	for (size_t i = 0; i < n; i++) {
		if (t.name && strlen(t.name) == l[i].output.len &&
		    !memcmp(t.name, l[i].output.p, l[i].output.len))
			continue;
		builder_out(&m->b, task, string(m, l[i].output));
	}
	if (e)
		add_waits(m, task, e);
}

/* Where edges have the same command at the same time, build.ninja tells them apart. */
static size_t lines_of_task(const struct import *m, size_t i)
{
	const struct ninja_log_line *l = &m->log.line[i];
	size_t most = ninja_log_run(&m->log, i), n = 1;

	while (n < most && edge_of(m, l + n) == edge_of(m, l))
		n++;
	return n;
}

static int note_ends(struct import *m)
{
	int r = m->has_build ? ninja_waits_init(&m->waits, &m->build) : 0;

	for (size_t i = 0; !r && m->has_build && i < m->log.n; i++) {
		const struct ninja_log_line *l = &m->log.line[i];
		uint32_t edge = edge_of(m, l);

		if (edge != NO_EDGE && is_newest(m, l))
			m->waits.end_us[edge] = l->end_ms * 1000;
	}
	return r;
}

static void add_tasks(struct import *m)
{
	bool times = false;

	for (size_t i = 0, n; i < m->log.n; i += n) {
		n = lines_of_task(m, i);
		if (is_newest(m, &m->log.line[i])) {
			add_task(m, &m->log.line[i], n);
			times |= m->log.line[i].end_ms > 0;
		} else {
			m->left_out++;
		}
	}
	if (m->left_out)
		builder_warn(&m->b, NINJA_LOG_NAME ": %u commands last ran in earlier builds and "
			     "are left out", m->left_out);
	if (m->log.n && !times)
		builder_warn(&m->b, NINJA_LOG_NAME ": it has no times, as samurai writes it");
	if (m->log.damaged)
		builder_warn(&m->b, NINJA_LOG_NAME ": %u damaged lines left out%s", m->log.damaged,
			     m->log.torn ? ", the last is torn" : "");
}

/* build.ninja, in the log's directory or in the one that calls it its builddir. */

static bool is_builddir(const struct ninja_build *n, const char *parent, const char *dir)
{
	struct slice name = ninja_build_variable(n, "builddir");
	char one[PATH_MAX], two[PATH_MAX];
	struct buf path = BUF_INIT;
	bool is;

	if (!name.len)
		return false;
	if (*name.p != '/') {
		buf_adds(&path, parent);
		buf_addc(&path, '/');
	}
	buf_add(&path, name.p, name.len);
	is = realpath(buf_str(&path), one) && realpath(dir, two) && !strcmp(one, two);
	buf_release(&path);
	return is;
}

static int find_build(struct import *m, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct buf dir = BUF_INIT;
	size_t len;
	int r;

	buf_add(&dir, path, slash ? (size_t)(slash - path) : 0);
	buf_adds(&dir, slash ? "/" : ".");
	len = dir.len;
	r = ninja_build_read(&m->build, buf_str(&dir), NINJA_BUILD_NAME, infile_read_regular,
				     NULL);
	m->has_build = !r;
	if (r && r != -ENOMEM) {
		buf_adds(&dir, "/..");
		r = ninja_build_read(&m->build, buf_str(&dir), NINJA_BUILD_NAME, infile_read_regular,
				     NULL);
		m->has_build = !r;
		if (!r) {
			char *own = strndup(dir.data, len);

			if (!own || !is_builddir(&m->build, dir.data, own)) {
				ninja_build_release(&m->build);
				m->has_build = false;
			}
			free(own);
		}
	}
	buf_release(&dir);
	return r == -ENOMEM ? r : 0;
}

static int read_all(struct import *m, struct recording *rec, const char *path)
{
	int r = find_build(m, path);

	if (!r)
		r = note_ends(m);
	builder_init(&m->b, rec, path);
	if (r)
		m->b.error = r;
	builder_build(&m->b, "tool", "ninja");
	m->instance = builder_instance(&m->b, "ninja", NULL, NULL, NO_INDEX);
	set_start(m);
	add_tasks(m);
	if (m->has_build && m->build.n_skipped)
		builder_warn(&m->b, "%s:%u: %s", m->build.skipped.path, m->build.skipped.line,
			     m->build.skipped.message);
	r = builder_finish(&m->b);
	if (m->has_build) {
		ninja_waits_release(&m->waits);
		ninja_build_release(&m->build);
	}
	return r;
}

static int read_log(struct recording *rec, const char *const *path, size_t n,
		    struct error *err)
{
	struct import m = { .instance = 0 };
	int r;

	if (n != 1)
		return error_set(err, -EINVAL, path[1], 0, 0, "ninja: one log at a time");
	r = ninja_log_read(&m.log, path[0], infile_read, err);
	if (r)
		return r;
	find_newest(&m);
	r = read_all(&m, rec, path[0]);
	ninja_log_release(&m.log);
	buf_release(&m.text);
	return r ? error_sys(err, r, path[0], NULL) : 0;
}

static bool recognise(const struct convert_file *file)
{
	size_t n = strlen(NINJA_LOG_SIGNATURE);

	return !file->is_dir && file->len > n && !memcmp(file->head, NINJA_LOG_SIGNATURE, n);
}

const struct converter converter_ninja = {
	.name = "ninja",
	.what = NINJA_LOG_NAME ", the log of ninja",
	.recognise = recognise,
	.read = read_log,
};
