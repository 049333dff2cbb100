/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ARCHIVE_SYNC_CHILD_H
#define BUILDBEAT_ARCHIVE_SYNC_CHILD_H

#include "base/error.h"

#include <git2.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A connection to a server in a child process, because libgit2 waits for ever for a server that is
 * silent. The child counts what it receives and sends, and is killed if that is less than
 * http.lowSpeedLimit bytes a second (default 1000) for http.lowSpeedTime seconds (default 60): git's
 * keys, here for all protocols.
 */
struct sync_child {
	_Atomic uint64_t bytes;
	_Atomic uint64_t steps;		/* of work without the server */
	struct error err;
};

/*
 * Runs work(shared, context) in a child. shared: memory of `size` bytes of zeros that begins with a struct
 * sync_child, which both processes see. Returns what work returned, or a negative errno with shared's err:
 * -ENOTCONN if it was killed.
 */
int sync_child_run(git_repository *git, const char *shown, struct sync_child *shared,
		   int (*work)(struct sync_child *shared, void *context), void *context);

/* Memory of a child, NULL without memory. */
void *sync_child_memory(size_t size);
void sync_child_free(void *shared, size_t size);

#endif
