/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_URL_H
#define BUILDBEAT_ARCHIVE_URL_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Whether it is a URL as git defines it, "scheme://..." or "[user@]host:path", and not a path. */
bool url_is(const char *repo);

/* Whether it is the URL of a server: not file://. */
bool url_is_remote(const char *repo);

/* Whether the host begins with '-', so that a program would treat it as an option. */
bool url_is_option(const char *url);

/* The path of a file:// URL; *is_file is false for others. Returns 0 or -EINVAL with err. */
int url_path(struct buf *path, const char *url, bool *is_file, struct error *err);

/* Adds the URL for messages: without its password, and without its user too, which can be a token,
 * unless it is ssh. */
void url_show(struct buf *out, const char *url);

/* The directory of its copy, NAME-HASH.git in buildbeat/ of the user's cache directory, which is
 * created. Returns 0 or a negative errno with err. */
int url_cache(struct buf *path, const char *url, struct error *err);

#endif
