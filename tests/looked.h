/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_LOOKED_H
#define BUILDBEAT_TESTS_LOOKED_H

#include "inspect/look.h"

#include <sys/types.h>

/* One look at a process, for check_look and check_look_modules; looked_begin() and looked_end()
 * are the fixture. */
extern struct looked {
	struct name_table names;
	struct snapshot s;
	struct look l;
	struct error err;
	const char *dir;	/* also of children */
} looked;

void looked_begin(void);
void looked_end(void);

/* Both fail the test with the message of the error. */
void looked_open(pid_t pid);
void looked_read(bool pages);

#endif
