/* SPDX-License-Identifier: MIT */
#include "command/build_tool.h"
#include "tests/support.h"

static const struct {
	const char *name, *row;		/* NULL: unknown */
} cases[] = {
	{ "make", "make" }, { "make-4.4", "make" }, { "gmake", "gmake" }, { "remake", "remake" },
	{ "ninja", "ninja" }, { "ninja-1.12.1", "ninja" }, { "ninja-build", "ninja-build" },
	{ "ninja-build-1", "ninja-build" }, { "samu", "samu" }, { "samurai", "samurai" },
	{ "n2", "n2" }, { "bitbake", "bitbake" }, { "", NULL }, { "mak", NULL }, { "makefile", NULL },
	{ "make-", NULL }, { "make-x", NULL }, { "bitbake-layers", NULL }, { "cargo", NULL },
};

TEST_EACH(names, cases)
{
	const struct build_tool *t = build_tool_of(cases[_i].name);

	ck_assert_pstr_eq(t->name, cases[_i].row);
}

/* What nothing is known about has no property. */
TEST(unknown)
{
	const struct build_tool *t = build_tool_of(NULL);

	ck_assert_ptr_eq(t, build_tool_of("cargo"));
	ck_assert_int_eq(t->output, BUILD_TOOL_SILENT);
	ck_assert(!t->messages && !t->ninja && !t->one_thread && !t->recipes);
}

/* What numbers its tasks in one thread is a ninja: a make's plugin does that itself. */
TEST(consistent)
{
	for (const struct build_tool *t = build_tools; t->name; t++) {
		ck_assert(!t->one_thread || t->ninja);
		ck_assert_int_eq(t->recipes, t->output == BUILD_TOOL_RECIPES);
		ck_assert_ptr_eq(build_tool_of(t->name), t);
	}
}

/* The same program under another name. */
TEST(other_names)
{
	ck_assert_int_eq(build_tool_of("gmake")->output, build_tool_of("make")->output);
	ck_assert_int_eq(build_tool_of("ninja-build")->output, build_tool_of("ninja")->output);
	ck_assert(build_tool_of("samu")->one_thread && build_tool_of("samu")->ninja);
	ck_assert(!build_tool_of("n2")->one_thread && build_tool_of("n2")->ninja);
}

TEST_MAIN(build_tool);
