/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_PLOTTED_H
#define BUILDBEAT_TESTS_PLOTTED_H

#include "render/plot/plot.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Shared by the tests of gnuplot's charts; failures fail the running test. */
#define NESTED TOP_SRCDIR "/tests/data/recordings/nested"
#define LONG_MS 60000

/* A recording and its pictures, in directories of their own. */
struct plotted {
	struct recorded r;
	struct panels panels;
	const char *dir;	/* where pictures go */
	struct buf out;
	struct error err;
};

/* Of d->r, or of the recording at path. */
void plotted_begin(struct plotted *d);
void plotted_read(struct plotted *d, const char *path);
void plotted_release(struct plotted *d);

/* As plot_draw(), into d->dir if p names no directory. */
int plotted_within(struct plotted *d, const struct plot *p, int timeout_ms);
void plotted_draw(struct plotted *d, const struct plot *p);

/* The directory has n pictures; no process and no file is left in gnuplot's. */
void plotted_left(const struct plotted *d, size_t n);

/* One of the pictures. The caller releases. */
void plotted_file(const struct plotted *d, struct buf *text, const char *name);

/* All of the words, up to NULL, are in it. */
void plotted_says(const struct buf *text, const char *const *words);

/* Valid SVG without scripts. */
void plotted_is_clean_svg(struct plotted *d, const struct buf *svg, const char *name);

void plotted_lines_fit(const struct buf *text, size_t columns);

/* Sets UTC. False: no gnuplot, after a message. */
bool plotted_begins(void);

#endif
