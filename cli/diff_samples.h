/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_DIFF_SAMPLES_H
#define BUILDBEAT_CLI_DIFF_SAMPLES_H

#include "base/error.h"

/* Pairs of samples from a file, a line of JSON each, and what differs to standard output.
 * 0 or a negative errno with err. */
int diff_samples(const char *path, struct error *err);

#endif
