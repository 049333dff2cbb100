/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_ROOT_H
#define BUILDBEAT_SAMPLER_ROOT_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * /proc and /sys as directories, so that a recorded tree of another machine can
 * stand for them; and their files, opened once and read again and again.
 */
struct root {
	int proc_fd;
	int sys_fd;		/* -1 where there is none */
};

#define ROOT_INIT { -1, -1 }

/* NULL: /proc and /sys. 0, or a negative errno if proc cannot be opened. */
int root_open(struct root *r, const char *proc, const char *sys);
void root_close(struct root *r);

/* Is there such a path below one of its directories. */
bool root_has(int root_fd, const char *path);

/* What a file held when it was read. */
struct root_text {
	char *data;
	size_t len, cap;
};

void root_text_cursor(const struct root_text *t, struct cursor *c);

enum root_file_kind {
	ROOT_WHOLE,		/* one read() gives all of it (stat, meminfo, pressure) */
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

/* All of it from its beginning. What does not fit is cut after its last whole
 * line. 0 or a negative errno, with an empty text. */
int root_file_read(const struct root_file *f, struct root_text *t);

/* Open, read, close, for what is looked at once. */
int root_read_once(int root_fd, const char *path, struct root_text *t);

/* The names in a directory, each once; what getdents64() gives, without the
 * memory opendir() takes. False from each() ends it. */
void root_list_names(int dir_fd, struct root_text *memory, bool (*each)(void *ctx, const char *name),
		void *ctx);

#endif
