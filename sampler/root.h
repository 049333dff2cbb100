/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_ROOT_H
#define BUILDBEAT_SAMPLER_ROOT_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * /proc and /sys as directories, which a recorded tree of another machine can replace, and their
 * files, opened once and read again and again.
 */
struct root {
	int proc_fd;
	int sys_fd;		/* -1 where there is none */
};

#define ROOT_INIT { -1, -1 }

/* NULL: /proc and /sys. 0, or a negative errno if proc cannot be opened. */
int root_open(struct root *r, const char *proc, const char *sys);
void root_close(struct root *r);

/* Does this /proc count processes as we do? That of another PID namespace does not. A recorded
 * tree does. */
bool root_is_ours(int proc_fd);

/* Does the path exist below one of the directories? */
bool root_has(int root_fd, const char *path);

/* The content of a file when it was read. */
struct root_text {
	char *data;
	size_t len, cap;
};

void root_text_cursor(const struct root_text *t, struct cursor *c);

enum root_file_kind {
	ROOT_WHOLE,		/* one read() returns all of it (stat, meminfo, pressure) */
	ROOT_RECORDS,		/* a read() ends where a page is full (diskstats, net/dev) */
	ROOT_LONG_RECORDS,	/* ... and a record may fill one (mountinfo) */
};

struct root_file {
	int fd;
	enum root_file_kind kind;
	size_t enough;		/* bytes to read from the start, 0: all */
};

#define ROOT_FILE_CLOSED { -1, ROOT_WHOLE }

/* 0 or a negative errno; f is closed then. */
int root_file_open(struct root_file *f, int root_fd, const char *path, enum root_file_kind kind);
void root_file_close(struct root_file *f);

/* Read it from the beginning. If it does not fit, the text ends after the last whole line that
 * does. 0 or a negative errno, with an empty text. */
int root_file_read(const struct root_file *f, struct root_text *t);

/* Open, read and close a file that is read once. */
int root_read_once(int root_fd, const char *path, struct root_text *t);

/* Call each() for every name in a directory until it returns false. Unlike readdir(), this
 * allocates nothing. */
void root_list_names(int dir_fd, struct root_text *memory,
		     bool (*each)(void *ctx, const char *name), void *ctx);

/* Read /proc/PID/NAME with one read(). False, and an empty text, on failure. */
bool root_read_process(int proc_fd, int32_t pid, const char *name, struct root_text *t);

/* Call each() for the names in /proc/PID/task until it returns false: the numbers of the process's
 * threads, and others that begin with a dot. Overwrites names. */
void root_list_threads(int proc_fd, int32_t pid, struct root_text *names,
		       bool (*each)(void *ctx, const char *tid), void *ctx);

/* Call each() for the children of a process, with this number of threads, in the order of
 * /proc/PID/task/TID/children. Overwrites text and names. */
void root_list_children(int proc_fd, int32_t pid, uint64_t threads, struct root_text *text,
			struct root_text *names, void (*each)(void *ctx, int32_t pid), void *ctx);

/* The number of a process, from the name of its directory. 0: another name. */
int32_t root_pid_of(const char *name);

#endif
