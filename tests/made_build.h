/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MADE_BUILD_H
#define BUILDBEAT_TESTS_MADE_BUILD_H

#include "analyse/values.h"
#include "archive/archive.h"

/*
 * A build of n tasks ("dir7: task00007") with the numbers first to first + n - 1, whose
 * values follow from their number and the build. Fails the running test.
 */
void made_build(struct values *f, size_t first, size_t n, unsigned build);
int64_t made_value(size_t task, enum value_column c, unsigned build);

/* The path of the archive of a test, in support_tmpdir(). */
const char *made_repo(void);

/* The first line of git's output there, in static memory; and the check that git finds no
 * fault. */
const char *made_git(const char *arguments);
void made_fsck(void);

/* A new or existing archive that does not wait for the disk. */
struct archive *made_archive(const char *path);

/* Add it as run "N" of MADE_REF, with a prefix. Returns the commit, in static memory. */
#define MADE_REF "host/main/x86_64"

const char *made_add(struct archive *a, const struct values *f, unsigned build);
void made_add_build(struct archive *a, size_t first, size_t n, unsigned build);

/* Add builds 0 to n - 1 of three tasks each to made_repo(). */
void made_add_builds(unsigned n);

void made_read(struct values *f, struct archive *a, const char *name);

/* For git and libgit2: only the repository's configuration. For main(). */
void made_environment(void);

#endif
