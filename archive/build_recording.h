/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_BUILD_RECORDING_H
#define BUILDBEAT_ARCHIVE_BUILD_RECORDING_H

#include "analyse/values.h"
#include "base/error.h"
#include "recording/recording.h"

/*
 * A recording in memory of what is known of a build: its tasks, each a run even where there
 * were several, its circumstances, its totals. Samples are added to it by sys_read(). Its
 * figures are f again, but for the memory of a task's processes together and the bytes of
 * files, which are kept in blocks of 512. 0, or a negative errno with err and nothing to
 * release.
 */
int build_recording(struct recording *rec, const struct values *f, struct error *err);

#endif
