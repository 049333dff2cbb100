/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_NOMEM_H
#define BUILDBEAT_TESTS_NOMEM_H

#include <stdbool.h>

/*
 * Allocations that fail: malloc and its relatives, as our own code and our static
 * libraries call them; those inside shared libraries succeed. A program that uses this
 * links with $(WRAP_ALLOCATION) (tests/local.mk).
 */

/* Fail the n-th allocation from now on (0: the next one) and no other; -1: none. */
void nomem_after(long n);

/* Did it fail? */
bool nomem_failed(void);

/*
 * Run a command of buildbeat ("show", "-j", "REC", NULL) in a child process, in directory
 * dir, once undisturbed and then once for each n with its n-th allocation failing. Every
 * run must print what the undisturbed one printed and exit with its status, or print a
 * message and exit with status 2; nothing that it prints then may differ from the
 * beginning of the undisturbed output. Returns how many allocations there were to fail.
 */
long nomem_command(const char *dir, const char *const *argv);

#endif
