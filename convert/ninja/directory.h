/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_DIRECTORY_H
#define BUILDBEAT_CONVERT_NINJA_DIRECTORY_H

#include "recording/recording.h"

/* The directory of a ninja, and its build.ninja there: the values of -C and -f. The recorded directory
 * may be the one before or after -C. To be freed, after an error too. 0 or -ENOMEM. */
int ninja_find_files(char **found_dir, char **found_file, const struct instance *in);

#endif
