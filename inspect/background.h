/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_BACKGROUND_H
#define BUILDBEAT_INSPECT_BACKGROUND_H

#include "base/error.h"
#include "inspect/archive_progress.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Inspections as tasks with an id, which other processes of the same user can ask about and
 * cancel. Each has a directory ID in a private directory below XDG_RUNTIME_DIR, TMPDIR or /tmp. It
 * has progress.log and the file `task`, lines of "key: value": what is inspected (`process`), the
 * path of the archive (`archive`), and the exit status at the end (`status`). What ended more than
 * an hour ago is removed by the next task.
 */

/* A task of this process. */
struct background {
	unsigned id;		/* 0: none */
	int dir_fd, progress_fd;
	char archive[PATH_MAX];	/* the last that was set */
};

/* Begin the task of this process. 0, or a negative errno with err. */
int background_begin(struct background *b, const char *process, struct error *err);
void background_tell(const struct background *b, unsigned percent, const char *message);
void background_set_archive(struct background *b, const char *path);	/* also again */

/* Ends it with this exit status. */
void background_end(struct background *b, int status);

/* End it without a trace: its archive has the same progress. */
void background_forget(struct background *b);

/* A task, as others see it. */
struct background_task {
	unsigned id;
	char process[256];
	char archive[PATH_MAX];	/* "": not yet */
	int status;		/* exit status, -1: it runs, or was killed */
	bool runs;
	struct inspect_progress_list progress;
};

/* Read a task: -ENOENT with err if there is none with this id. Always release it. */
int background_read(struct background_task *t, unsigned id, struct error *err);
void background_release(struct background_task *t);

/* The ids of all tasks in order, which the caller frees. 0 or a negative errno with err. */
int background_list(unsigned **id, size_t *n, struct error *err);

/* Wait for the end of a task. 0 also if it has ended; -ENOENT as above. */
int background_wait(unsigned id, struct error *err);

/* End a task and wait for that. It keeps what it has. */
int background_cancel(unsigned id, struct error *err);

#endif
