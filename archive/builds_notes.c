/* SPDX-License-Identifier: MIT */
#include "archive/builds_notes.h"

#include "base/outfile.h"
#include "base/readfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define DIRECTORY "buildbeat"
#define PACKED_MAX (64 << 20)
#define TEXT_MAX (1 << 30)
#define STALE_S (100 * 24 * 3600)	/* of other settings, or left by a killed process */

static const char *directory_of(const struct builds_notes *notes, char path[PATH_MAX])
{
	const struct archive_notes *n = (const struct archive_notes *)notes;
	int len = snprintf(path, PATH_MAX, "%s" DIRECTORY, git_repository_commondir(n->archive->git));

	return len > 0 && len < PATH_MAX ? path : NULL;
}

static int open_directory(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* A damaged file is ignored. */
static int unpack(struct buf *text, const struct buf *packed)
{
	uint64_t size;
	uLongf len;
	char *to;

	if (packed->len < sizeof size)
		return 0;
	memcpy(&size, packed->data, sizeof size);
	if (size > TEXT_MAX)
		return 0;
	to = buf_begin(text, size);
	if (!to)
		return buf_error(text);
	len = size;
	if (uncompress((Bytef *)to, &len, (const Bytef *)packed->data + sizeof size,
		       packed->len - sizeof size) == Z_OK && len == size)
		buf_end(text, to + size);
	return 0;
}

static int recall(const struct builds_notes *notes, const char *name, struct buf *text)
{
	struct buf packed = BUF_INIT;
	char path[PATH_MAX];
	const char *dir = directory_of(notes, path);
	int fd = dir ? open_directory(dir) : -1;
	int r = fd < 0 ? -ENOENT : readfile_at(&packed, fd, name, PACKED_MAX);

	if (fd >= 0)
		close(fd);
	r = r == -ENOMEM ? r : r ? 0 : unpack(text, &packed);
	buf_release(&packed);
	return r;
}

/* Whoever can write the archive can write the directory. */
static int make_directory(const struct builds_notes *notes, const char *path)
{
	const struct archive_notes *n = (const struct archive_notes *)notes;
	struct stat st;

	if (!mkdir(path, 0777) && !stat(git_repository_commondir(n->archive->git), &st))
		chmod(path, st.st_mode & 07777);
	return open_directory(path);
}

static void remove_stale(int fd)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    st.st_mtime + STALE_S < time(NULL))
			unlinkat(fd, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
}

static void keep(struct builds_notes *notes, const char *name, const char *older,
		 const struct buf *text)
{
	struct buf packed = BUF_INIT, file = BUF_INIT;
	char path[PATH_MAX], *to;
	const char *dir = directory_of(notes, path);
	int fd = dir ? make_directory(notes, dir) : -1;
	uint64_t size = text->len;
	uLongf len = compressBound(size);
	struct error unused;

	if (fd < 0)
		return;
	buf_add(&packed, &size, sizeof size);
	to = buf_begin(&packed, len);
	if (to && compress2((Bytef *)to, &len, (const Bytef *)text->data, size, Z_BEST_SPEED) == Z_OK) {
		buf_end(&packed, to + len);
		buf_addf(&file, "%s/%s", dir, name);
		if (!buf_error(&file) && !outfile_replace(buf_str(&file), &packed, &unused) && older)
			unlinkat(fd, older, 0);
	}
	buf_release(&packed);
	buf_release(&file);
	remove_stale(fd);
}

void archive_notes_init(struct archive_notes *n, const struct archive *a)
{
	*n = (struct archive_notes){ { recall, keep }, a };
}
