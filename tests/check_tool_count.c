/* SPDX-License-Identifier: MIT */
#include "analyse/tool_count.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* "120 of 363", as build tools say it. */

#define NINJA(id) "open\t0\t" id "\t10\t\t10\tninja\t1.11\t/src\tninja\n"
#define MAKE "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
#define BITBAKE "open\t0\tb\t10\t\t10\tbitbake\t2.8\t/src\tbitbake x\n"

static const struct {
	const char *name, *tasks, *output;	/* NULL: not recorded */
	uint64_t ended;
	int64_t done, total;
} cases[] = {
	{ "ninja, into a file", NINJA("n"), "[1/3] CC a.o\n[2/3] CC b.o\n", 2, 2, 3 },
	{ "on a terminal", NINJA("n"), "\r[0/3] CC a.o\033[K\r[1/3] CC a.o\033[K\r[1/3] CC b.o\033[K", 1, 1, 3 },
	{ "output of a task behind it", NINJA("n"), "[1/3] CC a.o\na.c:1: warning: [2/3\n[x/3] no\n[4/3] no\n", 1, 1, 3 },
	{ "a smaller plan, after build.ninja was made again", NINJA("n"), "[0/1] Re-running CMake\n[1/363] CC a.o\n", 1, 1, 363 },
	{ "nothing yet", NINJA("n"), "ninja: Entering directory `x'\n", 0, -1, -1 },
	{ "its output is not recorded", NINJA("n"), NULL, 2, -1, -1 },
	{ "what a task prints, far from the number of tasks that ended", NINJA("n"), "[5000/9000] CC a.o\n[1/2] test\n", 5000, 5000, 9000 },
	{ "two ninjas, whose lines look alike", NINJA("n") NINJA("o"), "[1/3] CC a.o\n", 1, -1, -1 },
	{ "make does not know it", MAKE, "[1/3] CC a.o\n", 1, -1, -1 },
	{ "bitbake", BITBAKE "note\t5\tb\tprogress: 3 of 500\nnote\t6\tb\tprogress: 120 of 363\n", NULL, 7, 120, 363 },
	{ "not a number", BITBAKE "note\t5\tb\tprogress: 3 of x\nnote\t6\tb\tprogress: 9 of 8\n", NULL, 7, -1, -1 },
};

TEST_EACH(known, cases)
{
	RELEASED(recorded, r);
	struct tool_count p;

	recorded_make(&r, "cwd: /src\n", cases[_i].tasks, NULL);
	if (cases[_i].output)
		support_writes(support_path("%s/output.log", r.rec.path), cases[_i].output);
	tool_count_find(&p, &r.rec, cases[_i].ended, r.rec.path);
	ck_assert_msg(p.done == cases[_i].done && p.total == cases[_i].total, "%s: %lld of %lld", cases[_i].name,
		      (long long)p.done, (long long)p.total);
}

/* It is not among the notes that people read. */
TEST(no_note)
{
	RELEASED(recorded, r);

	recorded_make(&r, "cwd: /src\n", BITBAKE "note\t5\tb\tprogress: 3 of 500\nnote\t6\tb\tother\n", NULL);
	ck_assert_int_eq(r.rec.n_notes, 1);
	ck_assert_str_eq(r.rec.note[0].text, "other");
}

TEST_MAIN(tool_count);
