/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_TARGETS_H
#define BUILDBEAT_ANALYSE_TARGETS_H

#include "analyse/summary.h"

/* Fill target and n_targets of a summary, and their links in nest; needs its order
 * and the costs in nest. 0 or -ENOMEM. */
int targets_fill(struct summary *s);

#endif
