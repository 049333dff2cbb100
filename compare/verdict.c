/* SPDX-License-Identifier: MIT */
#include "compare/verdict.h"

#include "base/array.h"
#include "base/minmax.h"
#include "compare/presence.h"
#include "compare/replay.h"
#include "stats/creep.h"
#include "stats/distribution.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define BACK 3.0		/* ln of the likelihood ratio of one value */
#define CONFIDENCE 0.95
#define ALIKE 3			/* variance of the mean of values of which consecutive ones are alike */
#define ENOUGH 1000		/* windows that show how far their medians deviate */
#define HOST_SPREADS 3.5
#define HOST_LEAST 0.02
#define HOST_FEWEST 5

struct judge {
	struct verdict *v;
	struct replay replay;
	uint32_t n;		/* builds so far: the replay has the values of all */
	struct replay_work work;
};

static double share(double before, double now)
{
	if (before > 0)
		return now / before - 1;
	return now > before ? INFINITY : now < before ? -INFINITY : 0;
}

/* The interval of a deviation's median over `now` values from a level of `before` values: how far
 * medians of as many builds deviated without a change. */
static struct interval reach(const struct replay *r, uint32_t row, double before, double now)
{
	const struct deviations *offset = NULL;
	double tail = 0.5 * (1 - CONFIDENCE), alone = 1 + REPLAY_MEDIAN_ERROR / before, t, scale;
	size_t w = 0;

	while (w + 1 < REPLAY_SPANS && r->window[w + 1] <= now)
		w++;
	if (row < r->total_row)
		offset = &r->offset[replay_metric(r, row)][w];
	if (offset && offset->n >= ENOUGH) {
		scale = sqrt((1 / now + REPLAY_MEDIAN_ERROR / before) /
			     (1.0 / r->window[w] + REPLAY_MEDIAN_ERROR / before));
		return (struct interval){ scale * deviations_quantile(offset, tail),
					  scale * deviations_quantile(offset, 1 - tail) };
	}
	t = stats_t_quantile(tail, fmax(1, (double)r->row[row].df));
	scale = sqrt((ALIKE / (now + ALIKE - 1) + REPLAY_MEDIAN_ERROR / before) / alone);
	return (struct interval){ -t * scale, t * scale };
}

/* Levels on the scale of the replay as amounts, with the interval of the effect. */
static void set_levels(const struct replay *r, uint32_t row, struct verdict_finding *f,
		       double before, double now, double spread, uint32_t n_before)
{
	double from = row < r->host_row ? before : 0, to = from + now - before;
	struct interval in = reach(r, row, n_before, f->builds);

	f->before = fmax(0, replay_amount(r, row, from));
	f->now = fmax(0, replay_amount(r, row, to));
	f->effect = share(f->before, f->now);
	f->low = share(f->before, fmax(0, replay_amount(r, row, to - spread * in.high)));
	f->high = share(f->before, fmax(0, replay_amount(r, row, to - spread * in.low)));
}

/* Of a group: the sums of its tasks that changed. Returns 0 or -ENOMEM. */
static int set_sums(const struct replay *r, const struct replay_step *s, uint32_t end, struct verdict_finding *f)
{
	struct shared_effect of;
	int status;

	if (s->row < r->shared_row)
		return 0;
	status = replay_shared_effect(r, s, end, &of);
	if (status)
		return status;
	f->group = r->group[replay_group(r, s->row)].name;
	f->of_tasks = s->of_tasks;
	f->before = of.before;
	f->now = of.now;
	f->newest = of.newest;
	f->effect = share(f->before, f->now);
	f->low = of.low;
	f->high = of.high;
	return 0;
}

static bool other_machine(const struct builds *builds, const struct verdict_finding *f)
{
	for (uint32_t i = f->first ? f->first : 1; i <= f->last; i++) {
		if (builds->build[i].circumstances != builds->build[i - 1].circumstances)
			return true;
	}
	return false;
}

static int add_finding(struct judge *j, const struct verdict_finding *f)
{
	struct verdict_finding *added = array_add(&j->v->finding, &j->v->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = *f;
	return 0;
}

/* Whether a row has no value in the newest builds: its task is gone. What an incremental build did
 * not run is not gone. */
static bool is_gone(const struct replay *r, uint32_t row)
{
	const struct presence *p = r->builds->presence;
	size_t whole = p ? p->n_whole : 0;
	int64_t left = r->rules->agree;

	for (uint32_t b = r->newest + 1; left; b--) {
		if (b == replay_least(r, row, 0))
			return b == 0;
		if (isnan(r->factor[0][b - 1]))
			continue;
		if (!isnan(replay_x(r, row, b - 1)))
			return false;
		while (whole && p->whole[whole - 1] > b - 1)
			whole--;
		left -= !p || (whole && p->whole[whole - 1] == b - 1);
	}
	return true;
}

/* The same slope, of which an earlier step is listed already. */
static bool is_listed(const struct verdict *v, const struct verdict_finding *f)
{
	for (size_t i = v->n; i-- > 0 && v->finding[i].task == f->task; ) {
		if (v->finding[i].metric == f->metric && v->finding[i].creep &&
		    v->finding[i].worse == f->worse)
			return true;
	}
	return false;
}

/* The newest value beside the levels, and whether it says by itself that the row is back. */
static void set_newest(const struct replay *r, const struct replay_step *s, struct verdict_finding *f)
{
	double x = replay_x(r, s->row, r->newest), from = s->row < r->host_row ? s->before : 0;

	f->newest = isnan(x) ? NAN : fmax(0, replay_amount(r, s->row, from + x - s->before));
	f->back = s->at < r->newest && s->worse &&
		  replay_fit(r, s->row, (x - s->before) / s->spread) -
		  replay_fit(r, s->row, (x - s->now) / s->spread) > BACK;
}

/* A regression that failed earlier builds and ended. */
static int report_past(struct judge *j, const struct replay_step *s)
{
	const struct replay *r = &j->replay;
	struct verdict_finding f = {
		.task = replay_task(r, s->row), .metric = r->metric[replay_metric(r, s->row)],
		.worse = true, .rate = s->rate, .tasks = s->tasks, .since = s->since, .first = s->first,
		.last = s->last, .at = s->at, .until = s->end < r->n ? s->end : s->left, .newest = NAN,
		.machine = s->machine,
	};
	struct verdict_finding *added;

	f.builds = replay_step_values(r, s, f.until);
	set_levels(r, s->row, &f, s->before, s->now, s->spread, s->n_before);
	if (set_sums(r, s, f.until, &f))
		return -ENOMEM;
	added = array_add(&j->v->past, &j->v->n_past, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = f;
	return 0;
}

static struct known_subject subject_of(const struct verdict_finding *f, const uint32_t *moved)
{
	return (struct known_subject){ f->task, f->metric, &f->group,
				       f->n_moved ? moved + f->first_moved : NULL, f->n_moved };
}

static int report_step(struct judge *j, const struct known_list *known,
		       const struct replay_step *step)
{
	const struct replay *r = &j->replay;
	struct replay_step s = *step;
	struct verdict_finding f = { .task = replay_task(r, s.row), .worse = s.worse,
				     .metric = r->metric[replay_metric(r, s.row)],
				     .rate = s.rate, .tasks = s.tasks, .at = s.at, .until = j->n,
				     .first_moved = s.first_moved, .n_moved = s.n_moved };
	struct known_subject subject;
	uint32_t n;
	double now;

	if (s.worse && !s.silent && s.closed && !s.accepted && s.left > s.at)
		return report_past(j, &s);
	if (s.silent || s.closed || (!s.worse && s.since < j->v->first_build) ||
	    is_gone(r, s.row))
		return 0;
	if (replay_step_place(r, &s, &j->work))
		return -ENOMEM;
	now = replay_step_level(r, &s, j->n, &j->work, &n);
	if (!s.worse && (now > s.before || !replay_matters(r, s.row, s.before, now)))
		return 0;
	f.since = s.since;
	f.first = s.first;
	f.last = s.last;
	f.builds = replay_step_values(r, &s, j->n);
	set_levels(r, s.row, &f, s.before, now, s.spread, s.n_before);
	if (s.slope.found) {
		double last = replay_step_level(r, &r->step[r->row[s.row].step - 1], j->n, &j->work, &n);

		f.creep = true;
		f.since = f.first = s.slope.first;
		f.last = s.slope.last;
		if (is_listed(j->v, &f))
			return 0;
		/* All steps of the slope. */
		if (f.worse ? last > now : last < now)
			set_levels(r, s.row, &f, s.before, last, s.spread, s.n_before);
	}
	f.machine = s.machine || other_machine(r->builds, &f);
	set_newest(r, &s, &f);
	if (set_sums(r, &s, j->n, &f))
		return -ENOMEM;
	f.fails = f.worse && !f.back && !(f.task == TASK_HOST &&
			       (f.machine || r->rules->shared == SHARED_REPORT));
	subject = subject_of(&f, r->moved);
	f.known = known_find(known, KNOWN_ACKNOWLEDGED, r->builds, &subject, f.first, j->n - 1);
	if (f.known) {
		f.state = FINDING_KNOWN;
		f.fails = false;
	}
	return add_finding(j, &f);
}

static int report_suspect(struct judge *j, const struct replay_suspect *s)
{
	const struct replay *r = &j->replay;
	struct verdict_finding f = {
		.task = replay_task(r, s->row), .metric = r->metric[replay_metric(r, s->row)],
		.state = FINDING_SUSPECT, .worse = s->worse, .rate = s->rate, .builds = 1,
		.since = r->newest, .first = r->newest, .last = r->newest, .at = r->newest, .until = j->n,
	};

	set_levels(r, s->row, &f, s->before, s->now, s->spread, s->n_before);
	f.newest = f.now;
	f.machine = other_machine(r->builds, &f);
	return add_finding(j, &f);
}

static int kind_of(const struct verdict_finding *f)
{
	return f->task == TASK_HOST ? 0 : f->task == TASK_TOTAL ? 1 : f->task == TASK_SHARED ? 2 : 3;
}

static int in_order(const void *a, const void *b)
{
	const struct verdict_finding *x = a, *y = b;
	double x_by = fabs(x->now - x->before), y_by = fabs(y->now - y->before);

	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->worse != y->worse)
		return x->worse ? -1 : 1;
	if (kind_of(x) != kind_of(y))
		return kind_of(x) - kind_of(y);
	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	if (x_by != y_by)
		return x_by > y_by ? -1 : 1;
	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return x->since < y->since ? -1 : x->since > y->since;
}

static void count_findings(struct verdict *v)
{
	if (v->n)
		qsort(v->finding, v->n, sizeof *v->finding, in_order);
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		v->n_confirmed += f->fails;
		if (!f->worse || (f->task == TASK_HOST && f->state != FINDING_KNOWN))
			continue;
		v->n_known += f->state == FINDING_KNOWN;
		v->n_suspect += f->state == FINDING_SUSPECT;
	}
}

/* The window, and the totals without noise that changed in the newest build. */
static void set_window(struct verdict *v, const struct builds *builds, const struct rules *rules)
{
	size_t needed = (size_t)(rules->least_history + rules->agree), good = 0;
	size_t window = (size_t)rules->window;
	static const enum total exact[EXACT_TOTALS] = { TOTAL_TASKS, TOTAL_FAILED, TOTAL_STATUS };

	for (size_t i = 0; builds->n > 1 && i < EXACT_TOTALS; i++) {
		int64_t before = builds->build[builds->n - 2].total[exact[i]];
		int64_t now = builds->build[builds->n - 1].total[exact[i]];

		if (before >= 0 && now >= 0 && before != now)
			v->exact[v->n_exact++] = (struct exact_change){ exact[i], before, now };
	}
	for (size_t i = 0; i < builds->n; i++)
		good += !(builds->build[i].total[TOTAL_STATUS] > 0);
	v->build_status = builds->n ? builds->build[builds->n - 1].total[TOTAL_STATUS] : -1;
	v->not_judged = v->build_status > 0;
	v->first_build = builds->n > window ? builds->n - window : 0;
	v->n_builds = builds->n - v->first_build;
	v->enough = good >= needed;
	v->more_builds = v->enough ? 0 : needed - good;
	for (enum metric m = 0; m < METRICS; m++)
		v->host[m] = NAN;
}

/* The newest build's common factors, compared with those of the window before. */
static void set_host(struct judge *j)
{
	const struct replay *r = &j->replay;

	for (size_t m = 0; m < r->n_metrics; m++) {
		uint32_t row = r->host_row + (uint32_t)m;
		double usual, off, spread;
		size_t n;

		if (r->newest == r->n || !replay_is_asked(r, m) || isnan(replay_x(r, row, r->newest)))
			continue;
		n = replay_values(r, row, 0, r->newest, r->cap, j->work.values);
		usual = n ? stats_median(j->work.values, n) : 0;
		off = replay_x(r, row, r->newest) - usual;
		spread = stats_spread(j->work.values, n, usual);
		j->v->host[r->metric[m]] = exp(off);
		j->v->host_event[r->metric[m]] = n >= HOST_FEWEST &&
			fabs(off) > fmax(HOST_SPREADS * spread, HOST_LEAST);
	}
}

/* The build's total changes with all of its tasks. If they do not fail, it does not, and a note
 * about all tasks is also about it. */
static void follow_tasks(struct verdict *v)
{
	for (size_t i = 0; i < v->n; i++) {
		struct verdict_finding *f = &v->finding[i];

		for (size_t k = 0; k < v->n && f->task == TASK_TOTAL && f->fails; k++) {
			const struct verdict_finding *all = &v->finding[k];

			if (all->task != TASK_HOST || all->metric != f->metric || !all->worse ||
			    all->fails || all->first > f->last || f->first > all->last)
				continue;
			f->fails = false;
			f->machine = f->machine || all->machine;
			f->known = all->known;
			f->state = all->state;
		}
	}
}

static bool is_asked(const struct judge *j, uint32_t row)
{
	return replay_is_asked(&j->replay, replay_metric(&j->replay, row));
}

static int report_all(struct judge *j, const struct known_list *known)
{
	int r = 0;

	for (size_t i = 0; i < j->replay.n_steps; i++) {
		r = is_asked(j, j->replay.step[i].row) ? report_step(j, known, &j->replay.step[i]) : 0;
		if (r)
			goto out;
	}
	for (size_t i = 0; i < j->replay.n_suspects; i++) {
		r = is_asked(j, j->replay.suspect[i].row) ? report_suspect(j, &j->replay.suspect[i]) : 0;
		if (r)
			goto out;
	}
out:
	follow_tasks(j->v);
	return r;
}

/* The verdict about the builds so far. Returns 0 or -ENOMEM. */
static int report(struct judge *j, const struct rules *rules, const struct known_list *known)
{
	struct verdict *v = j->v;
	struct builds so_far = *j->replay.builds;
	int r;

	so_far.n = j->n;
	*v = (struct verdict){ 0 };
	set_window(v, &so_far, rules);
	r = report_all(j, known);
	if (!r && j->n)
		set_host(j);
	v->n_series = j->replay.n_judged;
	count_findings(v);
	if (v->enough && v->n_suspect)
		v->more_builds = (uint32_t)rules->agree - 1;
	return r;
}

static int judge_init(struct judge *j, const struct builds *builds, struct error *err)
{
	int r = replay_work_init(&j->work, builds->n);

	return r ? error_sys(err, r, NULL, "check") : 0;
}

static void judge_release(struct judge *j)
{
	replay_release(&j->replay);
	replay_work_release(&j->work);
}

int verdict_make(struct verdict *v, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, struct error *err)
{
	struct judge j = { .v = v, .n = (uint32_t)builds->n, .replay = { .builds = builds } };
	int r = judge_init(&j, builds, err);

	*v = (struct verdict){ 0 };
	if (!r && builds->n)
		r = replay_run(&j.replay, builds, rules, known, err);
	if (!r) {
		r = report(&j, rules, known);
		r = r ? error_sys(err, r, NULL, "check") : 0;
	}
	v->moved = j.replay.moved;
	j.replay.moved = NULL;
	judge_release(&j);
	return r;
}

int verdict_each(const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t first, const struct verdict_seen *seen,
		 struct error *err)
{
	struct verdict v;
	struct judge j = { .v = &v };
	int r = judge_init(&j, builds, err);
	uint32_t from = first;

	/* A build that failed has the suspects of the last good one. */
	while (from > 0 && from < builds->n && builds->build[from].total[TOTAL_STATUS] > 0)
		from--;
	r = r ? r : replay_begin(&j.replay, builds, rules, known, from, err);
	for (uint32_t b = j.replay.first_judged; !r && b < builds->n; b++) {
		r = replay_next(&j.replay, b, b >= from, err);
		if (r || b < first)
			continue;
		j.n = b + 1;
		r = report(&j, rules, known);
		r = r ? error_sys(err, r, NULL, "check") : 0;
		v.moved = j.replay.moved;
		r = r ? r : seen->seen(seen->context, b, &v, err);
		v.moved = NULL;
		verdict_release(&v);
	}
	judge_release(&j);
	return r;
}

bool verdict_known_fits(const struct verdict *v, const struct builds *builds, const struct verdict_finding *f,
			const struct known *k)
{
	struct known_subject subject = subject_of(f, v->moved);

	return known_fits(k, builds, &subject);
}

void verdict_release(struct verdict *v)
{
	free_all(v->finding, v->past, v->moved);
	*v = (struct verdict){ 0 };
}
