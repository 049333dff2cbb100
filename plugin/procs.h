/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PROCS_H
#define BUILDBEAT_PLUGIN_PROCS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct buildbeat_session;

/*
 * The processes that a build tool starts and waits for, each a task of the recording. Its spawn
 * and wait calls are redirected. For tools that do both in one thread.
 */

/* What the tool has announced about the next process. */
struct procs_line {
	bool known;		/* announced since the last process was started or ended */
	bool often;		/* announced for every process, not once per task */
	struct buf name;	/* target; may be empty */
	struct buf after;	/* its dependencies, separated by blanks */
	const char *file;	/* where its recipe is; NULL: unknown. The tool's, which keeps it */
	int32_t line;
};

struct procs_host {
	struct procs_line line;
	/* A process is about to start, and the session is not open. */
	void (*unrecorded)(void);
	/* A process was started without an announcement. */
	void (*unknown)(void);
	/* A process was started whose output the tool reads, perhaps within a task; the function
	 * then announces the task. */
	void (*shell)(void);
	/* Does the tool announce a process before it makes an environment like this one?
	 * Successive processes with the same environment belong to one task. */
	bool (*is_asked_for)(char *const env[]);
	/* Does the tool print the output of its processes itself, in one piece? Asked before the first. */
	bool (*collects)(void);
	/* The tool is about to replace itself by exec. If this fails, it goes on, and may try
	 * again. */
	void (*replaced)(void);
	/* The tool or a vfork child of it calls _exit(). */
	void (*exits)(int status);
};

/* Record from now on. Both arguments live as long as the process; call it once. False: the
 * tool's calls cannot be redirected, so nothing is recorded. */
bool procs_attach(struct buildbeat_session *s, struct procs_host *host);

/* Lines to append before the tool's next operation that may take long. */
struct buf *procs_late(void);

/* One of them is made in its place behind the others, which do not have it until procs_end_line(). */
void procs_begin_line(struct buf *line);
void procs_end_line(struct buf *line);

/* The tool ends. Returns how many processes were not recorded because there were too many at
 * once. */
uint64_t procs_finish(void);

#endif
