/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_FACTS_H
#define BUILDBEAT_RENDER_FACTS_H

#include "base/text.h"

#include <stdarg.h>

/*
 * "label   part, part, part": one fact a line, wrapped between its parts where
 * the line gets too long.
 */
struct facts {
	struct buf *out;
	const struct style *style;
	struct buf part;	/* of the fact being made, each ended by a NUL */
};

void facts_begin(struct facts *f, struct buf *out, const struct style *style);
void facts_release(struct facts *f);

/* The part being made ends here; an empty one is dropped. */
void fact_part(struct facts *f);

/* All parts under a label, in a tone; nothing when there are none. */
void fact_end(struct facts *f, const char *label, enum tone tone);

/* Columns that labels take. */
#define FACT_INDENT 11

#endif
