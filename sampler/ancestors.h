/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_ANCESTORS_H
#define BUILDBEAT_SAMPLER_ANCESTORS_H

#include "recording/store.h"

/* Own pid, parent's pid, ...: at most eight, comma separated, as far as the first
 * that runs a program of our own name (a host: the task around us is a child of
 * its, so it stands in front) or is older than the recording. */
void ancestors_of(const struct store *s, char *out, size_t size);

#endif
