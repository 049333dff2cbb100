#ifndef BUILDBEAT_LAUNCH_NOTICE_H
#define BUILDBEAT_LAUNCH_NOTICE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* What the commands say on standard error, one line a call. */

/* "buildbeat: message". */
void report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "buildbeat: path:line:column: message", without what err does not know. */
void report_error(const struct error *err);

/*
 * The candidate (of a list that ends with NULL) that word was most likely meant
 * to be, NULL when none comes near.
 */
const char *report_nearest(const char *word, const char *const *candidates);

/*
 * Progress of something that may take long: shown only on a terminal and only
 * once a second has passed since progress_begin(). what is borrowed.
 */
struct progress {
	const char *what;
	int64_t begin_ns;	/* 0: not on a terminal */
	unsigned shown_percent;
	bool shown;
};

void progress_begin(struct progress *p, const char *what);
void progress_at(struct progress *p, unsigned percent);
/* Wipes the line. */
void progress_end(struct progress *p);

#endif
