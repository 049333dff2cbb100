/* SPDX-License-Identifier: MIT */
#include "tests/program.h"

#include <stdio.h>
#include <string.h>

/*
 * All test programs in one, which links in a second where 250 programs took a minute and 600 MB.
 * tests/check_NAME and tests/fuzz_NAME are links to it. `tests/checks NAME` runs one without a
 * link; without a name it lists them.
 */

/* The linker collects what PROGRAM puts into this section. */
extern const struct test_program __start_test_programs[], __stop_test_programs[];

static int find(const char *name)
{
	int n = (int)(__stop_test_programs - __start_test_programs);

	while (n > 0 && strcmp(__start_test_programs[n - 1].name, name))
		n--;
	return n - 1;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	int i = find(slash ? slash + 1 : argv[0]);

	if (i < 0 && argc > 1) {
		argc--;
		i = find(*++argv);
	}
	if (i >= 0)
		return __start_test_programs[i].run(argc, argv);
	for (const struct test_program *p = __start_test_programs; p < __stop_test_programs; p++)
		puts(p->name);
	return 2;
}
