/* SPDX-License-Identifier: MIT */
#include "archive/night.h"
#include "archive/union.h"

#include "base/arena.h"
#include "base/cursor.h"
#include "base/index.h"
#include "base/saturate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* So many nights at once go from one night after the other to one task after the other: a
 * line of the processor's cache of each task. */
#define BLOCK 16

/* Behind struct nights. */
struct source {
	struct archive *archive;
	struct night_place *place;	/* of each night */
	struct tasks_of *tasks;		/* and its tasks */
	struct tasks_union all;
	size_t lines_max;
};

/* Loading */

/* What is loaded of one night: its tasks in the dictionary's order. */
struct rows {
	int64_t *a, *b;		/* of columns */
	float *row[BLOCK];	/* in the order of all tasks */
};

static void rows_release(struct rows *rows)
{
	free(rows->a);
	free(rows->b);
	for (int i = 0; i < BLOCK; i++)
		free(rows->row[i]);
}

static int rows_make(struct rows *rows, size_t lines, size_t n_tasks)
{
	bool made;

	*rows = (struct rows){ .a = malloc((lines + 1) * sizeof *rows->a),
			       .b = malloc((lines + 1) * sizeof *rows->b) };
	made = rows->a && rows->b;
	for (int i = 0; i < BLOCK; i++) {
		rows->row[i] = malloc((n_tasks + 1) * sizeof **rows->row);
		made = made && rows->row[i];
	}
	if (!made)
		rows_release(rows);
	return made ? 0 : -ENOMEM;
}

static void scatter(float *row, const int64_t *a, const int64_t *b, const uint32_t *task,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i] >= 0 && b[i] >= 0)
			row[task[i]] = (float)(a == b ? a[i] : sat_add(a[i], b[i]));
	}
}

/* What a task took until it failed says nothing of what it takes. */
static int drop_failed(const struct source *s, struct rows *rows, size_t night, float *row,
		       struct error *err)
{
	const struct tasks_of *tasks = &s->tasks[night];
	const uint32_t *task = union_tasks(&s->all, tasks);
	bool known;
	int r = night_column(s->archive, &s->place[night], COLUMN_STATUS, rows->a, tasks->n,
			     &known, err);

	for (size_t i = 0; !r && known && i < tasks->n; i++) {
		if (rows->a[i] > 0)
			row[task[i]] = NAN;
	}
	return r;
}

static int load_night(const struct nights *nights, struct rows *rows, size_t night,
		      enum metric m, float *row, struct error *err)
{
	const enum value_column *c = metric_info[m].column;
	const struct source *s = nights->context;
	const struct tasks_of *tasks = &s->tasks[night];
	bool known, second = true;
	int r;

	for (size_t i = 0; i < nights->n_tasks; i++)
		row[i] = NAN;
	r = night_column(s->archive, &s->place[night], c[0], rows->a, tasks->n, &known, err);
	if (!r && known && c[0] != c[1])
		r = night_column(s->archive, &s->place[night], c[1], rows->b, tasks->n, &second,
				 err);
	if (!r && known && second)
		scatter(row, rows->a, c[0] == c[1] ? rows->a : rows->b,
			union_tasks(&s->all, tasks), tasks->n);
	/* Most nights none failed: that column is not read then. */
	return r || !nights->night[night].total[TOTAL_FAILED] ? r :
	       drop_failed(s, rows, night, row, err);
}

static void turn(float *values, const struct rows *rows, size_t n_tasks, size_t n,
		 size_t from, size_t count)
{
	for (size_t t = 0; t < n_tasks; t++) {
		float *to = values + t * n + from;

		for (size_t i = 0; i < count; i++)
			to[i] = rows->row[i][t];
	}
}

static int load(const struct nights *nights, enum metric m, float *values, struct error *err)
{
	const struct source *s = nights->context;
	struct rows rows;
	int r = rows_make(&rows, s->lines_max, nights->n_tasks);

	if (r)
		return error_sys(err, r, s->archive->path, NULL);
	for (size_t from = 0; !r && from < nights->n; from += BLOCK) {
		size_t count = nights->n - from < BLOCK ? nights->n - from : BLOCK;

		for (size_t i = 0; !r && i < count; i++)
			r = load_night(nights, &rows, from + i, m, rows.row[i], err);
		if (!r)
			turn(values, &rows, nights->n_tasks, nights->n, from, count);
	}
	rows_release(&rows);
	return r;
}

/* The index */

static void end(struct nights *nights)
{
	struct source *s = nights->context;

	union_release(&s->all);
	free(s->place);
	free(s->tasks);
	free(s);
}

static const char *keep(struct nights *nights, const char *text)
{
	return arena_text(nights->texts, text, strlen(text));
}

static int set_revisions(struct nights *nights, struct night *night, const struct message *m)
{
	night->revision = arena_alloc(nights->texts,
				      (m->n_revisions + 1) * sizeof *night->revision);
	if (!night->revision)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_revisions; i++) {
		struct revision *rev = &night->revision[i];

		*rev = m->revision[i];
		rev->source = keep(nights, rev->source);
		rev->commit = keep(nights, rev->commit);
		if (!rev->source || !rev->commit)
			return -ENOMEM;
	}
	night->n_revisions = m->n_revisions;
	return 0;
}

static int add_night(struct nights *nights, struct source *s, const struct night_place *place,
		     const struct message *m)
{
	struct night_place *places = array_grow(s->place, nights->n, sizeof *places);
	struct night *grown;

	if (!places)
		return -ENOMEM;
	s->place = places;
	grown = array_grow(nights->night, nights->n, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	nights->night = grown;
	places[nights->n] = *place;
	grown += nights->n;
	*grown = (struct night){ .start_s = m->start_s };
	grown->id = keep(nights, git_oid_tostr_s(&place->commit));
	grown->run = keep(nights, m->run);
	if (!grown->id || !grown->run || set_revisions(nights, grown, m))
		return -ENOMEM;
	nights->n++;
	return 0;
}

/* From the newest to the oldest, then turned round. */
static int walk(struct nights *nights, struct source *s, const git_oid *tip, size_t newest,
		struct error *err)
{
	git_oid at = *tip;
	int r = 0;

	while (r >= 0 && !git_oid_is_zero(&at) && (!newest || nights->n < newest)) {
		struct night_place place;
		struct message m;

		r = night_find(s->archive, &place, &m, &at, err);
		if (r > 0 && add_night(nights, s, &place, &m))
			r = error_sys(err, -ENOMEM, s->archive->path, NULL);
		message_release(&m);
		at = place.parent;
	}
	for (size_t i = 0; i < nights->n / 2; i++) {
		size_t j = nights->n - 1 - i;
		struct night_place place = s->place[i];
		struct night night = nights->night[i];

		s->place[i] = s->place[j];
		s->place[j] = place;
		nights->night[i] = nights->night[j];
		nights->night[j] = night;
	}
	return r < 0 ? r : 0;
}

/* The memory a kernel tells differs by a little from boot to boot: whole gibibytes. */
static void add_circumstance(struct buf *text, const struct pair *pair)
{
	struct slice value = { pair->value, strlen(pair->value) };
	uint64_t kb;

	buf_addf(text, "%s\t", pair->key);
	if (!strcmp(pair->key, "memory_kb") && slice_u64(value, &kb))
		buf_addu(text, (kb >> 20) + 1);
	else
		buf_add(text, value.p, value.len);
	buf_addc(text, '\n');
}

static int take_circumstance(void *context, const struct pair *pair)
{
	static const char *const telling[] = {
		"host", "machine", "kernel", "cores", "memory_kb", "tool", "version", "uses",
	};

	for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
		if (!strcmp(telling[i], pair->key))
			add_circumstance(context, pair);
	}
	return buf_error(context);
}

static int read_build(struct night *night, const struct source *s,
		      const struct night_place *place, struct error *err)
{
	struct arena *texts = arena_new();
	struct buf text = BUF_INIT;
	int r;

	if (!texts)
		return error_sys(err, -ENOMEM, s->archive->path, NULL);
	r = night_pairs(s->archive, place, &place->build, "build", &pair_build, texts,
			take_circumstance, &text, err);
	night->circumstances = index_hash(buf_str(&text), text.len);
	buf_release(&text);
	arena_free(texts);
	return r;
}

static int read_all(struct nights *nights, struct source *s, struct error *err)
{
	int r = 0;

	s->tasks = calloc(nights->n + 1, sizeof *s->tasks);
	if (!s->tasks)
		return error_sys(err, -ENOMEM, s->archive->path, NULL);
	for (size_t i = 0; !r && i < nights->n; i++) {
		r = read_build(&nights->night[i], s, &s->place[i], err);
		if (!r)
			r = night_totals(s->archive, &s->place[i], nights->night[i].total, err);
		if (!r)
			r = union_add(&s->all, &s->tasks[i], nights, s->archive, &s->place[i],
				      err);
		if (s->tasks[i].n > s->lines_max)
			s->lines_max = s->tasks[i].n;
	}
	return r;
}

static int start(struct nights *nights, struct archive *a, const char *ref)
{
	struct source *s = calloc(1, sizeof *s);

	*nights = (struct nights)NIGHTS_INIT;
	if (!s)
		return -ENOMEM;
	s->archive = a;
	nights->context = s;
	nights->load = load;
	nights->end = end;
	nights->texts = arena_new();
	if (!nights->texts)
		return -ENOMEM;
	nights->ref = keep(nights, ref);
	return nights->ref ? 0 : -ENOMEM;
}

int archive_nights(struct archive *a, const char *ref, size_t newest, struct nights *nights,
		   struct error *err)
{
	struct source *s;
	git_oid tip;
	int r = start(nights, a, ref);

	if (r)
		return error_sys(err, r, a->path, NULL);
	s = nights->context;
	r = repo_tip(a, &tip, ref, err);
	if (!r && git_oid_is_zero(&tip))
		return error_set(err, -ENOENT, a->path, 0, 0, "has no series %.200s", ref);
	if (!r)
		r = walk(nights, s, &tip, newest, err);
	return r ? r : read_all(nights, s, err);
}
