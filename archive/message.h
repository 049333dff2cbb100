/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_MESSAGE_H
#define BUILDBEAT_ARCHIVE_MESSAGE_H

#include "analyse/values.h"
#include "base/buf.h"
#include "compare/builds.h"

/*
 * The message of a build's commit: a title for people, then trailers.
 *	Run-Id: TEXT
 *	Build-Start: 2026-11-21T04:25:11Z
 *	Build-Status: 0 | 1 ... 255 | killed SIGNAL | failed | unfinished | unknown
 *	Build-Rev: COMMIT COUNT clean|dirty SOURCE	for each tree; COUNT may be "-"
 *	Commit-Count: COUNT	of the first tree
 */
struct message {
	struct arena *texts;
	const char *run;	/* NULL: not a build */
	int64_t start_s;	/* -1: unknown */
	size_t n_revisions;
	struct revision *revision;
};

#define MESSAGE_INIT { .start_s = -1 }

/* Reads any message. Returns 0 or -ENOMEM. Always release. */
int message_read(struct message *m, const char *text);
void message_release(struct message *m);

void message_write(struct buf *out, const struct values *f, const char *run);

/* The start of the build if git can store such a time, otherwise -1. */
int64_t message_start_s(const struct values *f);

#endif
