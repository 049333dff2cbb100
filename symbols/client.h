/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_CLIENT_H
#define BUILDBEAT_SYMBOLS_CLIENT_H

#include "base/buf.h"
#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Names for the code addresses of any modules, from the program buildbeat-symbols, which can fail
 * or hang on a broken file without harm.
 *
 * The program reads requests from its standard input until that ends. A request is lines of:
 *
 *	module BUILD_ID PATH	the module of the lines that follow; BUILD_ID is hexadecimal or "-"
 *	try PATH		another path of its file
 *	a ADDRESS		an address in the module's file, hexadecimal
 *	r ADDRESS		the same of a return address: the address before it is looked up
 *
 * and it answers with lines, whose fields end at tabs, of:
 *
 *	m MODULE		it begins with the table of this module, numbered from 0
 *	d MODULE		it begins with the debug information of this module
 *	w TEXT			why names of the module are missing or incomplete
 *	n ADDRESS FUNCTION SOURCE LINE	ADDRESS is the number of an address line, from 0 on
 *	i FUNCTION SOURCE LINE	the function above was inlined into this one
 *	u ADDRESS START		a function without a name begins at START, hexadecimal
 *	? ADDRESS		nothing is known
 *	e			the end
 *
 * First it answers all from the tables of symbols; then, for modules with debug information,
 * again, and the second answer replaces the first. Paths and texts are escaped as in base/field.h.
 */

struct symbols_module {
	const char *path;
	const char *build_id;	/* NULL or "": not checked */
	const char *other[2];	/* more paths of the file, NULL: none */
};

struct symbols_address {
	uint64_t address;	/* in the file: without the bias of the module */
	uint32_t module;
	bool returns;		/* it is a return address */
};

struct symbols_function {
	const char *name;	/* demangled */
	const char *source;	/* "": unknown */
	unsigned line;		/* 0: unknown */
};

#define SYMBOLS_FUNCTIONS_MAX 64

struct symbols_request {
	const char *program;	/* path of buildbeat-symbols */
	const char *const *dirs;
	size_t n_dirs;
	bool names_only;	/* no debug information */
	int64_t deadline_ns;	/* CLOCK_MONOTONIC */
	const volatile sig_atomic_t *stop;	/* not 0: stop; may be NULL */
	size_t n_modules;
	const struct symbols_module *module;
	size_t n;		/* addresses of one module are together */
	const struct symbols_address *address;
	/* Called with the answers, several times for one address: the last one counts. Functions
	 * are innermost first. */
	void *context;
	int (*named)(void *context, size_t address, const struct symbols_function *function,
		     size_t n_functions);
	int (*unnamed)(void *context, size_t address, uint64_t start);
	void (*note)(void *context, size_t module, const char *text);
};

/*
 * Run the program, and again without a module on which it fails or is silent for a third of the
 * time; that is noted. 0; -ENOMEM; -ECANCELED (stop); -ETIME after the deadline; -EIO if it failed
 * more than SYMBOLS_FAILURES_MAX times; or what a callback or the start of the program returned,
 * with err. Answers until then were given.
 */
#define SYMBOLS_FAILURES_MAX 16

int symbols_ask(const struct symbols_request *q, struct error *err);

#endif
