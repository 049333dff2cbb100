/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SAME_H
#define BUILDBEAT_TESTS_SAME_H

#include "recording/recording.h"

/* Fails the test if two recordings differ in more than their paths. The order of the lines
 * of `build` and of the list of samples may differ. */
void same_recordings(const struct recording *a, const struct recording *b);

#endif
