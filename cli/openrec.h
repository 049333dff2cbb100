/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OPENREC_H
#define BUILDBEAT_CLI_OPENREC_H

#include "base/buf.h"
#include "base/error.h"
#include "recording/recording.h"

struct args;

/*
 * The setting output, the directory of recordings, for commands without that option:
 * from the file config, or from the one that is found if config is NULL. *base lives
 * as long as args, which the caller releases. 0 or a negative errno with err.
 */
int openrec_base(struct args *args, const char **base, const char *config, struct error *err);

/* How much of a recording is read. */
enum openrec_part {
	OPENREC_ALL,
	OPENREC_SUMS,		/* see recording_read_sums() */
};

/*
 * Opens the operand REC of a command: `what` names a recording in base as for
 * listing_find(), or is a file or directory of another tool (convert.h). path gets
 * the path. 0 or a negative errno with err; always release both rec and path.
 */
int openrec(struct recording *rec, struct buf *path, enum openrec_part part,
	    const char *base, const char *what, struct error *err);

#endif
