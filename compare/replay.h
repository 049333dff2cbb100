/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_REPLAY_H
#define BUILDBEAT_COMPARE_REPLAY_H

#include "base/buf.h"
#include "compare/history.h"
#include "compare/shared.h"
#include "stats/streaks.h"
#include "stats/deviations.h"
#include "stats/hostfactor.h"
#include "stats/nulls.h"
#include "stats/stats.h"


/*
 * All good builds of a series in their order, each compared with the builds before it alone.
 * What a build confirms therefore does not depend on later builds: a step stays until its level
 * is left, and no later finding, note or estimate takes it back.
 *
 * A row is one metric of one task, of the whole build, or the common factor of all tasks. Its level
 * is the median of its reference: the builds since its last step, at most rules.window. Values
 * are ln(value + a small amount), less the logarithm of the common factor.
 *
 * A set of runs of one hour is one value, their median, which has less noise than a single build:
 * less by the part of the noise that differs between runs (replay_sets.c). What an hour has of its
 * own is in all of them. A set of REPLAY_SET_RUNS runs can confirm a change alone: how far sets are
 * off without one is counted apart.
 *
 * A window is the newest builds of a row, as many as replay.window[] says, measured from the
 * reference before them. Its evidence is the logarithm of the likelihood ratio of the likeliest of
 * many shifts to none, divided by their number. How large it becomes without a change is counted on
 * all rows at all earlier builds. While too few are counted, and beside that later, a window is a
 * run: the probability of its least deviation so often in a row (stats/streaks.h). In the first weeks
 * only this finds changes: a spike is not improbable then, but several in a row are.
 *
 * A task's own response to the common factor is removed from its times (replay_response.c). In a
 * build in which tasks differ from each other more than usual, each is expected to deviate more.
 * A level of the common factor that lasts begins all references again: they are of another machine.
 */
#define REPLAY_NEVER UINT32_MAX
#define REPLAY_RING 16		/* newest values of a row; a window is shorter */
#define REPLAY_CLIP 4.0f		/* standard deviations */
#define REPLAY_WORTH 2.5f	/* evidence below it cannot be significant */
#define REPLAY_SPANS 5		/* the newest build alone, and the windows */
#define REPLAY_MEDIAN_ERROR 1.57	/* variance of a median, times n */
#define REPLAY_SET_RUNS 3	/* of a set that confirms alone: no single run decides its median */
#define REPLAY_SAMPLED 1000	/* tasks whose builds are counted */
#define REPLAY_AROUND 8		/* builds after its confirmation that locate a step */
#define REPLAY_GROUPS 10	/* of tasks of similar length, that share an estimate of noise */

enum { REPLAY_UP, REPLAY_DOWN };

struct replay_row {
	uint32_t begin;		/* first build of its level */
	uint32_t restarted;	/* first build that was compared with that level */
	uint32_t oldest;	/* first build of its reference */
	uint32_t n;		/* values in its reference */
	uint32_t kept;		/* builds before this one are in the reference */
	uint32_t count;		/* values of the level so far */
	uint32_t step;		/* 1 + index of its newest step; 0: none */
	uint8_t group;
	bool again;		/* a level after a step: its noise is known from before */
	bool judged;		/* at this build */
	float noise, noise_df;	/* variance known from before */
	float variance, df;	/* of its reference, and of before */
	float own;		/* that with what similar tasks say */
	/* By count: values, the level before them and the deviation expected of
	 * a value from it; NaN if the reference is too small. */
	float x[REPLAY_RING], middle[REPLAY_RING], spread[REPLAY_RING];
};

/*
 * What the deviations of a task's times from their level have to do with the common factor: a task
 * that waits for the disk, say, is slowed down less by a slow processor. Sums around the means, in
 * which builds count the less the older they are. One whose factor is not usual is added when it is
 * clear that no new level of the common factor began with it.
 */
#define REPLAY_SETTLED 5	/* builds that make a level of the common factor a lasting one */

struct replay_response {
	float weight, mean_factor, mean_off, squares, products;
	uint32_t n;		/* builds that are not added yet */
	struct {
		float factor, off;
	} late[REPLAY_SETTLED];
	float applied;		/* to the newest value */
};

struct replay_common {
	float wider;		/* how much more than usual tasks differ from the factor, 1: not */
	bool beyond;		/* the factor is larger or smaller than usual ones */
};

/* What one build says about one row; joined: about wall and CPU time of a task together. */
struct replay_span {
	float alike;			/* product of the deviations of this build and the one before */
	float off[REPLAY_SPANS];	/* of counted tasks: median deviation; NaN: not tested */
	float evidence[REPLAY_SPANS];	/* upwards; negative: downwards */
};

/* The runs of a counted task that end with a build: the deviation of the newest values, one and more,
 * that is least in each way. */
struct replay_runs {
	float least[2][STREAKS_MOST];
	uint8_t n;
};

/* What is counted of a build later, when a step that it began is known. */
#define REPLAY_LAG 8		/* good builds */

struct replay_pending {
	struct replay_span span;
	struct replay_runs runs;
};

/* A row of which there is only one: a total or the common factor. */
struct replay_lone {
	double *x;		/* of every build; NULL for a group, which has shared_x */
	double *work, *other;	/* of all rows */
	double p[2][REPLAY_SPANS];	/* of each window, and the level that it is measured from */
	double middle[REPLAY_SPANS], spread[REPLAY_SPANS];
	uint32_t n[REPLAY_SPANS];
	double inflation;		/* as that of tasks below */
};

/* A change that came slowly, in these builds. */
struct replay_slope {
	bool found;
	uint32_t first, last;
};

/* Of the tasks of a group that moved, what a finding says. */
struct shared_effect {
	double before, now, newest;	/* sums, in the metric's unit */
	double low, high;	/* interval of the effect */
};

/* A confirmed change of a row's level. */
struct replay_step {
	uint32_t row;
	uint32_t at;		/* the build that confirmed it */
	uint32_t since, first, last;	/* its first build, and the interval of that */
	uint32_t end;		/* the build after its level; n of builds: it is the row's newest */
	uint32_t older;		/* 1 + index of the step of this row before; 0: none */
	uint32_t tasks;		/* that moved together, of the common factor or a group; */
	uint32_t first_moved, n_moved;	/* those that are still reported, in replay.moved */
	uint32_t of_tasks;	/* of a group: so many were compared */
	bool measured;		/* of a group: the effect is final */
	struct shared_effect effect;
	bool worse;
	bool silent;		/* moved with the common factor only: not reported */
	bool closed;		/* its level was left */
	bool accepted;		/* closed by a note */
	uint32_t left;		/* the build that showed this; of one that is not closed n */
	bool placed;		/* first, last, since and slope are final */
	struct replay_slope slope;
	uint32_t n_values;	/* of its builds before replay.first_judged */
	bool machine;		/* explained by what the machine did */
	double before, now;	/* levels */
	double spread;		/* expected of one value's deviation from `before` */
	uint32_t n_before, n_now;
	double rate;		/* false discovery rate */
};

/* Tasks that belong together. */
struct replay_group {
	struct shared_group name;
	uint64_t hash;
	uint32_t n_tasks, parent;	/* the place around it, or all tasks */
	bool same[METRICS];	/* its tasks of this build are those of a group with a longer name */
};

/* Of the members of a group at one build. */
struct shared_sum {
	float off, weight;	/* sums; weight 0: they are not changed any more */
	float base;		/* of the value */
	uint32_t n;
};

/* What is usual, roughly. */
struct shared_usual {
	float mean, variance;
	uint32_t n;
	bool above, below;	/* the value before was */
	bool worth;
};

/* A change of a row that only the newest build shows. */
struct replay_suspect {
	uint32_t row;
	bool worse;
	double before, now, spread, rate;
	uint32_t n_before;
};

struct changepoints;
struct creep_finder;

struct replay {
	const struct builds *builds;
	const struct rules *rules;
	const struct known_list *known;
	uint32_t n, n_tasks;
	uint32_t first, end;	/* builds whose values are there */
	uint32_t first_judged;	/* the first one of this part of the replay */
	uint32_t n_good;	/* good builds so far */
	uint32_t newest;	/* the last good build so far; n: none */
	bool suspects;		/* those of this build are searched */
	bool resuming;		/* the verdict about this build is known */
	uint32_t now;		/* the build that is compared with those before it */
	size_t n_metrics;	/* wall and CPU time support each other: with one of them both */
	enum metric metric[METRICS];
	double least[METRICS];	/* added to values before the logarithm */
	size_t joined;		/* index of wall time, before CPU time; n_metrics: not judged */
	uint32_t window[REPLAY_SPANS];
	float *x[METRICS];	/* x[metric index][(build - first) * n_tasks + task] */
	double *factor[METRICS];	/* logarithm of the common factor of every build */
	struct replay_common *common[METRICS];	/* what else is common to a build's tasks */
	struct {
		uint32_t begin, restarted;	/* of the rows that a level of the factor restarted */
		double level;
	} settled[METRICS];
	double *machine[METRICS];	/* the part of it that the machine explains; NaN: unknown */
	size_t n_times;		/* the first metrics are times */
	struct replay_response *response;	/* of each row of a task that is a time */
	double unlike[METRICS];	/* variance, over the tasks, of the slope of their response */
	double unlike_most[METRICS];	/* at most */

	/* Rows: metrics of tasks, then of the build, then the common factors, then times of groups of tasks. */
	uint32_t n_rows, total_row, host_row, shared_row;
	struct replay_row *row;
	struct gate *gate;	/* of the rows before host_row; NULL: rules.gate */
	float *sorted;		/* references, cap of each row */
	size_t cap;
	struct replay_lone *lone;	/* of the rows from total_row on */
	double *lone_x, *lone_work;

	struct prior prior[METRICS][REPLAY_GROUPS];
	uint32_t grouped;	/* good builds at which tasks are grouped next */
	uint32_t *longest[METRICS];	/* tasks that the common factor is estimated from */
	size_t n_longest[METRICS];
	struct deviations (*offset)[REPLAY_SPANS];	/* of medians of windows, each metric */
	struct nulls (*null)[2][REPLAY_SPANS];		/* of each metric, and joined */
	struct streaks (*streaks)[2];
	bool *worth;		/* of each task: there is evidence at this build */
	struct replay_span *span;	/* of this build: (n_metrics + 1) of each task */
	size_t stride, n_sampled;	/* tasks that are counted: every stride-th */
	struct replay_runs *runs;	/* of sampled tasks, as span */
	struct replay_pending *pending;	/* REPLAY_LAG + 1 builds of sampled tasks */
	uint32_t *good;		/* of each good build, how many are before it */
	double alike_sum[METRICS], alike_n[METRICS];	/* of deviations of consecutive builds */
	double inflation[METRICS];	/* by which they make a level less accurate */
	double few;		/* windows that do not yet show what is usual */
	uint32_t fade;		/* good builds at which older ones lose weight next */
	uint32_t counted;		/* good builds whose spans are counted */

	/* Groups (replay_shared.c). */
	uint32_t n_groups;
	struct replay_group *group;
	uint32_t *groups_of;	/* SHARED_MOST of each task, UINT32_MAX: none */
	struct shared_sum *shared_sum;	/* REPLAY_RING builds of each row */
	float *shared_x;	/* values of each row, of the builds [first, end) */
	struct shared_usual *shared_usual;
	float *shared_base;	/* level of each row that its tasks are measured from */
	float *moved_level;	/* of each in `moved`: the level before, if it is of a group */
	size_t n_levels;

	/* Sets; all NULL without any. */
	double *noise_left;	/* of each build: variance of its value by that of a single run's */
	double *left_sum;	/* of good builds before each build, and their number */
	uint32_t *left_n;
	float *run_spread;	/* of each task at one set */
	double within[METRICS], within_n[METRICS];	/* sums, of the share of the noise of a single
							   build that differs between runs: at most */
	double within_least[METRICS];	/* and at least */
	struct deviations *single;	/* of each metric: of single builds, whose spikes a median
					   does not have */
	uint32_t pending_runs[REPLAY_LAG + 1];	/* of pending builds */
	bool alone;		/* so can this build */
	bool set;		/* this build is one */

	size_t n_steps, n_suspects, n_moved;
	uint32_t *moved;	/* tasks */
	struct replay_step *step;
	struct replay_suspect *suspect;
	size_t n_judged;	/* rows of metrics that are asked for, at the newest build */
};

/* Returns 0 or a negative errno with err. Always release. The result does not depend on the number
 * of processors. Or build by build: begin, then each build from r->first_judged on in its order, with
 * its suspects if asked. The state after a build is that of an archive that ends with it. begin()
 * may start at a state that was kept (replay_state.c) if that is before the build `wanted`. */
int replay_begin(struct replay *r, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t wanted, struct error *err);
int replay_next(struct replay *r, uint32_t build, bool suspects, struct error *err);
int replay_run(struct replay *r, const struct builds *builds, const struct rules *rules,
	       const struct known_list *known, struct error *err);
void replay_release(struct replay *r);

/* Of a row: task index, TASK_TOTAL, TASK_HOST or TASK_SHARED; metric index. And the group of one from
 * shared_row on. */
uint32_t replay_task(const struct replay *r, uint32_t row);
size_t replay_metric(const struct replay *r, uint32_t row);

static inline uint32_t replay_group(const struct replay *r, uint32_t row)
{
	return (row - r->shared_row) / (uint32_t)r->n_times;
}

static inline bool replay_is_asked(const struct replay *r, size_t m)
{
	return r->rules->metrics & METRIC_BIT(r->metric[m]);
}

/* A row's value on the scale of levels, NaN if missing; and a level in the metric's unit. */
double replay_x(const struct replay *r, uint32_t row, uint32_t build);

static inline double replay_task_x(const struct replay *r, size_t m, uint32_t task, uint32_t build)
{
	if (build < r->first)
		return (double)NAN;
	return (double)r->x[m][(size_t)(build - r->first) * r->n_tasks + task] - r->factor[m][build];
}

/* What is pending of a good build, of the first sampled task. */
static inline struct replay_pending *replay_pending(const struct replay *r, uint32_t good)
{
	return r->pending + good % (REPLAY_LAG + 1) * r->n_sampled * (r->n_metrics + 1);
}

static inline float replay_evidence(const struct replay_span *span, size_t w, int way)
{
	return way == REPLAY_UP ? span->evidence[w] : -span->evidence[w];
}

/* The values of the reference that a task's window of k builds is measured from. */
static inline uint32_t replay_before(const struct replay *r, const struct replay_row *row, uint32_t k)
{
	uint32_t before = row->count + 1 - k;

	return before < r->cap ? before : (uint32_t)r->cap;
}

/* The deviation of a value, at most REPLAY_CLIP. */
static inline float replay_clip(float z)
{
	return z > REPLAY_CLIP ? REPLAY_CLIP : z < -REPLAY_CLIP ? -REPLAY_CLIP : z;
}

static inline float replay_z(const struct replay_row *row, uint32_t at)
{
	uint32_t slot = at % REPLAY_RING;

	return replay_clip((row->x[slot] - row->middle[slot]) / row->spread[slot]);
}

/* A value of a row's window as a deviation from the level before the window, which begins at `start`;
 * both count values. */
static inline float replay_off(const struct replay_row *row, uint32_t start, uint32_t at)
{
	uint32_t from = start % REPLAY_RING, slot = at % REPLAY_RING;
	float spread = row->spread[slot] > row->spread[from] ? row->spread[slot] : row->spread[from];

	return (row->x[slot] - row->middle[from]) / spread;
}

double replay_amount(const struct replay *r, uint32_t row, double x);

/* ln of the density of a deviation of a row. */
double replay_fit(const struct replay *r, uint32_t row, double z);

/* The newest values of a row in [begin, end), at most `most`; returns their number. */
size_t replay_values(const struct replay *r, uint32_t row, uint32_t begin, uint32_t end,
		     size_t most, double *v);

/* The first build of a row's window that ends at a build. */
uint32_t replay_start(const struct replay *r, uint32_t row, uint32_t build, size_t window);

static inline uint32_t replay_least(const struct replay *r, uint32_t row, uint32_t build)
{
	return (row < r->total_row || row >= r->shared_row) && build < r->first ? r->first : build;
}

static inline float *replay_shared_x(const struct replay *r, uint32_t index, uint32_t build)
{
	return &r->shared_x[(size_t)index * (r->end - r->first) + build - r->first];
}

static inline size_t replay_stride(const struct builds *builds)
{
	return builds->n_tasks ? (builds->n_tasks + REPLAY_SAMPLED - 1) / REPLAY_SAMPLED : 1;
}

/* The variance of n values with this spread, and what is known from before the row's step; and its
 * degrees of freedom. */
double replay_variance(const struct replay_row *row, double spread, size_t n, double *df);

/* The thresholds of a row; and whether a change of its level from one to another matters. */
struct gate replay_gate(const struct replay *r, uint32_t row);
bool replay_matters(const struct replay *r, uint32_t row, double before, double now);

/* The machine (replay_host.c): the common factor at a build, and its part in steps. */
int replay_host(struct replay *r, uint32_t build);
void replay_host_settle(struct replay *r, uint32_t build);
void replay_lone(struct replay *r, uint32_t build);
void replay_lone_row(struct replay *r, uint32_t row, uint32_t build);

/* The correlation of a value with the one before, with a prior of one half. */
double replay_alike(const double *v, size_t n, double middle);

/*
 * Groups of tasks (replay_shared.c, replay_moved.c): their rows of times are the mean deviation of their tasks from
 * their levels, which finds what many tasks share and none shows alone. Tasks with a confirmed
 * regression of their own do not count, and leave() takes them out of the values since that began.
 *
 * A change matters if the sum of the tasks that moved does, which are those that fit the likeliest
 * shift. amount() is by how much that sum changed, 0 if it does not matter; find() sets the tasks of a
 * step, and returns 1, or 0 if it does not matter. restart() begins their references again.
 */
int replay_shared_begin(struct replay *r);
int replay_shared_room(struct replay *r);
void replay_shared_release(struct replay *r);
void replay_shared_look(struct replay *r, uint32_t build);
size_t replay_shared_tests(const struct replay *r, size_t m);
uint32_t replay_shared_find_row(const struct replay *r, uint64_t hash, uint32_t m);
bool replay_shared_worth(const struct replay *r, uint32_t row);
/* Whether a task's own finding says what it does. */
bool replay_has_own(const struct replay *r, const struct replay_row *row);
double replay_shared_gate(const struct replay *r, enum metric m);
void replay_shared_leave(struct replay *r, uint32_t row, uint32_t since, uint32_t build);
int replay_shared_amount(struct replay *r, uint32_t row, int way, size_t window, uint32_t build,
			 double *amount);
int replay_shared_find(struct replay *r, struct replay_step *step, uint32_t build);
void replay_shared_restart(struct replay *r, const struct replay_step *s, uint32_t build);
int replay_shared_effect(const struct replay *r, const struct replay_step *s, uint32_t end,
			 struct shared_effect *out);

/* What is known about deviations: Student's degrees of freedom, how much consecutive ones are
 * alike, and how far usual ones and a row's own earlier ones were (or NULL). */
struct replay_noise {
	double df, alike;
	const struct deviations *usual;
	const double *own;
	size_t n_own;
	double prior;		/* builds added to the own ones that were as far off */
};

/* The probability of a window of n deviations, which it sorts, that is so far off in one way. */
double replay_p(const struct replay_noise *noise, double *z, size_t n, int way);

/* Sets (replay_sets.c): at the beginning, and at a build before its rows are tested. Then the factor
 * by which values of the builds [first, build] are expected to deviate more than those of the
 * reference, which begins at `oldest`. */
int replay_sets_begin(struct replay *r);
int replay_sets_look(struct replay *r, uint32_t build, struct error *err);
double replay_sets_wider(const struct replay *r, size_t metric, uint32_t oldest, uint32_t first,
			 uint32_t build);

/* Responses of tasks to the common factor (replay_response.c). estimate() is how much they differ.
 * apply() removes that of a task from its value of a build, and returns the variance of what
 * remains. add() counts a deviation of the newest build. restore() does both with the values of
 * [begin, end), and returns whether any changed. */
void replay_response_estimate(struct replay *r);
double replay_response_apply(struct replay *r, uint32_t row, uint32_t build);
void replay_response_add(struct replay *r, uint32_t row, uint32_t build, double off);
void replay_response_settle(struct replay *r, uint32_t row, double factor);
bool replay_response_restore(struct replay *r, uint32_t row, uint32_t begin, uint32_t end, double level,
			     double spread);

/* Rows at a build (replay_row.c): deviations and evidence of a task; then its values are added.
 * restore() is a row after the builds before `end`, with its begin and noise known; work has room for
 * the values of a window. */
void replay_look(struct replay *r, uint32_t task, uint32_t build);
void replay_keep(struct replay *r, uint32_t row, uint32_t build);
void replay_restart(struct replay *r, uint32_t row, uint32_t since, uint32_t end);
void replay_restore(struct replay *r, uint32_t row, uint32_t end, float *work);
int replay_noise(struct replay *r);

/* Tests (replay_test.c): confirms the rows that changed by this build, and finds the suspects. */
int replay_confirm(struct replay *r, uint32_t build);

/*
 * Steps (replay_step.c). Confirms a change of a row in a window if it matters; returns 1, 0 if it
 * does not, or -ENOMEM. Then: whether a change since `start` moved the row with the common factor
 * left in; the steps whose level a build leaves; and those that notes on a build accept.
 */
int replay_confirm_row(struct replay *r, uint32_t row, int way, size_t window, double rate,
		       uint32_t build);
bool replay_moved(const struct replay *r, const struct replay_step *s, uint32_t start,
		  uint32_t build);
int replay_close(struct replay *r, uint32_t build);
void replay_accept(struct replay *r, uint32_t build);

/* The first build of a step and its interval, by the fit of the builds up to `end`. */
void replay_place(const struct replay *r, struct replay_step *s, uint32_t from, uint32_t end);

/* What is reported of a step, by the builds before `end`: its place and slope, its level, and how many
 * builds have it up to that one. */
struct replay_work {
	double *values;		/* of every build */
	struct changepoints *points;
	struct creep_finder *creep;
};

int replay_work_init(struct replay_work *w, size_t n_builds);
void replay_work_release(struct replay_work *w);
int replay_step_place(const struct replay *r, struct replay_step *s, struct replay_work *w);
double replay_step_level(const struct replay *r, const struct replay_step *s, uint32_t end,
			 struct replay_work *w, uint32_t *n);
uint32_t replay_step_values(const struct replay *r, const struct replay_step *s, uint32_t end);

/*
 * The state after the builds before `build` (replay_state.c): what was counted, the common factors,
 * the beginnings of rows, and the steps. The references of rows are made again from the values of
 * the window before. There is one at fixed builds: whether it was kept changes no verdict.
 */
struct replay_state {
	uint32_t build;		/* 0: none */
	uint32_t n_tasks;	/* known by then */
	struct buf text;
};

/* The first build after `build` whose replay begins with a state; `build` is 0 or such a one. */
uint32_t replay_state_next(const struct rules *rules, uint32_t build);
/* The newest one kept in the archive that is not behind `wanted`. Returns 0 or -ENOMEM. */
int replay_state_recall(struct replay_state *s, const struct builds *builds,
			const struct rules *rules, const struct known_list *known, uint32_t wanted);
/* That of r, which ends; it is kept in the archive, if that can be written. */
int replay_state_take(struct replay_state *s, struct replay *r);
int replay_state_restore(struct replay *r, const struct replay_state *s);

#endif
