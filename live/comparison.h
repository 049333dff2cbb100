/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_COMPARISON_H
#define BUILDBEAT_LIVE_COMPARISON_H

#include "analyse/values.h"
#include "compare/diff.h"
#include "compare/rules.h"
#include "live/source.h"
#include "report/diff_view.h"

/* Two recordings of a catalogue, compared as by buildbeat diff without a configuration. */
struct comparison {
	struct source source[DIFF_SIDES];
	struct values values[DIFF_SIDES];
	struct rules rules;
	struct diff diff;
	struct diff_view view;	/* of diff; the caller may change how */
};

/* a, b: their ids. 0 or a negative errno with err: -ENOENT. Always release. */
int comparison_make(struct comparison *c, struct catalogue *catalogue, const char *a, const char *b,
		  const char *filter, struct error *err);
void comparison_release(struct comparison *c);

#endif
