/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_COMPILER_CACHE_H
#define BUILDBEAT_LAUNCH_COMPILER_CACHE_H

#include "base/buf.h"
#include "launch/cache_log.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The logs of compiler caches while a build runs: ccache's log of statistics, which CCACHE_STATSLOG
 * names, and sccache's, which SCCACHE_ERROR_LOG names. Only what is appended during the build is
 * read. If `asked`, ccache's configuration is read too, and without a log there the build gets one
 * in the recording, which is removed afterwards.
 */
struct compiler_cache {
	bool asked;
	struct compiler_cache_log {
		char path[PATH_MAX];	/* "": none */
		off_t from;		/* its size when the build began */
		bool own;		/* in the recording */
	} log[CACHE_KINDS];
};

/* dir is the directory of the recording. */
void compiler_cache_begin(struct compiler_cache *c, bool asked, const char *dir);

/* CCACHE_STATSLOG for the build, NULL: unchanged. */
const char *compiler_cache_variable(const struct compiler_cache *c);

/* Is there a log that may have something to join? */
bool compiler_cache_has_log(const struct compiler_cache *c);

/* Append what was logged to text. 0 or a negative errno. */
int compiler_cache_read(const struct compiler_cache *c, enum cache_kind kind, struct buf *text);

/* Remove our log. */
void compiler_cache_end(struct compiler_cache *c);

/* The name of the program: "ccache", "sccache". */
extern const char *const compiler_cache_name[CACHE_KINDS];

#endif
