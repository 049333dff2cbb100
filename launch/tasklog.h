/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_TASKLOG_H
#define BUILDBEAT_LAUNCH_TASKLOG_H

#include <stdbool.h>
#include <stdint.h>

/* What a recording that was just made holds, from a quick look at its tasks.log
 * (or, on NFS, the tasks-*.log). */
struct tasklog {
	uint64_t instances;
	uint64_t tasks;		/* started */
	uint64_t ninjas;	/* of the instances: see convert/ninja/join.h */
	uint64_t alive;		/* instances still open whose process exists */
	bool torn;		/* a last line that could be written only in part */
	char note[160];		/* the first word of the plugin's to the user, or "" */
};

/* 0 or a negative errno. */
int tasklog_scan(int dir_fd, struct tasklog *t);

#endif
