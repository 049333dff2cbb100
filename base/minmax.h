/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_MINMAX_H
#define BUILDBEAT_BASE_MINMAX_H

/*
 * The smaller and the larger of two numbers of one type; the second one if they are equal or one is
 * not a number. Macros, because they serve all types and also constants. One of the arguments is
 * evaluated twice: it must not have an effect.
 */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
