/* SPDX-License-Identifier: MIT */
/* Builds in other PID namespaces: unshare, bwrap, nested, with and without their own /proc. */
#include "tests/launched.h"
#include "tests/support.h"

TEST_UNTIMED(as_the_programs_say)
{
	struct run r;

	support_run(&r, NULL, "python3 -B " TOP_SRCDIR "/tests/namespaces.py " BUILDBEAT " %s",
		    support_tmpdir());
	SKIP_IF(r.status == 77);
	ck_assert_msg(!r.status, "%s%s", r.out.data, r.err.data);
}

TEST_PROGRAM(namespaces)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("unshare") ||
		!support_can_be_loaded());
	return support_main();
}
