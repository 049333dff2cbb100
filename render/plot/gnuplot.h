/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_GNUPLOT_H
#define BUILDBEAT_RENDER_PLOT_GNUPLOT_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Run the gnuplot of PATH on the file `script` of a directory, in that directory:
 * without a shell; the name of the script is its only argument. Its output is appended to out
 * (NULL: ignored). 0, or with err -ENOENT (there is no gnuplot) or -EIO: it failed, with the
 * first line of its errors; it was killed; it did not end in time and was killed. -EINTR: it was
 * killed as stop_fd (0: none) can be read from.
 */
struct gnuplot {
	const char *directory, *script;
	int timeout_ms;
	int stop_fd;
};

int gnuplot_run(const struct gnuplot *g, struct buf *out, struct error *err);

#endif
