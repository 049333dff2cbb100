/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SUPPORT_H
#define BUILDBEAT_TESTS_SUPPORT_H

#include "base/buf.h"
#include "tests/paths.h"

#include <check.h>
#include <stdbool.h>

/*
 * What the test programs share. Everything here fails the running test itself
 * when it cannot do its work. Paths of what is under test come from the build:
 * TOP_SRCDIR and TOP_BUILDDIR (absolute, compiled in).
 */

/* A fresh directory, removed with all its content by support_cleanup() (also
 * installed with atexit). Owned by support. */
const char *support_tmpdir(void);
void support_cleanup(void);

/* format -> path in static rotating memory. */
const char *support_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

void support_write(const char *path, const void *data, size_t len);
void support_writes(const char *path, const char *text);
/* The whole file; caller releases. */
void support_read(struct buf *out, const char *path);
bool support_exists(const char *path);

/* The text is that of the file below tests/golden, which UPDATE_GOLDEN=1 in the environment
 * makes of it first. */
void support_is_golden(const struct buf *text, const char *name);

struct run {
	int status;		/* exit status, or 128 + signal */
	struct buf out, err;	/* what it printed; NUL-terminated */
};

/* Run a shell command line (sh -c) with stdin from /dev/null in directory dir
 * (NULL: here), collect what it prints. Release with support_run_release(). */
void support_run(struct run *r, const char *dir, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void support_run_release(struct run *r);

/* Is the program in PATH. */
bool support_has(const char *program);

/* Whether other programs can load what was built here: not when that wants the
 * libraries of a sanitizer. */
bool support_can_be_loaded(void);

/* The usual end of main(): run the suite, exit status for automake. */
int support_main(Suite *suite);

#endif
