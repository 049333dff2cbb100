/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_PLOT_WORKPLACE_H
#define BUILDBEAT_RENDER_PLOT_WORKPLACE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * Where gnuplot works: a directory of its own below TMPDIR or /tmp, gone with all
 * that is in it when the work is done, however that ended.
 */
struct workplace {
	char path[512];
};

/* 0 or a negative errno with err. */
int workplace_begin(struct workplace *w, struct error *err);
void workplace_end(struct workplace *w);

/* Append the whole of directory/name to out. 0 or a negative errno. */
int workplace_read(struct buf *out, const char *directory, const char *name);

#endif
