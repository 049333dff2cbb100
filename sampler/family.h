/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_FAMILY_H
#define BUILDBEAT_SAMPLER_FAMILY_H

#include "recording/process_log.h"
#include "sampler/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The living processes of a build: one process and all its descendants. Each one becomes a line of
 * processes.log when it ends. Their memory has a fixed size, but pages that were never needed are
 * not touched.
 */

#define FAMILY_MAX 32768	/* living at once; further ones are counted and not recorded */
#define FAMILY_HEADS 65536

struct member {
	int32_t pid;		/* 0: free */
	int32_t parent;		/* its parent */
	uint32_t threads;
	bool threads_late;	/* it called exec with several threads, of which some may end
				   later */
	uint32_t next;		/* 1 + member: of the same hash, or free */
	uint32_t round;		/* of the census that saw it last */
	int64_t adopted_us;	/* when a census found it, so its start is not exact; -1: the
				   birth was reported */
	uint8_t polls;		/* how often a census read it, up to a few times */
	int64_t zombie_us;	/* since when a census found it a zombie; -1: not yet */
	int64_t start_us, exec_us;	/* exec_us -1: it runs its parent's program */
	struct event_end sum;	/* until its end, user and system time are clock ticks */
	int64_t cpu_us;		/* both, as the scheduler counts them; -1: unknown */
	int64_t delay_us;	/* its threads waited for a processor; -1: unknown */
	char name[16];		/* of its program, as a census read it */
	uint16_t command_len;
	char command[PROCESS_COMMAND_MAX + 1];	/* escaped */
};

struct family {
	struct member *member;
	uint32_t *head;
	uint32_t free;		/* 1 + member */
	uint32_t top;		/* members from this one up were never used */
	uint32_t n;		/* living */
	uint64_t n_born, n_without_room;
	struct buf out;		/* whole lines */
	struct log log;
};

/* Open processes.log in the directory and write its header. 0 or a negative errno. Always
 * release. */
int family_init(struct family *f, int dir_fd);
void family_release(struct family *f);

/* NULL: not a member. */
struct member *family_find(const struct family *f, int32_t pid);

/*
 * A process is born. If there is a member with that number, its end was missed. It has the command
 * of its parent, if that is a member. NULL: no room.
 */
struct member *family_birth(struct family *f, int32_t pid, int32_t parent, int64_t t_us);

/* It runs another program with these words (modified here; none: unknown). */
void family_command(struct member *m, char *words, size_t len);

/* It has ended with the wait(2) status m->sum.status, or it still runs at the end of the
 * recording. */
void family_death(struct family *f, struct member *m, int64_t t_us, enum process_word word);

/* Remove it without a line. */
void family_forget(struct family *f, struct member *m);

/* n events before this time are missing. */
void family_lost(struct family *f, int64_t t_us, uint64_t n);

/* Write the buffered lines. family_error() is the first failure. */
void family_flush(struct family *f);
int family_error(const struct family *f);

#endif
