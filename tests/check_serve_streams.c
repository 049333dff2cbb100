/* SPDX-License-Identifier: MIT */
/* Streams of a real server: serve_streams.py has the cases. */
#include "tests/support.h"

static const char *const cases[] = {
	"build", "resume", "deleted", "killed", "attached", "hostile", "slow", "stuck",
};

TEST_EACH(streams, cases)
{
	support_expect(support_tmpdir(), 0, "", NULL, "python3 -B " TOP_SRCDIR "/tests/serve_streams.py "
		       "%s/buildbeat %s", TOP_BUILDDIR, cases[_i]);
}

TEST_PROGRAM(serve_streams)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_can_be_loaded());
	return support_main();
}
