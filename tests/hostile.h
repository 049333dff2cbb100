/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_HOSTILE_H
#define BUILDBEAT_TESTS_HOSTILE_H

#include "tests/paths.h"
#include "tests/support.h"

#include <sys/types.h>

/*
 * Other users of the machine are hostile, and so are recordings and cloned repositories.
 * Tests that need a second user are root's, and nobody is the hostile one.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define NOBODY 65534

/* support_tmpdir(), which the other user can enter, without configuration except that of the
 * next two functions. A fixture. */
extern const char *hostile_base;
void hostile_begin(void);

/* The user's own configuration; replaces an earlier one. */
void hostile_configure(const char *text);
void hostile_trust(const char *dir);

bool hostile_can(void);

/* Starts a shell script of the other user in base. */
pid_t hostile_start(const char *script);
void hostile_wait(pid_t pid);

/* Creates a directory of the other user. */
void hostile_directory(const char *path);

#endif
