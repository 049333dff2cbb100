/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_NEAREST_H
#define BUILDBEAT_BASE_NEAREST_H

/*
 * The candidate (of a list that ends with NULL) that word was most likely meant
 * to be, NULL when none comes near.
 */
const char *nearest_word(const char *word, const char *const *candidates);

#endif
