#ifndef BUILDBEAT_RECORDING_STORE_H
#define BUILDBEAT_RECORDING_STORE_H

#include "base/buf.h"
#include "base/error.h"
#include "recording/event.h"
#include "recording/lost.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What could not be written. */
struct store_lost {
	_Atomic bool lacked_room;	/* a line was lost; and not told yet: */
	_Atomic uint64_t lines, tasks;	/* never more tasks than lines */
	_Atomic int32_t pid;		/* of the process that lost them */
	_Atomic int reason;
};

/*
 * A recording being written: its directory, its clock, its tasks.log open for
 * appending. Every process of a build has its own store on the same directory.
 *
 * A process learns of the recording it belongs to from its ticket: a file named
 * buildbeat.mk, first in the environment's MAKEFILES (the one variable a
 * recorded build sees). Its first line is a comment for us,
 *	# buildbeat ticket 1 START_NS FLAGS DIRECTORY
 *	# redact PATTERNS
 * (the second only if there are patterns, see redact_add_words()),
 * START_NS being CLOCK_MONOTONIC at the recording's start, FLAGS the STORE_ bits
 * in decimal and DIRECTORY its absolute path with every byte outside
 * A-Za-z0-9/._- as %HH; the rest of the file makes GNU make load the plugin
 * (plugin/ticket.c).
 */
struct store {
	char inst[INSTANCE_ID_MAX];
	int64_t start_ns;	/* CLOCK_MONOTONIC */
	int dir_fd;		/* -1 after store_join_ticket(): see store_open_dir() */
	int tasks_fd;
	int32_t pid;		/* of the process that opened it */
	unsigned flags;		/* STORE_ bits, handed on in the ticket */
	bool limited;		/* the process has a limit on the size of files */
	_Atomic int error;	/* sticky: the first failed write, negative errno */
	struct store_lost own_lost;
	struct store_lost *lost;	/* NULL: own_lost; else in memory that the process
					   shares with its forks, of which any may tell it */
	char path[PATH_MAX];	/* absolute; last, so that what is used lies together */
};

/* Who may read a recording: its directory has the mode store_dir_mode(), and every file in
 * it has the mode of the directory without the execute bits. The umask has no effect. */
enum store_access { STORE_ACCESS_USER, STORE_ACCESS_GROUP, STORE_ACCESS_ALL };

extern const char *const store_access_words[];	/* ends with NULL */
mode_t store_dir_mode(enum store_access access);

#define STORE_TASK_IO 1u	/* record rchar and wchar of every task */
#define STORE_NO_LAUNCHER 2u	/* begun by a build tool that samples by itself */
#define STORE_NFS 4u		/* tasks-ID.log, one a writer */

/* A note of the instance's that begins so is the plugin's word to the user: the
 * launcher says it after the build. */
#define STORE_NOTE_PREFIX "buildbeat: "

#define STORE_INIT { .dir_fd = -1, .tasks_fd = -1 }

/*
 * Create the directory (and its parents) with `build` holding its first line
 * and the clock anchor, an empty tasks.log with its first line, and the link
 * `latest` beside it. base NULL: LAYOUT_BASE; name NULL: the time in UTC, with
 * -2, -3 ... behind it if that is taken. A name that is taken is -EEXIST, a base
 * where others could replace the recording is -EPERM (base/trust.h).
 * err says which path failed. The descriptors are those of store_open_at().
 */
int store_create(struct store *s, const char *base, const char *name, struct error *err);
/* store_create() gives access to the user alone. */
int store_create_for(struct store *s, enum store_access access, const char *base,
		     const char *name, struct error *err);

/* The parts of it for what is not written while a build runs: a directory as an
 * absolute path; the directories above a path; BASE/latest -> the recording in path,
 * replaced in one step (not being able to is no failure). */
int store_absolute(char out[PATH_MAX], const char *path);
int store_make_parents(const char *path, struct error *err);
/* Make a directory of recordings and its parents. Nobody else can write to them; those who
 * may read a recording can reach it. */
int store_make_base(const char *path, enum store_access access, struct error *err);
void store_link_latest(const char *base, const char *path);

/* Join an existing recording by its directory: the start is read from `build`. The
 * caller checks the owner. */
int store_join_dir(struct store *s, const char *path, struct error *err);

/* Make sure that dir_fd is open. */
int store_open_dir(struct store *s);

void store_close(struct store *s);

/* Record what was lost in lost.log: when writing works again, and at the end. */
void store_tell_lost(struct store *s);

/* Microseconds since the recording's start. */
int64_t store_now_us(const struct store *s);

/*
 * Append the whole lines in b to tasks.log with one write(), and empty b. The
 * first failure stays in s->error and nothing is written any more. A lack of
 * room is different: the lines are counted (lost.h) and the next call tries again. errno is
 * kept. Safe from several threads.
 */
void store_append(struct store *s, struct buf *b);

/* The same to a descriptor of tasks.log that is not s->tasks_fd. */
void store_append_at(struct store *s, int fd, struct buf *b);

/* 0, or why nothing can be appended any more: a failure of this process, or the
 * limit on the size of files that all of a build's processes met. */
int store_error(const struct store *s);

/* "key: value" lines of `build`; the value is escaped as a field. */
void store_add_build(struct buf *b, const char *key, const char *value);
int store_append_build(struct store *s, const struct buf *b);

/* The ticket's path in a MAKEFILES value, NULL if there is none (its first
 * word, if that ends in /buildbeat.mk); len gets its length. */
const char *store_ticket_path(const char *makefiles, size_t *len);

/* Join the recording of a ticket, which may be s->path; the ticket's first line, written. */
int store_join_ticket(struct store *s, const char *ticket);
void store_add_ticket_line(struct buf *b, const struct store *s);

/* Join the recording the environment names; -ENOENT when it names none. */
int store_join_env(struct store *s);

/* Open for a recording: O_CLOEXEC, moved to 40 or above where possible. A new file
 * gets the mode of its directory. */
int store_open_at(int dir_fd, const char *name, int flags);

/*
 * All of it with one write(). 0 or a negative errno: -ENOSPC or -EFBIG also when
 * only a part was written. Neither the process's limit on the size of files nor a
 * closed pipe sends it a signal.
 */
int store_write(int fd, const void *p, size_t len);

/* Own pid, parent's pid, ...: at most eight, comma separated, as far as the first
 * that runs a program of our own name (a host: the task around us is a child of
 * its, so it stands in front) or is older than the recording. */
void store_ancestors(const struct store *s, char *out, size_t size);

#endif
