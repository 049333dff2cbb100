/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MAKE_HOST_H
#define BUILDBEAT_TESTS_MAKE_HOST_H

#include "base/buf.h"
#include "recording/store.h"
#include "tests/paths.h"

#include <stdbool.h>

/*
 * What the tests of the make host share: a recording with its ticket as the
 * launcher makes it, and tasks.log told in one line.
 */

#define PLUGIN TOP_BUILDDIR "/plugin/.libs/buildbeat.so"

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
 * The tasks of base/name in the order of their start: name, "!" for a $(shell),
 * "+" done, "-" failed, "x" killed, "?" not ended; blank separated. The caller
 * releases. False: there is no tasks.log.
 */
bool tasks_told(struct buf *out, const char *dir);

/* Lines of tasks.log of dir in all, and how many of them are not well-formed. */
void tasks_count(const char *dir, size_t *lines, size_t *bad);

/* May our object be loaded into a foreign program: not in a sanitized build. */
bool make_host_can(void);

#endif
