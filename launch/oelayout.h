/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_OELAYOUT_H
#define BUILDBEAT_LAUNCH_OELAYOUT_H

#include "base/error.h"

/*
 * Write a finished recording in OpenEmbedded's layout, for the tools that read it. beside: as its
 * directory oe, which our readers ignore. instead: in its place; the old recording is removed. 0,
 * or a negative errno with err and the recording unchanged.
 */
int oelayout_beside(const char *path, struct error *err);
int oelayout_instead(const char *path, struct error *err);

#endif
