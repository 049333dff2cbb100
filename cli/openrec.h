/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OPENREC_H
#define BUILDBEAT_CLI_OPENREC_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/options.h"
#include "recording/recording.h"

/* How a recording is read. */
enum {
	OPENREC_SUMS = 1,	/* in part: see recording_read_sums() */
	OPENREC_WAITS = 4,	/* the same with what tasks waited for */
	OPENREC_WHOLE = 2,	/* refuse a recording that lost tasks: see recording_whole() */
};

/*
 * Opens the operand REC of a command: `what` names a recording in base as for
 * listing_find(), or is a file or directory of another tool (convert.h). rec->path is
 * its path, not that of a link to it. 0 or a negative errno with err; always release rec.
 */
int openrec(struct recording *rec, int how, const char *base, const char *what,
	    struct error *err);

/*
 * If path is a symbolic link such as buildstats/latest, replace it with what it leads to, which is
 * the same directory after the next build. 0 or -ENOMEM.
 */
int openrec_follow(struct buf *path);

/* The option --dir of commands that read recordings: base. In a configuration file it is the
 * directory that record writes to. */
#define OPENREC_OPTION(member) \
	{ OPT_PATH('d', "dir", member, "DIR", \
	  "directory of recordings (default: the nearest buildstats)"), .config = true, .key = "output" }

/* --config and --dir. */
#define OPENREC_OPTIONS(config_member, member) { OPT_CONFIG(config_member) }, OPENREC_OPTION(member)

#endif
