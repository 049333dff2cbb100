/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_NUMBERLINES_H
#define BUILDBEAT_CLI_NUMBERLINES_H

#include "base/error.h"

/*
 * Statistics of plain numbers: `diff --samples` and `history --series`. The file has a JSON
 * object a line, with an "id" and lists of numbers: "base" and "new", or "values". null is a
 * missing value. Other members are ignored. Prints a line of JSON for each line of the file.
 * 0, or a negative errno with err: then nothing was printed.
 */
int numberlines_diff(const char *path, struct error *err);
int numberlines_history(const char *path, struct error *err);

#endif
