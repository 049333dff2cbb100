/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MAKE_HOST_H
#define BUILDBEAT_TESTS_MAKE_HOST_H

#include "base/buf.h"
#include "recording/store.h"
#include "tests/paths.h"

#include <stdbool.h>

/*
 * Shared by the tests of the make host: a recording with its ticket as the launcher makes
 * it, and tasks.log as one line.
 */

#define PLUGIN TOP_BUILDDIR "/plugin/buildbeat.so"

struct fixture {
	struct store store;
	struct buf makefiles;	/* the value for MAKEFILES */
	char ticket[PATH_MAX];
};

/* Begin a recording base/name with these STORE_ flags; user: what MAKEFILES was,
 * or NULL. plugin NULL: ours. */
void fixture_begin(struct fixture *f, const char *base, const char *name, unsigned flags,
		   const char *user, const char *plugin);
void fixture_end(struct fixture *f);

/*
 * The tasks of base/name in the order of their start, separated by blanks: name, "!" for a
 * $(shell), "+" done, "-" failed, "x" killed, "?" unfinished. The caller releases. False: no
 * tasks.log.
 */
bool tasks_summary(struct buf *out, const char *dir);

/* The number of lines of tasks.log in dir, and of invalid ones. */
void tasks_count(const char *dir, size_t *lines, size_t *bad);

/* The entries of the C ABI of a loaded plugin. */
const struct buildbeat_api *make_host_api(void);

/* A session of them that takes no samples, with BUILDBEAT_ flags, in the recording dir. */
struct buildbeat_session *make_host_open(const struct buildbeat_api *api, const char *dir,
					 unsigned flags);

/* Set the state of its tallies; what tally_set() returned. */
int32_t make_host_tally(const struct buildbeat_api *api, struct buildbeat_session *s, int32_t status);
/* The location of a line of one function. */
uint32_t make_host_location(const struct buildbeat_api *api, int line);

/* Whether other programs can load our object: not in a sanitized build. */
bool make_host_can(void);

#endif
