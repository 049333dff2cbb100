/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_DRAWING_H
#define BUILDBEAT_RENDER_PLOT_DRAWING_H

#include "render/plot/plot.h"

/* Run a script with its data in gnuplot, and put the picture into its place. The script reads
 * WORD.data and draws WORD.FORMAT in its directory; for the terminal it prints. */

struct drawing {
	const char *word;
	enum plot_format format;
	struct buf script, data;
	const char *title;	/* of a picture, for screen readers, as the description */
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
