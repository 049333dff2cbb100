/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_POWER_H
#define BUILDBEAT_REPORT_CHECK_POWER_H

#include "compare/power.h"
#include "compare/repeated_builds.h"
#include "write/doc.h"

/* The outputs of check --power. They return the error of the buffer. */
struct check_power {
	const struct builds *builds;
	const struct rules *rules;
	const struct power *power;
	const struct power *repeated;	/* the same rows with three times as many runs */
	const struct repeated_builds *as;	/* the builds of `repeated` */
};

/* Adds that a short history finds large changes only; nothing if p is NULL or it finds +10 %. */
void check_power_add_short(struct buf *text, const struct power *p);

/* Adds which changes are found within its builds: the smallest of the build, and from the most to the
 * least sensitive of its longest tasks. Nothing if p is NULL or has no row. */
void check_power_add_found(struct buf *text, const struct power *p);

/* The smallest change that it finds in any of its rows; NaN: none. */
double check_power_least(const struct power *p);

int check_power_doc(struct doc *d, const struct check_power *c);
int check_power_json(struct buf *out, const struct check_power *c);

#endif
