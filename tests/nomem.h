/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_NOMEM_H
#define BUILDBEAT_TESTS_NOMEM_H

#include <stdbool.h>

/*
 * Allocations that fail: malloc and related functions, as called by our code and our static
 * libraries; calls inside shared libraries succeed. A program that uses this links with
 * $(WRAP_ALLOCATION) (tests/local.mk).
 */

/* Only the n-th allocation from now on fails (0: the next one); -1: no failure. */
void nomem_after(long n);

/* Did it fail? */
bool nomem_failed(void);

/*
 * Run a command of buildbeat ("show", "-j", "REC", NULL) in a child process in directory
 * dir, once undisturbed and then once for each n with its n-th allocation failing. Every run
 * must print what the undisturbed one printed and exit with its status. Otherwise it must
 * print a message and exit with status 2, and its output must be a prefix of the undisturbed
 * output.
 * Returns the number of allocations.
 */
long nomem_command(const char *dir, const char *const *argv);

#endif
