/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/configured.h"

/* From the text of a configuration to the rules for a task and a metric. */

static const struct {
	const char *text;
	const char *result;	/* metrics, rate, agree, window, least history */
} wholes[] = {
	{ "", "wall,cpu,memory,io 0.01 2 60 5" },
	{ "compare: {}\n", "wall,cpu,memory,io 0.01 2 60 5" },
	{ "compare: {metrics: peak}\n", "peak 0.01 2 60 5" },
	{ "compare:\n  metrics: wall,io\n", "wall,io 0.01 2 60 5" },
	{ "compare:\n  metrics:\n  - written\n  - cpu\n", "cpu,written 0.01 2 60 5" },
	{ "compare: {rate: 5%, agree: 3, window: 90, least-history: 20}\n",
	  "wall,cpu,memory,io 0.05 3 90 20" },
	{ "compare: {rate: 0.002}\noutput: x\n", "wall,cpu,memory,io 0.002 2 60 5" },
};

TEST_EACH(whole, wholes)
{
	RELEASED(configured, c);
	struct buf got = BUF_INIT;
	const struct rules *r = &c.c.compare.rules;

	configured_read(&c, wholes[_i].text);
	for (enum metric m = 0; m < METRICS; m++) {
		if (r->metrics & METRIC_BIT(m))
			buf_addf(&got, "%s%s", got.len ? "," : "", metric_word[m]);
	}
	buf_addf(&got, " %g %d %d %d", r->rate, (int)r->agree, (int)r->window,
		 (int)r->least_history);
	ck_assert_str_eq(buf_str(&got), wholes[_i].result);
	buf_release(&got);
}

#define RULES "compare:\n  rules:\n  - "

static const struct {
	const char *text, *task;
	enum metric metric;
	const char *result;	/* share, amount, floor; "ignored" */
} gates[] = {
	{ "", "a", METRIC_WALL, "0.05 2e+06 0" },
	{ "", "", METRIC_MEMORY, "0.05 16384 0" },
	{ RULES "share: 10%\n", "a", METRIC_WALL, "0.1 2e+06 0" },
	{ RULES "share: 10%\n", "", METRIC_READ, "0.1 131072 0" },
	{ RULES "{metrics: wall, amount: 500ms}\n", "a", METRIC_WALL, "0.05 500000 0" },
	{ RULES "{metrics: wall, amount: 500ms}\n", "a", METRIC_CPU, "0.05 1e+06 0" },
	/* an amount applies to metrics of its unit */
	{ RULES "{floor: 1.5 min, amount: 1GiB}\n", "a", METRIC_CPU, "0.05 1e+06 9e+07" },
	{ RULES "{floor: 1.5 min, amount: 1GiB}\n", "a", METRIC_PEAK, "0.05 1.04858e+06 0" },
	{ RULES "{floor: 1.5 min, amount: 1GiB}\n", "a", METRIC_IO, "0.05 1.07374e+09 0" },
	{ RULES "{floor: 0, amount: 0}\n", "a", METRIC_IO, "0.05 0 0" },
	{ RULES "{tasks: 'doc*', ignore: yes}\n", "docs: html", METRIC_WALL, "ignored" },
	{ RULES "{tasks: 'doc*', ignore: yes}\n", "lib: docs", METRIC_WALL, "0.05 2e+06 0" },
	{ RULES "{tasks: '*', ignore: yes}\n", "", METRIC_WALL, "0.05 2e+06 0" },
	{ RULES "{tasks: '', ignore: yes}\n", "", METRIC_WALL, "ignored" },
	{ RULES "{tasks: '', ignore: yes}\n", "a", METRIC_WALL, "0.05 2e+06 0" },
	{ RULES "{tasks: 'a/*', metrics: [io, read], ignore: true}\n", "a/b/c", METRIC_READ,
	  "ignored" },
	{ RULES "{tasks: 'a/*', metrics: [io, read], ignore: true}\n", "a/b/c", METRIC_WRITTEN,
	  "0.05 131072 0" },
	/* the later rule wins, field by field, also if it is for all tasks */
	{ RULES "{tasks: 'a*', share: 20%, floor: 5s}\n  - {tasks: 'ab', share: 30%}\n", "ab",
	  METRIC_WALL, "0.3 2e+06 5e+06" },
	{ RULES "{tasks: '*', ignore: on}\n  - {tasks: 'ab', ignore: off}\n", "ab",
	  METRIC_WALL, "0.05 2e+06 0" },
	{ RULES "{tasks: 'a*', share: 20%}\n  - share: 40%\n", "ab", METRIC_WALL, "0.4 2e+06 0" },
	{ RULES "{tasks: 'a*', share: 20%}\n  - share: 40%\n", "", METRIC_WALL, "0.4 2e+06 0" },
	{ RULES "share: 40%\n  - {tasks: 'a*', share: 20%}\n", "ab", METRIC_WALL, "0.2 2e+06 0" },
};

TEST_EACH(gate, gates)
{
	RELEASED(configured, c);
	struct buf got = BUF_INIT;
	struct gate g;

	configured_read(&c, gates[_i].text);
	g = rules_gate(&c.c.compare.rules, gates[_i].task, gates[_i].metric);
	if (g.ignored)
		buf_adds(&got, "ignored");
	else
		buf_addf(&got, "%g %g %g", g.share, g.amount, g.floor);
	ck_assert_str_eq(buf_str(&got), gates[_i].result);
	buf_release(&got);
}

static const struct { const char *text, *message; } mistakes[] = {
	{ "compare: yes\n", "1:10: expected a mapping of keys to values" },
	{ "compare: [a]\n", "1:10: expected a mapping of keys to values" },
	{ "compare: {colour: 1}\n", "1:11: unknown key 'colour'; expected metrics, rate" },
	{ "compare: {ratte: 1}\n", "1:11: unknown key 'ratte'; did you mean 'rate'?" },
	{ "compare:\n  rate: 2\n", "2:9: expected a share of at most 100%, not '2'" },
	{ "compare:\n  rate: -1%\n", "2:9: expected a share such as 5% or 0.05, not '-1%'" },
	{ "compare:\n  agree: 0\n", "2:10: expected a whole number from 1 to 10" },
	{ "compare:\n  agree: 2\n  agree: 3\n", "3:3: duplicate key 'agree' (first on line 2)" },
	{ "compare:\n  least-history: 60\n", "2:3: window: expected at least the 62 builds" },
	{ "compare:\n  metrics: [wall, time]\n", "2:19: expected wall, cpu, memory, peak, io, "
	  "read, written or instructions, not 'time'" },
	{ "compare:\n  metrics: {}\n", "2:12: expected a word or a list of words" },
	{ "compare:\n  rules: {}\n", "2:10: expected a list of mappings" },
	{ "compare:\n  rules: [a]\n", "2:11: expected a list of mappings" },
	{ RULES "task: x\n", "3:5: unknown key 'task'; did you mean 'tasks'?" },
	{ RULES "tasks: x\n", "3:5: expected a rule with share, amount, floor or ignore" },
	{ RULES "tasks: [x]\n", "3:12: expected a single value" },
	{ RULES "amount: 16MB\n", "3:13: expected an amount such as 2s, 500ms, 128KiB or 16MiB" },
	{ RULES "amount: 1e3s\n", "3:13: expected an amount" },
	{ RULES "amount: 1.s\n", "3:13: expected an amount" },
	{ RULES "amount: 5\n", "3:5: amount: expected an amount with a unit" },
	{ RULES "{metrics: memory, floor: 2s}\n", "3:5: floor: expected an amount with a unit" },
	{ RULES "{metrics: [wall, io], floor: 2s}\n", "3:5: floor: the unit does not fit the metric 'io'" },
	{ RULES "{metrics: wall, share: 5percent}\n", "3:28: expected a share such as 5%" },
	{ RULES "ignore: maybe\n", "3:13: expected false, true, no, yes, off or on" },
	{ RULES "{tasks: a, share: 1%}\n  - 7\n", "4:5: expected a list of mappings" },
};

TEST_EACH(mistake, mistakes)
{
	configured_refuses(mistakes[_i].text, mistakes[_i].message);
}

/* More rules than fit in the first allocation. */
TEST(many_rules)
{
	RELEASED(configured, c);
	struct buf text = BUF_INIT;

	buf_adds(&text, "compare:\n  rules:\n");
	for (int i = 0; i < 1000; i++)
		buf_addf(&text, "  - {tasks: t%d, share: %d%%}\n", i, i);
	configured_read(&c, buf_str(&text));
	ck_assert_double_eq_tol(rules_gate(&c.c.compare.rules, "t999", METRIC_IO).share, 9.99, 1e-9);
	ck_assert_double_eq_tol(rules_gate(&c.c.compare.rules, "u", METRIC_IO).share, 0.05, 1e-9);
	buf_release(&text);
}

/* The wall time, the memory of the largest process and the bytes of a build decide about an amount that
 * nobody set. */
static const struct {
	const char *text, *task;
	enum metric metric;
	double whole;
	double spread, alone;	/* the amount, with a spread on both sides and without */
} scales[] = {
	{ "", "a", METRIC_WALL, NAN, 2e6, 2e6 },
	{ "", "a", METRIC_WALL, 0, 1e4, 1e4 },
	{ "", "a", METRIC_WALL, 6e5, 1e4, 1e4 },
	{ "", "", METRIC_WALL, 3e8, 3e4, 2e6 },
	{ "", "a", METRIC_WALL, 1e12, 2e6, 2e6 },
	{ "", "a", METRIC_CPU, 5e7, 1e4, 5e5 },
	{ "", "a", METRIC_MEMORY, 1e6, 1e4, 1e4 },
	{ "", "a", METRIC_PEAK, 3000, 1024, 1024 },
	{ "", "a", METRIC_WRITTEN, 1e7, 1e5, 1e5 },
	{ "", "a", METRIC_WRITTEN, 1e9, 131072, 131072 },
	{ RULES "amount: 2s\n", "a", METRIC_WALL, 6e5, 2e6, 2e6 },
	{ RULES "amount: 1ms\n", "a", METRIC_WALL, 6e5, 1e3, 1e3 },
	{ RULES "amount: 2s\n", "a", METRIC_PEAK, 3000, 1024, 1024 },
	{ RULES "share: 10%\n", "a", METRIC_WALL, 6e5, 1e4, 1e4 },
	{ RULES "{tasks: a, amount: 3s}\n", "a", METRIC_WALL, 6e5, 3e6, 3e6 },
	{ RULES "{tasks: a, amount: 3s}\n", "b", METRIC_WALL, 6e5, 1e4, 1e4 },
};

TEST_EACH(scale, scales)
{
	for (int spread = 0; spread < 2; spread++) {
		double whole[METRICS], wanted = spread ? scales[_i].spread : scales[_i].alone;
		RELEASED(configured, c);
		struct rules *rules = &c.c.compare.rules;

		configured_read(&c, scales[_i].text);
		for (enum metric m = 0; m < METRICS; m++)
			whole[m] = m == scales[_i].metric ? scales[_i].whole : NAN;
		rules_scale(rules, whole, spread);
		ck_assert_double_eq_tol(rules_gate(rules, scales[_i].task, scales[_i].metric).amount,
					wanted, 1e-6);
	}
}

TEST_MAIN(rules);
