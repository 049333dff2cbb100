/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_MAKE_WORDS_H
#define BUILDBEAT_LAUNCH_MAKE_WORDS_H

#include <stdbool.h>

/* Does make with this command line only print its version or help? Then it reads no makefile. */
bool make_words_only_print(char *const argv[]);

#endif
