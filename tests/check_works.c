/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/works.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
#define BITBAKE "open\t0\tm\t10\t0\t10\tbitbake\t2.0\t/src\tbitbake\n"

/* Each work is "name:colour:tasks ". */
static const struct { const char *name, *tasks, *works; } cases[] = {
	{ "nothing", OPEN, "" },
	{
		"kinds, and the programs of others",
		OPEN "start\t0\tm.1\t\t\tcompile\ta\t\tcc -c a.c\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\tother\tb\t\tX=1 /opt/bin/frob -x\ndone\t400000\tm.2\n"
		"start\t0\tm.3\t\t\tother\tc\t\tfrob c\ndone\t10000\tm.3\n"
		"start\t0\tm.4\t\t\tother\td\t\t\ndone\t300000\tm.4\n"
		"start\t0\tm.5\t\t\tinstall\te\t\tinstall e\ndone\t1000\tm.5\n",
		"compile:0:1 frob:1:2 other:2:1 install:7:1 ",
	}, {
		"a colour belongs to the kind with more time",
		OPEN "start\t0\tm.1\t\t\timage\ta\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\tlink\tb\ndone\t600000\tm.2\n"
		"start\t0\tm.3\t\t\tcompile\tc\ndone\t100000\tm.3\n",
		"link:1:1 image:2:1 compile:0:1 ",
	}, {
		"tasks of bitbake",
		BITBAKE "start\t0\tm.1\t\t\tother\tdo_deploy\tx-1.0-r0\ndone\t500000\tm.1\n"
		"start\t0\tm.2\t\t\tother\tdo_deploy\ty-1.0-r0\ndone\t500000\tm.2\n",
		"deploy:0:2 ",
	},
};

TEST_EACH(works, cases)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(works, w);

	recorded_make(&r, "end_us: 1000000\n", cases[_i].tasks, NULL);
	ck_assert_int_eq(works_make(&w, &r.sum), 0);
	for (size_t i = 0; i < w.n; i++)
		buf_addf(&b, "%s:%d:%zu ", w.work[i].name, (int)w.work[i].colour,
			 w.work[i].n_tasks);
	ck_assert_str_eq(buf_str(&b), cases[_i].works);
}

/* Whatever the kinds: every task counts once, no two works share a name, none but grey ones a
 * colour. */
TEST_LOOP(sums, 4)
{
	bool taken[COLOURS] = { false };
	RELEASED(buf, tasks = BUF_INIT);
	unsigned n = 0, kinds = 1 + (unsigned)_i * 40;
	RELEASED(recorded, r);
	RELEASED(works, w);

	buf_adds(&tasks, OPEN);
	for (unsigned i = 1; i <= 300; i++) {
		unsigned until = i + 1000 + i % kinds * 7;

		buf_addf(&tasks, "start\t%u\tm.%u\t\t\t", i, i);
		buf_addf(&tasks, i % 2 ? "kind%u" : "other\t\t\tprogram%u", i % kinds);
		buf_addf(&tasks, "\ndone\t%u\tm.%u\n", until, i);
	}
	recorded_make(&r, "end_us: 1000000\n", buf_str(&tasks), NULL);
	ck_assert_int_eq(works_make(&w, &r.sum), 0);
	for (size_t i = 0; i < w.n; i++) {
		enum colour c = w.work[i].colour;

		n += (unsigned)w.work[i].n_tasks;
		ck_assert(i == 0 || w.work[i - 1].wall_us >= w.work[i].wall_us);
		ck_assert(c == COLOUR_GREY ? i >= w.n_coloured : !taken[c]);
		taken[c] = true;
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(w.work[i].name, w.work[k].name);
	}
	ck_assert_uint_eq(n, 300);
	for (size_t i = 0; i < r.sum.n_ran; i++)
		ck_assert_uint_lt(w.of[i], w.n);
}

TEST_MAIN(works);
