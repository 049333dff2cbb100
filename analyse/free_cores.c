/* SPDX-License-Identifier: MIT */
#include "analyse/free_cores.h"

#include "analyse/used.h"
#include "base/array.h"
#include "base/minmax.h"
#include "recording/column.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELL_LEAST_US 1000
#define CELLS_MAX 65536
#define STRETCH_LEAST_US 500000	/* ticks of 10 ms are a small part of it */
#define ROUNDS 5
#define HALVINGS 12
#define SHARE_LEAST 1e-6
#define SEEN_US 50000		/* likewise of the CPU time of a task */
/* The shares and what tasks want confirm each other, also when both are wrong by the same factor. So a
 * task that nearly always wants a core always does. */
#define ALWAYS 0.7
#define DOUBT 0.25		/* by how much a small share may be smaller: schedulers are not fair */

/* A part of the build between two samples. */
struct stretch {
	size_t from, until;	/* cells */
	double others;		/* cores that other processes used */
};

struct work {
	const struct summary *s;
	struct free_cores *f;
	double *demand;		/* of each cell, and one more */
	float *wants;		/* of each task: cores on average, if they were free */
	size_t n_stretches;
	struct stretch *stretch;
};

static double within(double n, double least, double most)
{
	return n > least ? MIN(n, most) : least;
}

/* The cells */

static double cell_at(const struct free_cores *f, int64_t time_us)
{
	return within((double)time_us / f->cell_us, 0, (double)f->n_cells);
}

static double got_until(const struct free_cores *f, int64_t time_us)
{
	double at = cell_at(f, time_us);
	size_t cell = (size_t)at;

	if (cell == f->n_cells)
		return f->got_us[cell];
	return f->got_us[cell] + (at - (double)cell) * (f->got_us[cell + 1] - f->got_us[cell]);
}

int64_t free_cores_got_us(const struct free_cores *f, int64_t from_us, int64_t until_us)
{
	int64_t us = until_us - from_us;

	if (us <= 0 || !f->known)
		return MAX(us, 0);
	return llround(MIN(got_until(f, until_us) - got_until(f, from_us), (double)us));
}

/* The share that a process got between two times. */
static double mean_share(const struct free_cores *f, int64_t from_us, int64_t until_us)
{
	double cells = cell_at(f, until_us) - cell_at(f, from_us);

	if (cells * f->cell_us < 1)
		return 1;
	return within((got_until(f, until_us) - got_until(f, from_us)) / (cells * f->cell_us), SHARE_LEAST, 1);
}

/* Others */

static double busy_us(const struct column *part, size_t n, size_t from, size_t to)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)MAX(column_between(&part[i], from, to), 0);
	return sum;
}

static size_t find_busy(struct column *part, const struct recording *rec)
{
	static const char *const name[] = { "user", "nice", "system", "irq", "steal" };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		n += column_find(&part[n], rec, "proc_stat", name[i]);
	return n;
}

/* The last one is to the end of the build: there is no cell outside of all. */
static void add_stretch(struct work *w, int64_t until_us, double others)
{
	size_t from = w->n_stretches ? w->stretch[w->n_stretches - 1].until : 0;
	size_t until = (size_t)cell_at(w->f, until_us);

	if (until > from)
		w->stretch[w->n_stretches++] = (struct stretch){ from, until, others };
}

/* The CPU time of the build between samples. The samples of its tasks do not count: not every output
 * reads them, and all say the same. */
static int find_own(double *amount, const struct summary *s, const int64_t *time_us, size_t n)
{
	struct recording rec = *s->rec;
	struct summary sum = *s;
	enum used_source source;

	rec.usage = NULL;
	sum.rec = &rec;
	return used_fill(amount, &source, &sum, USED_CPU, time_us, n);
}

static int fill_stretches(struct work *w, struct column *part, size_t n_parts)
{
	const struct series *stat = part->series;
	double cores = (double)w->s->cores, scale = w->s->rec->source.one_core ? cores : 1;
	double busy = 0, own = 0, sum = 0, *amount = array_new(stat->n + 1, sizeof *amount);
	int64_t *time_us = array_new(stat->n + 1, sizeof *time_us), from_us;
	int r = -ENOMEM;

	w->stretch = array_new(stat->n + 1, sizeof *w->stretch);
	if (!amount || !time_us || !w->stretch)
		goto out;
	for (size_t i = 0; i < stat->n; i++)
		time_us[i] = stat->time_ms[i] * 1000;
	r = find_own(amount, w->s, time_us, stat->n);
	if (r)
		goto out;
	from_us = time_us[0];
	for (size_t i = 1; i < part->n; i++) {
		busy += scale * busy_us(part, n_parts, i - 1, i);
		own += amount[i];
		if (time_us[i] - from_us < STRETCH_LEAST_US && i + 1 < part->n)
			continue;
		busy = within(busy - own, 0, cores * (double)(time_us[i] - from_us));
		add_stretch(w, time_us[i], busy / (double)(time_us[i] - from_us));
		sum += busy;
		from_us = time_us[i];
		busy = own = 0;
	}
	if (from_us > time_us[0])
		w->f->others = sum / (double)(from_us - time_us[0]);
	if (w->n_stretches)
		w->stretch[w->n_stretches - 1].until = w->f->n_cells;
out:
	free_all(time_us, amount);
	return r;
}

static int find_others(struct work *w)
{
	struct column part[5];
	size_t n = find_busy(part, w->s->rec);
	int r = 0;

	if (n && part->n > 1)
		r = fill_stretches(w, part, n);
	if (r || w->n_stretches)
		return r;
	free(w->stretch);
	w->stretch = array_new(1, sizeof *w->stretch);
	if (!w->stretch)
		return -ENOMEM;
	w->stretch[w->n_stretches++] = (struct stretch){ 0, w->f->n_cells, 0 };
	return 0;
}

/* Demand and share */

static void add_demand(struct work *w, int64_t time_us, double n)
{
	double at = cell_at(w->f, time_us);
	size_t cell = (size_t)at;

	w->demand[cell] += n * (1 - (at - (double)cell));
	if (cell < w->f->n_cells)
		w->demand[cell + 1] += n * (at - (double)cell);
}

static void fill_demand(struct work *w)
{
	const struct summary *s = w->s;
	double n = 0;

	memset(w->demand, 0, (w->f->n_cells + 1) * sizeof *w->demand);
	for (size_t i = 0; i < s->n_ran; i++) {
		const struct task *t = &s->rec->task[s->order[i]];
		double wants = (double)w->wants[s->order[i]];

		add_demand(w, t->start_us, wants);
		add_demand(w, recording_task_end_us(s->rec, t), -wants);
	}
	for (size_t i = 0; i < w->f->n_cells; i++) {
		n += w->demand[i];
		w->demand[i] = MAX(n, 0);
	}
}

static double share_beside(const struct work *w, size_t cell, double others)
{
	double all = w->demand[cell] + others, cores = (double)w->s->cores;

	return all > cores ? cores / all : 1;
}

/* So many processes that they get what others used. */
static double count_others(const struct work *w, const struct stretch *at)
{
	double least = at->others, most = least, wanted = least * (double)(at->until - at->from);

	for (size_t i = at->from; i < at->until; i++)
		most = MAX(w->demand[i], most);
	most += 4 * least + 1;
	for (int i = 0; least > 0 && i < HALVINGS; i++) {
		double half = (least + most) / 2, got = 0;

		for (size_t k = at->from; k < at->until; k++)
			got += half * share_beside(w, k, half);
		if (got > wanted)
			most = half;
		else
			least = half;
	}
	return least;
}

static void fill_share(struct work *w)
{
	struct free_cores *f = w->f;
	double got_us = 0;

	for (size_t i = 0; i < w->n_stretches; i++) {
		double others = count_others(w, &w->stretch[i]);

		for (size_t k = w->stretch[i].from; k < w->stretch[i].until; k++) {
			f->got_us[k] = got_us;
			got_us += f->cell_us * share_beside(w, k, others);
		}
	}
	f->got_us[f->n_cells] = got_us;
}

/* Tasks */

/* How many of its processes a task used at once on average, of its own. */
static double used_at_once(const struct work *w, uint32_t i)
{
	const struct task *t = &w->s->rec->task[i];
	const struct cost *c = &w->s->nest[i].cost;
	int64_t wall_us = t->hosts ? cost_wall_us(w->s->rec, t) : c->wall_us;

	return wall_us > 0 ? (double)c->cpu_us / (double)wall_us : 0;
}

static bool is_exact(const struct task *t)
{
	return t->delay_us >= 0 && !t->delay_at_least;
}

/* The part of the time that its processes wanted a core in which they had one, as measured: until the last
 * sample, if the delay is one of samples. */
static double measured_share(const struct task *t, double cpu_us)
{
	double seen_us = 1e3 * (double)t->cpu_ms, delay_us = (double)t->delay_us;

	if (delay_us <= 0)
		return 1;
	if (t->delay_at_least && seen_us >= SEEN_US && seen_us < cpu_us)
		cpu_us = seen_us;
	return within(cpu_us / (cpu_us + delay_us), SHARE_LEAST, 1);
}

/* Otherwise it is that of all at that time, if no samples say that it is less. */
static double share_of(const struct work *w, uint32_t i)
{
	const struct task *t = &w->s->rec->task[i];
	double share = measured_share(t, (double)w->s->nest[i].cost.cpu_us), mean;

	if (is_exact(t))
		return share;
	mean = mean_share(w->f, t->start_us, recording_task_end_us(w->s->rec, t));
	return MIN(mean, share);
}

/* Until the share is known, one that does not host always wants a core. */
static void begin_tasks(struct work *w)
{
	for (uint32_t i = 0; i < w->s->rec->n_tasks; i++) {
		const struct task *t = &w->s->rec->task[i];
		const struct cost *c = &w->s->nest[i].cost;
		double used = used_at_once(w, i);

		w->f->threads[i] = 1;
		w->wants[i] = (float)MIN(used, 1);
		if (t->hosts)
			continue;
		if (c->measured && c->wall_us > 0 && t->delay_us > 0)
			used += (double)t->delay_us / (double)c->wall_us;
		w->f->threads[i] = (float)MAX(used, 1);
		w->wants[i] = is_exact(t) ? (float)used : w->f->threads[i];
	}
}

static void fill_wants(struct work *w)
{
	for (size_t i = 0; i < w->s->n_ran; i++) {
		uint32_t at = w->s->order[i];
		const struct task *t = &w->s->rec->task[at];
		double wanted, most = (double)w->f->threads[at];

		if (!w->s->nest[at].cost.measured || t->hosts || is_exact(t))
			continue;
		wanted = used_at_once(w, at) / share_of(w, at);
		w->wants[at] = (float)(wanted < ALWAYS * most ? wanted : most);
	}
}

static int64_t need_us(const struct work *w, uint32_t i)
{
	const struct cost *c = &w->s->nest[i].cost;
	double wall_us = (double)c->wall_us, share = share_of(w, i), cpu_us, waited_us;

	if (!c->measured)
		return llround(wall_us * share);
	if (!is_exact(&w->s->rec->task[i]))
		share *= 1 - DOUBT * (1 - share);
	cpu_us = MIN((double)c->cpu_us / (double)w->f->threads[i], wall_us);
	waited_us = MAX(wall_us - cpu_us / share, 0);
	return llround(MIN(waited_us + cpu_us, wall_us));
}

/* The whole */

static int allocate(struct work *w)
{
	struct free_cores *f = w->f;
	size_t n = w->s->rec->n_tasks;

	f->n_cells = (size_t)within((double)w->s->wall_us / CELL_LEAST_US, 1, CELLS_MAX);
	f->cell_us = MAX((double)w->s->wall_us, 1) / (double)f->n_cells;
	f->got_us = array_new_zero(f->n_cells + 1, sizeof *f->got_us);
	f->need_us = array_new_zero(n, sizeof *f->need_us);
	f->threads = array_new(n, sizeof *f->threads);
	w->demand = array_new(f->n_cells + 1, sizeof *w->demand);
	w->wants = array_new(n, sizeof *w->wants);
	return f->got_us && f->need_us && f->threads && w->demand && w->wants ? 0 : -ENOMEM;
}

static int estimate(struct work *w)
{
	int r = find_others(w);

	if (r)
		return r;
	w->f->cores = (double)w->s->cores - w->f->others;
	for (int i = 0; i < ROUNDS; i++) {
		if (i)
			fill_wants(w);
		fill_demand(w);
		fill_share(w);
	}
	return 0;
}

/* At least of half of their time. */
static bool knows_cpu(const struct summary *s)
{
	double known_us = 0, all_us = 0;

	for (size_t i = 0; i < s->n_ran; i++) {
		const struct cost *c = &s->nest[s->order[i]].cost;

		all_us += (double)c->wall_us;
		known_us += c->measured ? (double)c->wall_us : 0;
	}
	return s->cpu_us >= 0 && all_us > 0 && known_us >= all_us / 2;
}

int free_cores_make(struct free_cores *f, const struct summary *s)
{
	struct work w = { .s = s, .f = f };
	int r;

	*f = (struct free_cores){ .known = s->cores > 0 && knows_cpu(s) };
	r = allocate(&w);
	if (!r)
		begin_tasks(&w);
	if (!r && f->known)
		r = estimate(&w);
	for (size_t i = 0; !r && i < s->n_ran; i++) {
		uint32_t at = s->order[i];

		f->need_us[at] = f->known ? need_us(&w, at) : s->nest[at].cost.wall_us;
	}
	free_all(w.stretch, w.wants, w.demand);
	return r;
}

void free_cores_release(struct free_cores *f)
{
	free_all(f->need_us, f->threads, f->got_us);
	*f = (struct free_cores){ 0 };
}
