/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_LABEL_H
#define BUILDBEAT_RENDER_CHART_LABEL_H

#include "base/buf.h"

/*
 * How much room words take in a picture. Which font shows it nobody knows: these are
 * the widths of a wide one, so that what fits here fits anywhere.
 */

/* Of a text that is safe to print, in pixels; size is that of the font. */
double label_width(const char *text, double size);

/* A bold text is wider by this factor at most. */
#define LABEL_BOLD 1.16

/*
 * A name, made safe to print (text_add_name), that takes at most width pixels: where
 * it does not fit, its middle is left out. Nothing where not even three letters fit.
 */
void label_add(struct buf *b, const char *name, double width, double size);

#endif
