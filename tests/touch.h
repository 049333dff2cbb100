/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_TOUCH_H
#define BUILDBEAT_TESTS_TOUCH_H

/* What reading at all costs, for benches: open, read and close all files of the directories
 * in path. How many there are. */
int touch_files(const char *path);

#endif
