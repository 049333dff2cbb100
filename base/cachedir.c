/* SPDX-License-Identifier: MIT */
#include "base/cachedir.h"

#include <errno.h>
#include <stdlib.h>

int cachedir_add(struct buf *path)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		buf_adds(path, cache);
	else if (home && *home == '/')
		buf_addf(path, "%s/.cache", home);
	else
		return -ENOENT;
	buf_adds(path, "/buildbeat");
	return 0;
}
