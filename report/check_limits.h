/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CHECK_LIMITS_H
#define BUILDBEAT_REPORT_CHECK_LIMITS_H

#include "compare/limits.h"
#include "write/doc.h"
#include "write/junit.h"

/* The parts about limits in the outputs of check. NULL: there are no limits. */

/* "2 limits exceeded, " for the beginning of a verdict; nothing if none is. */
void check_limits_add_verdict(struct buf *b, const struct limits_check *l);

/* "link: x: memory of the largest process 5.2 GiB, limit 4 GiB (+30 %)". */
void check_limits_add_excess(struct buf *b, const struct limits_excess *e);

/* At most `top` values. */
void check_limits_add(struct doc *d, const struct limits_check *l, size_t top);

/* A list "limits" of all of them. */
void check_limits_json(struct json *j, const struct limits_check *l);

/* A test case for each limit, of the class "REF/limits". */
void check_limits_junit(struct junit *j, const struct limits_check *l, const char *ref);

#endif
