/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_STR_H
#define BUILDBEAT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* C strings; slices are in base/cursor.h. */

static inline bool str_starts(const char *s, const char *head)
{
	return !strncmp(s, head, strlen(head));
}

static inline bool str_ends(const char *s, const char *tail)
{
	size_t len = strlen(s), n = strlen(tail);

	return len >= n && !memcmp(s + len - n, tail, n);
}

/* Up to max words of the text at *p, which is moved behind them; each is terminated in place. */
static inline size_t str_cut_words(char **p, const char **words, size_t max)
{
	size_t n = 0;

	while (n < max) {
		*p += strspn(*p, " \t\n");
		if (!**p)
			break;
		words[n++] = *p;
		*p += strcspn(*p, " \t\n");
		if (**p)
			*(*p)++ = '\0';
	}
	return n;
}

#endif
