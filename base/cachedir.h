/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_CACHEDIR_H
#define BUILDBEAT_BASE_CACHEDIR_H

#include "base/buf.h"

/* Our part of the user's cache directory, "~/.cache/buildbeat"; whether it is there is not
 * looked at. 0, or -ENOENT where neither XDG_CACHE_HOME nor HOME names one. */
int cachedir_add(struct buf *path);

#endif
