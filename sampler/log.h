/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_LOG_H
#define BUILDBEAT_SAMPLER_LOG_H

#include "base/buf.h"

#include <stdint.h>

/* A file of the recording with one writer: whole lines are appended, and what
 * could be written only in part is cut off again. */
struct log {
	int fd;
	int64_t size;
	int64_t size_max;	/* the process's limit on file sizes: never reached,
				   for that would be a signal to our host */
	int error;		/* the first failure, a negative errno */
};

#define LOG_CLOSED { .fd = -1 }

/* NAME.log in the directory. What an earlier writer left is kept, a torn last
 * line of it ended. 0 or a negative errno. */
int log_open(struct log *l, int dir_fd, const char *name);
void log_close(struct log *l);

/* All of b with one write(). 0, or a negative errno and the file as before. */
int log_append(struct log *l, const struct buf *b);

#endif
