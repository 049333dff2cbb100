/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_CLASS_PLOT_H
#define BUILDBEAT_REPORT_INSPECT_CLASS_PLOT_H

#include "inspect/classify.h"
#include "render/plot/plot.h"

/*
 * Classes of memory over time as stepped areas, one on the other, drawn by gnuplot: the RSS of the
 * mappings, and the live bytes of the heap if it was counted.
 */
struct class_plot {
	const struct inspection *in;
	const struct classes *memory, *heap;	/* heap: NULL without one */
	const int64_t *time_us;		/* of the snapshots of the classes */
	const char *path;		/* of the picture; PLOT_TERM: NULL */
	enum plot_format format;
	bool keep;			/* memory.gnuplot and memory.data, in the directory of path */
	unsigned columns, lines;	/* as in struct plot */
	bool colour;
	int stop_fd;
};

/* As plot_draw(). */
int class_plot_draw(const struct class_plot *p, struct buf *out, struct error *err);

#endif
