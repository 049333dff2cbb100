/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_RULE_H
#define BUILDBEAT_CONVERT_NINJA_RULE_H

#include "base/cursor.h"

/* What sort of work (kind.h) a rule does, by the names CMake, Meson and gn give
 * theirs; NULL when the name does not tell. */
const char *ninja_rule_kind(struct slice rule);

#endif
