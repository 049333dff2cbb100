/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_DRAWING_H
#define BUILDBEAT_RENDER_PLOT_DRAWING_H

#include "render/plot/plot.h"

/*
 * A script of gnuplot's with its data, run; and what it drew put where it belongs. The
 * script takes its data from WORD.data beside it and draws WORD.FORMAT there; for the
 * terminal it prints.
 */

struct drawing {
	const char *word;
	enum plot_format format;
	struct buf script, data;
	const char *title;	/* of a picture, for those who hear it; and what is in it */
	struct buf description;
	const char *path;	/* of the picture; PLOT_TERM: NULL */
	bool named;		/* by the user: a symbolic link there is followed */
	const char *keep_in;	/* a directory for the script and its data; NULL: none */
	int timeout_ms;		/* for gnuplot; 0: a minute */
	int stop_fd;		/* gnuplot is stopped when it can be read from; 0: none */
	bool colour;		/* PLOT_TERM: with the terminal's colours */
};

/* As plot_draw(). */
int drawing_draw(const struct drawing *d, struct buf *out, struct error *err);
void drawing_release(struct drawing *d);

#endif
