/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_KIND_H
#define BUILDBEAT_COMMAND_KIND_H

#include "base/cursor.h"

/*
 * What sort of work a command is, from its text alone, through assignments,
 * "cd x &&", wrappers (ccache, env, libtool ...) and sh -c. A constant string:
 *	compile		source to object, assembling, or source to program
 *	link		objects to a program or library, strip, objcopy
 *	archive		ar, ranlib
 *	make		a build tool inside: make, ninja, cargo build
 *	configure	configure, config.status, cmake, autoreconf, meson setup
 *	test		test drivers, ctest, pytest
 *	document	man pages, manuals, doxygen
 *	generate	bison, protoc, moc; sed, awk and the like writing a file
 *	script		a program of an interpreter: python, perl, sh FILE
 *	install		install(1), ldconfig, cmake --install, libtool --mode=install, rsync
 *	shell		the shell's own commands and small ones on files: echo, test, rm, cp,
 *			mv, ln, mkdir (a step of any rule, not what a build installs)
 *	other		anything else
 * A line of several commands has the first of their kinds in this list, except that
 * other comes before install.
 */
const char *kind_of_command(const char *command, size_t len);

/* The same, and *decisive is the one of several commands that decided. */
const char *kind_and_command(const char *command, size_t len, struct slice *decisive);

/*
 * What sort of work a task of OpenEmbedded is, by its name ("do_compile"): compile,
 * configure, install, test, document, or
 *	fetch		sources from elsewhere
 *	unpack		of them
 *	patch
 *	sysroot		what other recipes build with, given and taken
 *	package		splitting, packing, package data
 *	image		root file systems, images, SDKs
 *	setscene	the result of an earlier build is taken instead: any do_X_setscene
 *	clean		rm_work and the like
 *	other		anything else
 */
const char *kind_of_oe_task(const char *name, size_t len);

#endif
