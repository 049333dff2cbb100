/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/spark.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* One task from 1 s to 9 s and its samples, one a second from 0 s on. */
static const struct { const char *usage; size_t most, n; uint8_t level[SPARK_MOST]; } cases[] = {
	{ NULL, SPARK_MOST, 0, { 0 } },
	{ "@1000 0=m.1:10\n0:5\n", SPARK_MOST, 0, { 0 } },
	/* At 2, 4 and 9 s: stretches of 2.7 s, the last sample at the very end. */
	{ "@2000 0=m.1:10\n!4000 0:20\n!9000 0:-15\n", SPARK_MOST, 3, { 21, 63, 32 } },
	/* At 2, 3 ... 8 s, in four stretches of 2 s. */
	{ "@2000 0=m.1:10\n0:10\n0:10\n0:10\n0:20\n0:-20\n0:-20\n", 4, 4, { 11, 32, 63, 42 } },
	/* No sample between 2 s and 8 s; no sample before 4 s. */
	{ "@1000 0=m.1:10\n0:10\n!8000 0:10\n", SPARK_MOST, 3, { 42, 42, 63 } },
	{ "@4000 0=m.1:10\n0:10\n0:10\n", SPARK_MOST, 3, { 0, 63, 63 } },
	/* Memory without shared pages, where it was measured. */
	{ "@2000 0=m.1:90,,10\n!5000 0:10,,10\n!7000 0:,,10\n", SPARK_MOST, 3, { 21, 42, 63 } },
	{ "@2000 0=m.1:,10\n0:,10\n0:,10\n", SPARK_MOST, 0, { 0 } },
};

TEST_EACH(memory_over_a_life, cases)
{
	uint8_t level[SPARK_MOST];
	RELEASED(recorded, r);

	recorded_make(&r, "end_us: 10000000\n",
		      "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
		      "start\t1000000\tm.1\t11\t\t\ta\t\tcc\n"
		      "done\t9000000\tm.1\t0\n", cases[_i].usage);
	ck_assert_uint_eq(spark_fill(level, cases[_i].most, &r.rec, &r.rec.task[0]), cases[_i].n);
	for (size_t i = 0; i < cases[_i].n; i++)
		ck_assert_msg(level[i] == cases[_i].level[i], "%zu: %u not %u", i, level[i],
			      cases[_i].level[i]);
}

TEST_MAIN(spark);
