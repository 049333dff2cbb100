/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_MESSAGE_H
#define BUILDBEAT_ARCHIVE_MESSAGE_H

#include "analyse/values.h"
#include "base/buf.h"
#include "compare/builds.h"

/*
 * The message of a build's commit: a line for people, then trailers.
 *	Run-Id: TEXT
 *	Build-Start: 2026-11-21T04:25:11Z
 *	Build-Status: 0 | 1 ... 255 | killed SIGNAL | failed | unfinished | unknown
 *	Build-Rev: COMMIT COUNT clean|dirty SOURCE	a tree; COUNT may be "-"
 *	Commit-Count: COUNT	of the first one
 */
struct message {
	struct arena *texts;
	const char *run;	/* NULL: no build */
	int64_t start_s;	/* -1: not known */
	size_t n_revisions;
	struct revision *revision;
};

#define MESSAGE_INIT { .start_s = -1 }

/* Any message; 0 or -ENOMEM. Always release. */
int message_read(struct message *m, const char *text);
void message_release(struct message *m);

void message_write(struct buf *out, const struct values *f, const char *run);

/* When the build began, as far as git knows such times; -1: not known. */
int64_t message_start_s(const struct values *f);

#endif
