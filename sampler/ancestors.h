/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_ANCESTORS_H
#define BUILDBEAT_SAMPLER_ANCESTORS_H

#include "recording/store.h"

/* Own pid, parent's pid, ...: at most eight, separated by commas. The list ends with the first
 * process that runs a program of our own name, or is older than the recording. Such a program is
 * a host, so the outer task is its child and is in the list. */
void ancestors_of(const struct store *s, char *out, size_t size);

#endif
