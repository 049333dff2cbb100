/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/pulse.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* One task from 1 s on with its samples; the machine has one a second. */
static const struct {
	const char *name, *usage;
	int end_ms, cpu_ms;
	size_t most, n;
	uint8_t level[PULSE_MOST];
} cases[] = {
	{ "no samples", NULL, 9000, 1000, PULSE_MOST, 0, { 0 } },
	{ "too short", "@1500 0=m.1:1\n", 1900, 900, PULSE_MOST, 0, { 0 } },
	{ "it computed at first", "@1000 0=m.1:1\n0:,100\n0:1\n", 9000, 1000, PULSE_MOST, 8, { 16 } },
	{ "and at last, and in between half of the time",
	  "@1000 0=m.1:1\n0:,100\n!5000 0:,50\n!9000 0:,100\n", 9000, 2500, PULSE_MOST, 8,
	  { 16, 0, 0, 8, 0, 0, 0, 16 } },
	{ "two CPUs", "@1000 0=m.1:1\n0:,200\n0:1\n", 5000, 2000, PULSE_MOST, 4, { 32 } },
	{ "fewer stretches than samples", "@1000 0=m.1:1\n0:,100\n0:1\n", 9000, 1000, 2, 2, { 4 } },
	{ "an end between two samples", "@1000 0=m.1:1\n0:,100\n0:1\n", 3500, 1500, PULSE_MOST, 2,
	  { 13, 6 } },
	{ "it only waits", "@1000 0=m.1:1\n0:1\n0:1\n", 5000, 0, PULSE_MOST, 4, { 0 } },
};

TEST_EACH(cpu_over_a_life, cases)
{
	struct pulse_source p;
	uint8_t level[PULSE_MOST];
	size_t n;
	RELEASED(recorded, r);
	RELEASED(buf, stat = BUF_INIT);

	buf_adds(&stat, "buildbeat proc_stat 1 1000 user:1ms:c system:1ms:c\n");
	for (int i = 0; i <= 10; i++)
		buf_adds(&stat, i ? "10,10\n" : "\n");
	support_writes(support_path("%s/proc_stat.log", support_tmpdir()), buf_str(&stat));
	if (cases[_i].usage)
		support_writes(support_path("%s/proc_tasks.log", support_tmpdir()), support_path(
			"buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c\n%s", cases[_i].usage));
	recorded_make(&r, "end_us: 10000000\ncores: 4\n", support_path(
		"open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
		"start\t1000000\tm.1\t11\t\t\ta\t\tcc\n"
		"done\t%d000\tm.1\t0\t%d000\t0\n", cases[_i].end_ms, cases[_i].cpu_ms), NULL);
	ck_assert_int_eq(pulse_init(&p, &r.sum), 0);
	ck_assert_uint_eq(p.n, cases[_i].usage ? 11 : 0);
	ck_assert_int_eq(pulse_fill(level, &n, cases[_i].most, &p, 0), 0);
	ck_assert_msg(n == cases[_i].n, "%s: %zu", cases[_i].name, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(level[i] == cases[_i].level[i], "%s: %zu: %u not %u", cases[_i].name, i,
			      level[i], cases[_i].level[i]);
	pulse_release(&p);
}

TEST_MAIN(pulse);
