#ifndef BUILDBEAT_VERDICT_H
#define BUILDBEAT_VERDICT_H

#include "history.h"

/*
 * The newest nights against those before: what `check` says. A series is judged by its
 * newest `agree` nights against its level before, and by the change points of the
 * window whose change for the worse still stands.
 */
enum finding_state {
	FINDING_SUSPECT,	/* the newest night alone says so */
	FINDING_CONFIRMED,
	FINDING_KNOWN,		/* confirmed and acknowledged */
};

struct finding {
	uint32_t task;		/* index into nights.task, TASK_TOTAL or TASK_HOST */
	enum metric metric;
	enum finding_state state;
	bool worse;
	uint32_t since, first, last;	/* first night of it, and the nights between which that is */
	double before, now;	/* in the metric's unit */
	double effect;		/* now / before - 1 */
	double low, high;	/* interval of the effect, 95 % */
	double rate;		/* false discovery rate it is told at */
	const struct known *known;
};

struct verdict {
	uint32_t n_nights;	/* looked at */
	bool enough;		/* as many as rules.least_history ask for */
	size_t n_series;	/* judged */
	size_t n;
	struct finding *finding;	/* confirmed, known, suspect; each worse before better, by amount */
	size_t n_confirmed, n_known, n_suspect;	/* of those that are worse */
	double host_factor;	/* of the newest night: 1.1 a tenth slower than usual */
	bool host_event;	/* which is more than its history explains */
	double more_nights;	/* until a suspect can be confirmed */
};

/* 0 or a negative errno with err. Always release. */
int verdict_make(struct verdict *v, const struct nights *nights, const struct rules *rules,
		 const struct known_list *known, struct error *err);
void verdict_release(struct verdict *v);

#endif
