/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_GUNZIP_H
#define BUILDBEAT_CONVERT_GUNZIP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A file, read from its beginning; if it is gzip (of one member or several), unpacked. The
 * memory needed does not depend on what is in the file.
 */
struct gunzip;

/* NULL with err and *error: -EISDIR, -ENOMEM or an errno of open(). */
struct gunzip *gunzip_open(const char *path, int *error, struct error *err);

/*
 * A small packed file may fill the memory when it is unpacked. So unpacked data is limited to
 * this many bytes; 0, the default: 64 MiB or 32 times the packed size, whichever is more, but
 * at most 1 GiB. (Build logs shrink to a tenth or a twentieth when packed.)
 */
void gunzip_set_limit(uint64_t bytes);

/* NULL is fine. */
void gunzip_close(struct gunzip *g);

/* The next size bytes, fewer only at the end, where it is 0 at last. Negative errno with err:
 * of read(), -EINVAL for damaged data, -EFBIG above the limit. */
ssize_t gunzip_read(struct gunzip *g, void *to, size_t size, struct error *err);

/* The file ended in the middle of packed data. */
bool gunzip_truncated(const struct gunzip *g);

#endif
