/* SPDX-License-Identifier: MIT */
/* The commands ps, stats and mmaps on real processes, compared with /proc as Python reads it. */
#include "tests/hostile.h"
#include "tests/support.h"

#define LIVE "python3 -B " TOP_SRCDIR "/tests/inspect_live.py " BUILDBEAT " "

static const char *const commands[] = { "ps", "stats", "mmaps", "capabilities", "follow" };

TEST_EACH(like_proc, commands)
{
	support_expect(NULL, 0, "", "", LIVE "%s", commands[_i]);
}

/* The same as another user, for root. */
TEST_EACH(without_rights, commands)
{
	SKIP_IF(!hostile_can());
	support_expect("/", 0, "", "", "PATH=/usr/bin:/bin setpriv --reuid=65534 --regid=65534 "
		       "--clear-groups " LIVE "%s", commands[_i]);
}

TEST_PROGRAM(inspect_live)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("setpriv") ||
		!support_can_be_loaded());
	return support_main();
}
