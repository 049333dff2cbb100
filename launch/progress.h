/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_PROGRESS_H
#define BUILDBEAT_LAUNCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Progress of an operation that may take long, shown only on a terminal and only if a second has
 * passed since progress_begin(). what is borrowed.
 */
struct progress {
	const char *what;
	int64_t begin_ns;	/* 0: not on a terminal */
	unsigned shown_percent;
	bool shown;
};

void progress_begin(struct progress *p, const char *what);
void progress_at(struct progress *p, unsigned percent);
/* Removes the line. */
void progress_end(struct progress *p);

#endif
