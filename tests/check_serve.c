/* SPDX-License-Identifier: MIT */
/* The server's safety, by raw sockets: serve_safety.py has the cases. */
#include "tests/hostile.h"
#include "tests/support.h"

/* The cases of one line run beside each other. */
static const char *const cases[] = {
	"host origin token cookie cookies headers compressed errors paths limits listing",
	"half_open never_reads pipelining unix ipv6 ends fuzz links",
	"descriptors", "no_memory",
};

#define SAFETY "python3 -B " TOP_SRCDIR "/tests/serve_safety.py " BUILDBEAT " "

TEST_EACH(safety, cases)
{
	SKIP_IF(!strcmp(cases[_i], "no_memory") && !support_can_be_loaded());
	support_expect(NULL, 0, "", "", SAFETY "%s", cases[_i]);
}

TEST(tls)
{
	if (support_has("openssl"))
		support_expect(NULL, 0, "", "", SAFETY "tls");
}

TEST_PROGRAM(serve)
{
	SKIP_PROGRAM_IF(!support_has("python3"));
	return support_main();
}
