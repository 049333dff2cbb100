/* SPDX-License-Identifier: MIT */
#include "rerun/forecast.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far four of five predictions are from the truth, as a share: for any other run of the same build on
 * the same machine, and more if it is to run otherwise. Measured with tests/whatif_real.py. */
#define SPREAD_AGAIN 0.155
#define SPREAD_CHANGED 0.06
#define SEEDS 20		/* runs for a share of hits, of which the outer tenths are left out */

#define CORES_LEAST 0.25	/* what is left to a build on a machine that others use */

static double cores_for(const struct rerun *r, const struct rerun_wish *w)
{
	double cores = w->cores > 0 ? (double)w->cores : r->chain->free.cores + r->chain->free.others;

	if (r->chain->free.cores <= 0 && w->cores <= 0)
		return 0;
	return MAX(cores - (w->quiet ? 0 : r->chain->free.others), CORES_LEAST);
}

/* The workers of the scope in which most tasks ran: 0 or -ENOMEM. */
static int find_jobs(struct rerun *r)
{
	const struct recording *rec = r->s->rec;
	size_t *n = array_new_zero(rec->n_instances + 1, sizeof *n), most = 0;

	if (!n)
		return -ENOMEM;
	for (size_t i = 0; i < r->s->n_ran; i++)
		n[r->chain->waits.workers[rec->task[r->s->order[i]].instance].scope]++;
	for (size_t i = 0; i < rec->n_instances; i++) {
		if (n[i] > most) {
			most = n[i];
			r->jobs = r->chain->waits.workers[i].jobs;
		}
	}
	free(n);
	return 0;
}

int rerun_make(struct rerun *r, const struct summary *s, const struct chain *c, struct error *err)
{
	const struct rerun_wish none = RERUN_WISH_INIT;
	struct rerun_run run = { 0 };
	int e;

	*r = (struct rerun){ .s = s, .chain = c };
	e = rerun_model_make(&r->model, s, &c->waits, &r->chain->free, NULL, err);
	if (e)
		return e;
	e = find_jobs(r);
	if (!e)
		e = rerun_simulate(&run, &r->model, &(struct rerun_conditions){ 0, cores_for(r, &none) }, false);
	r->base_us = MAX(run.wall_us, 1);
	r->memory_scale = run.kb_most && s->memory_peak_kb.value > 0 ?
			  (double)s->memory_peak_kb.value / (double)run.kb_most : 1;
	rerun_run_release(&run);
	return e ? error_sys(err, e, s->rec->path, NULL) : 0;
}

void rerun_release(struct rerun *r)
{
	rerun_model_release(&r->model);
}

static bool changes_tasks(const struct rerun_change *c)
{
	return c->speedup.n || c->without.n || c->split.n || c->first.n || c->cache_hit >= 0;
}

static bool is_none(const struct rerun_wish *w)
{
	return !changes_tasks(&w->change) && !w->jobs && !w->cores && !w->quiet;
}

/* Back from the last node; what takes no time is left out. */
static int find_chain(struct forecast *f, const struct rerun_model *m)
{
	const struct rerun_run *run = &f->run;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		bool for_worker = false;
		size_t left = m->n;

		if (pass) {
			f->chain = array_new(n + 1, sizeof *f->chain);
			if (!f->chain)
				return -ENOMEM;
			f->n_chain = n;
		}
		for (uint32_t i = m->end; i != NO_INDEX && left--; i = run->because[i]) {
			const struct rerun_node *node = &m->node[i];

			if (node->kind == RERUN_TASK && run->end_us[i] > run->start_us[i]) {
				for_worker = run->for_worker[i];
				if (pass)
					f->chain[--n] = (struct forecast_link){ node->task,
						llround(run->start_us[i] * f->scale), llround(run->end_us[i] * f->scale),
						for_worker };
				else
					n++;
			}
		}
	}
	return 0;
}

static void find_memory(struct forecast *f, const struct rerun *r, const struct rerun_model *m)
{
	double at_us = f->run.kb_most_us;

	f->memory_kb = f->run.kb_most ? llround((double)f->run.kb_most * r->memory_scale) : -1;
	f->memory_us = llround(at_us * f->scale);
	for (uint32_t i = 0; f->run.start_us && i < m->n && f->memory_kb >= 0; i++) {
		size_t at = f->n_largest;

		if (!m->node[i].kb || f->run.start_us[i] > at_us || f->run.end_us[i] <= at_us)
			continue;
		if (at == FORECAST_TASKS && m->node[i].kb <= m->node[f->largest[at - 1]].kb)
			continue;
		at -= at == FORECAST_TASKS;
		f->n_largest = at + 1;
		for (; at && m->node[f->largest[at - 1]].kb < m->node[i].kb; at--)
			f->largest[at] = f->largest[at - 1];
		f->largest[at] = i;
	}
	for (size_t k = 0; k < f->n_largest; k++)
		f->largest[k] = m->node[f->largest[k]].task;
}

static int order_us(const void *a, const void *b)
{
	return array_order(*(const int64_t *)a, *(const int64_t *)b);
}

/* Which compiles are hits is not known: the middle of several draws. */
static int draw_hits(struct forecast *f, const struct rerun *r, const struct rerun_wish *w,
		     const struct rerun_conditions *c, struct error *err)
{
	struct rerun_change change = w->change;
	int64_t us[SEEDS];

	for (unsigned k = 0; k < SEEDS; k++) {
		struct rerun_model m;
		struct rerun_run run = { 0 };
		int e;

		change.seed = w->change.seed + k;
		e = rerun_model_make(&m, r->s, &r->chain->waits, &r->chain->free, &change, err);
		if (!e)
			e = rerun_simulate(&run, &m, c, false);
		us[k] = run.wall_us;
		rerun_run_release(&run);
		rerun_model_release(&m);
		if (e)
			return e;
	}
	qsort(us, SEEDS, sizeof *us, order_us);
	f->wall_us = us[SEEDS / 2];
	f->low_us = us[SEEDS / 10];
	f->high_us = us[SEEDS - 1 - SEEDS / 10];
	return 0;
}

int forecast_make(struct forecast *f, const struct rerun *r, const struct rerun_wish *w, bool details,
		  struct error *err)
{
	const struct rerun_conditions c = { w->jobs, cores_for(r, w) };
	const struct rerun_model *m = &r->model;
	double spread = is_none(w) ? SPREAD_AGAIN : hypot(SPREAD_AGAIN, SPREAD_CHANGED);
	int e = 0;

	*f = (struct forecast){ .jobs = w->jobs ? w->jobs : r->jobs, .cores = c.cores, .busy = -1 };
	if (changes_tasks(&w->change)) {
		m = &f->model;
		e = rerun_model_make(&f->model, r->s, &r->chain->waits, &r->chain->free, &w->change, err);
	}
	if (e)
		return e;
	e = rerun_simulate(&f->run, m, &c, details);
	f->wall_us = f->low_us = f->high_us = f->run.wall_us;
	if (!e && w->change.cache_hit > 0 && w->change.cache_hit < 1)
		e = draw_hits(f, r, w, &c, err);
	f->scale = (double)r->s->wall_us / (double)r->base_us;
	f->wall_us = llround((double)f->wall_us * f->scale);
	f->low_us = llround((double)f->low_us * f->scale * (1 - spread));
	f->high_us = llround((double)f->high_us * f->scale * (1 + spread));
	if (c.cores > 0 && f->run.wall_us > 0)
		f->busy = MIN(f->run.cpu_us / (c.cores * (double)f->run.wall_us), 1.0);
	f->running_most = f->run.running_most;
	if (!e)
		find_memory(f, r, m);
	if (!e && details)
		e = find_chain(f, m);
	return e ? error_sys(err, e, r->s->rec->path, NULL) : 0;
}

void forecast_release(struct forecast *f)
{
	free(f->chain);
	rerun_model_release(&f->model);
	rerun_run_release(&f->run);
	*f = (struct forecast){ 0 };
}
