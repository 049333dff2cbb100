#ifndef BUILDBEAT_INFILE_H
#define BUILDBEAT_INFILE_H

#include "buf.h"
#include "error.h"

/*
 * The whole of a file of another tool, unpacked if it is gzip, into out. 0, or a negative
 * errno with err: -EINVAL for packed data that is damaged or torn, -EFBIG for more than
 * INFILE_MAX bytes.
 */
#define INFILE_MAX ((size_t)1 << 30)

int infile_read(struct buf *out, const char *path, struct error *err);

/*
 * The same of a path that somebody else may have chosen: nothing packed, and only regular
 * files that trust_path() passes, of a file system that holds data (what the kernel makes up
 * may change when it is read). -EPERM for all others, which are not opened.
 */
int infile_read_ours(struct buf *out, const char *path, struct error *err);

/* One of the two. */
typedef int infile_reader(struct buf *out, const char *path, struct error *err);

#endif
