/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_NEAREST_H
#define BUILDBEAT_BASE_NEAREST_H

/*
 * The candidate that is most similar to word, NULL if none is similar. The list ends with NULL.
 */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
