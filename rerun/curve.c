/* SPDX-License-Identifier: MIT */
#include "rerun/curve.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int rerun_curve_make(struct rerun_curve *c, const struct rerun *r, const struct rerun_wish *w, int64_t least,
		      int64_t most, double knee, struct error *err)
{
	struct rerun_wish wish = *w;
	int e = 0;

	*c = (struct rerun_curve){ .point = array_new((size_t)(most - least + 1), sizeof *c->point) };
	if (!c->point)
		return error_sys(err, -ENOMEM, r->s->rec->path, NULL);
	for (int64_t jobs = least; jobs <= most && !e; jobs++) {
		struct forecast f;

		wish.jobs = jobs;
		e = forecast_make(&f, r, &wish, false, err);
		c->point[c->n++] = (struct rerun_point){ jobs, f.wall_us, f.memory_kb };
		forecast_release(&f);
	}
	for (size_t i = 0; i < c->n; i++) {
		if (c->point[i].wall_us < c->point[c->best].wall_us)
			c->best = i;
	}
	while (c->n && (double)c->point[c->knee].wall_us > (1 + knee) * (double)c->point[c->best].wall_us)
		c->knee++;
	return e;
}

int64_t rerun_curve_safe(const struct rerun_curve *c, int64_t memory_kb)
{
	int64_t safe = 0;

	for (size_t i = 0; i < c->n && c->point[i].memory_kb <= memory_kb; i++) {
		if (c->point[i].memory_kb < 0)
			return -1;
		safe = c->point[i].jobs;
	}
	return safe;
}

void rerun_curve_release(struct rerun_curve *c)
{
	free(c->point);
	*c = (struct rerun_curve){ 0 };
}
