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
	if (fd >= 0)
		close(fd);
	return 0;
}

/* mkdir BASE/NAME into s->path; an own name counts up until it is free. */
static int make_dir(struct store *s, enum store_access access, const char *base,
		    const char *name, struct error *err)
{
	char stamp[32];
	struct buf b;
	size_t len;
	int r = 0;

	if (!strcmp(base, "/"))
		base = "";
	len = strlen(base);
	buf_init_fixed(&b, stamp, sizeof stamp);
	clock_add_name(&b, clock_wall_ns());
	for (unsigned i = 1; i < 1000; i++) {
		if (name)
			r = snprintf(s->path, PATH_MAX, "%s/%s", base, name);
		else if (i == 1)
			r = snprintf(s->path, PATH_MAX, "%s/%s", base, buf_str(&b));
		else
			r = snprintf(s->path, PATH_MAX, "%s/%s-%u", base, buf_str(&b), i);
		if (r >= PATH_MAX)
			return error_sys(err, -ENAMETOOLONG, base, NULL);
		if (i == 1 && (r = store_make_base(base, access, err)))
			return r;
		if (!mkdir(s->path, 0700))
			break;
		r = -errno;
		if (r != -EEXIST || name)
			return error_sys(err, r, s->path, "cannot make the recording");
	}
	return s->path[len] == '/' ? 0 : -EINVAL;
}

void store_link_latest(const char *base, const char *path)
{
	char link[PATH_MAX + 16], fresh[PATH_MAX + 48];
	const char *name = strrchr(path, '/') + 1;
	struct stat st;

	snprintf(link, sizeof link, "%s/" LAYOUT_LATEST, base);
	/* a file of that name is not ours */
	if (!lstat(link, &st) && !S_ISLNK(st.st_mode))
		return;
	snprintf(fresh, sizeof fresh, "%s.%d", link, (int)getpid());
	if (!symlink(name, fresh) && rename(fresh, link))
		unlink(fresh);
}

static int write_first_lines(struct store *s, int64_t wall_ns)
{
	int fd = file_open_at(s->dir_fd, LAYOUT_BUILD, O_WRONLY | O_CREAT | O_APPEND);
	char text[256 + REDACT_WORDS_MAX];
	struct buf b;
	int r;

	if (fd < 0)
		return fd;
	buf_init_fixed(&b, text, sizeof text);
	buf_adds(&b, LAYOUT_BUILD_HEADER);
	buf_addf(&b, "start_wall_ns: %lld\n", (long long)wall_ns);
	buf_addf(&b, "start_mono_ns: %lld\n", (long long)s->start_ns);
	buf_adds(&b, "start: ");
	clock_add_iso(&b, wall_ns);
	buf_addc(&b, '\n');
	store_add_redact(&b, "redact: ");
	/* others join, and append to tasks.log, once `build` has its lines */
	r = file_write(s->tasks_fd, TASKS_HEADER, strlen(TASKS_HEADER));
	if (!r) {
		lost_begin(s->dir_fd);
		r = file_write(fd, b.data, b.len);
	}
	close(fd);
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
	return store_open(s, O_CREAT);
}

/* What could not be begun: no directory that is no recording is left. */
static void discard(struct store *s)
{
	if (s->dir_fd >= 0) {
		unlinkat(s->dir_fd, LAYOUT_BUILD, 0);
		unlinkat(s->dir_fd, LAYOUT_TASKS, 0);
		unlinkat(s->dir_fd, LAYOUT_LOST, 0);
	}
	rmdir(s->path);
	store_close(s);
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
	r = make_dir(s, access, path, name, err);
	if (r)
		return r;
	r = open_made_dir(s, access);
	if (!r)
		r = write_first_lines(s, wall_ns);
	if (r) {
		discard(s);
		return error_sys(err, r, s->path, "cannot write the recording");
	}
	store_link_latest(path, s->path);
	return 0;
}

int store_create(struct store *s, const char *base, const char *name, struct error *err)
{
	return store_create_for(s, STORE_ACCESS_USER, base, name, err);
}
