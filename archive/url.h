/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_URL_H
#define BUILDBEAT_ARCHIVE_URL_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Where archives are, as git says it: "scheme://...", "[user@]host:path"; else a path. */
bool url_is(const char *repo);

/* Does the host begin with '-', so that a program would read it as an option. */
bool url_is_option(const char *url);

/* The path that file:// names; false for any other URL. 0 or -EINVAL with err. */
int url_path(struct buf *path, const char *url, bool *is_file, struct error *err);

/* For people and messages: without a password. */
void url_show(struct buf *out, const char *url);

/* The directory of its copy: NAME-HASH.git in buildbeat/ of the user's cache directory, which
 * is made. 0 or a negative errno with err. */
int url_cache(struct buf *path, const char *url, struct error *err);

#endif
