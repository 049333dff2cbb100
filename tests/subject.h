/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SUBJECT_H
#define BUILDBEAT_TESTS_SUBJECT_H

#include <sys/types.h>

/* Child processes that are inspected. They end with the test at the latest. */

/* A child that calls does(), which writes a byte to `ready` and waits, or subject_hold(). */
pid_t subject_start(void (*does)(int ready));
void subject_hold(int ready);

/* A child that executes a program, which closes `ready`: does() must make it close-on-exec. */
pid_t subject_start_program(void (*does)(int ready));

/* Kill it and wait for it. */
void subject_stop(pid_t pid);

#endif
