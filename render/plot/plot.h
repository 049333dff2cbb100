/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_PLOT_H
#define BUILDBEAT_RENDER_PLOT_PLOT_H

#include "analyse/summary.h"
#include "base/buf.h"
#include "base/error.h"
#include "render/chart/panels.h"

/*
 * The static charts that gnuplot draws: a script and a data file are written, then
 * gnuplot runs on them. Names of tasks and files are never part of a command line; in a script
 * they are escaped strings.
 */
enum plot_chart { PLOT_CPU, PLOT_DISK, PLOT_MEMORY, PLOTS };
enum plot_format { PLOT_SVG, PLOT_PNG, PLOT_PDF, PLOT_TERM, PLOT_FORMATS };

/* "cpu", "disk", "memory"; "svg" ...; end with NULL. */
extern const char *const plot_word[PLOTS + 1];
extern const char *const plot_format_word[PLOT_FORMATS + 1];

struct plot {
	enum plot_chart chart;
	enum plot_format format;
	const char *directory;	/* cpu.svg, and with keep cpu.gnuplot and cpu.data, go there */
	bool keep;
	unsigned columns, lines;	/* of the terminal, for PLOT_TERM; 0: 80, 24 */
	bool colour;		/* PLOT_TERM: with the terminal's colours */
	int stop_fd;		/* gnuplot is stopped when it can be read from; 0: none */
	int timeout_ms;		/* for gnuplot; 0: a minute */
};

/*
 * Draw one chart. PLOT_TERM: the drawing goes to out. 0, or a negative errno with
 * err: -ENOENT (no gnuplot), -EIO (gnuplot failed: its own words are in err), -ENODATA
 * (the recording has nothing for this chart), -EINTR (stopped). A file appears whole
 * or not at all.
 */
int plot_draw(const struct plot *p, const struct summary *s, const struct panels *panels,
	      struct buf *out, struct error *err);

#endif
