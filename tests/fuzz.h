/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_FUZZ_H
#define BUILDBEAT_TESTS_FUZZ_H

#include "tests/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

#endif
