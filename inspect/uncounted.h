/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_UNCOUNTED_H
#define BUILDBEAT_INSPECT_UNCOUNTED_H

/*
 * Why the allocations of a program cannot be counted, from its file, which is relative to dir_fd:
 * "it is statically linked". NULL: nothing in the file forbids it. For messages.
 */
const char *uncounted_file(int dir_fd, const char *path);

/* The same for a process that has no image of its heap. dir_fd: /proc/PID. Never NULL. */
const char *uncounted_process(int dir_fd);

#endif
