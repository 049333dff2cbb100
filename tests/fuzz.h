/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_FUZZ_H
#define BUILDBEAT_TESTS_FUZZ_H

#include "tests/program.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Begins the function of a fuzz target, which gets an input (data, size) and returns 0. libFuzzer
 * calls it, or in a normal build tests/fuzz_NAME with each file that is named.
 */
#ifdef FUZZING
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
#define FUZZ_TARGET(name) int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
#else
#define FUZZ_TARGET(name)                                                      \
	static int name##_input(const uint8_t *data, size_t size);             \
	PROGRAM(name##_fuzz, "fuzz_" #name)                                    \
	{                                                                      \
		return fuzz_files(name##_input, argv + 1);                     \
	}                                                                      \
	static int name##_input(const uint8_t *data, size_t size)
#endif

/* Passes each named file, and each file of each named directory, to the target once; in memory of
 * their exact size, so that sanitizers see a read after it. Returns the exit status. */
int fuzz_files(int (*target)(const uint8_t *data, size_t size), char **paths);

/* An input that breaks a promise crashes. */
static inline void check(bool ok)
{
	if (!ok)
		abort();
}

/* A file of an input of several, each after a line "== NAME". */
struct fuzz_part {
	char name[64];
	const uint8_t *p;
	size_t len;
};

/* Moves *at to the end of the next one; false: there is none. */
static inline bool fuzz_part(struct fuzz_part *part, const uint8_t **at, const uint8_t *end)
{
	const uint8_t *line = *at, *eol = memchr(line, '\n', (size_t)(end - line)), *next;
	size_t len = eol ? (size_t)(eol - line) : 0;

	if (len < 3 || memcmp(line, "== ", 3) || len - 3 >= sizeof part->name)
		return false;
	memcpy(part->name, line + 3, len - 3);
	part->name[len - 3] = '\0';
	part->p = eol + 1;
	next = memmem(eol, (size_t)(end - eol), "\n== ", 4);
	*at = next ? next + 1 : end;
	part->len = (size_t)(*at - part->p);
	return true;
}

static inline void fuzz_write(const char *path, const void *p, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	check(fd >= 0 && write(fd, p, len) == (ssize_t)len && !close(fd));
}

#endif
