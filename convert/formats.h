/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_FORMATS_H
#define BUILDBEAT_CONVERT_FORMATS_H

#include "convert/convert.h"

/* All formats, by name: struct converter converter_NAME in convert/NAME.c. */
#define FORMATS(_) \
	_(bazel) \
	_(callgrind) \
	_(cargo) \
	_(chrome) \
	_(clang) \
	_(cmake) \
	_(ninja) \
	_(oe)

/* Those of them that can be written. */
#define FORMATS_WRITTEN(_) \
	_(chrome) \
	_(oe)

#define DECLARE(name) extern const struct converter converter_ ## name;
FORMATS(DECLARE)
#undef DECLARE

#endif
