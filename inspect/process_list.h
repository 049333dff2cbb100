/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_PROCESS_LIST_H
#define BUILDBEAT_INSPECT_PROCESS_LIST_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The processes of the machine, read from /proc twice or more: how much CPU each used since the
 * last reading, its memory and its age.
 */
struct listed {
	int32_t pid, parent;
	uint64_t start_ticks;	/* since the machine started */
	char state;		/* as in /proc/PID/stat: R, S, D, Z ... */
	char name[16];		/* of the program */
	bool kernel;		/* a kernel thread */
	bool selected;		/* for the caller; false after each reading */
	uint64_t cpu_ticks;	/* in all, its own */
	int64_t cpu_permille;	/* of one CPU since the last reading; since its start if it is new */
	uint64_t rss_kb;
	int64_t pss_kb;		/* -1: not asked for, or no permission */
	uint64_t threads;
	int64_t faults;		/* of pages, in all, its own */
	int64_t age_us;
};

struct process_list {
	int proc_fd;
	size_t n;		/* by pid */
	struct listed *process;
	int64_t time_us;	/* of the reading, CLOCK_MONOTONIC */
	/* private */
	size_t n_before;
	struct listed *before;
	int64_t before_us;
	int list_fd;
	char *text;
};

/* 0 or a negative errno. */
int process_list_init(struct process_list *l);
void process_list_release(struct process_list *l);

/* Read all processes. 0 or a negative errno. */
int process_list_read(struct process_list *l);

/* The process with this number, NULL if there is none. */
struct listed *process_list_find(const struct process_list *l, int32_t pid);

/* Is it `ancestor`, or has it that ancestor? */
bool process_list_descends(const struct process_list *l, const struct listed *p,
			   int32_t ancestor);

/* Fill in the proportional memory of the selected processes, which costs 10 ms per GB. */
void process_list_read_pss(struct process_list *l);

/* Add the words of its command line, separated by blanks and without their secrets; nothing if they
 * cannot be read. At most 4096 bytes. */
void process_list_add_words(const struct process_list *l, const struct listed *p,
			    struct buf *out);

#endif
