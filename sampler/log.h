/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_LOG_H
#define BUILDBEAT_SAMPLER_LOG_H

#include "base/buf.h"

#include <stdint.h>

/* A file of the recording with one writer. Whole lines are appended; a line that could be
 * written only in part is removed again. */
struct log {
	int fd;
	int64_t size;
	int64_t size_max;	/* the process's limit on file sizes; reaching it would send a
				   signal to our host */
	int error;		/* the first failure, a negative errno */
};

#define LOG_CLOSED { .fd = -1 }

/* Open NAME.log in the directory. The lines of an earlier writer are kept; a torn last line gets
 * a newline. 0 or a negative errno. */
int log_open(struct log *l, int dir_fd, const char *name);
void log_close(struct log *l);

/* Append b with one write(). 0, or a negative errno and the file is as before. */
int log_append(struct log *l, const struct buf *b);

#endif
