/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_KIND_H
#define BUILDBEAT_COMMAND_KIND_H

#include "base/cursor.h"

/*
 * The kind of work that a command does, from its text alone. Assignments, "cd x &&", wrappers
 * (ccache, env, libtool ...) and sh -c are skipped. A constant string:
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
 *			mv, ln, mkdir, which any rule can use
 *	other		anything else
 * A line of several commands has the first of their kinds in this list, except that
 * other comes before install.
 */
const char *kind_of_command(const char *command, size_t len);

/* The same; *decisive gets the command that decided. */
const char *kind_and_command(const char *command, size_t len, struct slice *decisive);

/* The same; *program gets the name of the program that decided, without its directory: "gcc" of
 * "cd x && ccache /usr/bin/gcc". A part of the command; empty: there is none. */
const char *kind_and_program(const char *command, size_t len, struct slice *program);

/*
 * The usual command of a large build, found without parsing it. If a command begins with a
 * compiler, kind_compiler() returns that word, otherwise nothing. Of another command with the same
 * word, kind_compiles() is true only if its kind is "compile".
 */
struct slice kind_compiler(struct slice command);
bool kind_compiles(struct slice command, struct slice compiler);

/*
 * The kind of work of a task of OpenEmbedded, from its name ("do_compile"): compile,
 * configure, install, test, document, or
 *	fetch		download sources
 *	unpack		unpack them
 *	patch
 *	sysroot		files that recipes need of one another
 *	package		splitting, packing, package data
 *	image		root file systems, images, SDKs
 *	setscene	reuse the result of an earlier build: any do_X_setscene
 *	clean		rm_work and the like
 *	other		anything else
 */
const char *kind_of_oe_task(const char *name, size_t len);

#endif
