/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/lane_pack.h"
#include "render/chart/lanes.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILD "cwd: /src\ncores: 4\nend_us: 9000000\nstatus: 0\n"
#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
/* lib's make runs in m.1, that of lib/sub in lib's first task. */
#define SUBMAKES OPEN \
	"start\t0\tm.1\t11\t\t\tlib\t\tmake -C lib\n" \
	"open\t10\ts\t12\t1\t12,11\tmake\t4.3\t/src/lib\tmake\n" \
	"start\t1000000\ts.1\t13\t\t\tsub\t\tmake -C sub\n" \
	"open\t1000010\tu\t14\t2\t14,13\tmake\t4.3\t/src/lib/sub\tmake\n"

/* Where tasks are: a word a task by its start, with the label and lane of its row. */
static const struct {
	const char *name;
	enum lanes_by by;
	const char *tasks;
	const char *rows;	/* "label:lanes ..." */
	const char *places;	/* "name=label.lane ..." */
} cases[] = {
	{ "no file", LANES_WORKER, NULL, "", "" },
	{ "nothing ran", LANES_KIND, OPEN "queue\t5\tm.1\tcompile\ta\n", "", "" },
	{ "one, unfinished", LANES_WORKER, OPEN "start\t5\tm.1\t11\t\t\ta\n", "1:1 ", "a=1.0 " },
	{
		"the lowest that is free", LANES_WORKER,
		OPEN "start\t0\tm.1\t\t\t\ta\ndone\t100000\tm.1\n"
		"start\t0\tm.2\t\t\t\tb\ndone\t300000\tm.2\n"
		"start\t0\tm.3\t\t\t\tc\ndone\t900000\tm.3\n"
		"start\t600000\tm.4\t\t\t\td\ndone\t700000\tm.4\n",
		"1:1 2:1 3:1 ", "a=1.0 b=2.0 c=3.0 d=1.0 ",
	}, {
		"stamps that overlap a little are not another worker", LANES_WORKER,
		OPEN "start\t0\tm.1\t\t\t\ta\ndone\t100000\tm.1\n"
		"start\t0\tm.2\t\t\t\tb\ndone\t200000\tm.2\n"
		"start\t99950\tm.3\t\t\t\tc\ndone\t300000\tm.3\n"
		"start\t198500\tm.4\t\t\t\td\ndone\t300000\tm.4\n",
		"1:1 2:1 ", "a=1.0 b=2.0 c=1.0 d=2.0 ",
	}, {
		"but of short tasks they are", LANES_WORKER,
		OPEN "start\t0\tm.1\t\t\t\ta\ndone\t1000\tm.1\n"
		"start\t700\tm.2\t\t\t\tb\ndone\t1700\tm.2\n",
		"1:1 2:1 ", "a=1.0 b=2.0 ",
	}, {
		"all at one moment", LANES_WORKER,
		OPEN "start\t7\tm.1\t\t\t\ta\ndone\t7\tm.1\nstart\t7\tm.2\t\t\t\tb\ndone\t7\tm.2\n"
		"start\t7\tm.3\t\t\t\tc\ndone\t6\tm.3\nstart\t8\tm.4\t\t\t\td\ndone\t9\tm.4\n",
		"1:1 2:1 3:1 ", "a=1.0 b=2.0 c=3.0 d=3.0 ",
	}, {
		"lines of a recipe stay in their lane", LANES_WORKER,
		OPEN "start\t0\tm.1\t\t\t\tx\ndone\t100000\tm.1\n"
		"start\t0\tm.2\t\t\t\ta\ndone\t100000\tm.2\n"
		"start\t100100\tm.3\t\t\t\ta\ndone\t200000\tm.3\n"
		"start\t500000\tm.4\t\t\t\ta\ndone\t600000\tm.4\n",
		"1:1 2:1 ", "x=1.0 a=2.0 a=2.0 a=1.0 ",
	}, {
		"as the host numbers its workers", LANES_WORKER,
		OPEN "start\t0\tm.1\t\t7\t\ta\ndone\t100000\tm.1\n"
		"start\t200000\tm.2\t\t3\t\tb\ndone\t400000\tm.2\n"
		"start\t300000\tm.3\t\t3\t\ttaken\ndone\t500000\tm.3\n"
		"start\t600000\tm.4\t\t7\t\td\ndone\t700000\tm.4\n"
		"start\t600000\tm.5\t\t999999\t\te\ndone\t700000\tm.5\n",
		"1:1 2:1 ", "a=2.0 b=1.0 taken=2.0 d=2.0 e=1.0 ",
	}, {
		"builds inside builds", LANES_WORKER,
		SUBMAKES "start\t1100000\tu.1\t\t\t\ta.o\ndone\t1200000\tu.1\nclose\t1200000\tu\n"
		"done\t1300000\ts.1\nstart\t1300000\ts.2\t\t\t\tb.o\ndone\t1400000\ts.2\n"
		"close\t1400000\ts\ndone\t1500000\tm.1\n",
		"nested:1 nested 2:1 1:1 ",
		"lib=nested.0 sub=nested 2.0 a.o=1.0 b.o=1.0 ",
	}, {
		"by directory, two deep", LANES_DIRECTORY,
		SUBMAKES "start\t1100000\tu.1\t\t\t\tx/y/a.o\ndone\t1100001\tu.1\n"
		"start\t1200000\tu.2\t\t\t\t../b.o\ndone\t1200002\tu.2\n"
		"start\t1300000\tm.2\t\t\t\ty.o\ndone\t1300004\tm.2\n"
		"start\t1400000\tm.3\t\t\t\tlib/sub/z.o\ndone\t1400008\tm.3\n"
		"start\t1500000\tm.4\t\t\t\t/src/lib/../lib/./c.o\ndone\t1500016\tm.4\n"
		"start\t1600000\tm.5\t\t\t\t/usr/lib/x/c.o\ndone\t1600032\tm.5\n"
		"close\t1700000\tu\ndone\t1700000\ts.1\nclose\t1700000\ts\ndone\t1700000\tm.1\n",
		"nested:1 nested 2:1 /usr/lib:1 lib:1 lib/sub:1 .:1 ",
		"lib=nested.0 sub=nested 2.0 x/y/a.o=lib/sub.0 ../b.o=lib.0 y.o=..0 "
		"lib/sub/z.o=lib/sub.0 /src/lib/../lib/./c.o=lib.0 /usr/lib/x/c.o=/usr/lib.0 ",
	}, {
		"by recipe, those of one side by side", LANES_RECIPE,
		OPEN "start\t0\tm.1\t\t\t\tdo_x\tgcc\ndone\t400000\tm.1\n"
		"start\t100000\tm.2\t\t\t\tdo_y\tgcc\ndone\t200000\tm.2\n"
		"start\t300000\tm.3\t\t\t\tdo_z\tgcc\ndone\t400000\tm.3\n"
		"start\t300000\tm.4\t\t\t\tlone\ndone\t400000\tm.4\n",
		"gcc:2 .:1 ", "do_x=gcc.0 do_y=gcc.1 do_z=gcc.1 lone=..0 ",
	}, {
		"a recipe without its version, if that says enough", LANES_RECIPE,
		"open\t0\tm\t10\t0\t10\tbitbake\t2.0\t/src\tbitbake\n"
		"start\t0\tm.1\t\t\t\ta\tgcc-13.2+git-r0\ndone\t400000\tm.1\n"
		"start\t0\tm.2\t\t\t\tb\tlib-1.0-r0\ndone\t300000\tm.2\n"
		"start\t0\tm.3\t\t\t\tc\tlib-2.0-r0\ndone\t200000\tm.3\n",
		"gcc:1 lib-1.0-r0:1 lib-2.0-r0:1 ", "a=gcc.0 b=lib-1.0-r0.0 c=lib-2.0-r0.0 ",
	}, {
		"by kind", LANES_KIND,
		OPEN "start\t0\tm.1\t\t\tlink\ta\ndone\t100000\tm.1\n"
		"start\t0\tm.2\t\t\tcompile\tb\ndone\t300000\tm.2\n",
		"compile:1 link:1 ", "a=link.0 b=compile.0 ",
	},
};

static const struct row *row_of(const struct lanes *l, uint32_t lane)
{
	for (size_t i = 0; i < l->n_rows; i++) {
		if (lane >= l->row[i].first_lane &&
		    lane < l->row[i].first_lane + l->row[i].n_lanes)
			return &l->row[i];
	}
	ck_abort_msg("lane %u is in no row", lane);
}

static void check_places(const struct lanes *l, const struct recorded *r, const char *rows,
			 const char *places)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < l->n_rows; i++)
		buf_addf(&b, "%s:%u ", l->row[i].label, l->row[i].n_lanes);
	ck_assert_str_eq(buf_str(&b), rows);
	buf_clear(&b);
	for (size_t i = 0; i < r->sum.n_ran; i++) {
		const struct row *row = row_of(l, l->lane[i]);

		buf_addf(&b, "%s=%s.%u ", r->rec.task[r->sum.order[i]].name, row->label,
			 l->lane[i] - row->first_lane);
	}
	ck_assert_str_eq(buf_str(&b), places);
	buf_release(&b);
}

TEST_EACH(where_tasks_go, cases)
{
	RELEASED(recorded, r);
	RELEASED(lanes, l);

	recorded_make(&r, BUILD, cases[_i].tasks, NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, cases[_i].by), 0);
	check_places(&l, &r, cases[_i].rows, cases[_i].places);
}

/* Two phases of m in parallel, one of its task; the third has no end. */
TEST(phases)
{
	RELEASED(recorded, r);
	RELEASED(lanes, l);

	recorded_make(&r, BUILD, OPEN
		      "begin\t0\tm\t1\tparse\nbegin\t100\tm\t2\tread\nend\t200\tm\t2\n"
		      "end\t300\tm\t1\nbegin\t400\tm\t3\trun\n"
		      "start\t400\tm.1\t\t\t\ta\nbegin\t500\tm.1\t4\twork\nend\t600\tm.1\t4\n"
		      "done\t900\tm.1\n", NULL);
	ck_assert_uint_eq(r.rec.n_spans, 4);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	check_places(&l, &r, "nested:2 1:1 ", "a=1.0 ");
	ck_assert(l.row[0].nest);
	ck_assert_uint_eq(l.row[0].n_tasks, 0);
	for (size_t i = 0; i < r.rec.n_spans; i++) {
		const char *name = r.rec.span[i].name;

		ck_assert_uint_eq(l.span_lane[i], !strcmp(name, "work") ? 2 :
				  !strcmp(name, "read") ? 1 : 0);
	}
}

/* For any number of tasks, rows, lanes and labels are bounded, and every task is drawn. */
static const struct {
	unsigned n;
	int64_t step_us, length_us;
	enum lanes_by by;
	size_t rows;
	uint32_t lanes;
	const char *first, *last;
} many[] = {
	{ 48, 0, 1000, LANES_WORKER, 48, 48, "1", "48" },
	{ 49, 0, 1000, LANES_WORKER, 25, 49, "1-2", "49" },
	{ 200, 0, 1000, LANES_WORKER, 40, 200, "1-5", "196-200" },
	{ 10000, 0, 1000, LANES_WORKER, 48, 768, "1-208", "9792-10000" },
	{ 10000, 0, 1000, LANES_KIND, 1, 16, "other", "other" },
	{ 10000, 0, 1000, LANES_RECIPE, 48, 768, "r99", "others" },
	/* Ten hours of sequential tasks. */
	{ 10000, 3600000, 3600000, LANES_WORKER, 1, 1, "1", "1" },
	{ 10000, 3600000, 3600000, LANES_RECIPE, 48, 48, "r99", "others" },
};

/* With more workers than lanes neighbours share one; each stays in its row. */
TEST(many_slots)
{
	enum { N = 10000 };
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(lanes, l);

	buf_adds(&b, OPEN);
	for (int i = 0; i < N; i++)
		buf_addf(&b, "start\t0\tm.%d\t\t%d\tother\tt%d\ndone\t%d\tm.%d\n", i + 1, i, i,
			 1000 + i % 7, i + 1);
	recorded_make(&r, BUILD, buf_str(&b), NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, LANES_WORKER), 0);
	ck_assert_str_eq(l.row[l.n_rows - 1].label, "9792-10000");
	for (size_t i = 0; i < r.sum.n_ran; i++) {
		int slot = r.rec.task[r.sum.order[i]].slot;

		ck_assert_uint_eq(l.lane[i], (uint32_t)slot * l.n_lanes / N);
	}
}

TEST_EACH(many_tasks, many)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(lanes, l);
	size_t tasks = 0;
	int64_t busy_us = 0;

	buf_adds(&b, OPEN);
	for (unsigned i = 1; i <= many[_i].n; i++) {
		int64_t t = many[_i].step_us * i;

		/* Later recipes take longer. */
		buf_addf(&b, "start\t%lld\tm.%u\t\t\tother\tt%u\tr%u\n", (long long)t, i, i,
			 i % 100);
		buf_addf(&b, "done\t%lld\tm.%u\n",
			 (long long)(t + many[_i].length_us - 100 + i % 100), i);
	}
	recorded_make(&r, BUILD, buf_str(&b), NULL);
	ck_assert_int_eq(lanes_make(&l, &r.sum, many[_i].by), 0);
	ck_assert_uint_eq(l.n_rows, many[_i].rows);
	ck_assert_uint_eq(l.n_lanes, many[_i].lanes);
	ck_assert_str_eq(l.row[0].label, many[_i].first);
	ck_assert_str_eq(l.row[l.n_rows - 1].label, many[_i].last);
	for (size_t i = 0; i < l.n_rows; i++) {
		tasks += l.row[i].n_tasks;
		busy_us += l.row[i].busy_us;
		ck_assert_uint_le(l.row[i].n_lanes, LANES_A_ROW_MAX);
	}
	ck_assert_uint_eq(tasks, many[_i].n);
	for (size_t i = 0; i < r.sum.n_ran; i++)
		busy_us -= cost_wall_us(&r.rec, &r.rec.task[r.sum.order[i]]);
	ck_assert_int_eq(busy_us, 0);
}

/* Properties of random recordings. */

static void check_rows(const struct lanes *l, const struct recorded *r)
{
	size_t *n_tasks = calloc(l->n_lanes + 1, sizeof *n_tasks);
	uint32_t next = 0;

	ck_assert_ptr_nonnull(n_tasks);
	ck_assert_uint_le(l->n_rows, LANE_ROWS_MAX);
	for (size_t i = 0; i < r->sum.n_ran; i++) {
		const struct row *row = row_of(l, l->lane[i]);

		ck_assert_int_eq(row->nest, r->rec.task[r->sum.order[i]].hosts);
		n_tasks[row - l->row]++;
	}
	for (size_t i = 0; i < l->n_rows; i++) {
		ck_assert_uint_eq(l->row[i].first_lane, next);
		ck_assert_uint_ge(l->row[i].n_lanes, 1);
		ck_assert_uint_le(l->row[i].n_lanes, LANES_A_ROW_MAX);
		ck_assert_uint_eq(l->row[i].n_tasks, n_tasks[i]);
		ck_assert_ptr_nonnull(l->row[i].label);
		next += l->row[i].n_lanes;
	}
	ck_assert_uint_eq(l->n_lanes, next);
	free(n_tasks);
}

static void check_overlaps(const struct lanes *l, const struct recorded *r)
{
	int64_t *busy_until = calloc(l->n_lanes + 1, sizeof *busy_until);

	ck_assert_ptr_nonnull(busy_until);
	for (size_t i = 0; i < r->sum.n_ran; i++) {
		const struct task *t = &r->rec.task[r->sum.order[i]];
		int64_t end_us = recording_task_end_us(&r->rec, t);

		if (row_of(l, l->lane[i])->n_lanes < LANES_A_ROW_MAX)
			ck_assert_int_le(busy_until[l->lane[i]], t->start_us + LANE_SLACK_US);
		if (end_us > busy_until[l->lane[i]])
			busy_until[l->lane[i]] = end_us;
	}
	free(busy_until);
}

TEST_LOOP(anything, 60)
{
	RELEASED(recorded, r);

	recorded_random(&r, 20u << _i % 6, (uint64_t)_i);
	for (enum lanes_by by = 0; by < LANES_BY; by++) {
		struct lanes l;

		ck_assert_int_eq(lanes_make(&l, &r.sum, by), 0);
		check_rows(&l, &r);
		check_overlaps(&l, &r);
		lanes_release(&l);
	}
}

/* At most as many lanes as ran at once. */
TEST_LOOP(as_few_as_can_be, 20)
{
	enum { N = 500 };
	uint64_t state = (uint64_t)_i;
	RELEASED(lane_pack, p = LANE_PACK_INIT(1000));
	int64_t end[N], from_us = 0;
	uint32_t most = 0;

	for (uint32_t i = 0; i < N; i++) {
		struct stretch s = { .mark = i };
		uint32_t wanted, lane, at_once = 1;

		from_us += random_below(&state, 3) ? (int64_t)random_below(&state, 1000) : 0;
		s.from_us = from_us;
		end[i] = s.until_us = from_us + (int64_t)random_below(&state, 20000);
		if (s.until_us == from_us)
			end[i]++;
		for (uint32_t k = 0; k < i; k++)
			at_once += end[k] > from_us;
		most = at_once > most ? at_once : most;
		wanted = p.n ? (uint32_t)random_below(&state, p.n) : NO_LANE;
		ck_assert_int_eq(lane_pack_put(&p, &s, wanted, &lane), 0);
		ck_assert_uint_lt(lane, most);
	}
}

TEST_MAIN(lanes);
