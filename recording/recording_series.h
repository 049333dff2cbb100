/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_RECORDING_SERIES_H
#define BUILDBEAT_RECORDING_RECORDING_SERIES_H

#include "base/buf.h"
#include "recording/recording.h"

/* A series as the text of its proc_*.log, which becomes the same series again. 0 or -ENOMEM. */
int recording_series_write(struct buf *text, const struct series *s);

/*
 * One more series of a recording that is being made (it has its arena): from its text, in
 * which is written. Damaged parts are skipped and reported in rec->warning. 0 or -ENOMEM, or
 * -EINVAL for one of a future version.
 */
int recording_series_read(struct recording *rec, const char *name, struct buf *text);

#endif
