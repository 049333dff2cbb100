/* SPDX-License-Identifier: MIT */
#include "recording/store_create.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/trust.h"
#include "command/redact.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const store_access_words[] = { "user", "group", "all", NULL };

mode_t store_dir_mode(enum store_access access)
{
	return access == STORE_ACCESS_ALL ? 0755 : access == STORE_ACCESS_GROUP ? 0750 : 0700;
}

int store_make_base(const char *path, enum store_access access, struct error *err)
{
	mode_t mode = store_dir_mode(access);
	struct stat st;
	int fd, r = file_make_parents(path, err);

	if (r || !*path)
		return r;
	if (mkdir(path, 0755))
		return errno == EEXIST ? 0 :
			error_sys(err, -errno, path, "cannot make the directory");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && (st.st_mode & mode) != mode)
		fchmod(fd, (st.st_mode & 07777) | mode);
	file_close(fd);
	return 0;
}

#define NAMES_TRIED 999

int store_make_dir(char path[PATH_MAX], enum store_access access, const char *base,
		   const char *name, struct error *err)
{
	const char *slash = strcmp(base, "/") ? "/" : "";
	int64_t wall_ns = clock_wall_ns();
	char stamp[64];
	struct buf b;
	int r = store_make_base(base, access, err);

	if (r)
		return r;
	for (unsigned i = 1; i <= NAMES_TRIED; i++) {
		buf_init_fixed(&b, stamp, sizeof stamp);
		if (!name)
			clock_add_name(&b, wall_ns);
		if (!name && i > 1)
			buf_addf(&b, "-%u", i);
		if (snprintf(path, PATH_MAX, "%s%s%s", base, slash,
			     name ? name : buf_str(&b)) >= PATH_MAX)
			return error_sys(err, -ENAMETOOLONG, base, NULL);
		if (!mkdir(path, 0700))
			return 0;
		r = -errno;
		if (r != -EEXIST || name)
			break;
	}
	return error_sys(err, r, path, "cannot make the recording");
}

/* It names a recording beside it, or one that was deleted. Other files of that name are not ours. */
static bool is_ours(const char *link)
{
	char target[NAME_MAX + 1], build[PATH_MAX + 64], set[PATH_MAX + 64];
	ssize_t n = readlink(link, target, sizeof target);

	if (n < 0)
		return errno == ENOENT;
	if (n == sizeof target || memchr(target, '/', (size_t)n))
		return false;
	snprintf(build, sizeof build, "%s/" LAYOUT_BUILD, link);
	snprintf(set, sizeof set, "%s/" LAYOUT_SET, link);
	return !access(build, F_OK) || !access(set, F_OK) || access(link, F_OK);
}

void store_link_latest(const char *base, const char *path)
{
	char link[PATH_MAX + 16], fresh[PATH_MAX + 48];
	const char *name = strrchr(path, '/') + 1;

	snprintf(link, sizeof link, "%s/" LAYOUT_LATEST, base);
	if (!is_ours(link))
		return;
	snprintf(fresh, sizeof fresh, "%s.%d", link, (int)getpid());
	if (!symlink(name, fresh) && rename(fresh, link))
		unlink(fresh);
}

/* Readers see by a lock that somebody lives who will describe the build. The servers of locks on
 * NFS may hang. */
static void hold_build(struct store *s, int fd)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (!(s->flags & STORE_NFS))
		fcntl(fd, F_OFD_SETLK, &whole);
	s->build_fd = fd;
}

static int write_first_lines(struct store *s, int64_t wall_ns)
{
	int fd = file_open_at(s->dir_fd, LAYOUT_BUILD, O_WRONLY | O_CREAT | O_APPEND);
	char text[256 + REDACT_WORDS_MAX];
	struct buf b;
	int r;

	if (fd < 0)
		return fd;
	hold_build(s, fd);
	buf_init_fixed(&b, text, sizeof text);
	buf_adds(&b, LAYOUT_BUILD_HEADER);
	buf_addf(&b, "start_wall_ns: %lld\n", (long long)wall_ns);
	buf_addf(&b, "start_mono_ns: %lld\n", (long long)s->start_ns);
	buf_adds(&b, "start: ");
	clock_add_iso(&b, wall_ns);
	buf_addc(&b, '\n');
	if (s->pidspace)
		buf_addf(&b, LAYOUT_PIDSPACE ": %llu\n", (unsigned long long)s->pidspace);
	store_add_redact(&b, "redact: ");
	/* others join, and append to tasks.log, once `build` has its lines */
	r = file_write(s->tasks_fd, TASKS_HEADER, strlen(TASKS_HEADER));
	if (!r) {
		lost_begin(s->dir_fd);
		r = file_write(fd, b.data, b.len);
	}
	return r;
}

/* The directory was made for the user alone: its mode is set before there is a file. */
static int open_made_dir(struct store *s, enum store_access access)
{
	int fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fchmod(fd, store_dir_mode(access));
	close(fd);
	return store_open(s, O_CREAT, (struct slice){ NULL, 0 });
}

static void remove_file(const struct store *s, const char *name)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof path, "%s/%s", s->path, name);
	unlink(path);
}

void store_abandon(struct store *s)
{
	char tasks[64];

	/* By path: a failure may have been that no descriptor was left. */
	remove_file(s, LAYOUT_BUILD);
	remove_file(s, LAYOUT_TASKS);
	snprintf(tasks, sizeof tasks, LAYOUT_TASKS_PREFIX "-%s.log", s->inst);
	remove_file(s, tasks);
	remove_file(s, LAYOUT_LOST);
	rmdir(s->path);
	store_close(s);
}

void store_begun(struct store *s)
{
	char base[PATH_MAX];

	file_close(s->build_fd);
	s->build_fd = -1;
	strcpy(base, s->path);
	*strrchr(base, '/') = '\0';
	store_link_latest(base, s->path);
}

int store_create_for(struct store *s, enum store_access access, const char *base,
		     const char *name, struct error *err)
{
	char path[PATH_MAX];
	int64_t wall_ns = clock_wall_ns();
	int r;

	*s = (struct store)STORE_INIT;
	s->start_ns = clock_mono_ns();
	r = file_absolute(path, base ? base : LAYOUT_BASE);
	if (r)
		return error_sys(err, r, base, "cannot make the recording");
	r = trust_path(path, err);
	if (r)
		return r;
	r = store_make_dir(s->path, access, path, name, err);
	if (r)
		return r;
	r = open_made_dir(s, access);
	s->pidspace = pidspace_own();
	if (!r)
		r = write_first_lines(s, wall_ns);
	if (r) {
		store_abandon(s);
		return error_sys(err, r, s->path, "cannot write the recording");
	}
	return 0;
}

int store_create(struct store *s, const char *base, const char *name, struct error *err)
{
	int r = store_create_for(s, STORE_ACCESS_USER, base, name, err);

	if (!r)
		store_begun(s);
	return r;
}
