/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_TRACE_KIND_H
#define BUILDBEAT_CONVERT_TRACE_KIND_H

#include "convert/convert.h"

/* Whose trace a file in Chrome's trace format is, by its beginning. */
enum trace_kind { TRACE_NONE, TRACE_BAZEL, TRACE_CHROME, TRACE_CLANG };

enum trace_kind trace_kind(const struct convert_file *file);

#endif
