/* SPDX-License-Identifier: MIT */
/* record --serve and serve --attach beside real builds: serve_record.py has the cases. */
#include "tests/hostile.h"
#include "tests/support.h"

static const char *const cases[] = {
	"watched", "stacks", "stays", "unnoticed", "output", "address", "launcher_killed", "server_killed", "server_stopped", "no_server", "attached",
};

TEST_EACH(beside, cases)
{
	support_expect(NULL, 0, "", "", "python3 -B " TOP_SRCDIR "/tests/serve_record.py " BUILDBEAT " %s",
		       cases[_i]);
}

TEST_PROGRAM(serve_record)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("pgrep") ||
		!support_can_be_loaded());
	return support_main();
}
