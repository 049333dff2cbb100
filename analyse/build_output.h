/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_BUILD_OUTPUT_H
#define BUILDBEAT_ANALYSE_BUILD_OUTPUT_H

#include "analyse/first_error.h"
#include "analyse/output_nearby.h"

/* A build's output, and what is known of its lines. */
struct build_output {
	struct output *output;	/* NULL: it was not recorded; the rest is empty then */
	struct output_tasks tasks;
	struct first_errors errors;
	struct output_nearbies nearby;
};

/* Did a task or the build fail? A long output is read only if it says why. */
bool build_output_matters(const struct summary *s);

/* Errors and nearby lines are looked for only if something failed. 0, or a negative errno with err. Always
 * release. */
int build_output_read(struct build_output *b, const struct summary *s, const struct recording_codec *codec,
		      struct error *err);
/* The same; nothing is read if nothing failed. */
int build_output_read_failure(struct build_output *b, const struct summary *s,
			      const struct recording_codec *codec, struct error *err);
void build_output_release(struct build_output *b);

#endif
