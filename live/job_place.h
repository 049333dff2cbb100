/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_JOB_PLACE_H
#define BUILDBEAT_LIVE_JOB_PLACE_H

#include "base/error.h"

#include <limits.h>

/*
 * The directory of a server's background tasks, below XDG_RUNTIME_DIR, TMPDIR or /tmp: private,
 * locked while the server runs, and made when the first task needs it. Those that no server has
 * locked are removed then.
 */
struct job_place {
	char path[PATH_MAX];	/* "": not made */
	int fd;			/* locked; -1: not made */
};

void job_place_init(struct job_place *p);
void job_place_release(struct job_place *p);	/* removes it */

/* The directory of one task, which is made: a descriptor of it. 0 or a negative errno with err. */
int job_place_add(struct job_place *p, unsigned id, int *dir_fd, struct error *err);
void job_place_remove(struct job_place *p, unsigned id);

#endif
