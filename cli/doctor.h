/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_DOCTOR_H
#define BUILDBEAT_CLI_DOCTOR_H

#include "launch/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* What the doctor finds: filled by the examinations, printed by cmd_doctor.c. */

enum finding_state { FINDING_OK, FINDING_LIMITED, FINDING_MISSING };

struct finding {
	const char *check;	/* stable name */
	enum finding_state state;
	bool essential;		/* without it no build by make can be recorded */
	char text[1200];
	char remedy[300];	/* "" when there is nothing to do */
};

#define FINDINGS_MAX 48

struct doctor {
	const struct settings *settings;
	size_t n;
	struct finding finding[FINDINGS_MAX];
};

/* One more finding, its text formatted. remedy may be NULL. */
void doctor_add(struct doctor *d, const char *check, enum finding_state state,
		bool essential, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The kernel and what of /proc can be read beside the sampler's files. */
void doctor_host(struct doctor *d);

/* Where recordings go, the limits of this process, the source tree. */
void doctor_place(struct doctor *d);

/* A trial: a recording of a tiny build by each GNU make there is, made in a
 * private directory, and what was found in it. */
void doctor_trial(struct doctor *d);

/*
 * Why this make (a path, or a name in PATH) records no tasks, by a trial of it
 * alone. False: it does record them.
 */
bool doctor_explain(const struct settings *settings, const char *tool, char *why,
		    size_t size);

#endif
