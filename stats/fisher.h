/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_FISHER_H
#define BUILDBEAT_STATS_FISHER_H

#include <stddef.h>

/* The probability of n independent results that are together at least as improbable as these: Fisher's
 * method. 1 of none. */
double fisher_join(const double *p, size_t n);

#endif
