/* SPDX-License-Identifier: MIT */
#include "live/job_place.h"

#include "base/file.h"
#include "base/str.h"
#include "base/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAME "buildbeat-serve."
#define FRESH_S 60
#define DEPTH_MAX 4		/* of what a task writes */

void job_place_init(struct job_place *p)
{
	p->path[0] = '\0';
	p->fd = -1;
}

static void remove_below(int dir_fd, const char *name, unsigned depth)
{
	DIR *dir;
	struct dirent *entry;
	int fd;

	if (!unlinkat(dir_fd, name, 0) || depth > DEPTH_MAX)
		return;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = file_open_dir_at(fd, ".");
	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			remove_below(fd, entry->d_name, depth + 1);
	}
	if (dir)
		closedir(dir);
	close(fd);
	unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Ours, private, and of a server that has ended; one that was just made may not be locked yet. */
static void remove_stale(int base_fd, const char *name)
{
	struct stat st;
	int fd = openat(base_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IRWXG | S_IRWXO)) &&
	    st.st_mtime < time(NULL) - FRESH_S && !flock(fd, LOCK_EX | LOCK_NB))
		remove_below(base_fd, name, 0);
	close(fd);
}

static void clean(const char *base)
{
	DIR *dir = opendir(base);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (str_starts(entry->d_name, NAME))
			remove_stale(dirfd(dir), entry->d_name);
	}
	if (dir)
		closedir(dir);
}

static bool try_base(struct job_place *p, const char *base)
{
	struct error unused;

	if (!base || *base != '/' || strlen(base) > PATH_MAX / 2 || trust_path(base, &unused))
		return false;
	clean(base);
	snprintf(p->path, sizeof p->path, "%s/" NAME "XXXXXX", base);
	if (!mkdtemp(p->path)) {
		p->path[0] = '\0';
		return false;
	}
	p->fd = open(p->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (p->fd >= 0 && !flock(p->fd, LOCK_EX | LOCK_NB))
		return true;
	job_place_release(p);
	return false;
}

void job_place_release(struct job_place *p)
{
	if (*p->path)
		remove_below(AT_FDCWD, p->path, 0);
	file_close(p->fd);
	job_place_init(p);
}

int job_place_add(struct job_place *p, unsigned id, int *dir_fd, struct error *err)
{
	char name[16];

	if (p->fd < 0 && !try_base(p, getenv("XDG_RUNTIME_DIR")) && !try_base(p, getenv("TMPDIR")) &&
	    !try_base(p, "/tmp"))
		return error_say(err, -EIO, "no private directory can be made in XDG_RUNTIME_DIR, "
				 "TMPDIR or /tmp");
	snprintf(name, sizeof name, "%u", id);
	if (mkdirat(p->fd, name, 0700))
		return error_sys(err, -errno, p->path, "cannot make the directory of a task");
	*dir_fd = openat(p->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *dir_fd < 0 ? error_sys(err, -errno, p->path, NULL) : 0;
}

void job_place_remove(struct job_place *p, unsigned id)
{
	char name[16];

	snprintf(name, sizeof name, "%u", id);
	if (p->fd >= 0)
		remove_below(p->fd, name, 0);
}
