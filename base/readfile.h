/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_READFILE_H
#define BUILDBEAT_BASE_READFILE_H

#include "base/buf.h"

#include <stddef.h>
#include <sys/types.h>

/* Interrupted reads are retried by all of these. */

/* Read from fd until len bytes are there or the file ends. Returns the number of bytes, or a
 * negative errno. */
ssize_t readfile_some(int fd, void *to, size_t len);

/* The same from an offset; the position of fd is unchanged. */
ssize_t readfile_some_at(int fd, void *to, size_t len, off_t offset);

/* Append the rest of fd to out. 0 or a negative errno: -EFBIG if it is more than max bytes, of
 * which out then has the first max. */
int readfile_fd(struct buf *out, int fd, size_t max);

/* Open a regular file in a directory that others may have made: it never leads out of it (-ELOOP
 * for a symbolic link, -ENOENT for one to nothing) and never blocks. A descriptor, or a negative errno. */
int readfile_open(int dir_fd, const char *name);

/* Append a file to out; one in dir_fd is opened by readfile_open(). 0 or a negative errno. */
int readfile_at(struct buf *out, int dir_fd, const char *path, size_t max);

/* Read the beginning of a file, at most size - 1 bytes, as a C string. Returns its length or a
 * negative errno; then text is "". */
ssize_t readfile_start(int dir_fd, const char *path, char *text, size_t size);

/* The same, up to the first newline: most files of /proc and /sys have one line. */
ssize_t readfile_line(int dir_fd, const char *path, char *text, size_t size);

#endif
