/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_INFILE_H
#define BUILDBEAT_CONVERT_INFILE_H

#include "base/buf.h"
#include "base/error.h"

/*
 * The whole of a file of another tool, unpacked if it is gzip, into out. 0, or a negative
 * errno with err: -EINVAL for packed data that is damaged or torn, -EFBIG for more than
 * INFILE_MAX bytes.
 */
#define INFILE_MAX ((size_t)1 << 30)

int infile_read(struct buf *out, const char *path, struct error *err);

/*
 * The same for a path that another user may have chosen: nothing is unpacked, and only regular
 * files that trust_path() accepts are read, on file systems that hold data (reading a file of
 * /proc or /sys may change the machine). -EPERM for all others, whose content is not read.
 */
int infile_read_ours(struct buf *out, const char *path, struct error *err);

/* infile_read() or infile_read_ours(). */
typedef int infile_reader(struct buf *out, const char *path, struct error *err);

#endif
