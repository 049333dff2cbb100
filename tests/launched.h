/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_LAUNCHED_H
#define BUILDBEAT_TESTS_LAUNCHED_H

#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/support.h"

/* What the tests of `buildbeat record` share. Their recordings are below stats in
 * support_tmpdir(). */
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORD BUILDBEAT " record --no-git -o stats "

/* Fails the running test where there is none. */
void launched_read(struct recording *rec, const char *name);

/* One line on standard error, with this in it. */
void launched_said(const struct run *r, const char *part);

#endif
