/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_BAZEL_DATE_H
#define BUILDBEAT_CONVERT_BAZEL_DATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The date in a profile of Bazel, in milliseconds since 1970: "2026-02-09T17:07:35.206537Z", or
 * "Tue Mar 15 10:33:36 CET 2022" before Bazel 6. False for another text, and for names of time
 * zones that are unknown or that several zones have, such as CST.
 */
bool bazel_date(const char *text, int64_t *ms);

#endif
