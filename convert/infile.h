/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_INFILE_H
#define BUILDBEAT_CONVERT_INFILE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * The whole of a file of another tool, unpacked if it is gzip, into out. 0, or a negative
 * errno with err: -EINVAL for compressed data that is damaged or truncated, -EFBIG for more than
 * INFILE_MAX bytes.
 */
#define INFILE_MAX ((size_t)1 << 30)

int infile_read(struct buf *out, const char *path, struct error *err);

/*
 * The same for a file that another file names: nothing is unpacked, and only regular files on file
 * systems that contain data are read. (Reading a FIFO or some files of /proc and /sys never ends,
 * and a file of /sys may change the machine.) -EINVAL for all others, which are not opened or not
 * read.
 */
int infile_read_regular(struct buf *out, const char *path, struct error *err);

/*
 * The same for a path that another user may have chosen: only files that trust_path() accepts
 * are read. -EPERM for all others.
 */
int infile_read_ours(struct buf *out, const char *path, struct error *err);

/* infile_read(), infile_read_regular() or infile_read_ours(). */
typedef int infile_reader(struct buf *out, const char *path, struct error *err);

#endif
