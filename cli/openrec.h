/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OPENREC_H
#define BUILDBEAT_CLI_OPENREC_H

#include "base/buf.h"
#include "base/error.h"
#include "recording/recording.h"

struct args;

/*
 * The directory of recordings where it is a setting (output) and no option: from the
 * file config or, NULL, the one that is found. It lives as long as args, which the
 * caller releases. 0 or a negative errno with err.
 */
int openrec_base(struct args *args, const char **base, const char *config, struct error *err);

/* How much of it. */
enum openrec_part {
	OPENREC_ALL,
	OPENREC_SUMS,		/* see recording_read_sums() */
};

/*
 * The one way in which commands come to their REC: `what` names a recording in base
 * as for listing_find(), or is a file or directory that another tool wrote about a
 * build (convert.h). path gets where it is. 0, or a negative errno with err; always
 * release both.
 */
int openrec(struct recording *rec, struct buf *path, enum openrec_part part,
	    const char *base, const char *what, struct error *err);

#endif
