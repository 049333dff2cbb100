/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_COMMIT_COUNT_H
#define BUILDBEAT_ARCHIVE_COMMIT_COUNT_H

struct values;

/*
 * A build says how many commits there were up to each of its revisions, so that two of them
 * tell how many lie between: a fact commit_count behind each revision, where the source
 * tree is still there and has its whole history of at most COMMIT_COUNT_MAX, which takes
 * a second or two. 0 or -ENOMEM.
 */
#define COMMIT_COUNT_MAX 400000

int commit_count_add(struct values *f);

#endif
