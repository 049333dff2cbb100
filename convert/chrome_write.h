/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CHROME_WRITE_H
#define BUILDBEAT_CONVERT_CHROME_WRITE_H

#include "recording/recording.h"

/*
 * A recording as a trace that Perfetto and chrome://tracing show: an instance is a
 * process, its tasks are on threads (the worker the host recorded, else the lowest that
 * is free), with their spans inside them; spans that do not nest have an id each. Samples
 * are counters of a process of their own. As converter.write.
 */
int chrome_write(const struct recording *rec, const char *path, struct error *err);

#endif
