/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_CHART_FACTS_H
#define BUILDBEAT_RENDER_CHART_CHART_FACTS_H

#include "render/chart/chart.h"

/*
 * What the header of a chart says, into c->fact: needs c->sum, c->ghost, c->chain and
 * c->match. 0 or -ENOMEM. The texts are c's.
 */
int chart_facts(struct chart *c);

/* Give the facts from c->fact[1] on their places in columns, the first line of labels
 * below top_y; returns where the next thing may begin. */
int chart_place_facts(struct chart *c, int top_y);

#define FACT_SIZE 12.5		/* of the font, in pixels */
#define FACT_LABEL_RISE 15	/* a label's baseline above that of its text */

#endif
