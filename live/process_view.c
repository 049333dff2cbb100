/* SPDX-License-Identifier: MIT */
#include "live/process_view.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/search.h"
#include "inspect/look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WATCHED_MAX 32
#define RETRY_US 5000000

struct watched {
	int32_t pid;		/* 0: unused */
	uint64_t start_ticks;
	int64_t asked_us;
	struct name_table names;	/* remains empty: mappings are not read */
	struct look look;
	struct recent recent;
};

/* A reader process answers one request at a time, all about one recording. */
static struct process_view *current;
static struct watched *watched;

static int64_t now_us(void)
{
	return clock_mono_ns() / 1000;
}

static void stop_watching(struct watched *w)
{
	if (!w->pid)
		return;
	look_close(&w->look);
	*w = (struct watched){ 0 };
}

static void close_view(void)
{
	for (size_t i = 0; watched && i < WATCHED_MAX; i++)
		stop_watching(&watched[i]);
	free(watched);
	watched = NULL;
	if (!current)
		return;
	live_build_close(current->build);
	for (size_t i = 0; i < ARRAY_SIZE(current->table); i++)
		process_table_release(&current->table[i]);
	free(current);
	current = NULL;
}

/* Open the build if it runs. */
static void try_build(struct process_view *v)
{
	struct error unused;

	v->tried_us = now_us();
	if (!*v->path || live_build_open(&v->build, v->path, &unused)) {
		v->build = NULL;
	} else if (live_build_read(v->build, &unused) <= 0) {
		live_build_close(v->build);
		v->build = NULL;
	}
}

static int open_new(const char *path, struct error *err)
{
	int r = 0;

	current = calloc(1, sizeof *current);
	watched = calloc(WATCHED_MAX, sizeof *watched);
	if (!current || !watched)
		r = -ENOMEM;
	for (size_t i = 0; !r && i < ARRAY_SIZE(current->table); i++)
		r = process_table_init(&current->table[i]);
	if (r) {
		close_view();
		return error_sys(err, r, NULL, "cannot list processes");
	}
	strcpy(current->path, path);
	try_build(current);
	return 0;
}

/* A build that has ended does not run again, but a recording may have been asked for before its build
 * had begun. */
int process_view_open(struct process_view **v, const struct source *s, struct error *err)
{
	const struct catalogue_entry *e = catalogue_find(s->catalogue, s->id);
	char path[PATH_MAX];
	int r = 0;

	if (!source_directory(s, path))
		*path = '\0';
	if (current && strcmp(current->path, path))
		close_view();
	if (!current)
		r = open_new(path, err);
	else if (!current->build && e && e->running && now_us() - current->tried_us > RETRY_US)
		try_build(current);
	*v = current;
	return r;
}

static bool is_of_build(void *context, const struct listed *p, bool of_build)
{
	(void)context;
	(void)p;
	return of_build;
}

static bool is_any(void *context, const struct listed *p, bool of_build)
{
	(void)context;
	(void)p;
	(void)of_build;
	return true;
}

int process_view_read(struct process_view *v, bool all, struct error *err)
{
	struct process_table *t = &v->table[all];
	int r = 0;

	if (t->row && now_us() - t->list.time_us < PROCESS_VIEW_FRESH_US)
		return 0;
	if (v->build)
		r = live_build_read(v->build, err);
	if (r < 0)
		return r;
	if (!r) {
		live_build_close(v->build);
		v->build = NULL;
		/* rows of the other table have tasks of it */
		free(v->table[!all].row);
		v->table[!all].row = NULL;
		v->table[!all].n = 0;
	}
	r = process_table_read(t, v->build, all ? is_any : is_of_build, NULL);
	v->wall_ns[all] = clock_wall_ns();
	return r ? error_sys(err, r, "/proc", "cannot read") : 0;
}

static const struct process_row *row_of(const struct process_table *t, int32_t pid)
{
	struct search_range s = search_all(t->n);

	while (search_next(&s))
		search_past(&s, t->row[s.at].process->pid < pid);
	return s.at < t->n && t->row[s.at].process->pid == pid ? &t->row[s.at] : NULL;
}

int process_view_find(struct process_view *v, int32_t pid, uint64_t start_ticks, bool foreign,
		      const struct process_row **row, const struct process_table **table,
		      struct error *err)
{
	int r = process_view_read(v, false, err);

	*table = &v->table[false];
	if (!r)
		*row = row_of(*table, pid);
	if (!r && !*row) {
		r = process_view_read(v, true, err);
		*table = &v->table[true];
		if (!r)
			*row = row_of(*table, pid);
	}
	if (r)
		return r;
	if (!*row || (start_ticks && (*row)->process->start_ticks != start_ticks))
		return error_say(err, -ESTALE, "process %d has ended", (int)pid);
	if (!(*row)->of_build && !foreign)
		return error_say(err, -EPERM, "process %d does not belong to the build; buildbeat serve "
				 "--allow-control shows other processes", (int)pid);
	return 0;
}

static struct watched *find_watched(const struct listed *p)
{
	struct watched *oldest = watched;

	for (size_t i = 0; i < WATCHED_MAX; i++) {
		struct watched *w = &watched[i];

		if (w->pid == p->pid && w->start_ticks == p->start_ticks)
			return w;
		if (w->asked_us < oldest->asked_us)
			oldest = w;
	}
	return oldest;
}

static int watch(struct watched *w, const struct listed *p, struct error *err)
{
	int r;

	stop_watching(w);
	r = look_open(&w->look, p->pid, p->start_ticks, &w->names, err);
	w->pid = p->pid;	/* it can be released */
	w->start_ticks = p->start_ticks;
	if (r)
		stop_watching(w);
	return r;
}

int process_view_sample(struct process_view *v, const struct listed *p, const struct recent **recent,
			struct error *err)
{
	struct watched *w = find_watched(p);
	struct process_values values;
	int64_t now = now_us();
	int r = 0;

	(void)v;
	if (w->pid != p->pid || w->start_ticks != p->start_ticks)
		r = watch(w, p, err);
	if (r)
		return r == -ESRCH ? -ESTALE : r;
	w->asked_us = now;
	*recent = &w->recent;
	if (w->recent.n && now - w->recent.last_us < PROCESS_VIEW_SAMPLE_US)
		return 0;
	r = look_read_values(&w->look, &values, err);
	if (!r)
		recent_add(&w->recent, now, &values);
	return r == -ESRCH ? -ESTALE : r;
}
