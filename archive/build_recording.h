/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILD_RECORDING_H
#define BUILDBEAT_ARCHIVE_BUILD_RECORDING_H

#include "analyse/values.h"
#include "base/error.h"
#include "recording/recording.h"

/*
 * Makes a recording in memory from the values of a build: its tasks (each as one run), its
 * circumstances and totals. sys_read() adds samples. values_make() of the recording gives f
 * again, except the memory of all processes of a task, and bytes rounded to blocks of 512.
 * Returns 0, or a negative errno with err and nothing to release.
 */
int build_recording(struct recording *rec, const struct values *f, struct error *err);

#endif
