/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_RECIPE_H
#define BUILDBEAT_RECORDING_RECIPE_H

#include "base/cursor.h"

/* The parts of a recipe of bitbake: "gcc-cross-1_13.2+git-r0" is name gcc-cross, epoch 1,
 * version 13.2+git, revision r0. Missing parts are empty; any other text is all name. The
 * parts point into text. */
struct recipe {
	struct slice name, epoch, version, revision;
};

void recipe_parse(struct recipe *out, const char *text);

#endif
