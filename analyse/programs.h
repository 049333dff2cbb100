/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_PROGRAMS_H
#define BUILDBEAT_ANALYSE_PROGRAMS_H

#include "analyse/summary.h"

/*
 * Of the recording's programs the `top` (or all, if fewer) that used most CPU or, where
 * that is not known of any, ran longest: indices from malloc(), *n of them. NULL when out
 * of memory.
 */
uint32_t *programs_top(const struct recording *rec, size_t top, size_t *n);

/*
 * CPU time of the build that no recorded process used, such as that of processes that
 * lived between two polls of /proc. -1: unknown.
 */
int64_t programs_unseen_us(const struct summary *s);

#endif
