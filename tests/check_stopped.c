/* SPDX-License-Identifier: MIT */
/* Builds that are killed or suspended. */
#include "base/array.h"
#include "tests/launched.h"
#include "tests/support.h"

static void run_script(const char *name)
{
	support_expect(NULL, 0, "", "", "python3 -B " TOP_SRCDIR "/tests/%s " BUILDBEAT " %s", name,
		       support_tmpdir());
}

TEST(killed)
{
	run_script("killed.py");
}

/* They sleep while the build is suspended. */
TEST(suspended)
{
	run_script("suspended.py");
}

/* The loader and the constructors of libraries need 20 to 40 KiB before main(), by chance of addresses. */
static const struct { int kib; const char *command; } stacks[] = {
	{ 64, "true" }, { 64, "make" }, { 96, "make" }, { 128, "make" },
};

TEST_EACH(small_stack, stacks)
{
	const char *command = stacks[_i].command;

	support_writes(support_path("%s/Makefile", support_tmpdir()), "all: ; @echo done\n");
	support_expect(support_tmpdir(), 0, NULL, "",
		       "ulimit -s %d; %s || exit 0; "
		       BUILDBEAT " record --processes --log -o r -- %s && " BUILDBEAT " show r",
		       stacks[_i].kib, command, command);
}

TEST_PROGRAM(stopped)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("bash") ||
		!support_can_be_loaded());
	return support_main();
}
