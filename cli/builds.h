/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_BUILDS_H
#define BUILDBEAT_CLI_BUILDS_H

#include "analyse/values.h"
#include "base/error.h"

#include <stddef.h>

struct archive;

/* Builds to be compared: figures of so many recordings, or nights of an archive. */
struct builds {
	size_t n;
	struct values *figures;
};

#define BUILDS_INIT { 0 }

/* Reads them one after the other: recordings in base as openrec() finds them or, where
 * archive is not NULL, nights. 0 or a negative errno with err; always release. */
int builds_read(struct builds *b, const char *const *what, size_t n, const char *base,
		struct archive *archive, struct error *err);
void builds_release(struct builds *b);

#endif
