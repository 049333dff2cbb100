/* SPDX-License-Identifier: MIT */
#include "compare/replay.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <string.h>

#define INTERVAL 3.0		/* ln of the likelihood ratio that the interval of a step ends with */
#define PLACES 24		/* values among which the first of a step is searched */
#define LEFT 8.0		/* ln of the odds for the old level at which the new one is left */
#define LEFT_YOUNG 5.0		/* in the first builds after its confirmation */
#define YOUNG 6
#define REFUTING 3		/* builds after a confirmation that can refute it */
#define HELD 7			/* values of a level whose end is an improvement */
#define FIRST_VALUES 16		/* of a new level, which determine it */
#define RECENT 8		/* builds whose common factor is compared */
#define UNMOVED 0.03		/* of the common factor: less is usual */
#define NOISE 2.5		/* standard errors of a step that may be noise */

static double fit_at(const struct replay *r, const struct replay_step *s, double x, double level)
{
	return replay_fit(r, s->row, (x - level) / s->spread);
}

void replay_place(const struct replay *r, struct replay_step *s, uint32_t from, uint32_t end)
{
	double sum = 0, best = -INFINITY, sums[PLACES];
	uint32_t at[PLACES];
	size_t n = 0, least = (size_t)r->rules->agree;

	from = replay_least(r, s->row, from);
	for (uint32_t b = end; b > from && n < PLACES; b--) {
		double x = replay_x(r, s->row, b - 1);

		if (isnan(x))
			continue;
		sum += fit_at(r, s, x, s->now) - fit_at(r, s, x, s->before);
		at[n] = b - 1;
		sums[n++] = sum;
		if (n >= least && sum > best) {
			best = sum;
			s->since = b - 1;
		}
	}
	s->first = s->last = s->since;
	for (size_t i = least ? least - 1 : 0; i < n; i++) {
		if (sums[i] < best - INTERVAL)
			continue;
		s->first = MIN(at[i], s->first);
		s->last = MAX(at[i], s->last);
	}
	/* It may have begun in a build without a value. */
	while (s->first > from && isnan(replay_x(r, s->row, s->first - 1)))
		s->first--;
}

/* The level of the builds [begin, end), by the newest `most` of them. */
static double level_of(const struct replay *r, uint32_t row, uint32_t begin, uint32_t end,
		       size_t most, uint32_t *n)
{
	double v[FIRST_VALUES];

	*n = (uint32_t)replay_values(r, row, begin, end, most, v);
	stats_sort(v, *n);
	return stats_median_sorted(v, *n);
}

/* The median factor of the newest builds in [begin, end). */
static double usual_factor(const struct replay *r, size_t m, uint32_t begin, uint32_t end)
{
	double v[RECENT];
	size_t n = 0;

	for (uint32_t b = end; b > begin && n < RECENT; b--) {
		if (!isnan(r->factor[m][b - 1]))
			v[n++] = r->factor[m][b - 1];
	}
	stats_sort(v, n);
	return n ? stats_median_sorted(v, n) : 0;
}

/* Whether a task's values moved with the common factor left in, too: otherwise only the others
 * changed. The factor is compared with that of the builds just before: what it did earlier, as on
 * another machine, has nothing to do with this change. */
bool replay_moved(const struct replay *r, const struct replay_step *s, uint32_t start,
			 uint32_t build)
{
	size_t m = replay_metric(r, s->row);
	uint32_t begin = r->row[s->row].begin;
	double shift, least, step = s->now - s->before;

	if (s->row >= r->total_row)
		return true;
	shift = usual_factor(r, m, start, build + 1) - usual_factor(r, m, begin, start);
	least = fabs(shift) < UNMOVED ? 0.5 : 0.8;
	return fabs(step + shift) >= least * fabs(step) && (step + shift > 0) == (step > 0) &&
	       replay_matters(r, s->row, s->before, s->now + shift);
}

static struct replay_step *add_step(struct replay *r, struct replay_step s)
{
	struct replay_step *added = array_add(&r->step, &r->n_steps, sizeof *added);
	struct replay_row *row = &r->row[s.row];

	if (!added)
		return NULL;
	s.older = row->step;
	s.end = s.left = r->n;
	if (row->step)
		r->step[row->step - 1].end = s.since;
	row->step = (uint32_t)r->n_steps;
	*added = s;
	return added;
}

/* The evidence about a row in these builds is not counted as usual later. */
static void drop_pending(struct replay *r, uint32_t row, uint32_t since, uint32_t build)
{
	uint32_t task = row / (uint32_t)r->n_metrics;
	size_t spans = r->n_metrics + 1, m = replay_metric(r, row);
	bool is_joined = m == r->joined || m == r->joined + 1;

	if (row >= r->total_row || task % r->stride)
		return;
	for (size_t w = 0; w < REPLAY_SPANS; w++) {
		r->span[task * spans + m].off[w] = NAN;
		if (is_joined)
			r->span[task * spans + r->n_metrics].off[w] = NAN;
	}
	for (uint32_t b = since; b < build; b++) {
		struct replay_pending *pending;

		if (isnan(r->factor[m][b]) || r->good[b] + REPLAY_LAG < r->n_good)
			continue;
		pending = replay_pending(r, r->good[b]) + task / r->stride * spans;
		for (size_t w = 0; w < REPLAY_SPANS; w++) {
			pending[m].span.off[w] = NAN;
			if (is_joined)
				pending[r->n_metrics].span.off[w] = NAN;
		}
	}
}

/* Whether a change reaches the share, and misses only the amount or the floor. If its evidence
 * counted as usual, many short tasks that changed would hide later changes of others. */
static bool is_below_amount(const struct replay *r, uint32_t row, double before, double now)
{
	double old = fmax(0, replay_amount(r, row, before));

	return fabs(fmax(0, replay_amount(r, row, now)) - old) >= replay_gate(r, row).share * old;
}

/* Whether `now` is a level from which a change in `before` no longer matters. */
static bool is_undone(const struct replay *r, const struct replay_step *s, double now)
{
	return (now > s->before) != s->worse || !replay_matters(r, s->row, s->before, now);
}

static void close_step(struct replay_step *s, uint32_t build)
{
	s->closed = true;
	s->left = build;
}

/* Ends earlier steps of the row in the other direction that this level undoes. */
static void undo(struct replay *r, uint32_t index)
{
	const struct replay_step *s = &r->step[index];

	for (uint32_t i = s->older; i; i = r->step[i - 1].older) {
		struct replay_step *old = &r->step[i - 1];

		if (old->worse != s->worse && !old->closed && is_undone(r, old, s->now))
			close_step(old, s->at);
	}
}

uint32_t replay_start(const struct replay *r, uint32_t row, uint32_t build, size_t window)
{
	uint32_t left = r->window[window], start = build + 1, first = replay_least(r, row, 0);

	while (left && start > first) {
		start--;
		left -= !isnan(replay_x(r, row, start));
	}
	return start;
}

/* Whether each of the newest builds that must agree has half of a change that matters. */
static bool do_agree(const struct replay *r, const struct replay_step *s, uint32_t build)
{
	double v[REPLAY_RING];
	size_t n = replay_values(r, s->row, 0, build + 1, (size_t)r->rules->agree, v);

	for (size_t i = 0; i < n; i++) {
		double to = s->before + 2 * (v[i] - s->before);

		if ((to > s->before) != s->worse || !replay_matters(r, s->row, s->before, to))
			return false;
	}
	return true;
}

static bool same_sources(const struct build *a, const struct build *b)
{
	if (!a->n_revisions || a->n_revisions != b->n_revisions)
		return false;
	for (size_t i = 0; i < a->n_revisions; i++) {
		const struct revision *other = build_revision(b, a->revision[i].source);

		if (!other || a->revision[i].dirty || other->dirty ||
		    strcmp(other->commit, a->revision[i].commit))
			return false;
	}
	return true;
}

/* Whether the machine explains a change of all tasks, or the sources are the same. */
static bool is_of_machine(const struct replay *r, const struct replay_step *s, uint32_t start,
			  uint32_t build)
{
	size_t m = replay_metric(r, s->row);
	double before[REPLAY_RING], now[REPLAY_RING], own;
	size_t n_before = 0, n_now = 0;

	for (uint32_t b = start; b-- > 0 && n_before < REPLAY_RING; ) {
		if (!isnan(r->machine[m][b]))
			before[n_before++] = r->machine[m][b];
	}
	for (uint32_t b = s->since; b <= build && n_now < REPLAY_RING; b++) {
		if (!isnan(r->machine[m][b]))
			now[n_now++] = r->machine[m][b];
	}
	if (s->since && same_sources(&r->builds->build[s->since - 1], &r->builds->build[build]))
		return true;
	if (!n_before || !n_now)
		return false;
	own = s->now - s->before - (stats_median(now, n_now) - stats_median(before, n_before));
	return (own > 0) != s->worse || fabs(own) < 0.5 * fabs(s->now - s->before) ||
	       !replay_matters(r, s->row, 0, own);
}

/* Adds the tasks that moved with the common factor. Returns 0 or -ENOMEM. */
static int add_moved(struct replay *r, struct replay_step *s, uint32_t build)
{
	size_t m = replay_metric(r, s->row);
	double step = s->now - s->before;

	s->first_moved = (uint32_t)r->n_moved;
	for (uint32_t task = 0; task < r->n_tasks; task++) {
		const struct replay_row *row = &r->row[task * r->n_metrics + m];
		double x = (double)r->x[m][(size_t)(build - r->first) * r->n_tasks + task] - s->before;
		uint32_t *added;
		float *level;

		if (!row->n || isnan(x) ||
		    !((x - (double)r->sorted[(task * r->n_metrics + m) * r->cap + row->n / 2]) / step > 0.5))
			continue;
		level = array_add(&r->moved_level, &r->n_levels, sizeof *level);
		added = array_add(&r->moved, &r->n_moved, sizeof *added);
		if (!added || !level)
			return -ENOMEM;
		*level = 0;
		*added = task;
		s->n_moved = ++s->tasks;
	}
	return 0;
}

/* The tasks of a step have their own level now, and do not count in the other groups that they are in. */
static void leave_groups(struct replay *r, const struct replay_step *s, uint32_t build)
{
	if (s->row >= r->shared_row) {
		for (uint32_t i = 0; i < s->n_moved; i++)
			drop_pending(r, r->moved[s->first_moved + i] * (uint32_t)r->n_metrics +
				     (uint32_t)replay_metric(r, s->row), s->since, build);
		replay_shared_restart(r, s, build);
	} else if (s->row < r->total_row && replay_metric(r, s->row) < r->n_times) {
		replay_shared_leave(r, s->row, s->since, build);
	}
}

/* s: of what moved in this row, or NULL. */
static struct known_subject subject_of(const struct replay *r, uint32_t row, const struct replay_step *s)
{
	return (struct known_subject){
		replay_task(r, row), r->metric[replay_metric(r, row)],
		row < r->shared_row ? NULL : &r->group[replay_group(r, row)].name,
		s && s->n_moved ? r->moved + s->first_moved : NULL, s ? s->n_moved : 0,
	};
}

/* Whether a note accepted what tasks share: those that did not show it alone kept their level. */
static bool was_accepted(const struct replay *r, const struct replay_step *s, uint32_t build)
{
	const struct known_subject subject = subject_of(r, s->row, s);

	return known_find(r->known, KNOWN_ACCEPTED, r->builds, &subject, s->first ? s->first - 1 : 0, build);
}

/* Confirms a change of a row if it matters. Returns 1, 0 if it does not, or -ENOMEM. */
int replay_confirm_row(struct replay *r, uint32_t row, int way, size_t w, double rate,
		       uint32_t build)
{
	uint32_t start = replay_start(r, row, build, w);
	struct replay_step s = { .row = row, .at = build, .worse = way == REPLAY_UP, .rate = rate,
				 .since = start };
	struct replay_row *of = &r->row[row];

	if (row >= r->total_row) {
		const struct replay_lone *lone = &r->lone[row - r->total_row];

		s.before = lone->middle[w];
		s.spread = lone->spread[w];
		s.n_before = lone->n[w];
	} else {
		uint32_t slot = (of->count + 1 - r->window[w]) % REPLAY_RING;

		s.before = (double)of->middle[slot];
		s.spread = (double)of->spread[slot];
		s.n_before = replay_before(r, of, r->window[w]);
	}
	s.now = level_of(r, row, start, build + 1, r->window[w], &s.n_now);
	if ((s.now > s.before) != s.worse)
		return 0;
	if (!replay_matters(r, row, s.before, s.now)) {
		if (is_below_amount(r, row, s.before, s.now))
			drop_pending(r, row, start, build);
		return 0;
	}
	if (w && !do_agree(r, &s, build))
		return 0;
	if (!replay_moved(r, &s, start, build)) {
		const struct replay_row *host = &r->row[r->host_row + replay_metric(r, row)];

		if (!host->step || r->step[host->step - 1].at + r->window[w] < build)
			return 0;
		s.silent = true;
	}
	replay_place(r, &s, of->begin, build + 1);
	s.now = level_of(r, row, s.since, build + 1, FIRST_VALUES, &s.n_now);
	if (w && !replay_matters(r, row, s.before, s.now))
		return 0;
	if (row >= r->shared_row) {
		int found = replay_shared_find(r, &s, build);

		if (found <= 0)
			return found;
	} else if (row >= r->host_row) {
		s.machine = is_of_machine(r, &s, start, build);
		if (add_moved(r, &s, build))
			return -ENOMEM;
	}
	if (!add_step(r, s))
		return -ENOMEM;
	undo(r, (uint32_t)r->n_steps - 1);
	drop_pending(r, row, s.since, build);
	leave_groups(r, &s, build);
	if (row >= r->host_row && was_accepted(r, &s, build)) {
		r->step[r->n_steps - 1].accepted = true;
		close_step(&r->step[r->n_steps - 1], build);
	}
	replay_restart(r, row, s.since, build + 1);
	return 1;
}

/* The least level in the direction of a step that matters. */
static double least_level(const struct replay *r, const struct replay_step *s)
{
	struct gate gate = replay_gate(r, s->row);
	double old = fmax(0, replay_amount(r, s->row, s->before));
	double add = fmax(gate.share * old, gate.amount);

	return s->row < r->host_row ? log(old + add + r->least[replay_metric(r, s->row)]) :
	       s->before + log1p(gate.share);
}

/* The first of the newest values that make it likely that a row is back at a step's old level. The
 * other level is the one it has, or the least that matters. Otherwise the build after the newest. */
static uint32_t left_since(const struct replay *r, const struct replay_step *s, double level,
			   uint32_t build)
{
	double sum = 0, best = build < s->at + YOUNG ? LEFT_YOUNG : LEFT;
	uint32_t since = build + 1, begin = replay_least(r, s->row, r->row[s->row].begin);
	size_t n = 0;

	level = fmax(level, least_level(r, s));
	for (uint32_t b = build + 1; b > begin && n < PLACES; b--) {
		double x = replay_x(r, s->row, b - 1);

		if (isnan(x))
			continue;
		n++;
		sum += fit_at(r, s, x, s->before) - fit_at(r, s, x, level);
		if (sum >= best) {
			best = sum;
			since = b - 1;
		}
	}
	return since;
}

/* Whether a step, with the builds that are known by now, is no more than its noise: it was one of
 * the false discoveries, from a level of few builds. */
static bool is_noise(const struct replay *r, const struct replay_step *s, uint32_t build)
{
	double inflation = s->row < r->total_row ? r->inflation[replay_metric(r, s->row)] :
		r->lone[s->row - r->total_row].inflation;
	double error, v[FIRST_VALUES];
	size_t n = replay_values(r, s->row, s->since, build + 1, FIRST_VALUES, v);

	if (n < HELD)
		return false;
	error = s->spread * sqrt(REPLAY_MEDIAN_ERROR * inflation * (1.0 / s->n_before + 1.0 / n));
	return fabs(stats_median(v, n) - s->before) < NOISE * error;
}

/* Whether the first builds after the confirmation of a step are nearer to its old level: those that
 * confirmed it were far off by chance. */
static bool is_refuted(const struct replay *r, const struct replay_step *s, uint32_t build)
{
	double v[YOUNG], confirmed;
	size_t n = replay_values(r, s->row, s->at + 1, build + 1, YOUNG, v);
	uint32_t n_confirmed;

	if (n < REFUTING || n >= YOUNG)
		return false;
	confirmed = level_of(r, s->row, s->since, s->at + 1, FIRST_VALUES, &n_confirmed) - s->before;
	return (stats_median(v, n) - s->before) / confirmed < 0.5;
}

/* Ends the steps that a row's newest values left. A level that lasted ends with an improvement. */
static int close_row(struct replay *r, uint32_t row, uint32_t build)
{
	uint32_t newest = r->row[row].step, since = build + 1, n;
	struct replay_step *s, back;

	for (uint32_t i = newest; i; i = s->older) {
		uint32_t left;

		s = &r->step[i - 1];
		if (!s->worse || s->closed)
			continue;
		left = left_since(r, s, r->step[newest - 1].now, build);
		if (left > build) {
			if (i == newest && (is_noise(r, s, build) || is_refuted(r, s, build)))
				close_step(s, build);
			continue;
		}
		close_step(s, build);
		since = left;
		back = *s;
	}
	if (since > build)
		return 0;
	s = &r->step[newest - 1];
	level_of(r, row, s->since, since, HELD, &n);
	back.at = build;
	back.since = back.first = back.last = since;
	back.worse = false;
	back.silent = back.silent || !s->worse || n < HELD;
	back.closed = back.machine = false;
	back.before = s->now;
	back.n_before = n;
	back.now = level_of(r, row, since, build + 1, FIRST_VALUES, &back.n_now);
	if (!add_step(r, back))
		return -ENOMEM;
	drop_pending(r, row, since, build);
	if (row >= r->shared_row)
		leave_groups(r, &back, build);
	replay_restart(r, row, since, build + 1);
	return 0;
}

int replay_close(struct replay *r, uint32_t build)
{
	int status = 0;

	for (uint32_t row = 0; !status && row < r->n_rows; row++) {
		struct replay_step *s = r->row[row].step ? &r->step[r->row[row].step - 1] : NULL;

		if (!s || isnan(replay_x(r, row, build)))
			continue;
		if (s->n_now < FIRST_VALUES && s->at < build)
			s->now = level_of(r, row, s->since, build + 1, FIRST_VALUES, &s->n_now);
		if (s->at < build)
			status = close_row(r, row, build);
	}
	return status;
}

/* Whether a build has the level that its row has already: nothing new begins with it. */
static bool has_level(const struct replay *r, uint32_t row, uint32_t build)
{
	double x = replay_x(r, row, build);
	uint32_t n;
	double level = level_of(r, row, r->row[row].begin, build, FIRST_VALUES, &n);

	return n && (isnan(x) || !replay_matters(r, row, level, x));
}

/* Whether a note is about a row, or about the step of a group that it has. */
static bool is_about(const struct replay *r, const struct known *k, uint32_t row)
{
	const struct replay_step *s = r->row[row].step ? &r->step[r->row[row].step - 1] : NULL;
	bool told = s && !s->closed && !s->silent;
	const struct known_subject subject = subject_of(r, row, told ? s : NULL);

	return (row < r->shared_row || told) && known_fits(k, r->builds, &subject);
}

void replay_accept(struct replay *r, uint32_t build)
{
	uint32_t from = build;

	while (from > 0 && isnan(r->factor[0][from - 1]))
		from--;
	for (size_t i = 0; r->known && i < r->known->n; i++) {
		const struct known *k = &r->known->known[i];

		if (k->kind != KNOWN_ACCEPTED || k->build < from || k->build > build)
			continue;
		for (uint32_t row = 0; row < r->n_rows; row++) {
			struct replay_row *of = &r->row[row];

			if (!is_about(r, k, row))
				continue;
			/* A level that is confirmed is the normal one now. */
			if (of->step && !r->step[of->step - 1].closed &&
			    !r->step[of->step - 1].silent) {
				for (uint32_t s = of->step; s; s = r->step[s - 1].older) {
					r->step[s - 1].accepted = true;
					if (!r->step[s - 1].closed)
						close_step(&r->step[s - 1], build);
				}
			} else if (rules_is_list(k->pattern) || !has_level(r, row, build)) {
				/* Those of a list changed, even if only their sum matters. */
				replay_restart(r, row, build, build);
			}
		}
	}
}
