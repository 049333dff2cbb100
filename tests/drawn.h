/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_DRAWN_H
#define BUILDBEAT_TESTS_DRAWN_H

#include "analyse/summary.h"
#include "base/buf.h"

/* The bootchart of a build. It has every panel that the one of like has. Fails the running
 * test itself. */
void drawn(struct buf *svg, const struct summary *sum, const struct summary *like);

#endif
