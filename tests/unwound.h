/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_UNWOUND_H
#define BUILDBEAT_TESTS_UNWOUND_H

/* Compare the call stack of the caller with libgcc's. */
void unwound_check(void);

/* Print how many were compared; the exit status of the program. */
int unwound_end(void);

#endif
