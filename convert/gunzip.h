/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_GUNZIP_H
#define BUILDBEAT_CONVERT_GUNZIP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A file read from its beginning, unpacked on the way if it is gzip (several
 * members too), as it is if not: its content tells. The memory it takes does not
 * depend on what is in the file.
 */
struct gunzip;

/* NULL with err: -ENOENT and what else open() has to say, -EISDIR, -ENOMEM in *error. */
struct gunzip *gunzip_open(const char *path, int *error, struct error *err);

/*
 * A small packed file may fill the memory when it is unpacked. So unpacked data is limited to
 * this many bytes; 0, the default: 64 MiB or 32 times the packed size, whichever is more, but
 * at most 1 GiB. (Build logs shrink to a tenth or a twentieth when packed.)
 */
void gunzip_set_limit(uint64_t bytes);

/* NULL is fine. */
void gunzip_close(struct gunzip *g);

/* The next bytes, size unless the end is near; 0: the end. Negative errno with
 * err: -EIO..., -EINVAL when the packed data is damaged, -EFBIG above the limit. */
ssize_t gunzip_read(struct gunzip *g, void *to, size_t size, struct error *err);

/* The end was reached in the middle of packed data. */
bool gunzip_torn(const struct gunzip *g);

#endif
