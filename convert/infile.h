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

#endif
