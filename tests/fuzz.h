/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_FUZZ_H
#define BUILDBEAT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* What each fuzz target defines: libFuzzer, or tests/fuzz_main.c, calls it with an input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that an input breaks is a crash. */
static inline void check(bool ok)
{
	if (!ok)
		abort();
}

#endif
