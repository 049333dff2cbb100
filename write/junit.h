/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_WRITE_JUNIT_H
#define BUILDBEAT_WRITE_JUNIT_H

#include "base/index.h"
#include "write/markup.h"

#include <stddef.h>

/*
 * JUnit's XML for collectors of test results: one suite of cases. Collectors compare cases by name, so a
 * case should keep its name from report to report, and no two cases of a class have the same.
 */
struct junit {
	struct buf cases;
	struct markup m;
	struct index names;	/* by hash and length */
	size_t tests, failures, skipped;
	int error;
};

void junit_begin(struct junit *j);

/* A case, open until the next one. If there is one of this name, `more` (may be NULL) follows it, and then
 * a number. Different names can be shown alike. */
void junit_case(struct junit *j, const char *class, const char *name, const char *more);

/* The case failed, in this way, or (type: NULL) was skipped. text: details, or NULL. Both are one line. */
void junit_result(struct junit *j, const char *type, const char *message, const char *text);

/* Writes all of it; time_s: of the suite, or -1. Always call it. 0, -ENOMEM or the buffer's error. */
int junit_end(struct junit *j, struct buf *out, const char *suite, int64_t time_s);

#endif
