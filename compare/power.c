/* SPDX-License-Identifier: MIT */
#include "compare/power.h"

#include "base/array.h"
#include "base/minmax.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define APART 2			/* builds between the places of trials */
#define VALUES_ALONE 5e5	/* of a replay: with more of them, changes are planted together */
#define TASKS_TOGETHER 20	/* at most one in so many */
#define NEWEST 15		/* builds whose median is the level */

const double power_size[POWER_SIZES] = { 0.05, 0.1, 0.2, 0.5, 1 };

/* Builds with planted changes, and what check says about them. */
struct trial {
	struct power *p;
	const struct builds *from;
	struct build *build;	/* with changed totals */
	unsigned metrics;	/* that change */
	uint32_t begin;
	double by;
	size_t first, end;	/* rows of p whose tasks change */
	double level[POWER_TASKS + 1][METRICS];
	uint32_t found[POWER_TASKS + 1];	/* builds with the change, 0: not yet */
	size_t n_found;
};

static int load_row(const struct builds *builds, uint32_t build, enum metric m, float *values,
		    struct error *err)
{
	const struct trial *t = builds->context;
	int r = t->from->row(t->from, build, m, values, err);

	for (size_t i = t->first; !r && i < t->end && build >= t->begin && t->metrics & METRIC_BIT(m); i++) {
		if (t->p->row[i].task < builds->n_tasks)
			values[t->p->row[i].task] *= (float)(1 + t->by);
	}
	return r;
}

static int load_spread(const struct builds *builds, uint32_t build, enum metric m, float *values,
		       struct error *err)
{
	const struct trial *t = builds->context;

	return t->from->spread(t->from, build, m, values, err);
}

static void plant_total(const struct trial *t, size_t b, enum metric m)
{
	const enum total *of = metric_totals[m];

	for (size_t k = 0; k < 2 && (!k || of[1] != of[0]); k++) {
		int64_t *total = &t->build[b].total[of[k]];

		*total = *total > 0 ? (int64_t)((double)*total * (1 + t->by)) : *total;
	}
}

static void plant_totals(const struct trial *t)
{
	memcpy(t->build, t->from->build, t->from->n * sizeof *t->build);
	for (size_t i = t->first; i < t->end; i++) {
		for (size_t b = t->begin; t->p->row[i].task == TASK_TOTAL && b < t->from->n; b++) {
			for (enum metric m = 0; m < METRICS; m++) {
				if (t->metrics & METRIC_BIT(m))
					plant_total(t, b, m);
			}
		}
	}
}

/* Stops when all changes are found. */
static int see(void *context, uint32_t build, const struct verdict *v, struct error *err)
{
	struct trial *t = context;

	(void)err;
	for (size_t i = t->first; !v->not_judged && i < t->end; i++) {
		for (size_t k = 0; k < v->n && !t->found[i]; k++) {
			const struct verdict_finding *f = &v->finding[k];

			if (f->task != t->p->row[i].task || !f->fails || f->at < t->begin)
				continue;
			for (uint32_t b = t->begin; b <= build; b++)
				t->found[i] += !(t->from->build[b].total[TOTAL_STATUS] > 0);
			t->n_found++;
		}
	}
	return t->n_found == t->end - t->first ? -ECANCELED : 0;
}

static int try_once(struct trial *t, const struct rules *rules, const struct known_list *known,
		    struct error *err)
{
	const struct verdict_seen seen = { see, t };
	struct builds builds = *t->from;
	int r;

	builds.build = t->build;
	builds.load = NULL;
	builds.changed_from = t->begin;
	builds.row = load_row;
	builds.spread = t->from->spread ? load_spread : NULL;
	builds.context = t;
	plant_totals(t);
	memset(t->found, 0, sizeof t->found);
	t->n_found = 0;
	r = verdict_each(&builds, rules, known, t->begin, &seen, err);
	return r == -ECANCELED ? 0 : r;
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The builds of the median trial; trials without an answer are the longest. */
static struct power_cell cell_of(uint32_t *found, size_t n, uint32_t most)
{
	uint32_t median;

	for (size_t i = 0; i < n; i++)
		found[i] = found[i] && found[i] <= most ? found[i] : UINT32_MAX;
	qsort(found, n, sizeof *found, ascending);
	median = found[(n - 1) / 2];
	return median == UINT32_MAX ? (struct power_cell){ POWER_NOT_FOUND, 0 } :
	       (struct power_cell){ POWER_FOUND, median };
}

/* Whether the change of each of the metrics is below a threshold. */
static bool is_below(const struct trial *t, const struct rules *rules, size_t row)
{
	const char *name = builds_task_name(t->from, t->p->row[row].task);

	for (enum metric m = 0; m < METRICS; m++) {
		struct gate gate = rules_gate(rules, name, m);
		double level = t->level[row][m];

		if (t->metrics & METRIC_BIT(m) && !gate.ignored && t->by >= gate.share &&
		    t->by * level >= gate.amount && level * (1 + t->by) >= gate.floor)
			return false;
	}
	return true;
}

/* Tries one size for the rows [first, end). */
static int try_size(struct trial *t, size_t size, const uint32_t *begin, const struct rules *rules,
		    const struct known_list *known, struct error *err)
{
	uint32_t found[POWER_TASKS + 1][POWER_TRIALS] = { { 0 } };
	struct power *p = t->p;
	bool below = true;
	int r = 0;

	t->by = power_size[size];
	for (size_t i = t->first; i < t->end; i++)
		below = below && is_below(t, rules, i);
	for (size_t k = 0; !r && !below && k < p->trials; k++) {
		t->begin = begin[k];
		r = try_once(t, rules, known, err);
		for (size_t i = t->first; i < t->end; i++)
			found[i][k] = t->found[i];
	}
	for (size_t i = t->first; i < t->end; i++) {
		p->row[i].cell[size] = cell_of(found[i], p->trials, p->builds);
		if (p->row[i].cell[size].answer == POWER_NOT_FOUND && is_below(t, rules, i))
			p->row[i].cell[size].answer = POWER_BELOW;
	}
	return r;
}

/* What a smaller change needs, a larger one needs too, at most; it needs no less than agree. */
static bool is_settled(const struct trial *t, size_t size, const struct rules *rules)
{
	for (size_t i = t->first; i < t->end; i++) {
		const struct power_cell *before = &t->p->row[i].cell[size - 1];

		if (before->answer != POWER_FOUND || before->builds > rules->agree)
			return false;
	}
	return true;
}

static int try_sizes(struct trial *t, const uint32_t *begin, const struct rules *rules,
		     const struct known_list *known, struct error *err)
{
	int r = 0;

	for (size_t size = 0; !r && size < POWER_SIZES; size++) {
		if (!size || !is_settled(t, size, rules)) {
			r = try_size(t, size, begin, rules, known, err);
			continue;
		}
		for (size_t i = t->first; i < t->end; i++)
			t->p->row[i].cell[size] = t->p->row[i].cell[size - 1];
	}
	return r;
}

/* The median of the newest known values. */
static double level_of(const float *values, size_t n)
{
	double v[NEWEST];
	size_t known = 0;

	for (size_t b = n; b > 0 && known < NEWEST; b--) {
		if (isfinite(values[b - 1]))
			v[known++] = (double)values[b - 1];
	}
	return known ? stats_median(v, known) : NAN;
}

/* The build is the first row, then come the longest tasks. */
static void add_row(struct power *p, size_t most, uint32_t task, enum metric m, double level)
{
	size_t first = p->n && p->row[0].task == TASK_TOTAL, at = p->n;

	for (; at > first && p->row[at - 1].level < level; at--) {
		if (at < most)
			p->row[at] = p->row[at - 1];
	}
	if (at >= most || !(level > 0))
		return;
	p->row[at] = (struct power_row){ .task = task, .metric = m, .level = level };
	p->n += p->n < most;
}

/* Chooses the rows if there is none yet, among the tasks of this build, and sets their levels. */
static int set_levels(struct trial *t, enum metric m, size_t n_tasks, uint32_t newest, struct error *err)
{
	const struct builds *builds = t->from;
	float *values = array_new((builds->n_tasks + 1) * builds->n, sizeof *values);
	float *total = values ? values + builds->n_tasks * builds->n : NULL;
	int r = values ? builds->load(builds, m, values, err) : error_sys(err, -ENOMEM, NULL, "check");
	size_t has_total;
	bool chosen = t->p->n;

	for (size_t b = 0; !r && b < builds->n; b++)
		total[b] = (float)build_total(&builds->build[b], m);
	if (!r && !chosen)
		add_row(t->p, n_tasks + 1, TASK_TOTAL, m, level_of(total, builds->n));
	has_total = t->p->n;
	for (uint32_t task = 0; !r && !chosen && task < builds->n_tasks; task++) {
		if (isfinite(values[(size_t)task * builds->n + newest]))
			add_row(t->p, n_tasks + has_total, task, m,
				level_of(values + (size_t)task * builds->n, builds->n));
	}
	for (size_t i = 0; !r && i < t->p->n; i++) {
		uint32_t task = t->p->row[i].task;

		t->level[i][m] = level_of(task == TASK_TOTAL ? total : values + (size_t)task * builds->n,
					  builds->n);
	}
	free(values);
	return r;
}

static uint32_t good_builds(const struct builds *builds)
{
	uint32_t good = 0;

	for (size_t b = 0; b < builds->n; b++)
		good += !(builds->build[b].total[TOTAL_STATUS] > 0);
	return good;
}

/* The builds that changes begin with: good ones, with as many before them as a reference needs. */
static void place(struct power *p, uint32_t *begin, const struct builds *builds,
		  const struct rules *rules, uint32_t most)
{
	uint32_t least = (uint32_t)rules->least_history + 1, good = good_builds(builds), before = 0;

	p->builds = good > least ? MIN(most, good - least) : 0;
	if (p->builds < rules->agree) {
		p->builds = 0;
		return;
	}
	for (uint32_t b = 0; b < builds->n; b++) {
		if (builds->build[b].total[TOTAL_STATUS] > 0)
			continue;
		for (uint32_t k = 0; k < POWER_TRIALS; k++) {
			if (before >= least && before + p->builds + APART * k == good) {
				begin[k] = b;
				p->trials = MAX(p->trials, k + 1);
			}
		}
		before++;
	}
}

/* A change of a task is one of its times. Without any, it is one of the first metric. */
static unsigned planted_metrics(const struct rules *rules)
{
	unsigned times = rules->metrics & (METRIC_BIT(METRIC_WALL) | METRIC_BIT(METRIC_CPU));

	return times ? times : rules->metrics & -rules->metrics;
}

/* rows: those of this one, NULL: chosen. */
static int find(struct power *p, const struct builds *builds, const struct rules *rules,
		const struct known_list *known, uint32_t n_builds, size_t n_tasks, bool quick,
		const struct power *rows, struct error *err)
{
	struct trial t = { .p = p, .from = builds, .metrics = planted_metrics(rules) };
	uint32_t begin[POWER_TRIALS], newest = 0, n_metrics = 0;
	struct rules planted = *rules;
	int r = 0;

	/* The verdict of a metric is independent of the others. */
	planted.metrics = t.metrics;
	rules = &planted;
	*p = (struct power){ 0 };
	for (; rows && p->n < rows->n; p->n++)
		p->row[p->n] = rows->row[p->n];
	place(p, begin, builds, rules, n_builds);
	if (!p->builds)
		return 0;
	p->trials = quick ? 1 : p->trials;
	for (uint32_t b = 0; b < builds->n; b++)
		newest = builds->build[b].total[TOTAL_STATUS] > 0 ? newest : b;
	for (enum metric i = 0; i < METRICS; i++)
		n_metrics += rules->metrics >> i & 1;
	t.build = array_new(builds->n, sizeof *t.build);
	r = t.build ? 0 : error_sys(err, -ENOMEM, NULL, "check");
	for (enum metric m = 0; !r && m < METRICS; m++)
		r = t.metrics & METRIC_BIT(m) ? set_levels(&t, m, n_tasks, newest, err) : 0;
	p->together = quick || ((double)builds->n * builds->n_tasks * n_metrics > VALUES_ALONE &&
		      builds->n_tasks >= TASKS_TOGETHER * POWER_TASKS);
	for (size_t i = 0; !r && i < p->n; i = t.end) {
		t.first = i;
		t.end = p->together ? p->n : i + 1;
		r = try_sizes(&t, begin, rules, known, err);
	}
	free(t.build);
	return r;
}

int power_find(struct power *p, const struct builds *builds, const struct rules *rules,
	       const struct known_list *known, uint32_t n_builds, size_t n_tasks, struct error *err)
{
	return find(p, builds, rules, known, n_builds, n_tasks, false, NULL, err);
}

int power_find_same(struct power *p, const struct power *rows, const struct builds *builds,
		    const struct rules *rules, const struct known_list *known, struct error *err)
{
	return find(p, builds, rules, known, rows->builds, 0, false, rows, err);
}

bool power_is_short(const struct verdict *v, const struct builds *builds, const struct rules *rules)
{
	return v->enough && !v->not_judged && !v->n_confirmed &&
	       good_builds(builds) <= 2 * rules->least_history + rules->agree;
}

bool power_is_quick(const struct verdict *v, const struct builds *builds)
{
	return v->enough && !v->not_judged && builds->n_tasks <= POWER_QUICK_TASKS;
}

int power_find_short(struct power *p, const struct builds *builds, const struct rules *rules,
		     const struct known_list *known, struct error *err)
{
	size_t most = builds->n_tasks / TASKS_TOGETHER + 1;

	return find(p, builds, rules, known, POWER_FEW_BUILDS, MIN(most, POWER_TASKS), true, NULL,
		    err);
}

double power_least(const struct power_row *row)
{
	for (size_t i = 0; i < POWER_SIZES; i++) {
		if (row->cell[i].answer == POWER_FOUND)
			return power_size[i];
	}
	return NAN;
}
