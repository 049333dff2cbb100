/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_TOUCH_H
#define BUILDBEAT_TESTS_TOUCH_H

/* The cost of reading alone, for benches: opens, reads and closes all files of the
 * directories in path. Returns their number. */
int touch_files(const char *path);

#endif
