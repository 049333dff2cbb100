/* SPDX-License-Identifier: MIT */
#include "compare/verdict_series.h"

#include "base/array.h"
#include "compare/history.h"
#include "compare/parallel.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_EFFECT 0.01	/* of a change point; smaller ones are ignored */
#define LEAST_NOISE 1e-3	/* relative precision of any measurement */
#define FEWEST 3		/* builds of a level */
#define MAD_WORTH 0.37		/* degrees of freedom of a build when its spread is a MAD */
#define STEP 64			/* series that a thread takes at once */

#define GROUPS 10		/* of series of similar length, which have similar noise */
#define GROUP_LEAST 20		/* series of a group */

struct worker {
	struct verdict_series *s;
	struct changepoints *detector;
	double *value, *work;	/* of every build */
	struct verdict_step *step;
	size_t n_steps;
	struct tails up, down;
};

uint32_t verdict_row_task(const struct verdict_series *s, size_t row)
{
	if (row < s->builds->n_tasks)
		return row;
	return row == s->builds->n_tasks ? TASK_TOTAL : TASK_HOST;
}

const char *verdict_row_name(const struct verdict_series *s, size_t row)
{
	switch (verdict_row_task(s, row)) {
	case TASK_TOTAL:
		return "";
	case TASK_HOST:
		return NULL;
	}
	return s->builds->task[row].name;
}

static float *row_values(const struct verdict_series *s, size_t row)
{
	return s->values + row * s->n_builds;
}

double verdict_level_value(const struct verdict_level *l, double residual)
{
	double x = l->middle + residual;

	return l->ratios ? exp(x) : x * l->scale;
}

double verdict_level_off(const struct verdict_level *l, double residual)
{
	return residual / sqrt(l->variance * (1 + MEDIAN_ERROR / l->n));
}

size_t verdict_level_residuals(const struct verdict_series *s, size_t row, size_t begin, size_t end,
			       double *residual)
{
	const float *v = row_values(s, row);
	size_t n = 0;

	for (size_t i = begin; i < end; i++) {
		if (!isnan(v[i]))
			residual[n++] = v[i];
	}
	return n;
}

/* The median depends on each of its builds, so their residuals have a smaller variance. */
size_t verdict_level_own(const struct verdict_series *s, size_t row, double sign, double *off)
{
	const struct verdict_level *l = &s->level[row];
	double unit = sign / sqrt(l->variance * (1 - (2 - MEDIAN_ERROR) / l->n));
	size_t n = verdict_level_residuals(s, row, l->begin, l->end, off);

	for (size_t i = 0; i < n; i++)
		off[i] *= unit;
	return n;
}

/* The first build that counts: an accepted build begins the normal level. */
static uint32_t first_counted(const struct verdict_series *s, size_t row)
{
	uint32_t task = verdict_row_task(s, row);
	const struct known *k = NULL;

	if (task != TASK_HOST)
		k = known_find(s->known, KNOWN_ACCEPTED, s->builds, task, s->metric,
			       s->first_build, s->n_builds - 1);
	return k ? k->build : s->first_build;
}

static size_t known_builds(const double *v, size_t begin, size_t end)
{
	size_t n = 0;

	for (size_t i = begin; i < end; i++)
		n += !isnan(v[i]);
	return n;
}

/* A preceding build without a value may be the first one. */
static uint32_t first_possible(const double *v, uint32_t begin, uint32_t build)
{
	while (build > begin && isnan(v[build - 1]))
		build--;
	return build;
}

/* A step persists unless a later level is back at half of its change. */
static bool persists(const struct change *list, size_t n, size_t i)
{
	double step = list[n - 1].after - list[i].before;

	for (size_t k = i; k < n; k++) {
		double then = list[k].after - list[i].before;

		if (!(step > 0 ? then >= 0.5 * step : then <= 0.5 * step))
			return false;
	}
	return step != 0;
}

static int add_steps(struct worker *w, size_t row, uint32_t begin, const struct change *list,
		     size_t n)
{
	size_t builds = w->s->n_builds;

	for (size_t i = 0; i < n; i++) {
		struct verdict_step *added;

		if (!persists(list, n, i))
			continue;
		added = array_add(&w->step, &w->n_steps, sizeof *added);
		if (!added)
			return -ENOMEM;
		*added = (struct verdict_step){
			.row = row, .at = begin + list[i].at, .last = begin + list[i].last,
			.first = first_possible(w->value, begin, begin + list[i].first),
			.n_before = known_builds(w->value, i ? begin + list[i - 1].at : begin,
						 begin + list[i].at),
			.n_now = known_builds(w->value, begin + list[n - 1].at, builds),
			.before = list[i].before, .now = list[n - 1].after, .p = list[i].p,
		};
	}
	return 0;
}

/* The newest level with enough builds before the newest builds. */
static bool choose_level(const struct worker *w, struct verdict_level *l, uint32_t begin,
			 const struct change *list, size_t n)
{
	uint32_t end = l->newest, least = (uint32_t)w->s->rules->least_history;

	least = least < FEWEST ? FEWEST : least;
	for (size_t i = n + 1; i-- > 0; ) {
		l->begin = i ? begin + list[i - 1].at : begin;
		l->end = end;
		if (l->begin >= end)
			continue;
		l->n = known_builds(w->value, l->begin, end);
		if (l->n >= least)
			return true;
		end = l->begin;
	}
	return false;
}

static uint32_t first_of_newest(const struct worker *w, uint32_t begin, uint32_t *n)
{
	uint32_t build = w->s->n_builds, first = build;

	for (*n = 0; build > begin && *n < w->s->rules->agree; build--) {
		if (isnan(w->value[build - 1]))
			continue;
		first = build - 1;
		++*n;
	}
	return first;
}

/* The scale of values that are not all above 0. */
static double usual_size(struct worker *w, const struct verdict_level *l)
{
	size_t n = 0;
	double size = 0, largest = 0;

	for (size_t i = l->begin; i < w->s->n_builds; i++) {
		double value = fabs(w->value[i]);

		if (isnan(value))
			continue;
		largest = fmax(largest, value);
		if (i < l->end)
			w->work[n++] = value;
	}
	size = stats_median(w->work, n);
	return size > 0 ? size : largest > 0 ? largest : 1;
}

static void measure(struct worker *w, struct verdict_level *l, float *residual)
{
	size_t builds = w->s->n_builds, n = 0;
	double spread;

	l->ratios = true;
	for (size_t i = l->begin; i < builds; i++)
		l->ratios = l->ratios && !(w->value[i] <= 0);
	l->scale = l->ratios ? 1 : usual_size(w, l);
	for (size_t i = l->begin; i < builds; i++)
		w->value[i] = l->ratios ? log(w->value[i]) : w->value[i] / l->scale;
	for (size_t i = l->begin; i < l->end; i++) {
		if (!isnan(w->value[i]))
			w->work[n++] = w->value[i];
	}
	l->middle = stats_median(w->work, n);
	spread = stats_spread(w->work, n, l->middle) * (1 + 1.0 / n);
	l->variance = spread * spread;
	l->df = fmax(1, MAD_WORTH * (n - 1));
	for (size_t i = 0; i < builds; i++)
		residual[i] = i < l->begin ? NAN : (float)(w->value[i] - l->middle);
}

static bool is_small(const struct verdict_level *l, double before, double now)
{
	return before < l->gate.floor && now < l->gate.floor;
}

static int compare_levels(struct worker *w, size_t row, uint32_t begin)
{
	struct verdict_series *s = w->s;
	struct verdict_level *l = &s->level[row];
	double newest = w->value[s->n_builds - 1];
	const struct change *list;
	size_t n;
	int r = changepoints_find(w->detector, &list, &n, w->value + begin, s->n_builds - begin,
				  LEAST_EFFECT);

	if (r)
		return r;
	l->newest = first_of_newest(w, begin, &l->n_newest);
	l->tested = l->n_newest == s->rules->agree && choose_level(w, l, begin, list, n);
	l->judged = l->tested || n;
	if (n && is_small(l, list[n - 1].before, list[n - 1].after))
		n = 0;
	r = add_steps(w, row, begin, list, n);
	if (!r && l->tested) {
		measure(w, l, row_values(s, row));
		if (is_small(l, verdict_level_value(l, 0), newest))
			l->judged = l->tested = false;
	}
	return r;
}

/* A series without a value of the newest build is not tested. */
static int examine(struct worker *w, size_t row)
{
	struct verdict_series *s = w->s;
	const char *name = verdict_row_name(s, row);
	struct gate gate = rules_gate(s->rules, name ? name : "", s->metric);
	const float *v = row_values(s, row);
	uint32_t begin;

	/* Amounts do not apply to the ratios of the host. */
	if (!name)
		gate.amount = gate.floor = 0;
	s->level[row] = (struct verdict_level){ .gate = gate };
	if (gate.ignored || !isfinite(v[s->n_builds - 1]))
		return 0;
	begin = first_counted(s, row);
	for (size_t i = 0; i < s->n_builds; i++)
		w->value[i] = i >= begin && isfinite(v[i]) ? v[i] : NAN;
	return compare_levels(w, row, begin);
}

static int examine_rows(void *context, size_t begin, size_t end)
{
	int r = 0;

	for (size_t row = begin; !r && row < end; row++)
		r = examine(context, row);
	return r;
}

static int count_tails(void *context, size_t begin, size_t end)
{
	struct worker *w = context;

	for (size_t row = begin; row < end; row++) {
		if (!w->s->level[row].tested || verdict_row_task(w->s, row) == TASK_HOST)
			continue;
		tails_add(&w->up, w->work, verdict_level_own(w->s, row, 1, w->work));
		tails_add(&w->down, w->work, verdict_level_own(w->s, row, -1, w->work));
	}
	return 0;
}

struct by_level {
	double level;
	size_t row;
};

static int shorter(const void *a, const void *b)
{
	const struct by_level *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void shrink_group(struct verdict_series *s, const struct by_level *member, size_t n,
			 double *variance, double *df)
{
	struct prior prior;

	for (size_t i = 0; i < n; i++) {
		variance[i] = s->level[member[i].row].variance;
		df[i] = s->level[member[i].row].df;
	}
	prior = stats_prior(variance, df, n);
	for (size_t i = 0; i < n; i++) {
		struct verdict_level *l = &s->level[member[i].row];

		l->variance = stats_shrink(&prior, l->variance, l->df);
		l->df += prior.df;
	}
}

/* Tasks of similar length share an estimate of their noise. */
static int shrink(struct verdict_series *s)
{
	struct by_level *order = malloc((s->n_rows + 1) * sizeof *order);
	double *work = malloc((2 * s->n_rows + 1) * sizeof *work);
	size_t n = 0, groups;

	for (size_t row = 0; order && row < s->builds->n_tasks; row++) {
		if (s->level[row].tested)
			order[n++] = (struct by_level){ verdict_level_value(&s->level[row], 0),
				row };
	}
	if (order && work && n) {
		groups = n / GROUP_LEAST;
		groups = groups < 1 ? 1 : groups > GROUPS ? GROUPS : groups;
		qsort(order, n, sizeof *order, shorter);
		for (size_t g = 0; g < groups; g++) {
			size_t begin = n * g / groups, end = n * (g + 1) / groups;

			shrink_group(s, order + begin, end - begin, work, work + n);
		}
	}
	for (size_t row = 0; row < s->n_rows; row++)
		s->level[row].variance = fmax(s->level[row].variance, LEAST_NOISE * LEAST_NOISE);
	free(order);
	free(work);
	return order && work ? 0 : -ENOMEM;
}

static int load(struct verdict_series *s, struct error *err)
{
	float *total = row_values(s, s->n_rows - 2), *host = row_values(s, s->n_rows - 1);
	bool time = metric_info[s->metric].time;
	int r = s->builds->load(s->builds, s->metric, s->values, err);

	/* Builds before the window are ignored. */
	for (size_t row = 0; !r && row + 2 < s->n_rows; row++) {
		for (size_t i = 0; i < s->first_build; i++)
			row_values(s, row)[i] = NAN;
	}
	if (!r && time)
		r = hostfactor_find(&s->host, s->values, s->builds->n_tasks, s->n_builds,
				    s->rules->gate[s->metric].floor);
	if (r)
		return r;
	for (size_t i = 0; i < s->n_builds; i++) {
		total[i] = (float)build_total(&s->builds->build[i], s->metric);
		host[i] = time ? (float)exp(s->host.ln[i]) : NAN;
	}
	for (size_t row = 0; time && row + 1 < s->n_rows; row++) {
		for (size_t i = 0; i < s->n_builds; i++)
			row_values(s, row)[i] /= host[i];
	}
	return 0;
}

static int by_row(const void *a, const void *b)
{
	const struct verdict_step *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int collect(struct verdict_series *s, struct worker *w, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++)
		all += w[i].n_steps;
	s->step = malloc((all + 1) * sizeof *s->step);
	if (!s->step)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (w[i].n_steps)
			memcpy(s->step + s->n_steps, w[i].step,
			       w[i].n_steps * sizeof *s->step);
		s->n_steps += w[i].n_steps;
		tails_merge(&s->up, &w[i].up);
		tails_merge(&s->down, &w[i].down);
	}
	qsort(s->step, s->n_steps, sizeof *s->step, by_row);
	tails_finish(&s->up);
	tails_finish(&s->down);
	return 0;
}

static int worker_init(struct worker *w, struct verdict_series *s)
{
	*w = (struct worker){
		.s = s, .detector = changepoints_new(),
		.value = malloc((s->n_builds + 1) * sizeof *w->value),
		.work = malloc((s->n_builds + 1) * sizeof *w->work),
	};
	return w->detector && w->value && w->work ? 0 : -ENOMEM;
}

static int find(struct verdict_series *s)
{
	struct parallel p = { .step = STEP, .n_threads = parallel_threads(s->n_rows, STEP) };
	struct worker *w = calloc(p.n_threads, sizeof *w);
	int r = w ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < p.n_threads; i++) {
		p.context[i] = &w[i];
		r = worker_init(&w[i], s);
	}
	p.work = examine_rows;
	if (!r)
		r = parallel_run(&p, s->n_rows);
	if (!r)
		r = shrink(s);
	p.work = count_tails;
	if (!r)
		r = parallel_run(&p, s->n_rows);
	if (!r)
		r = collect(s, w, p.n_threads);
	for (size_t i = 0; w && i < p.n_threads; i++) {
		changepoints_free(w[i].detector);
		free(w[i].value);
		free(w[i].work);
		free(w[i].step);
	}
	free(w);
	return r;
}

int verdict_series_find(struct verdict_series *s, struct error *err)
{
	int r;

	s->n_builds = s->builds->n;
	s->n_rows = s->builds->n_tasks + 2;
	s->values = malloc(s->n_rows * s->n_builds * sizeof *s->values + 1);
	s->level = calloc(s->n_rows, sizeof *s->level);
	if (!s->values || !s->level)
		return error_sys(err, -ENOMEM, NULL, "check");
	r = load(s, err);
	if (r)
		return r;
	r = find(s);
	return r ? error_sys(err, r, NULL, "check") : 0;
}

void verdict_series_release(struct verdict_series *s)
{
	free(s->values);
	free(s->level);
	free(s->step);
	hostfactor_release(&s->host);
	*s = (struct verdict_series){ 0 };
}
