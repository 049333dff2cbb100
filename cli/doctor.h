/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_DOCTOR_H
#define BUILDBEAT_CLI_DOCTOR_H

#include "launch/settings.h"

#include <stdbool.h>
#include <stddef.h>

/* The findings of `buildbeat doctor`: collected by doctor.c and doctor_trial.c, printed by
 * cmd_doctor.c. */

enum doctor_state { DOCTOR_OK, DOCTOR_LIMITED, DOCTOR_MISSING };

struct doctor_finding {
	const char *check;	/* stable name */
	enum doctor_state state;
	bool essential;		/* required to record a build by make */
	char text[1200];
	char remedy[300];	/* "": nothing to do */
};

#define DOCTOR_MAX 48

struct doctor {
	const struct settings *settings;
	size_t n;
	struct doctor_finding finding[DOCTOR_MAX];
};

/* Adds a finding with a formatted text. remedy may be NULL. */
void doctor_add(struct doctor *d, const char *check, enum doctor_state state,
		bool essential, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

#define DOCTOR_INSTALL_SIZE 120
const char *doctor_install(char out[DOCTOR_INSTALL_SIZE], const char *packages);

/* Checks the kernel, files of /proc that the sampler does not need, the configuration, the
 * directory of recordings, limits and the source trees. */
void doctor_machine(struct doctor *d);

/* The cores and the memory that the control groups of this process may use, of version 1 and 2: a
 * container has fewer than the machine, which /proc shows. */
void doctor_limits(struct doctor *d);

/* Records a tiny build with each GNU make in PATH, in a private directory, and checks
 * the recordings. */
void doctor_trial(struct doctor *d);

/*
 * Finds out, by such a trial, why this make (a path, or a name in PATH) records no
 * tasks. False: it records them.
 */
bool doctor_explain(const struct settings *settings, const char *tool, char *why,
		    size_t size);

#endif
