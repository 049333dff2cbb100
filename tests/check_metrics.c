/* SPDX-License-Identifier: MIT */
/* /metrics of a real server, scraped by Prometheus: metrics.py. */
#include "tests/support.h"

TEST(scraped)
{
	support_expect(support_tmpdir(), 0, "", NULL, "python3 -B " TOP_SRCDIR "/tests/metrics.py %s/buildbeat",
		       TOP_BUILDDIR);
}

TEST_PROGRAM(metrics)
{
	SKIP_PROGRAM_IF(!support_has("python3") || !support_has("prometheus") ||
		!support_has("promtool") || !support_can_be_loaded());
	return support_main();
}
