/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_COLLECTED_H
#define BUILDBEAT_PLUGIN_COLLECTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * make --output-sync: the processes of a target write to a file, to which make adds its own messages. When the
 * target has ended, make locks the output, reads the file from its beginning, and prints it.
 *
 * While the build's output is recorded, what belongs to a process is known. It ends at the size of the file when make
 * has waited for the process. It begins where that of the one before ends, so the command is in it. The last
 * one has what follows, too, such as make's message about an error. When make reads the file, we print
 * these parts through pipes of their tasks (plugin/pipes.h), and make finds the end of the file. If something cannot be
 * printed so, make prints the rest as without us.
 */

struct store;

/* The next process is this task, and writes to these files of make, -1: to none. Call it before the start, again
 * if it is tried again. False: its part will not be known. */
bool collected_begin(int out_fd, int err_fd, uint64_t task);

/* make has waited for the process, or could not start it. */
void collected_end(uint64_t task);

/* make is about to read from this descriptor into buf. True: all was printed, so make has nothing to read.
 * missed: is called for a task whose part is printed without a pipe. */
bool collected_print(int fd, char *buf, size_t size, const struct store *store, void (*missed)(uint64_t task));

#endif
