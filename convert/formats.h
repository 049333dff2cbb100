/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_FORMATS_H
#define BUILDBEAT_CONVERT_FORMATS_H

#include "convert/convert.h"

/* All formats: struct converter converter_NAME, and whether it can also be written. To remove a
 * format, delete its files, its line here and its lines in local.mk. Two have other users: ninja's
 * files name what a host recorded, and oe is a layout that recording_read() accepts. */
#define FORMATS(_) \
	_(bazel, READ) \
	_(callgrind, READ) \
	_(cargo, READ) \
	_(chrome, WRITTEN) \
	_(clang, READ) \
	_(cmake, READ) \
	_(ninja, READ) \
	_(oe, WRITTEN)

#define DECLARE(name, how) extern const struct converter converter_ ## name;
FORMATS(DECLARE)
#undef DECLARE

#endif
