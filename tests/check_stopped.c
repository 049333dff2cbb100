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

/* The program buildbeat needs 8 KiB more than true; its objects in make need no more than make. */
#define MORE_KIB 16

static const char *const stacks[] = { "true", "make" };

/* Addresses that are not random: the need of the loader before main() varies with them. */
TEST_EACH(small_stack, stacks)
{
	const char *dir = support_tmpdir(), *command = stacks[_i];
	struct run r;

	support_writes(support_path("%s/Makefile", dir), "all: ; @echo done\n");
	support_run(&r, dir, "setarch -R sh -c 'runs() { for i in 1 2 3 4 5; do "
		    "(ulimit -s $1; exec %s) >&2 || return; done; }; "
		    "k=4; until runs $k; do k=$((k + 4)); test $k -lt 1024 || exit; done; echo $k'", command);
	SKIP_IF(r.status);
	support_expect(dir, 0, NULL, "",
		       "setarch -R sh -c 'ulimit -s %ld; "
		       BUILDBEAT " record --processes --log -o r -- %s && " BUILDBEAT " show r'",
		       strtol(r.out.data, NULL, 10) + MORE_KIB, command);
}

TEST_PROGRAM(stopped)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("bash") ||
		!support_can_be_loaded());
	return support_main();
}
