/* SPDX-License-Identifier: MIT */
#include "base/private_dir.h"

#include "base/file.h"
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_private(int fd)
{
	struct stat st;

	return !trust_fstat(fd, &st) && S_ISDIR(st.st_mode) && trust_is_private(&st) &&
	       !(st.st_mode & (S_IRWXG | S_IRWXO));
}

static bool try_path(const char *path, bool make, int *fd)
{
	if (make && mkdir(path, 0700) && errno != EEXIST)
		return false;
	*fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if ((*fd < 0 && errno == ENOENT) || (*fd >= 0 && is_private(*fd)))
		return true;
	file_close(*fd);
	return false;
}

static bool try_base(char path[PATH_MAX], const char *base, const char *name, bool own, bool make,
		     int *fd)
{
	struct error err;

	if (!base || *base != '/' || strlen(base) > PATH_MAX / 2 || trust_path(base, &err))
		return false;
	if (own)
		snprintf(path, PATH_MAX, "%s/%s", base, name);
	else
		snprintf(path, PATH_MAX, "%s/%s-%u", base, name, (unsigned)geteuid());
	return try_path(path, make, fd);
}

/* Anybody can make a directory of this name in /tmp, but not in ours. */
static bool try_state(char path[PATH_MAX], const char *name, bool make, int *fd)
{
	struct buf full = BUF_INIT;
	struct error err;
	bool good = !file_add_state_dir(&full);

	buf_addf(&full, "/%s", name);
	good = good && !buf_error(&full) && full.len < PATH_MAX && !trust_path(full.data, &err) &&
	       (!make || !file_make_parents(full.data, &err));
	if (good)
		memcpy(path, full.data, full.len + 1);
	buf_release(&full);
	return good && try_path(path, make, fd);
}

bool private_dir_find(char path[PATH_MAX], const char *name, bool make, int *fd)
{
	return try_base(path, getenv("XDG_RUNTIME_DIR"), name, true, make, fd) ||
	       try_base(path, getenv("TMPDIR"), name, false, make, fd) ||
	       try_base(path, "/tmp", name, false, make, fd) || try_state(path, name, make, fd);
}
