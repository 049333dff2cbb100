/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_TASKLOG_H
#define BUILDBEAT_LAUNCH_TASKLOG_H

#include <stdbool.h>
#include <stdint.h>

/* The content of a new recording, from a quick reading of its tasks.log (or, on NFS, the
 * tasks-*.log). */
struct tasklog {
	uint64_t instances;
	uint64_t tasks;		/* started */
	uint64_t ninjas;	/* of the instances: see convert/ninja/join.h */
	uint64_t alive;		/* open instances whose process exists */
	bool torn;		/* a last line was written only in part */
	char note[160];		/* the first message of the plugin to the user, or "" */
};

/* Add what the tasks of the recording in path do not account for, in the words of proof.h. It is
 * not known for a recording with very many tasks, because reading them takes long. 0 or a negative
 * errno. */
struct buf;
int tasklog_prove(struct buf *out, const struct tasklog *t, const char *path);

/* 0 or a negative errno. */
int tasklog_scan(int dir_fd, struct tasklog *t);

#endif
