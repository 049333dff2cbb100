/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_PLOT_RUN_H
#define BUILDBEAT_RENDER_PLOT_PLOT_RUN_H

#include "render/plot/plot.h"

/* plot_draw() with another time that gnuplot may take. */
int plot_draw_within(const struct plot *p, const struct summary *s, const struct panels *panels,
		     struct buf *out, int timeout_ms, struct error *err);

#endif
