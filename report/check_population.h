/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_POPULATION_H
#define BUILDBEAT_REPORT_CHECK_POPULATION_H

#include "compare/population.h"
#include "write/doc.h"

/*
 * The parts about new, gone and renamed tasks in the outputs of check. A document names at
 * most `top` of each, and has nothing if there are none. p may be NULL.
 */
void check_population_add(struct doc *d, const struct population *p, const struct builds *builds,
			  size_t top);

/* The counts and sums of the text, as two sentences; nothing if there are no such tasks. */
void check_population_add_summary(struct buf *b, const struct population *p,
				  const struct builds *builds);

/* An object "population", null if unknown. */
void check_population_json(struct json *j, const struct population *p,
			   const struct builds *builds);

#endif
