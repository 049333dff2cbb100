/* SPDX-License-Identifier: MIT */
#include "archive/build.h"
#include "archive/builds_notes.h"
#include "archive/union.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Builds that are transposed at once: a cache line of each task. */
#define BLOCK 16

/* The context of struct builds. */
struct source {
	struct archive *archive;
	struct archive_notes notes;
	struct build_place *place;	/* of each build */
	struct tasks_of *tasks;		/* of each build */
	struct tasks_union all;
	size_t lines_max;
};

/* Buffers for loading: columns of one build, and rows of BLOCK builds. */
struct rows {
	int64_t *a, *b;		/* columns, in the order of the dictionary */
	float *row[BLOCK];	/* in the order of all tasks */
};

static void rows_release(struct rows *rows)
{
	free_all(rows->a, rows->b);
	for (int i = 0; i < BLOCK; i++)
		free(rows->row[i]);
}

static int rows_make(struct rows *rows, size_t lines, size_t n_tasks)
{
	bool made;

	*rows = (struct rows){ .a = array_new(lines, sizeof *rows->a),
			       .b = array_new(lines, sizeof *rows->b) };
	made = rows->a && rows->b;
	for (int i = 0; i < BLOCK; i++) {
		rows->row[i] = array_new(n_tasks, sizeof **rows->row);
		made = made && rows->row[i];
	}
	if (!made)
		rows_release(rows);
	return made ? 0 : -ENOMEM;
}

/* The values of a failed task are not comparable. */
static int drop_failed(const struct source *s, struct rows *rows, size_t build, float *row,
		       struct error *err)
{
	const struct tasks_of *tasks = &s->tasks[build];
	const uint32_t *task = union_tasks(&s->all, tasks);
	bool known;
	int r = build_column(s->archive, &s->place[build], COLUMN_STATUS, rows->a, tasks->n,
			     &known, err);

	if (r)
		return r;
	for (size_t i = 0; known && i < tasks->n; i++) {
		if (rows->a[i] > 0)
			row[task[i]] = NAN;
	}
	return 0;
}

static int load_build(const struct builds *builds, struct rows *rows, size_t build,
		      enum metric m, float *row, struct error *err)
{
	const enum value_column *c = metric_info[m].column;
	const struct source *s = builds->context;
	const struct tasks_of *tasks = &s->tasks[build];
	const uint32_t *task = union_tasks(&s->all, tasks);
	const int64_t *a = rows->a, *b = c[0] == c[1] ? rows->a : rows->b;
	bool known, second = true;
	int r;

	for (size_t i = 0; i < builds->n_tasks; i++)
		row[i] = NAN;
	r = build_column(s->archive, &s->place[build], c[0], rows->a, tasks->n, &known, err);
	if (!r && known && c[0] != c[1])
		r = build_column(s->archive, &s->place[build], c[1], rows->b, tasks->n, &second,
				 err);
	if (!r && known && second) {
		for (size_t i = 0, n = tasks->n; i < n; i++) {
			if (a[i] >= 0 && b[i] >= 0)
				row[task[i]] = (float)(a == b ? a[i] : sat_add(a[i], b[i]));
		}
	}
	/* In most builds no task failed; the column is not read then. */
	return r || !builds->build[build].total[TOTAL_FAILED] ? r :
	       drop_failed(s, rows, build, row, err);
}

static int load_metric(const struct builds *builds, enum metric m, float *values, struct error *err)
{
	const struct source *s = builds->context;
	const size_t n = builds->n, n_tasks = builds->n_tasks;
	struct rows rows;
	int r = rows_make(&rows, s->lines_max, n_tasks);

	if (r)
		return error_sys(err, r, s->archive->path, NULL);
	for (size_t from = 0; !r && from < n; from += BLOCK) {
		size_t count = MIN(n - from, BLOCK);

		for (size_t i = 0; !r && i < count; i++)
			r = load_build(builds, &rows, from + i, m, rows.row[i], err);
		for (size_t t = 0; !r && t < n_tasks; t++) {
			float *to = values + t * n + from;

			for (size_t i = 0; i < count; i++)
				to[i] = rows.row[i][t];
		}
	}
	rows_release(&rows);
	return r;
}

static int load_row(const struct builds *builds, uint32_t build, enum metric m, float *values,
		    struct error *err)
{
	const struct source *s = builds->context;
	struct rows rows;
	int r = rows_make(&rows, s->lines_max, 0);

	if (r)
		return error_sys(err, r, s->archive->path, NULL);
	r = load_build(builds, &rows, build, m, values, err);
	rows_release(&rows);
	return r;
}

static int spread(const struct builds *builds, uint32_t build, enum metric m, float *values,
		  struct error *err)
{
	const struct source *s = builds->context;
	const struct tasks_of *tasks = &s->tasks[build];
	const uint32_t *task = union_tasks(&s->all, tasks);
	int64_t *value = array_new(tasks->n, sizeof *value);
	bool known = false;
	int r = value ? build_spread(s->archive, &s->place[build], m, value, tasks->n, &known, err) :
		error_sys(err, -ENOMEM, s->archive->path, NULL);

	for (size_t i = 0; i < builds->n_tasks; i++)
		values[i] = NAN;
	for (size_t i = 0; !r && known && i < tasks->n; i++) {
		if (value[i] >= 0)
			values[task[i]] = (float)value[i];
	}
	free(value);
	return r;
}

static bool has_same_tasks(const struct build_place *a, const struct build_place *b)
{
	return git_oid_equal(&a->tasks, &b->tasks) && !git_oid_is_zero(&a->column[COLUMN_RUNS]) &&
	       git_oid_equal(&a->column[COLUMN_RUNS], &b->column[COLUMN_RUNS]);
}

static int add_column(const struct source *s, uint32_t build, enum value_column c, int64_t *value,
		      uint64_t *set, bool *known, struct error *err)
{
	const struct tasks_of *tasks = &s->tasks[build];
	const uint32_t *task = union_tasks(&s->all, tasks);
	int least = c == COLUMN_RUNS ? 1 : 0;
	int r = build_column(s->archive, &s->place[build], c, value, tasks->n, known, err);

	if (r)
		return r;
	for (size_t i = 0; *known && i < tasks->n; i++) {
		if (value[i] >= least)
			set[task[i] / 64] |= UINT64_C(1) << task[i] % 64;
	}
	return 0;
}

/* Without the column of runs, a task with any value was in the build. */
static int ran(const struct builds *builds, uint32_t build, uint64_t *set, struct error *err)
{
	const struct source *s = builds->context;
	int64_t *value;
	bool known, other;
	int r;

	if (build && has_same_tasks(&s->place[build], &s->place[build - 1]))
		return 1;
	value = array_new(s->tasks[build].n, sizeof *value);
	if (!value)
		return error_sys(err, -ENOMEM, s->archive->path, NULL);
	r = add_column(s, build, COLUMN_RUNS, value, set, &known, err);
	for (enum value_column c = 0; !r && !known && c < COLUMNS; c++)
		r = add_column(s, build, c, value, set, &other, err);
	free(value);
	return r;
}

static int take_package(void *names, const struct pair *pair)
{
	uint32_t number;

	return name_table_add(names, slice_of(pair->key), &number);
}

static int packages(const struct builds *builds, uint32_t build, struct name_table *names,
		    struct error *err)
{
	const struct source *s = builds->context;
	const struct build_place *place = &s->place[build];
	struct arena *texts = arena_new();
	int r = 0;

	if (!texts)
		return error_sys(err, -ENOMEM, s->archive->path, NULL);
	if (!git_oid_is_zero(&place->packages))
		r = build_pairs(s->archive, place, &place->packages, "packages", &pair_packages,
				texts, take_package, names, err);
	arena_free(texts);
	return r;
}

static void join_rows(struct builds *builds, const uint32_t *to)
{
	union_join(&((struct source *)builds->context)->all, to);
}

static void end_source(struct builds *builds)
{
	struct source *s = builds->context;

	union_release(&s->all);
	free_all(s->place, s->tasks, s);
}

static const char *keep_text(struct builds *builds, const char *text)
{
	return arena_text(builds->texts, text, strlen(text));
}

static int set_revisions(struct builds *builds, struct build *build, const struct message *m)
{
	build->revision = arena_alloc(builds->texts,
				      (m->n_revisions + 1) * sizeof *build->revision);
	if (!build->revision)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_revisions; i++) {
		struct revision *rev = &build->revision[i];

		*rev = m->revision[i];
		rev->source = keep_text(builds, rev->source);
		rev->commit = keep_text(builds, rev->commit);
		if (!rev->source || !rev->commit)
			return -ENOMEM;
	}
	build->n_revisions = m->n_revisions;
	return 0;
}

static int add_build(struct builds *builds, struct source *s, const struct build_place *place,
		     const struct message *m)
{
	struct build_place *places = array_grow(s->place, builds->n, sizeof *places);
	struct build *grown;

	if (!places)
		return -ENOMEM;
	s->place = places;
	grown = array_grow(builds->build, builds->n, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	builds->build = grown;
	places[builds->n] = *place;
	grown += builds->n;
	*grown = (struct build){ .start_s = m->start_s };
	grown->id = keep_text(builds, git_oid_tostr_s(&place->commit));
	grown->run = keep_text(builds, m->run);
	if (!grown->id || !grown->run || set_revisions(builds, grown, m))
		return -ENOMEM;
	builds->n++;
	return 0;
}

/* From the newest to the oldest, then turned round. */
static int walk_series(struct builds *builds, struct source *s, const git_oid *tip, size_t newest,
		       struct error *err)
{
	git_oid at = *tip;
	int r = 0;

	while (r >= 0 && !git_oid_is_zero(&at) && (!newest || builds->n < newest)) {
		struct build_place place;
		struct message m;

		r = build_find(s->archive, &place, &m, &at, err);
		if (r > 0 && add_build(builds, s, &place, &m))
			r = error_sys(err, -ENOMEM, s->archive->path, NULL);
		message_release(&m);
		at = place.parent;
	}
	for (size_t i = 0; i < builds->n / 2; i++) {
		size_t j = builds->n - 1 - i;
		struct build_place place = s->place[i];
		struct build build = builds->build[i];

		s->place[i] = s->place[j];
		s->place[j] = place;
		builds->build[i] = builds->build[j];
		builds->build[j] = build;
	}
	return r < 0 ? r : 0;
}

/* The kernel's memory size varies a little from boot to boot: gibibytes are used. */
static void add_circumstance(struct buf *text, const struct pair *pair)
{
	struct slice value = slice_of(pair->value);
	uint64_t kb;

	buf_addf(text, "%s\t", pair->key);
	if (!strcmp(pair->key, "memory_kb") && cursor_slice_u64(value, &kb))
		buf_addu(text, (kb >> 20) + 1);
	else
		buf_add(text, value.p, value.len);
	buf_addc(text, '\n');
}

struct circumstances {
	struct buf text;
	int64_t cores;
	struct build *build;
	struct builds *builds;
};

/* What only sets have. */
static void take_spread(struct build *build, const struct pair *pair)
{
	size_t skip = strlen(VALUES_SPREAD);
	uint64_t n;

	if (!cursor_slice_u64(slice_of(pair->value), &n))
		return;
	if (!strcmp(pair->key, VALUES_RUNS))
		build->runs = n > 1 && n <= INT32_MAX ? (uint32_t)n : 0;
	if (!strncmp(pair->key, VALUES_SPREAD, skip) && metric_find(pair->key + skip) < METRICS)
		build->spread[metric_find(pair->key + skip)] = (double)n;
}

static int take_circumstance(void *context, const struct pair *pair)
{
	static const char *const counted[] = {
		"host", "machine", "kernel", "cores", "memory_kb", "tool", "version", "uses",
	};
	struct circumstances *c = context;
	const struct { const char *key, **text; } kept[] = {
		{ VALUES_UNACCOUNTED, &c->build->unaccounted }, { VALUES_ERROR, &c->build->error },
		{ "command", &c->build->command },
	};
	uint64_t cores;

	for (size_t i = 0; i < ARRAY_SIZE(counted); i++) {
		if (!strcmp(counted[i], pair->key))
			add_circumstance(&c->text, pair);
	}
	if (!strcmp(pair->key, "cores") && cursor_slice_u64(slice_of(pair->value), &cores) &&
	    cores <= INT32_MAX)
		c->cores = (int64_t)cores;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (strcmp(kept[i].key, pair->key))
			continue;
		*kept[i].text = keep_text(c->builds, pair->value);
		if (!*kept[i].text)
			return -ENOMEM;
	}
	take_spread(c->build, pair);
	return buf_error(&c->text);
}

static int read_build(struct builds *builds, struct build *build, const struct source *s,
		      const struct build_place *place, struct error *err)
{
	struct arena *texts = arena_new();
	struct circumstances c = { .text = BUF_INIT, .build = build, .builds = builds };
	int r;

	for (enum metric m = 0; m < METRICS; m++)
		build->spread[m] = NAN;

	if (!texts)
		return error_sys(err, -ENOMEM, s->archive->path, NULL);
	r = build_pairs(s->archive, place, &place->build, "build", &pair_build, texts,
			take_circumstance, &c, err);
	build->circumstances = hash_fnv64(buf_str(&c.text), c.text.len);
	build->cores = c.cores;
	buf_release(&c.text);
	arena_free(texts);
	return r;
}

static int read_all(struct builds *builds, struct source *s, struct error *err)
{
	int r = 0;

	s->tasks = array_new_zero(builds->n, sizeof *s->tasks);
	if (!s->tasks)
		return error_sys(err, -ENOMEM, s->archive->path, NULL);
	for (size_t i = 0; !r && i < builds->n; i++) {
		r = read_build(builds, &builds->build[i], s, &s->place[i], err);
		if (!r)
			r = build_totals(s->archive, &s->place[i], builds->build[i].total, err);
		if (!r)
			r = union_add(&s->all, &s->tasks[i], builds, s->archive, &s->place[i],
				      err);
		if (s->tasks[i].n > s->lines_max)
			s->lines_max = s->tasks[i].n;
	}
	return r;
}

static int start_source(struct builds *builds, struct archive *a, const char *ref)
{
	struct source *s = calloc(1, sizeof *s);

	*builds = (struct builds)BUILDS_INIT;
	if (!s)
		return -ENOMEM;
	s->archive = a;
	builds->context = s;
	builds->load = load_metric;
	builds->row = load_row;
	builds->spread = spread;
	builds->ran = ran;
	builds->packages = packages;
	builds->join = join_rows;
	builds->end = end_source;
	archive_notes_init(&s->notes, a);
	builds->notes = &s->notes.notes;
	builds->texts = arena_new();
	if (!builds->texts)
		return -ENOMEM;
	builds->ref = keep_text(builds, ref);
	return builds->ref ? 0 : -ENOMEM;
}

int archive_builds(struct archive *a, const char *ref, size_t newest, struct builds *builds,
		   struct error *err)
{
	struct source *s;
	git_oid tip;
	int r = start_source(builds, a, ref);

	if (r)
		return error_sys(err, r, a->path, NULL);
	s = builds->context;
	r = repo_tip(a, &tip, ref, err);
	if (!r && git_oid_is_zero(&tip))
		return error_set(err, -ENOENT, a->path, 0, 0, "has no series %.200s", ref);
	if (!r)
		r = walk_series(builds, s, &tip, newest, err);
	return r ? r : read_all(builds, s, err);
}
