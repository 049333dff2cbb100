/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_FILE_H
#define BUILDBEAT_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* Open with O_CLOEXEC, and move the descriptor to 40 or above where possible, out of the way
 * of build tools. A new file gets the mode of its directory. A descriptor or a negative
 * errno. */
int file_open_at(int dir_fd, const char *name, int flags);

/* dup() to 40 or above where possible, never to a standard descriptor, with close-on-exec. The
 * copy or a negative errno. */
int file_copy(int fd);

/* Move a descriptor there that is open: a standard one that was closed has no other use.
 * Returns the new one, or fd if it cannot be moved or is negative. */
int file_move_up(int fd);

/* close(), unless fd is negative. */
static inline void file_close(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Is it on NFS, where locks may hang and appends of several writers overwrite each other? */
bool file_is_nfs(int fd);

/* The directory name in dir_fd, or "." for dir_fd itself, read from its first entry. NULL with
 * errno. */
DIR *file_open_dir_at(int dir_fd, const char *name);

/*
 * All of it with one write(). 0 or a negative errno: -ENOSPC or -EFBIG also when
 * only a part was written. The limit on the size of files and a closed pipe send
 * no signal.
 */
int file_write(int fd, const void *p, size_t len);

/* All of it, with as many calls as it takes: for files that no other process writes to. */
int file_write_all(int fd, const void *p, size_t len);

/* The same; then the descriptor is closed in any case. 0 or the first error. */
int file_write_and_close(int fd, const void *p, size_t len);

/* write() without these signals, which would end our host: they are held back and
 * removed if this write caused them. */
ssize_t file_write_quietly(int fd, const void *p, size_t len);

/* Does this process have a limit on the size of files? */
bool file_has_size_limit(void);

/* path as an absolute path, with room for at least 256 more bytes. 0 or a negative errno. */
int file_absolute(char out[PATH_MAX], const char *path);

/* Find the file that execvp() would run. A name with a slash is a path already and is not
 * checked. An empty element of PATH is the current directory. */
bool file_find_program(char out[PATH_MAX], const char *name);

/* The umask, without changing it: umask() would change it for every thread of the process. 077
 * if /proc cannot be read. */
mode_t file_umask(void);

/* Add the path of our part of the user's cache directory, "~/.cache/buildbeat", whether it exists
 * or not. 0, or -ENOENT if neither XDG_CACHE_HOME nor HOME names one. */
int file_add_cache_dir(struct buf *path);
/* The same of the state directory: "~/.local/state/buildbeat", XDG_STATE_HOME. */
int file_add_state_dir(struct buf *path);

/* Make the directories above path. 0 or a negative errno with err. */
int file_make_parents(const char *path, struct error *err);

#endif
