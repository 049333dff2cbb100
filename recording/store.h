/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_STORE_H
#define BUILDBEAT_RECORDING_STORE_H

#include "base/buf.h"
#include "recording/event.h"
#include "recording/lost.h"
#include "recording/pidspace.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Counts of lines that could not be written. */
struct store_lost {
	_Atomic bool lacked_room;	/* a line was lost; and not reported yet: */
	_Atomic uint64_t lines, tasks;	/* never more tasks than lines */
	_Atomic int32_t pid;		/* of the process that lost them */
	_Atomic int reason;
};

/*
 * A recording being written: its directory, its clock, its tasks.log open for
 * appending. Every process of a build has its own store on the same directory.
 */
struct store {
	char inst[INSTANCE_ID_MAX];
	int64_t start_ns;	/* CLOCK_MONOTONIC */
	int dir_fd;		/* -1 after store_join_ticket(): see store_open_dir() */
	int tasks_fd;
	int build_fd;		/* while the recording is being made: see store_begun() */
	int32_t pid;		/* of the process that opened it */
	unsigned flags;		/* STORE_ bits, handed on in the ticket */
	bool limited;		/* the process has a limit on the size of files */
	bool inner;		/* the process is in another PID namespace than the recording */
	int32_t outer_pid;	/* its number in that of the recording; -1: unknown */
	uint64_t pidspace;	/* the recording's, see pidspace.h; 0: unknown */
	_Atomic int error;	/* sticky: the first failed write, negative errno, but see
				   store_append() */
	struct store_lost own_lost;
	struct store_lost *lost;	/* NULL: own_lost. Or in memory that the process
					   shares with its forks; any may report it */
	char around[PIDSPACE_LIST_MAX];	/* of an inner process: as pidspace_ask() */
	char path[PATH_MAX];	/* absolute; last, so that what is used lies together */
};

#define STORE_TASK_IO 1u	/* record rchar and wchar of every task */
#define STORE_NO_LAUNCHER 2u	/* begun by a build tool that samples by itself */
#define STORE_TRACEPARENT 8u	/* give tasks their own TRACEPARENT */
#define STORE_NFS 4u		/* tasks-ID.log, one a writer */
#define STORE_PIPES 16u		/* the output is recorded: see plugin/pipes.h */
#define STORE_INSTRUCTIONS 32u	/* count the instructions of every task: see sampler/counter.h */
#define STORE_COUNT_FAULTS 64u	/* and page faults in their place, to try it */

/* A note of the instance with this prefix is a message of the plugin to the user. The launcher
 * prints it after the build. */
#define STORE_NOTE_PREFIX "buildbeat: "

#define STORE_INIT { .dir_fd = -1, .tasks_fd = -1, .build_fd = -1 }

/* Make sure that dir_fd is open. */
int store_open_dir(struct store *s);

void store_close(struct store *s);

/* Record what was lost in lost.log: when writing works again, and at the end. */
void store_tell_lost(struct store *s);

/* Microseconds since the recording's start. */
int64_t store_now_us(const struct store *s);

/*
 * Append the whole lines in b to tasks.log with one write(), and empty b. Lines that cannot be
 * written are counted, whatever the reason (lost.h). After a lack of room, or a buffer that was too
 * small, the next call tries again; any other failure stays in s->error, and all lines after it are
 * lost. errno is kept. Safe from several threads.
 */
void store_append(struct store *s, struct buf *b);

/* The same with another descriptor of tasks.log. */
void store_append_at(struct store *s, int fd, struct buf *b);

/* Count the lines in b as lost for this reason, and empty b. */
void store_lose(struct store *s, struct buf *b, int error);

/* 0, or why nothing can be appended any more: an error in this process, or the limit on the size
 * of files, which applies to all processes of the build. */
int store_error(const struct store *s);

/* "key: value" lines of `build`; the value is escaped as a field. */
void store_add_build(struct buf *b, const char *key, const char *value);
int store_append_build(struct store *s, const struct buf *b);

/* For store_create.c and store_join.c: open s->path and its tasks.log, create being O_CREAT
 * or 0. A recording that was closed and packed has no tasks.log any more and is not joined. */
int store_open(struct store *s, int create, struct slice ticket);
/* This process writes from now on: its instance, its limits. The ticket, if there is one, answers
 * which process this is. */
void store_become_writer(struct store *s, struct slice ticket);
/* A line of key and the patterns of secrets, if those are not the built-in ones. */
void store_add_redact(struct buf *b, const char *key);

#endif
