/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SEND_SPOOL_H
#define BUILDBEAT_SEND_SPOOL_H

#include "base/buf.h"
#include "base/error.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Requests that are to be sent, in files: STATE/buildbeat/spool/HASH/TIME-PID-N.gz, where HASH is
 * that of the URL. The directory of a URL has the file `url`, the empty file `lock`, and the file
 * `dropped` if requests were deleted because the spool was too large: their number. It belongs to
 * the user alone. A file is a whole request, compressed by gzip; what is being written has a name
 * that begins with a dot. A request is removed when it was sent, so if that is interrupted, the
 * request is sent again.
 */

#define SPOOL_URL_MAX 2048

struct spool {
	char path[PATH_MAX];
	char url[SPOOL_URL_MAX];
	int fd;			/* of the directory */
	unsigned n_added;
};

/* Open the spool of a URL, which is made if necessary. 0, or a negative errno with err: -EPERM if
 * others can write to it. Always close. */
int spool_open(struct spool *s, const char *url, struct error *err);

/* The same for an existing one, by its directory. */
int spool_open_dir(struct spool *s, const char *path, struct error *err);
void spool_close(struct spool *s);

/* Compress a request and add it. 0 or a negative errno with err. */
int spool_add(struct spool *s, const struct buf *request, struct error *err);

/* The files of the requests, oldest first. 0 or a negative errno. Release the names. */
struct spool_names {
	size_t n;
	char **name;
};
int spool_list(const struct spool *s, struct spool_names *names);
void spool_names_release(struct spool_names *names);

/* Delete the oldest requests of all spools until they have at most so many bytes, and count them
 * in `dropped`. 0 or a negative errno. */
int spool_trim(uint64_t bytes);

/* The number in `dropped`, which is deleted. */
uint64_t spool_take_dropped(struct spool *s);

#endif
