/* SPDX-License-Identifier: MIT */
#include "tests/touch.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static int touch_dir(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	static char text[65536];
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		int file = e->d_type == DT_REG ? openat(fd, e->d_name, O_RDONLY | O_CLOEXEC) : -1;

		if (file < 0)
			continue;
		n += read(file, text, sizeof text) > 0;
		close(file);
	}
	if (dir)
		closedir(dir);
	return n;
}

int touch_files(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			n += touch_dir(dirfd(dir), e->d_name);
	}
	if (dir)
		closedir(dir);
	return n;
}
