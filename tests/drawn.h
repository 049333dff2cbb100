/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_DRAWN_H
#define BUILDBEAT_TESTS_DRAWN_H

#include "analyse/summary.h"
#include "base/buf.h"

/* The bootchart of a build, with every panel of the bootchart of like, its recording. An archive
 * has no samples of tasks and of volumes. Fails the running test. */
void drawn(struct buf *svg, const struct summary *sum, const struct summary *like);

#endif
