/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_WORD_LIST_H
#define BUILDBEAT_BASE_WORD_LIST_H

#include <stddef.h>

/* The words of an option or key that can be repeated. They are borrowed. */
#define WORD_LIST_MAX 100

struct word_list {
	size_t n;
	const char *item[WORD_LIST_MAX];
};

#endif
