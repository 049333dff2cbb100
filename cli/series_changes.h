/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_SERIES_CHANGES_H
#define BUILDBEAT_CLI_SERIES_CHANGES_H

#include "base/error.h"

/* The change points of the series in a file, a line of JSON each, to standard output. 0, or
 * a negative errno with err; then nothing is written. */
int series_changes_print(const char *path, struct error *err);

#endif
