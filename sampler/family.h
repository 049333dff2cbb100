/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_FAMILY_H
#define BUILDBEAT_SAMPLER_FAMILY_H

#include "recording/process_log.h"
#include "sampler/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The living processes of a build: one process and all that descend from it.
 * Each becomes a line of processes.log when it ends. What they use is fixed; memory
 * of it that was never needed is never touched.
 */

#define FAMILY_MAX 32768	/* living at once; what is born beyond is counted, not kept */
#define FAMILY_HEADS 65536

struct member {
	int32_t pid;		/* 0: free */
	int32_t parent;		/* that gave birth to it */
	uint32_t threads;
	bool threads_late;	/* it executed with threads: the ends of some may be told later */
	uint32_t next;		/* 1 + member: of the same hash, or free */
	uint32_t round;		/* of the census that saw it last */
	int64_t adopted_us;	/* found by a census then, its start is not exact; -1: not so */
	uint8_t looks;		/* at it since then, up to a few */
	int64_t zombie_us;	/* since when a census found it so, -1: not yet */
	int64_t start_us, exec_us;	/* exec_us -1: it runs its parent's program */
	struct event_end sum;	/* until its end, user and system time are clock ticks */
	int64_t cpu_us;		/* both, as the scheduler counts them; -1: unknown */
	char name[16];		/* of its program, where a census looked */
	uint16_t command_len;
	char command[PROCESS_COMMAND_MAX + 1];	/* escaped */
};

struct family {
	struct member *member;
	uint32_t *head;
	uint32_t free;		/* 1 + member */
	uint32_t top;		/* no member from here on was ever used */
	uint32_t n;		/* living */
	uint64_t n_born, n_without_room;
	struct buf out;		/* whole lines */
	struct log log;
};

/* processes.log in the directory, with its first line. 0 or a negative errno.
 * Always release. */
int family_init(struct family *f, int dir_fd);
void family_release(struct family *f);

/* NULL: not one of them. */
struct member *family_find(const struct family *f, int32_t pid);

/*
 * A process is born; if there still is one of that number, its end went unseen. It
 * has the command of its parent, if that is one of us. NULL: no room.
 */
struct member *family_birth(struct family *f, int32_t pid, int32_t parent, int64_t t_us);

/* It runs another program, with these words (changed; none: not known). */
void family_command(struct member *m, char *words, size_t len);

/* It is dead, of wait(2) status m->sum.status, or still runs at the end of all. */
void family_death(struct family *f, struct member *m, int64_t t_us, enum process_word word);

/* It was none: no line is written of it. */
void family_forget(struct family *f, struct member *m);

/* n events are missing before this time. */
void family_lost(struct family *f, int64_t t_us, uint64_t n);

/* Write what is buffered; family_error(): the first failure. */
void family_flush(struct family *f);
int family_error(const struct family *f);

#endif
