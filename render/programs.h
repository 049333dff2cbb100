#ifndef BUILDBEAT_RENDER_PROGRAMS_H
#define BUILDBEAT_RENDER_PROGRAMS_H

#include "recording.h"

/*
 * Of the recording's programs the `top` (or all, if fewer) that used most CPU or, where
 * that is not known of any, ran longest: indices from malloc(), *n of them. NULL when out
 * of memory.
 */
uint32_t *programs_top(const struct recording *rec, size_t top, size_t *n);

#endif
