/* SPDX-License-Identifier: MIT */
#include "cli/series_changes.h"

#include "base/arena.h"
#include "base/array.h"
#include "cli/numberlines.h"
#include "cli/output.h"
#include "compare/lines.h"
#include "stats/changepoints.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>

/* Of the change points told, so many may be none. */
#define FALSE_RATE 0.01

/* A smaller change is not worth a look. */
#define LEAST_EFFECT 0.01

struct series {
	struct line_id id;
	size_t first, n;	/* its part of findings.change */
};

struct findings {
	struct changepoints *detector;
	struct arena *texts;
	struct series *series;
	size_t n_series;
	struct change *change;
	size_t n_changes;
};

static int add_change(struct findings *f, const struct change *change)
{
	struct change *grown = array_grow(f->change, f->n_changes, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	f->change = grown;
	grown[f->n_changes++] = *change;
	return 0;
}

static int add_series(void *context, const struct numberline *line)
{
	struct findings *f = context;
	struct series *grown = array_grow(f->series, f->n_series, sizeof *grown);
	const struct change *list;
	struct series *s;
	size_t n;
	int r;

	if (!grown)
		return -ENOMEM;
	f->series = grown;
	s = &grown[f->n_series++];
	*s = (struct series){ .id = line->id, .first = f->n_changes };
	s->id.text = arena_text(f->texts, line->id.text, line->id.len);
	if (!s->id.text)
		return -ENOMEM;
	r = changepoints_find(f->detector, &list, &n, line->list[0].value, line->list[0].n,
			      LEAST_EFFECT);
	for (size_t i = 0; !r && i < n; i++)
		r = add_change(f, &list[i]);
	s->n = f->n_changes - s->first;
	return r;
}

/* A series without a change was looked at as well. */
static int adjust(struct findings *f)
{
	size_t n = 0;
	double *p = malloc((f->n_series + f->n_changes + 1) * sizeof *p);
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_changes; i++)
		p[n++] = f->change[i].p;
	for (size_t i = 0; i < f->n_series; i++) {
		if (!f->series[i].n)
			p[n++] = 1;
	}
	r = stats_adjust(p, n);
	for (size_t i = 0; !r && i < f->n_changes; i++)
		f->change[i].p = p[i];
	free(p);
	return r;
}

static void print_series(struct buf *out, struct findings *f, const struct series *s)
{
	struct change *change = f->change + s->first;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (change[i].p <= FALSE_RATE)
			change[n++] = change[i];
	}
	line_changes(out, &s->id, change, n);
}

static int print(struct findings *f)
{
	struct buf out = BUF_INIT;
	int r = adjust(f);

	for (size_t i = 0; !r && i < f->n_series; i++) {
		print_series(&out, f, &f->series[i]);
		r = buf_error(&out);
	}
	return output_end(&out, r, NULL, NULL);
}

int series_changes_print(const char *path, struct error *err)
{
	static const char *const name[] = { "values", NULL };
	struct findings f = { .detector = changepoints_new(), .texts = arena_new() };
	int r = 0;

	if (!f.detector || !f.texts)
		r = error_sys(err, -ENOMEM, path, NULL);
	if (!r)
		r = numberlines_read(path, name, add_series, &f, err);
	if (!r && (r = print(&f)))
		error_sys(err, r, path, NULL);
	free(f.change);
	free(f.series);
	arena_free(f.texts);
	changepoints_free(f.detector);
	return r;
}
