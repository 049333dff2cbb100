/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_VERDICT_H
#define BUILDBEAT_COMPARE_VERDICT_H

#include "compare/history.h"
#include "compare/shared.h"

/*
 * The check of the newest builds against those before. All builds are tested one after the other,
 * each against those before it (replay.h). A change that is confirmed stays in every later verdict
 * until its level is left or accepted. Regressions and improvements each have a false
 * discovery rate of at most rules.rate (Benjamini and Hochberg, over all tasks of a build), and
 * exceed the thresholds.
 */
enum verdict_state {
	FINDING_CONFIRMED,
	FINDING_KNOWN,		/* confirmed and acknowledged */
	FINDING_SUSPECT,	/* only the newest build shows it */
};

struct verdict_finding {
	uint32_t task;		/* index into builds.task, TASK_TOTAL, TASK_HOST or TASK_SHARED */
	enum metric metric;
	enum verdict_state state;
	bool worse;
	bool creep;		/* a slow change from `first` to `last` */
	bool fails;		/* counts for the exit status */
	bool machine;		/* the machine or its tools changed then */
	uint32_t tasks;		/* that changed together, of TASK_HOST and TASK_SHARED */
	struct shared_group group;	/* of TASK_SHARED: the tasks that they belong to, */
	uint32_t of_tasks;	/* so many that were compared */
	uint32_t since, first, last;	/* its first build, and the interval of that */
	uint32_t builds;	/* number of builds that have it */
	uint32_t at;		/* the build that confirmed it; of a suspect the newest good one */
	uint32_t until;		/* the build that showed that it ended; n of builds: it did not */
	bool back;		/* the newest build has the level before, for once or for good: it does
				   not fail */
	double before, now;	/* levels in the metric's unit, without the factor of the host;
				   of TASK_HOST ratios, 1: as usual; of TASK_SHARED sums of the
				   tasks that changed */
	double newest;		/* value of the newest good build, NaN: none */
	size_t n_moved;		/* of TASK_HOST and TASK_SHARED: the tasks that changed with it, in verdict.moved */
	size_t first_moved;
	double effect;		/* now / before - 1; infinite from 0 */
	double low, high;	/* 95 % interval of the effect */
	double rate;		/* false discovery rate */
	const struct known *known;
	const struct everywhere_also *also;	/* the same in other series (everywhere.h), or NULL */
	const struct known *overdue;	/* a note that a fix was to end (fixed_by.h), or NULL */
};

/* Whether two changes can have begun in the same build. */
static inline bool verdict_meet(const struct verdict_finding *a, const struct verdict_finding *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/* A total without noise: any change from the build before is reported. */
struct exact_change {
	enum total total;	/* TOTAL_TASKS, TOTAL_FAILED, TOTAL_STATUS */
	int64_t before, now;
};

#define EXACT_TOTALS 3

struct verdict {
	uint32_t first_build;	/* of the window, which ends with the newest build */
	uint32_t n_builds;
	bool not_judged;	/* the newest build failed: findings are those of the last
				   good build */
	int64_t build_status;	/* of the newest build, -1: unknown */
	bool enough;		/* at least rules.least_history + rules.agree builds */
	uint32_t more_builds;	/* until there are enough; otherwise until suspects are decided */
	size_t n_series;	/* tested */
	size_t n;
	/* Sorted: confirmed, known, suspect; worse first; host, build, tasks; metric; amount. */
	struct verdict_finding *finding;
	uint32_t *moved;
	size_t n_past;
	struct verdict_finding *past;	/* regressions that failed earlier builds and ended */
	size_t n_confirmed;	/* findings with `fails` */
	size_t n_known, n_suspect;	/* worse ones, without TASK_HOST */
	size_t n_elsewhere;	/* failing ones that are in the verdict of another series */
	double host[METRICS];	/* factor of the newest build, 1.1: 10 % slower than usual.
				   NaN: no time, or not tested */
	bool host_event[METRICS];	/* host[] exceeds the usual variation */
	size_t n_exact;
	struct exact_change exact[EXACT_TOTALS];
};

/* known may be NULL. Returns 0 or a negative errno with err. Always release. The result does not
 * depend on the number of processors. */
int verdict_make(struct verdict *v, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, struct error *err);
void verdict_release(struct verdict *v);

/* Whether a note is about a finding. */
bool verdict_known_fits(const struct verdict *v, const struct builds *builds, const struct verdict_finding *f,
			const struct known *k);

/*
 * The verdicts about the first builds up to each one from `first` on, from one replay: seen() gets
 * each of them, and must not keep it. It returns 0 or a negative errno with err, which ends it.
 */
struct verdict_seen {
	int (*seen)(void *context, uint32_t build, const struct verdict *v, struct error *err);
	void *context;
};

int verdict_each(const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t first, const struct verdict_seen *seen,
		 struct error *err);

#endif
