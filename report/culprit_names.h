/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_CULPRIT_NAMES_H
#define BUILDBEAT_REPORT_CULPRIT_NAMES_H

/*
 * How likely a file belongs to a task by its name, 0 to 1. Tasks are called "dir: target",
 * "target" or "recipe: do_something":
 *	1	src/foo.c	src: foo.o, src/foo.o, CMakeFiles/x.dir/src/foo.c.o
 *	.9	recipes-core/zlib/..., zlib_1.3.bb	zlib: do_compile
 *	.6	lib/foo.h	src: foo.o: of the same name elsewhere
 *	.5	src/bar.h	src: foo.o: in the task's directory or below it
 *	.2	Makefile, CMakeLists.txt, local.conf: what may change any task
 */
double culprit_likeness(const char *path, const char *task);

#endif
