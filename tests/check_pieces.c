/* SPDX-License-Identifier: MIT */
#include "analyse/words.h"
#include "base/array.h"
#include "render/chart/palette.h"
#include "render/chart/pieces.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"

/* A second on 100 pixels: 10 ms a pixel. Each piece is "from-until:n" in ms, then other
 * properties. */
static const struct {
	const char *name;
	const char *tasks;
	unsigned columns;
	size_t most;
	const char *pieces;
} cases[] = {
	{ "none", OPEN, 100, 100, "" },
	{
		"wide ones stay alone, touching or not",
		OPEN "start\t100000\tm.1\t\t\t\ta\ndone\t200000\tm.1\n"
		"start\t200000\tm.2\t\t\t\ta\ndone\t300000\tm.2\n"
		"start\t301000\tm.3\t\t\t\ta\ndone\t400000\tm.3\n",
		100, 100, "100-200:1 200-300:1 301-400:1 ",
	}, {
		"small ones join until they are wide",
		OPEN "start\t100000\tm.1\t\t\t\ta\ndone\t106000\tm.1\n"
		"start\t108000\tm.2\t\t\t\ta\ndone\t112000\tm.2\n"
		"start\t113000\tm.3\t\t\t\ta\ndone\t119000\tm.3\n"
		"start\t120000\tm.4\t\t\t\ta\ndone\t126000\tm.4\n",
		100, 100, "100-119:3 120-126:1 ",
	}, {
		"but not over a gap of a pixel",
		OPEN "start\t100000\tm.1\t\t\t\ta\ndone\t101000\tm.1\n"
		"start\t111000\tm.2\t\t\t\ta\ndone\t112000\tm.2\n",
		100, 100, "100-101:1 111-112:1 ",
	}, {
		"a small failure marks what is small, not what is wide",
		OPEN "start\t100000\tm.1\t\t\t\ta\nfail\t101000\tm.1\t1\n"
		"start\t102000\tm.2\t\t\t\ta\ndone\t104000\tm.2\n"
		"start\t105000\tm.3\t\t\t\ta\ndone\t500000\tm.3\n"
		"start\t501000\tm.4\t\t\t\ta\nkill\t502000\tm.4\t9\n",
		100, 100, "100-104:2:failed 105-500:1 501-502:1:killed ",
	}, {
		"fewer than there are: wider joins, and failures still show",
		OPEN "start\t100000\tm.1\t\t\t\ta\nkill\t200000\tm.1\t9\n"
		"start\t200000\tm.2\t\t\t\ta\nfail\t300000\tm.2\t1\n"
		"start\t300000\tm.3\t\t\t\ta\ndone\t900000\tm.3\n",
		100, 1, "100-900:3:failed ",
	}, {
		"cut at both ends, none beyond them",
		OPEN "start\t1000\tm.1\t\t\t\ta\ndone\t200000\tm.1\n"
		"start\t950000\tm.2\t\t\t\ta\n"
		"start\t1000000\tm.3\t\t\t\ta\ndone\t1000000\tm.3\n"
		"start\t1200000\tm.4\t\t\t\ta\ndone\t1300000\tm.4\n",
		100, 100, "1-200:1 950-1000:1:unfinished 1000-1000:1 ",
	}, {
		"no pixels at all",
		OPEN "start\t100000\tm.1\t\t\t\ta\ndone\t200000\tm.1\n", 0, 100, "100-200:1 ",
	},
};

TEST_EACH(what_is_drawn, cases)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(lanes, l);
	RELEASED(works, works);
	RELEASED(pieces, p);

	recorded_make(&r, "end_us: 1000000\n", cases[_i].tasks, NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	ck_assert_int_eq(works_make(&works, &r.sum), 0);
	ck_assert_int_eq(pieces_make(&p, &l, &r.sum, &works, 0, 1000000, cases[_i].columns,
				     cases[_i].most), 0);
	for (size_t i = 0; i < p.n; i++) {
		const struct piece *q = &p.piece[i];

		buf_addf(&b, "%d-%d:%u", (int)(q->from_us / 1000), (int)(q->until_us / 1000),
			 q->n_tasks);
		if (q->ended != TASK_DONE)
			buf_addf(&b, ":%s", words_state(q->ended));
		buf_addc(&b, ' ');
	}
	ck_assert_str_eq(buf_str(&b), cases[_i].pieces);
}

/* Tasks that follow each other, by their lengths in ms: whose name the first piece has, and
 * whether it has at least half of it. */
static const struct { const char *lengths, *name; bool most; } dominances[] = {
	{ "400", "t0", true }, { "1 400", "t1", true }, { "1 1 1 400", "t3", true },
	{ "4 4 4 4", "t0", false }, { "2 9 2", "t1", true },
};

TEST_EACH(dominant, dominances)
{
	RELEASED(buf, tasks = BUF_INIT);
	RELEASED(works, works);
	RELEASED(recorded, r);
	RELEASED(lanes, l);
	RELEASED(pieces, p);
	int at = 0, i = 0;

	buf_adds(&tasks, OPEN);
	for (char *s = strdupa(dominances[_i].lengths), *word; (word = strtok(s, " ")); s = NULL) {
		buf_addf(&tasks, "start\t%d\tm.%d\t\t\t\tt%d\n", at * 1000, i + 1, i);
		at += atoi(word);
		buf_addf(&tasks, "done\t%d\tm.%d\n", at * 1000, i + 1);
		i++;
	}
	recorded_make(&r, "end_us: 1000000\n", buf_str(&tasks), NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	ck_assert_int_eq(works_make(&works, &r.sum), 0);
	ck_assert_int_eq(pieces_make(&p, &l, &r.sum, &works, 0, 1000000, 100, 100), 0);
	ck_assert_str_eq(r.rec.task[p.piece[0].task].name, dominances[_i].name);
	ck_assert_int_eq(p.piece[0].share >= 128, dominances[_i].most);
}

/* CPU time of two tasks of 5 ms each, in us, as 1/200 of their time. */
static const struct { const char *user[2]; uint8_t efficiency; } efficiencies[] = {
	{ { "0\t5000", "0\t5000" }, 200 }, { { "0\t5000", "0\t0" }, 100 },
	{ { "0\t2500\t2500", "0\t2500" }, 150 }, { { "0\t9000", "0\t9000" }, 201 },
	{ { "0", "0" }, 255 }, { { "0", "0\t2500" }, 100 }, { { "0\t5010", "0\t5000" }, 200 },
};

TEST_EACH(how_busy, efficiencies)
{
	RELEASED(recorded, r);
	RELEASED(lanes, l);
	RELEASED(works, works);
	RELEASED(pieces, p);

	recorded_make(&r, "end_us: 1000000\n",
		      support_path(OPEN "start\t0\tm.1\t\t\tlink\ta\ndone\t5000\tm.1\t%s\n"
				   "start\t5000\tm.2\t\t\tlink\ta\ndone\t10000\tm.2\t%s\n",
				   efficiencies[_i].user[0], efficiencies[_i].user[1]), NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	ck_assert_int_eq(works_make(&works, &r.sum), 0);
	ck_assert_int_eq(pieces_make(&p, &l, &r.sum, &works, 0, 1000000, 100, 100), 0);
	ck_assert_uint_eq(p.n, 1);
	ck_assert_uint_eq(p.piece[0].efficiency, efficiencies[_i].efficiency);
	ck_assert_uint_eq(p.piece[0].colour, palette_of_kind("link"));
}

/* The colour is that of the kind with most time, the task the longest one. */
TEST(tasks_of_a_piece)
{
	RELEASED(recorded, r);
	RELEASED(lanes, l);
	RELEASED(works, works);
	RELEASED(pieces, p);

	recorded_make(&r, "end_us: 1000000\n", OPEN
		      "start\t0\tm.1\t\t\tcompile\ta\ndone\t2000\tm.1\n"
		      "start\t2000\tm.2\t\t\tlink\tb\ndone\t5000\tm.2\n"
		      "start\t5000\tm.3\t\t\tcompile\tc\ndone\t7000\tm.3\n", NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	ck_assert_int_eq(works_make(&works, &r.sum), 0);
	ck_assert_int_eq(pieces_make(&p, &l, &r.sum, &works, 0, 1000000, 100, 100), 0);
	ck_assert_uint_eq(p.n, 1);
	ck_assert_uint_ne(palette_of_kind("compile"), palette_of_kind("link"));
	ck_assert_uint_eq(p.piece[0].colour, palette_of_kind("compile"));
	ck_assert_str_eq(r.rec.task[p.piece[0].task].name, "b");
}

/* Properties of any recording. */

static void check_order(const struct pieces *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *q = &p->piece[i];

		ck_assert_int_le(q->from_us, q->until_us);
		ck_assert_uint_ge(q->n_tasks, 1);
		if (i && q[-1].lane == q->lane)
			ck_assert_int_le(q[-1].until_us, q->from_us);
		else if (i)
			ck_assert_uint_lt(q[-1].lane, q->lane);
	}
}

static unsigned badness(uint8_t state)
{
	return state == TASK_FAILED ? 3 : state == TASK_KILLED ? 2 : state == TASK_UNFINISHED;
}

/* Every moment of a task in [0, end] is in a piece of its lane, whose state is as bad, or
 * that of a later overlapping task. */
static void check_covered(const struct pieces *p, uint32_t lane, const struct recorded *r,
			  const struct task *t, int64_t end_us, bool overlap)
{
	int64_t covered_us = t->start_us, until_us = recording_task_end_us(&r->rec, t);
	unsigned worst = 0;

	if (t->start_us > end_us)
		return;
	until_us = until_us > end_us ? end_us : until_us;
	for (size_t i = 0; i < p->n; i++) {
		const struct piece *q = &p->piece[i];

		if (q->lane != lane || q->until_us < t->start_us || (!overlap && q->from_us > until_us))
			continue;
		if (q->from_us <= covered_us && q->until_us > covered_us)
			covered_us = q->until_us;
		worst = badness(q->ended) > worst ? badness(q->ended) : worst;
	}
	ck_assert_int_ge(covered_us, until_us);
	ck_assert_uint_ge(worst, badness((uint8_t)t->state));
}

static bool overlaps(const struct lanes *l, uint32_t lane)
{
	size_t i = 0;

	while (lane >= l->row[i].first_lane + l->row[i].n_lanes)
		i++;
	return l->row[i].n_lanes == LANES_A_ROW_MAX;
}

static void check_all(const struct recorded *r, const struct lanes *l, int64_t end_us,
		      unsigned columns, size_t most)
{
	size_t n_tasks = 0, n_there = 0;
	struct works works;
	struct pieces p;

	ck_assert_int_eq(works_make(&works, &r->sum), 0);
	ck_assert_int_eq(pieces_make(&p, l, &r->sum, &works, 0, end_us, columns, most), 0);
	ck_assert_uint_le(p.n, most > l->n_lanes ? most : l->n_lanes);
	check_order(&p);
	for (size_t i = 0; i < r->sum.n_ran; i++) {
		const struct task *t = &r->rec.task[r->sum.order[i]];

		check_covered(&p, l->lane[i], r, t, end_us, overlaps(l, l->lane[i]));
		n_there += t->start_us <= end_us;
	}
	for (size_t i = 0; i < p.n; i++)
		n_tasks += p.piece[i].n_tasks;
	ck_assert_uint_eq(n_tasks, n_there);
	pieces_release(&p);
	works_release(&works);
}

TEST_LOOP(anything, 30)
{
	RELEASED(recorded, r);

	recorded_random(&r, 20u << _i % 5, (uint64_t)_i);
	for (enum lanes_by by = 0; by < LANES_BY; by++) {
		struct lanes l;

		ck_assert_int_eq(lanes_make(&l, &r.sum, by), 0);
		check_all(&r, &l, r.sum.wall_us, 1140, 14000);
		check_all(&r, &l, r.sum.wall_us, 10, 14000);
		check_all(&r, &l, r.sum.wall_us, 100000, 40);
		check_all(&r, &l, 1000000, 100, 3);
		lanes_release(&l);
	}
}

/* Ten thousand tasks at one moment. */
TEST(bounded)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(lanes, l);

	buf_adds(&b, OPEN);
	for (unsigned i = 1; i <= 10000; i++)
		buf_addf(&b, "start\t5\tm.%u\t\t\t\tt\n%s\t7\tm.%u\t1\n", i,
			 i == 7777 ? "fail" : "done", i);
	recorded_make(&r, "end_us: 1000000\n", buf_str(&b), NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	check_all(&r, &l, 1000000, 1140, 14000);
}

TEST_MAIN(pieces);
