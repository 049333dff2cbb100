/* SPDX-License-Identifier: MIT */
#include "cli/configfile_open.h"

#include "base/file.h"
#include "base/trust.h"
#include "launch/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_NAME "buildbeat.yaml"

int configfile_cannot_read(const char *path, int r, struct error *err)
{
	return error_sys(err, r, path, "cannot read the configuration");
}

/* Whoever can write to the directory can replace the file. For a symbolic link, every
 * directory on its path is checked. */
static int check_holder(const struct configfile_source *s, int dir_fd, const char *dir,
			struct error *err)
{
	struct stat st;
	int r;

	if (!fstatat(dir_fd, CONFIG_NAME, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		return trust_path(s->path, err);
	r = trust_fstat(dir_fd, &st);
	if (r)
		return configfile_cannot_read(dir, r, err);
	return s->place == CONFIG_PROJECT ? trust_check(dir, &st, err)
					  : trust_check_own(dir, &st, err);
}

static int check_file(const struct configfile_source *s, struct error *err)
{
	struct stat st;
	int r = trust_fstat(s->fd, &st);

	if (r)
		return configfile_cannot_read(s->path, r, err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, s->path, 0, 0, "not a regular file");
	return s->place == CONFIG_PROJECT ? trust_check(s->path, &st, err)
					  : trust_check_own(s->path, &st, err);
}

/* Says in err what the untrusted file was for. */
static int refuse(int r, struct error *err)
{
	char message[sizeof err->message];

	if (r != -EPERM || !err)
		return r;
	snprintf(message, sizeof message, "the configuration is not read: %s", err->message);
	strcpy(err->message, message);
	return r;
}

static int open_in(struct configfile_source *s, int dir_fd, const char *dir, struct error *err)
{
	struct stat st;
	int r;

	s->fd = openat(dir_fd, CONFIG_NAME, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (s->fd < 0) {
		r = -errno;
		if (r == -ENOENT || fstatat(dir_fd, CONFIG_NAME, &st, 0))
			return -ENOENT;
		if (r == -ENXIO)
			r = -EINVAL;	/* a socket */
		return configfile_cannot_read(s->path, r, err);
	}
	r = check_file(s, err);
	if (!r)
		r = check_holder(s, dir_fd, dir, err);
	if (r)
		close(s->fd);
	return refuse(r, err);
}

static int open_source(struct configfile_source *s, const char *dir, struct error *err)
{
	int dir_fd = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (dir_fd < 0)
		return -ENOENT;
	r = (size_t)snprintf(s->path, sizeof s->path, "%s/" CONFIG_NAME, dir) < sizeof s->path
	    ? open_in(s, dir_fd, *dir ? dir : "/", err) : -ENOENT;
	close(dir_fd);
	return r;
}

/* A directory of the user, to which nobody else can write, with or without the sticky bit. */
static bool is_own(const char *dir)
{
	int fd = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	bool own = fd >= 0 && !trust_fstat(fd, &st) && st.st_uid == geteuid() &&
		   !(st.st_mode & S_ISVTX) && trust_is_private(&st);

	file_close(fd);
	return own;
}

static bool warned;		/* once in a process: some commands look for the file twice */

/* Anybody can put a file into /tmp. It is not an error for all who work below. */
static int ignore(const struct error *why)
{
	struct error err = *why;

	snprintf(err.message, sizeof err.message, "%.400s; it is ignored", why->message);
	if (!warned)
		notice_error(&err);
	warned = true;
	return -ENOENT;
}

int configfile_open_upwards(struct configfile_source *s, struct error *err)
{
	char dir[PATH_MAX];
	struct error why;
	bool own = true;
	int r = -ENOENT;

	s->place = CONFIG_PROJECT;
	if (!getcwd(dir, sizeof dir) || *dir != '/')
		return -ENOENT;
	if (!dir[1])
		*dir = '\0';
	for (;;) {
		own = own && is_own(dir);
		r = open_source(s, dir, &why);
		if (r && r != -ENOENT && !own)
			r = ignore(&why);
		if (r != -ENOENT || !*dir)
			break;
		*strrchr(dir, '/') = '\0';
	}
	if (r && r != -ENOENT && err)
		*err = why;
	return r;
}

static int open_below(struct configfile_source *s, const char *dir, const char *below,
		      struct error *err)
{
	char path[PATH_MAX];

	s->place = CONFIG_PERSONAL;
	if (!dir || *dir != '/' ||
	    (size_t)snprintf(path, sizeof path, "%s%s/buildbeat", dir, below) >= sizeof path)
		return -ENOENT;
	return open_source(s, path, err);
}

int configfile_open_users(struct configfile_source *s, struct error *err)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	return xdg && *xdg == '/' ? open_below(s, xdg, "", err)
				  : open_below(s, getenv("HOME"), "/.config", err);
}

int configfile_open_systems(struct configfile_source *s, struct error *err)
{
	return open_below(s, SYSCONFDIR, "", err);
}

/* A file named on the command line is not checked; it may be a pipe. */
int configfile_open_named(struct configfile_source *s, const char *file, struct error *err)
{
	s->place = CONFIG_NAMED;
	if ((size_t)snprintf(s->path, sizeof s->path, "%s", file) >= sizeof s->path)
		return configfile_cannot_read(file, -ENAMETOOLONG, err);
	s->fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return s->fd < 0 ? configfile_cannot_read(file, -errno, err) : 0;
}
