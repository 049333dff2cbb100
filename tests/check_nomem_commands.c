/* SPDX-License-Identifier: MIT */
/*
 * Commands out of memory at every place there is: the usual output, or exit status 2 and
 * a message; never half an output, never a crash.
 */
#include "tests/nomem.h"
#include "tests/support.h"

#include <stdlib.h>

#define RECORDINGS TOP_SRCDIR "/tests/data/recordings"
#define NESTED RECORDINGS "/nested"
#define OE TOP_SRCDIR "/tests/data/oe/genuine"

static const struct {
	const char *argv[12];
	long least;		/* allocations, so that all of them were tried */
} commands[] = {
	{ { "show", NESTED }, 60 },
	{ { "show", "-j", NESTED }, 60 },
	{ { "show", "--tasks", NESTED }, 60 },
	{ { "show", "-j", "--tasks", NESTED }, 60 },
	{ { "show", "--failed", NESTED }, 60 },
	{ { "show", "-j", "--failed", "-k", "link", NESTED }, 60 },
	{ { "show", "-f", "*p*", "-s", "io", "-t", "2", NESTED }, 60 },
	{ { "show", "-f", "app", "-s", "name", NESTED }, 60 },
	{ { "show", "-o", RECORDINGS }, 60 },
	{ { "show", "-o", RECORDINGS, "cut" }, 40 },
	{ { "show", RECORDINGS "/empty" }, 20 },
	{ { "show", OE }, 60 },
	{ { "list", RECORDINGS }, 20 },
	{ { "list", "-j", RECORDINGS }, 20 },
	{ { "chart", "-o", "-", NESTED }, 200 },
	{ { "chart", "-o", "-", "-b", "directory", NESTED }, 200 },
	{ { "chart", "-o", "-", "-b", "kind", "--compare", RECORDINGS "/cut", NESTED }, 200 },
	{ { "chart", "-o", "-", "-b", "recipe", "--compare", NESTED, OE }, 200 },
};

START_TEST(nth_fails)
{
	setenv("COLUMNS", "80", 1);
	setenv("HOME", "/nonexistent", 1);
	ck_assert_int_gt(nomem_command("/", commands[_i].argv), commands[_i].least);
}
END_TEST

int main(void)
{
	return support_main("nomem_commands", TEST_EACH(nth_fails, commands));
}
