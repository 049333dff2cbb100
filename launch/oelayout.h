/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_OELAYOUT_H
#define BUILDBEAT_LAUNCH_OELAYOUT_H

#include "base/error.h"

/*
 * A finished recording in OpenEmbedded's layout, for the tools that read that: beside, as
 * the directory oe in it, which no reader of ours looks into; or instead, at the same
 * place, and what was there is gone. 0, or a negative errno with err and the recording
 * as it was.
 */
int oelayout_beside(const char *path, struct error *err);
int oelayout_instead(const char *path, struct error *err);

#endif
