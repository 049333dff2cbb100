/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_OUTPUTS_H
#define BUILDBEAT_PLUGIN_OUTPUTS_H

#include "plugin/pipes.h"

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* For procs.c: where the tool's next process writes, and what is recorded about it. */

struct store;

struct outputs {
	bool to_pipe;		/* the next process writes into a pipe of the tool: $(shell) */
	bool to_file;		/* or into a file from which the tool prints it later: --output-sync */
	bool redirected;	/* its standard output or error is not the tool's */
	bool known;		/* what it writes to the file will be known: see plugin/collected.h */
	int file_fd[2];		/* the tool's descriptors for its standard output and error, -1: none */
};

#define OUTPUTS_INIT { .file_fd = { -1, -1 } }

/* The process gets fd as fd_new. */
void outputs_dup(struct outputs *o, int fd, int fd_new);
/* In the new process: own is the tool's standard output. */
void outputs_compare(struct outputs *o, const struct stat *own);

/* Before it starts as this task, while the tool's output is recorded. collects: see pipes_begin() */
void outputs_prepare(struct outputs *o, posix_spawn_file_actions_t *actions, const struct store *store, uint64_t task,
		     bool (*collects)(void));

/* It has started. note: records a text about a task, or about the instance: 0. */
typedef void outputs_note(uint64_t task, int64_t t, const char *text);
void outputs_started(const struct outputs *o, struct pipes_of *of, uint64_t task, int64_t t, outputs_note *note);

#endif
