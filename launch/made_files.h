/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_MADE_FILES_H
#define BUILDBEAT_LAUNCH_MADE_FILES_H

#include "base/buf.h"
#include "recording/recording.h"

/*
 * The files that the tasks of a build made, found when it has ended. The names are those of the
 * targets and outputs that the build tool reported, and the file of the command's -o. No file is
 * opened and no symbolic link is followed. A file counts if it was last written while the task
 * ran. Each file is one task's: the last one's that could have written it.
 */
struct made_files {
	size_t n;
	struct made_file *file;		/* after made_files_assign(): by task */
	struct buf text;		/* private: paths, each with a NUL behind it */
};

struct made_file {
	uint32_t task;
	bool named;		/* by the command, not only by the build tool */
	bool within;		/* written between the task's start and end, to the nanosecond */
	size_t path;		/* in text */
	int64_t bytes, start_us;
	uint64_t device, inode;
};

#define MADE_FILES_INIT { .text = BUF_INIT }

/* What the wall clock says at the recording's time 0, by its values at the start and at the end. */
struct made_clock {
	int64_t first_ns, last_ns;
};

/* Add what is found of one task. dir_fd is the directory of its instance; command is its
 * command. 0 or -ENOMEM. */
int made_files_add(struct made_files *m, const struct recording *rec, uint32_t task, int dir_fd,
		   const char *command, const struct made_clock *clock);

/* Keep one task of each file. */
void made_files_assign(struct made_files *m);

const char *made_files_path(const struct made_files *m, const struct made_file *f);
void made_files_release(struct made_files *m);

#endif
