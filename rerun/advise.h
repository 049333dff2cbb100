/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RERUN_ADVISE_H
#define BUILDBEAT_RERUN_ADVISE_H

#include "analyse/answer.h"
#include "rerun/forecast.h"

/*
 * What would make a build faster. Each advice is a change that a replay has tried: its gain is that of the
 * whole build, and the arguments of whatif that show it are part of it. The largest gain comes first. What gains
 * less than ADVICE_LEAST of the wall time is not mentioned. If other processes slow the build down,
 * that is the only advice: what else would help cannot be seen from such a recording.
 */
#define ADVICE_MOST 5
#define ADVICE_LEAST 0.05
#define ADVICE_LEAST_US 200000	/* and this much */

enum advice_about {
	ADVICE_QUIET,		/* other processes use the cores */
	ADVICE_WORKERS,		/* cores are idle, as there are too few workers */
	ADVICE_FIRST,		/* a task that the end waits for could start earlier */
	ADVICE_LTO,		/* serial link-time optimisation, alone */
	ADVICE_LINKER,		/* a link, alone, and a faster linker is installed */
	ADVICE_SPLIT,		/* another task that runs alone */
	ADVICE_PROBES,		/* a command of $(shell) runs again and again */
	ADVICE_ABOUTS
};

/* "quiet", "workers" ...: in JSON. */
extern const char *const advise_word[ADVICE_ABOUTS];

struct advice {
	enum advice_about about;
	uint32_t task;		/* NO_INDEX: none */
	char *text;		/* what to do and why, UTF-8, safe to print, without a full stop */
	size_t action;		/* so many bytes of it are what to do */
	char *whatif;		/* arguments of `buildbeat whatif` that predict it */
	int64_t wall_us, low_us, high_us;	/* of the build then */
};

/* What the machine has on which the build ran; nothing is known of another one than this. */
struct advise_tools {
	const char *linker;	/* a fast one that is installed, such as "mold"; NULL: none */
};

void advise_find_tools(struct advise_tools *tools, const struct recording *rec);

struct advise {
	bool whole;		/* the build did all that it was asked for; otherwise there is no advice */
	size_t n;
	struct advice item[ADVICE_MOST];
};

/* 0 or a negative errno with err. Always release. */
int advise_make(struct advise *a, const struct rerun *r, const struct advise_tools *tools, struct error *err);
void advise_release(struct advise *a);

/*
 * Adds the first advice to the verdict, if there is one: about ANSWER_ADVICE. Nobody shall wait for it, so
 * of a build with more than ADVISE_TASKS_MOST tasks only `buildbeat advise` tells. 0 or -ENOMEM.
 */
#define ADVISE_TASKS_MOST 10000
int advise_answer(struct answer *a, const struct summary *s, const struct chain *c);

#endif
