/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_COMMIT_COUNT_H
#define BUILDBEAT_ARCHIVE_COMMIT_COUNT_H

struct values;

/*
 * Adds a fact commit_count after each revision, so that two builds show how many commits are between
 * them. It needs the source tree with its whole history of at most COMMIT_COUNT_MAX commits,
 * which takes a second or two. Returns 0 or -ENOMEM.
 */
#define COMMIT_COUNT_MAX 400000

int commit_count_add(struct values *f);

#endif
