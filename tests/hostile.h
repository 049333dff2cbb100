/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_HOSTILE_H
#define BUILDBEAT_TESTS_HOSTILE_H

#include "tests/paths.h"
#include "tests/support.h"

#include <sys/types.h>

/*
 * Other users of the machine are hostile, and so is what is written into recordings and
 * cloned repositories. Where a second user is needed the tests are root's, and nobody is
 * the hostile one.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define NOBODY 65534

/* support_tmpdir(), where the other one gets in, and no configuration but that of the next
 * two. A fixture. */
extern const char *hostile_base;
void hostile_begin(void);

/* The user's own configuration; of this alone. */
void hostile_configure(const char *text);
void hostile_trust(const char *dir);

bool hostile_can(void);

/* A shell script of the other user's in base, meanwhile. */
pid_t hostile_start(const char *script);
void hostile_wait(pid_t pid);

/* Make a directory of his. */
void hostile_directory(const char *path);

#endif
