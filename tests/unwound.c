/* SPDX-License-Identifier: MIT */
/*
 * Loaded by generated programs: at any place of theirs, the call stack is that which libgcc
 * finds. It prints each difference and counts the comparisons.
 */
#include "heap/unwind.h"
#include "tests/unwound.h"

#include <stdio.h>
#include <string.h>
#include <unwind.h>

#define FRAMES_MAX 4096

struct trace {
	uintptr_t address[FRAMES_MAX];
	size_t n;
};

static unsigned long compared, different;
static size_t deepest;

/* The innermost frame is this object's own; the outermost may be 0. */
static _Unwind_Reason_Code add(struct _Unwind_Context *context, void *data)
{
	struct trace *t = data;
	int exact = 0;
	uintptr_t address = _Unwind_GetIPInfo(context, &exact);

	if (!address || t->n == FRAMES_MAX)
		return _URC_END_OF_STACK;
	t->address[t->n++] = exact ? address : address - 1;
	return _URC_NO_REASON;
}

__attribute__((noinline)) void unwound_check(void)
{
	static __thread struct trace want, got;
	uintptr_t from = (uintptr_t)__builtin_return_address(0);
	size_t skip = 0;

	want.n = 0;
	_Unwind_Backtrace(add, &want);
	while (skip < want.n && want.address[skip] != from - 1)
		skip++;
	got.n = unwind_stack(from, got.address, FRAMES_MAX);
	compared++;
	if (got.n > deepest)
		deepest = got.n;
	if (got.n == want.n - skip &&
	    !memcmp(got.address, want.address + skip, got.n * sizeof *got.address))
		return;
	different++;
	for (size_t i = 0; i < got.n || i + skip < want.n; i++)
		printf("%zu: %#lx, not %#lx\n", i, i < got.n ? got.address[i] : 0,
		       i + skip < want.n ? want.address[i + skip] : 0);
}

int unwound_end(void)
{
	printf("%lu compared, %lu different, at most %zu frames\n", compared, different, deepest);
	return different || !compared;
}
