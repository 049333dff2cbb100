/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_SUPPORT_H
#define BUILDBEAT_TESTS_SUPPORT_H

#include "base/array.h"
#include "base/buf.h"
#include "tests/paths.h"
#include "tests/program.h"

/* The C library's headers that most tests need. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Shared by the test programs. Failures fail the running test. Paths of the program under
 * test come from the build: TOP_SRCDIR and TOP_BUILDDIR (absolute, compiled in).
 */

/* A fresh directory. support_cleanup(), which also runs at the end of each test and at
 * exit, removes it with its content. */
const char *support_tmpdir(void);
void support_cleanup(void);
/* The same with an empty, private XDG_RUNTIME_DIR in it. */
const char *support_runtime_dir(void);

/* format -> path in static rotating memory. */
const char *support_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

void support_write(const char *path, const void *data, size_t len);
void support_writes(const char *path, const char *text);
/* The whole file; caller releases. The text is support's and ends with the test. */
void support_read(struct buf *out, const char *path);
const char *support_text(const char *path);
bool support_exists(const char *path);

/* The text equals the file below tests/golden, which UPDATE_GOLDEN=1 in the environment
 * rewrites first. */
void support_is_golden(const struct buf *text, const char *name);

/* Standard output of a command line of buildbeat in dir, as a golden file or with a message:
 * on a terminal with so many columns, or 0 for a file; without the user's settings. */
struct run;
struct support_golden { const char *golden, *command; unsigned columns; };
void support_buildbeat(struct run *r, const char *dir, unsigned columns, const char *command);
void support_prints(const char *dir, const struct support_golden *g);
/* Exit status 2, no output, and a message with this in it. */
void support_refuses(const char *dir, const char *command, const char *message);

/* The error is about this file, and the message is part of "LINE:COLUMN: MESSAGE". */
struct error;
void support_error(const struct error *err, const char *path, const char *message);

struct run {
	int status;		/* exit status, or 128 + signal */
	struct buf out, err;	/* what it printed; NUL-terminated */
};

/* Run a shell command line (sh -c) with stdin from /dev/null in directory dir
 * (NULL: here) and collect what it prints, which support frees when the test ends. */
void support_run(struct run *r, const char *dir, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void support_run_v(struct run *r, const char *dir, const char *format, va_list ap)
	__attribute__((format(printf, 3, 0)));

/*
 * The command ends with this status (or ANY_STATUS), prints exactly out, and err is part of
 * its standard error ("": which is empty). NULL: anything.
 */
#define ANY_STATUS (-1)
void support_expect(const char *dir, int status, const char *out, const char *err,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));

/*
 * Poll until the condition is true; after the deadline the test fails with `what`. It ends what
 * hangs and measures nothing: thirty times what a quiet machine takes are not too long. The same
 * in shell: support_poll is the text of a function that is called as `until_true CONDITION`,
 * which fails after the deadline.
 */
#define SUPPORT_DEADLINE_S 600
void support_wait_until(bool (*holds)(void *data), void *data, const char *what);
extern const char support_poll[];

/* Whether the program is in PATH. */
bool support_has(const char *program);

/* Whether other programs can load our objects: not if these need the libraries of a
 * sanitizer. */
bool support_can_be_loaded(void);

/*
 * What this machine cannot do is no success: a test that begins with SKIP_IF is counted as skipped
 * and its condition printed after Check's totals; a program of which no test ran exits with 77.
 */
#define SKIP_IF(condition)                      \
	do {                                    \
		if (condition) {                \
			support_skipped(#condition); \
			return;                 \
		}                               \
	} while (0)
#define SKIP_PROGRAM_IF(condition)                               \
	do {                                                     \
		if (condition)                                   \
			return support_skips_all(#condition);    \
	} while (0)
void support_skipped(const char *condition);
int support_skips_all(const char *condition);

/* A variable that NAME_release() releases at the end of the function:
 * RELEASED(buf, text = BUF_INIT); */
#define RELEASED(type, ...) __attribute__((unused, cleanup(type##_release))) struct type __VA_ARGS__

/*
 * Tests are functions that enter themselves, in the order of the file:
 *
 *	TEST(name)			runs once
 *	TEST_LOOP(name, n)		n times, with _i from 0
 *	TEST_RANGE(name, first, end)	with _i from first to end - 1
 *	TEST_EACH(name, table)		once for each row of the table, with _i from 0
 *	TEST_UNTIMED(name)		once; its group has no limit of time
 *
 * TEST_GROUP begins a group (Check's test case, which CK_RUN_CASE selects), TEST_GROUP_WITH one
 * with functions before and after each test, or NULL, and TEST_GROUP_ONCE before and after the
 * whole group. Tests above the first are of a group with the name of the suite. TEST_MAIN ends
 * the file tests/check_NAME.c. A file that does more in its main() begins it with TEST_PROGRAM and
 * returns what support_main() returns, the exit status for automake.
 */
struct support_test {
	const char *file;
	int line;
	const char *group;		/* begins a group; test is NULL */
	void (*setup)(void), (*teardown)(void);
	bool once;			/* the fixture is of the group, not of each test */
	bool untimed;
	const TTest *test;
	int from;
	int (*end)(void);
};

/* Pointers, which leave no gaps in the linker's section. */
#define SUPPORT_ENTER(id, ...)                                                           \
	static const struct support_test id##_test = {                                   \
		.file = __FILE__, .line = __LINE__, __VA_ARGS__ };                       \
	static const struct support_test *const id##_entry                               \
		__attribute__((used, section("test_cases"))) = &id##_test
#define SUPPORT_TEST(name, first, last, ...)                                             \
	static void name##_fn(int _i);                                                   \
	static int name##_fn_end(void) { return (int)(last); }                              \
	static const TTest name##_ttest = { #name, name##_fn, __FILE__, __LINE__ };      \
	SUPPORT_ENTER(name, .test = &name##_ttest, .from = (int)(first),                 \
		      .end = name##_fn_end, __VA_ARGS__);                                   \
	static void name##_fn(int _i __attribute__((unused)))

#define TEST_RANGE(name, first, last) SUPPORT_TEST(name, first, last, .group = NULL)
#define TEST_LOOP(name, n) TEST_RANGE(name, 0, n)
#define TEST_EACH(name, table) TEST_LOOP(name, ARRAY_SIZE(table))
#define TEST(name) TEST_LOOP(name, 1)
#define TEST_UNTIMED(name) SUPPORT_TEST(name, 0, 1, .untimed = true)

#define SUPPORT_GROUP_AT(at, ...) SUPPORT_ENTER(group##at, __VA_ARGS__)
#define SUPPORT_GROUP(at, ...) SUPPORT_GROUP_AT(at, __VA_ARGS__)
#define TEST_GROUP(name) SUPPORT_GROUP(__LINE__, .group = (name))
#define TEST_GROUP_WITH(name, before, after) \
	SUPPORT_GROUP(__LINE__, .group = (name), .setup = (before), .teardown = (after))
#define TEST_GROUP_ONCE(name, before, after)                                              \
	SUPPORT_GROUP(__LINE__, .group = (name), .setup = (before), .teardown = (after), \
		      .once = true)

#define TEST_PROGRAM(name) PROGRAM(name##_program, "check_" #name)
#define TEST_MAIN(name) TEST_PROGRAM(name) { return support_main(); } struct support_test
#define support_main() support_run_tests(__FILE__)
int support_run_tests(const char *file);

/* The same for a suite that the caller made. */
int support_run_suite(Suite *suite);

/* A wrong call of base/json.h aborts a test that has not set this. */
extern bool support_tolerates_misuse;

#endif
