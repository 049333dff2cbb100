/* SPDX-License-Identifier: MIT */
#include "analyse/path.h"
#include "base/array.h"
#include "tests/support.h"

static const struct { const char *dir, *name, *joined, *below_src; bool below; } cases[] = {
	{ "/src", "a.o", "/src/a.o", "a.o", true },
	{ "/src/", "./a.o", "/src/a.o", "a.o", false },
	{ "/src/lib", "../a.o", "/src/a.o", "a.o", false },
	{ "/src/lib", "../../x//y/./z/", "/x/y/z", "/x/y/z", false },
	{ "/src", "", "/src", ".", false },
	{ "/src", ".", "/src", ".", false },
	{ "/src", "..", "/", "/", false },
	{ "/", "../..", "/", "/", false },
	{ "/", "x", "/x", "/x", true },
	{ "/src", "/abs/./x", "/abs/x", "/abs/x", false },
	{ "/src2", "x", "/src2/x", "/src2/x", true },
	{ "", "lib/../../x", "../x", "../x", false },
	{ "", "../../x", "../../x", "../../x", false },
	{ "", "a/..", ".", ".", false },
	{ "", "", ".", ".", false },
	{ "..", "..", "../..", "../..", false },
	{ "/src", ".libs/a.o", "/src/.libs/a.o", ".libs/a.o", true },
	{ "/src", "...", "/src/...", "...", false },
	{ "/src", "..a/b", "/src/..a/b", "..a/b", false },
};

TEST_EACH(joining, cases)
{
	RELEASED(buf, b = BUF_INIT);
	struct slice rest;

	path_join(&b, slice_of(cases[_i].dir), slice_of(cases[_i].name));
	ck_assert_str_eq(buf_str(&b), cases[_i].joined);
	rest = path_relative((struct slice){ b.data, b.len }, slice_of("/src"));
	ck_assert_uint_eq(rest.len, strlen(cases[_i].below_src));
	ck_assert_mem_eq(rest.p, cases[_i].below_src, rest.len);
	ck_assert_int_eq(path_is_below(cases[_i].name), cases[_i].below);
}

TEST_MAIN(path);
