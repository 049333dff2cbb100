/* SPDX-License-Identifier: MIT */
#include "tests/paths.h"
#include "tests/support.h"

/* buildbeat-symbols about objects of all kinds, beside other programs: tests/symbols_objects.py
 * makes and compares them. */

static const char *const cases[] = {
	"functions:gcc", "functions:gcc0", "functions:fixed", "functions:static", "functions:shared",
	"functions:moved", "functions:clang", "functions:lld", "functions:mold", "functions:sections",
	"plt:gcc", "plt:fixed", "plt:shared", "plt:clang", "plt:lld", "aarch64", "assembler", "nested",
	"lines:dwarf5", "lines:dwarf4", "lines:compressed", "lines:split", "lines:split4",
	"lines:minimal", "lines:types", "lines:fixed", "lines:moved",
	"clang:dwarf5", "clang:dwarf4", "clang:split", "dwz",
	"debuglink:id", "debuglink:crc", "build_id", "prelinked", "cache", "vdso", "cxx", "long_name",
	"rust:legacy", "rust:v0", "hand", "hostile",
};

TEST_EACH(objects, cases)
{
	struct run run;

	support_run(&run, support_tmpdir(), "python3 -B " TOP_SRCDIR "/tests/symbols_objects.py "
		    TOP_BUILDDIR "/symbols/buildbeat-symbols %s", cases[_i]);
	ck_assert_msg(run.status == 0 || run.status == 77, "%s: %s%s", cases[_i],
		      buf_str(&run.out), buf_str(&run.err));
}

TEST_PROGRAM(symbols)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("gcc"));
	return support_main();
}
