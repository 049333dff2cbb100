/* SPDX-License-Identifier: MIT */
#include "analyse/races.h"
#include "base/array.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILD "cwd: /src\nend_us: 90000000\nstatus: 0\n"
#define TWO_MAKES "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src/lib\tmake\n" \
	"open\t0\tn\t11\t0\t11\tmake\t4.3\t/src\tmake\n"

/* "first second overlap_us what;" of each */
static const struct {
	const char *name, *tasks, *races;
} cases[] = {
	{ "two makes of one file", TWO_MAKES
	  "start\t0\tm.1\t\t\tcompile\ta.o\ndone\t500\tm.1\n"
	  "start\t100\tn.1\t\t\tcompile\tlib/./a.o\ndone\t900\tn.1\n"
	  "start\t900\tn.2\t\t\tlink\tprog\nafter\t900\tn.2\tlib/a.o\ndone\t950\tn.2\n", "a.o lib/./a.o 400 0;" },
	{ "one after the other", TWO_MAKES
	  "start\t0\tm.1\t\t\tcompile\ta.o\ndone\t500\tm.1\n"
	  "start\t500\tn.1\t\t\tcompile\tlib/a.o\ndone\t900\tn.1\n", "" },
	{ "targets that are no files", TWO_MAKES
	  "start\t0\tm.1\t\t\tshell\tall\ndone\t500\tm.1\n"
	  "start\t100\tn.1\t\t\tshell\tlib/all\ndone\t900\tn.1\n", "" },
	{ "lines of one recipe", TWO_MAKES
	  "start\t0\tm.1\t\t\tcompile\ta.o\ndone\t500\tm.1\n"
	  "start\t400\tm.2\t\t\tcompile\ta.o\ndone\t900\tm.2\n", "" },
	{ "read while another make makes it", TWO_MAKES
	  "start\t0\tm.1\t\t\tarchive\tx.a\ndone\t700\tm.1\n"
	  "start\t100\tn.1\t\t\tlink\tprog\nafter\t100\tn.1\tlib/x.a\ndone\t300\tn.1\n", "x.a prog 200 1;" },
	{ "another file that both make", TWO_MAKES
	  "start\t0\tm.1\t\t\tgenerate\ty.c\nout\t0\tm.1\ty.h\ndone\t700\tm.1\n"
	  "start\t100\tn.1\t\t\tgenerate\tz.c\nout\t100\tn.1\tlib/y.h\ndone\t300\tn.1\n"
	  "start\t900\tm.2\t\t\tcompile\ty.o\nafter\t900\tm.2\ty.h\ndone\t950\tm.2\n", "y.c z.c 200 0;" },
};

TEST_EACH(found, cases)
{
	RELEASED(buf, text = BUF_INIT);
	RELEASED(races, races);
	RELEASED(recorded, r);

	recorded_make(&r, BUILD, cases[_i].tasks, NULL);
	ck_assert_int_eq(races_make(&races, &r.sum), 0);
	ck_assert_uint_eq(races.n, races.n_all);
	for (size_t i = 0; i < races.n; i++) {
		const struct race *race = &races.race[i];

		buf_addf(&text, "%s %s %d %d;", r.rec.task[race->first].name, r.rec.task[race->second].name,
			 (int)race->overlap_us, (int)race->what);
	}
	ck_assert_msg(!strcmp(buf_str(&text), cases[_i].races), "%s: %s", cases[_i].name, buf_str(&text));
}

/* What is found of random builds is true: both ran then. */
TEST_LOOP(random_builds, 20)
{
	RELEASED(races, races);
	RELEASED(recorded, r);

	recorded_random(&r, 300, (uint64_t)_i);
	ck_assert_int_eq(races_make(&races, &r.sum), 0);
	for (size_t i = 0; i < races.n; i++) {
		const struct task *a = &r.rec.task[races.race[i].first], *b = &r.rec.task[races.race[i].second];

		ck_assert_int_gt(races.race[i].overlap_us, 0);
		ck_assert_int_lt(a->start_us, recording_task_end_us(&r.rec, b));
		ck_assert_int_lt(b->start_us, recording_task_end_us(&r.rec, a));
	}
}

TEST_MAIN(races);
