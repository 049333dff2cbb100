/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_TAIL_H
#define BUILDBEAT_SAMPLER_TAIL_H

#include "sampler/root.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The task logs of a recording while they grow: tasks.log or, on NFS, the tasks-ID.log of every
 * writer. Each new whole line is read once.
 */

#define TAIL_FILES 1024

struct tail_file {
	char name[48];
	int64_t offset;		/* of the next line to hand out */
	bool closed;		/* its writer has closed it */
};

struct tail {
	int dir_fd;		/* borrowed */
	int fd;			/* of tasks.log; -1: there are many files */
	int list_fd;		/* of the directory, to find new files; or -1 */
	struct tail_file *file;
	size_t n_files;
	struct root_text text;
};

/* take() gets every new line without its newline. True: it was the last line of its file. */
struct tail_taker {
	bool (*take)(void *ctx, struct slice line);
	void *ctx;
};

int tail_open(struct tail *t, int dir_fd);
void tail_close(struct tail *t);
void tail_read(struct tail *t, const struct tail_taker *taker);

#endif
