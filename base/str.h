/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_STR_H
#define BUILDBEAT_BASE_STR_H

#include <stdbool.h>
#include <string.h>

/* Comparisons of C strings. Those of slices are in base/cursor.h. */

static inline bool str_starts(const char *s, const char *head)
{
	return !strncmp(s, head, strlen(head));
}

static inline bool str_ends(const char *s, const char *tail)
{
	size_t len = strlen(s), n = strlen(tail);

	return len >= n && !memcmp(s + len - n, tail, n);
}

#endif
