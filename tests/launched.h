/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_LAUNCHED_H
#define BUILDBEAT_TESTS_LAUNCHED_H

#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/support.h"

/* Shared by the tests of `buildbeat record`. Their recordings are below stats in
 * support_tmpdir(). */
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORD BUILDBEAT " record --no-git -o stats "

/* Fails the running test if there is no recording. */
void launched_read(struct recording *rec, const char *name);

/* Standard error is one line, which contains this. */
void launched_reported(const struct run *r, const char *part);

/* As support_expect() in support_tmpdir(), with one such line. */
void launched_expect(int status, const char *out, const char *part, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
