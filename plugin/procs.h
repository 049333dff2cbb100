/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PROCS_H
#define BUILDBEAT_PLUGIN_PROCS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct buildbeat_session;

/*
 * The processes a build tool starts and waits for, each a task of the recording:
 * its spawn and wait calls are redirected, the tool itself is not asked. For
 * tools that do both in one thread.
 */

/* What the tool is about to run, as far as it told. */
struct procs_line {
	bool known;		/* told since the last process was started or ended */
	bool often;		/* told for every process, not once a task */
	struct buf name;	/* target; may be empty */
	struct buf after;	/* what it depends on, blank separated */
};

struct procs_host {
	struct procs_line line;
	/* A process is about to be started while the session is not open. */
	void (*unrecorded)(void);
	/* A process was started without anything known about it. */
	void (*unknown)(void);
	/* A process was started whose output the tool reads, perhaps within a task; the
	 * function then says which task. */
	void (*shell)(void);
	/* Does the tool announce a process before it makes an environment like this one.
	 * Successive processes with the same environment belong to one task. */
	bool (*is_asked_for)(char *const env[]);
	/* The tool is about to replace itself by exec. When that fails it goes on, and
	 * may replace itself again. */
	void (*replaced)(void);
	/* It, or a vfork child of its, exits by _exit(). */
	void (*exits)(int status);
};

/* From now on. Both live as long as the process; once a process. False: the
 * tool's calls cannot be redirected, nothing is recorded. */
bool procs_attach(struct buildbeat_session *s, struct procs_host *host);

/* Lines to append before the tool's next operation that may take long. */
struct buf *procs_late(void);

/* The tool ends. How many processes were not recorded: too many at once. */
uint64_t procs_finish(void);

#endif
