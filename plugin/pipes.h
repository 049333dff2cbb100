/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PIPES_H
#define BUILDBEAT_PLUGIN_PIPES_H

#include "base/cursor.h"
#include "recording/event.h"

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whose line it is: while the build's output is recorded, each process that a make starts writes
 * to a pipe of its own, which the relay reads (launch/relay_pipes.h). The relay has made the pipes before the
 * build began. It hands their write ends to makes, some at a time, through a socket beside the
 * ticket, with a page in shared memory. There a make writes which task uses which pipe, so that
 * neither the start nor the end of a silent process costs a message.
 *
 * A process gets one only where its output would go to the same relay without it: make's own standard
 * output or error is a pipe of the relay or of its pool, known by the inode. Everything else stays as
 * it is: files, terminals, other pipes, $(shell). If there is no pipe at the moment, the process
 * gets make's own, as without us.
 *
 * With --output-sync its processes write to files, which make prints later. There make itself gets a pipe for
 * what it prints of each of them (plugin/collected.h). Processes whose output it does not collect, such as other
 * makes, keep make's own: up to make 4.3 it is what makes lock, in order to print one at a time.
 *
 * The order of the lines does not change. Before the relay reads from a pipe for the first time, it reads what
 * make had written before (the command). When a process has ended, make waits until the relay
 * has read all of its output; only then it continues and perhaps reports an error.
 */
#define PIPES_MAX 512
#define PIPES_AT_ONCE 8
#define PIPES_RELAYS 2		/* of standard output and standard error */

enum pipes_state {
	PIPES_FREE, PIPES_GIVEN,
	PIPES_USED,
	PIPES_ENDED,		/* its process has ended; others may still have the pipe open */
};

struct pipes_slot {
	uint64_t ino;
	_Atomic uint64_t task;
	_Atomic int64_t start_us;	/* not later than that of the task */
	_Atomic uint32_t use;	/* incremented for each process */
	_Atomic uint32_t state;
	_Atomic int32_t parent;	/* the slot of make's own output, -1: the relay's own pipe */
	char inst[INSTANCE_ID_MAX];
};

/* The relay makes the page; a make writes only to slots that the relay gave it. */
struct pipes_page {
	uint32_t version, n;
	uint64_t ino;		/* of the relay's own pipe */
	uint64_t dev;		/* of all pipes */
	struct pipes_slot slot[PIPES_MAX];
};

#define PIPES_VERSION 1

/* Messages in both directions. After accept(), the relay sends the page's descriptor with
 * PIPES_WELCOME. */
enum pipes_what {
	PIPES_WELCOME,
	PIPES_WANT,		/* make asks for n pipes; the relay sends up to n, with their descriptors */
	PIPES_READ,		/* make asks the relay to read slot[0] and its children; the relay confirms it */
};

struct pipes_message {
	uint16_t what, n;
	uint16_t slot[PIPES_AT_ONCE];
};

/* These functions are for a make, which starts processes in one thread. A signal handler may interrupt each
 * of them and call others. */

struct store;

/* The pipes of a process: make keeps the write ends until it has ended. */
struct pipes_of {
	uint16_t slot[PIPES_RELAYS];	/* with 1 added; 0: none */
	int16_t fd[PIPES_RELAYS];
};

/* True: a relay reads make's own outputs. Call it before the first process. collects: does make itself collect
 * the output of its processes? */
bool pipes_begin(bool (*collects)(void));
/* A relay reads this output of make, and make collects what its processes write to it. */
bool pipes_collect(int output);

/* Reserve pipes for the next process, which is this task of the store's instance, and add them to *actions. Without
 * a free pipe, or if make collects, *actions do not change. Further calls before pipes_started() or
 * pipes_give_back() do nothing. */
void pipes_take(posix_spawn_file_actions_t *actions, const struct store *store, uint64_t task);
/* Where a process writes without pipes. */
enum pipes_output {
	PIPES_SHARED,		/* to make's own outputs */
	PIPES_COLLECTED,	/* to files that make prints */
	PIPES_ELSEWHERE,
};

/* The process was started. Returns a note to record about the task (*of_task) or the instance, or NULL. */
const char *pipes_started(struct pipes_of *of, enum pipes_output output, bool *of_task);
/* Give reserved pipes back, if pipes_started() was not called because the process could not be started. */
void pipes_give_back(void);

/* A pipe for what make itself prints of the task now to this output of its own: its descriptor, or -1. Call
 * pipes_ended() behind it. */
int pipes_lend(int output, struct pipes_of *of, const struct store *store, uint64_t task);

/* make has waited for the process. On return the relay has read everything that the process wrote. */
void pipes_ended(struct pipes_of *of);

#endif
