/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_FUZZ_H
#define BUILDBEAT_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Each fuzz target defines this; libFuzzer, or tests/fuzz_main.c, calls it with an input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An input that breaks a promise crashes. */
static inline void check(bool ok)
{
	if (!ok)
		abort();
}

#endif
