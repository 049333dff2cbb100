/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_PROGRAM_H
#define BUILDBEAT_TESTS_PROGRAM_H

/*
 * The test programs tests/check_NAME and tests/fuzz_NAME are links to one program, tests/checks,
 * which runs the one whose name it was called by (tests/checks.c). PROGRAM enters one.
 */
struct test_program {
	const char *name;
	int (*run)(int argc, char **argv);
};

#define PROGRAM(id, program_name)                                                          \
	static int id(int argc, char **argv);                                              \
	static const struct test_program id##_entry                                        \
		__attribute__((used, section("test_programs"))) = { program_name, id };    \
	static int id(int argc __attribute__((unused)), char **argv __attribute__((unused)))

#endif
