#ifndef BUILDBEAT_FORMATS_H
#define BUILDBEAT_FORMATS_H

#include "convert.h"

/* One each: convert/NAME.c. */
extern const struct converter converter_bazel;
extern const struct converter converter_callgrind;
extern const struct converter converter_cargo;
extern const struct converter converter_chrome;
extern const struct converter converter_clang;
extern const struct converter converter_cmake;
extern const struct converter converter_oe;

#endif
