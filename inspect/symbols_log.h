/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_SYMBOLS_LOG_H
#define BUILDBEAT_INSPECT_SYMBOLS_LOG_H

#include "base/buf.h"
#include "base/error.h"
#include "inspect/inspection.h"

/*
 * symbols.log of an archive: the names of its frames, so that the archive can be read where the
 * modules are not. The first line is "buildbeat inspection symbols 1". Lines that follow:
 *
 *	n FUNCTION<tab>SOURCE<tab>LINE<tab>INLINED_IN
 *		a frame name, numbered from 0; INLINED_IN is the number of an earlier one, or "-";
 *		SOURCE is empty and LINE 0 if they are not known. Texts are escaped as in
 *		base/field.h.
 *	f NUMBER NAME		frame NUMBER has this name and those that it was inlined into
 *	p PERCENT		of the frames that have the name of a function; the last line
 *
 * A line without newline at the end is ignored. Without the last line the names before it count.
 */
#define SYMBOLS_LOG "symbols.log"

/* The whole text of the file, from frame[], frame_name[] and named_percent. */
void symbols_log_write(struct buf *out, const struct inspection *in);

/*
 * Read such a text into frame_name[], frame[].name and named_percent of an inspection whose frames
 * were read. Frames that it does not have are ignored. 0, -ENOMEM, or -EINVAL with err: path is
 * for messages.
 */
int symbols_log_read(struct inspection *in, const char *text, size_t len, const char *path,
		     struct error *err);

#endif
