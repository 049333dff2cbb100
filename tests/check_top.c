/* SPDX-License-Identifier: MIT */
#include "tests/launched.h"
#include "tests/support.h"

/* `buildbeat top`: tests/top.py runs builds and looks at the screen. */
#define TOP "python3 -B " TOP_SRCDIR "/tests/top.py " TOP_BUILDDIR " "

/* The scenarios of one line run beside each other. */
static const char *const scenario[] = {
	"running small killed", "control moves hostile predicted",
	"first_error server socket",
};

TEST_EACH(terminal, scenario)
{
	SKIP_IF(!support_can_be_loaded());
	unsetenv("MAKEFLAGS");
	support_expect(NULL, 0, "", "", TOP "%s", scenario[_i]);
}

TEST(misuse)
{
	const char *dir = support_tmpdir();

	support_refuses(dir, "top nothing", "nothing");
	support_refuses(dir, "top --onze", "onze");
	support_refuses(dir, "top a b", "top");
	support_refuses(dir, "top --allow-control http://127.0.0.1:1/", "on this machine");
	support_refuses(dir, "top -1 " TOP_SRCDIR "/tests/data", "");
}

TEST_MAIN(top);
