/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"
#include "base/array.h"
#include "tests/configured.h"
#include "tests/made_values.h"
#include "tests/noise.h"

#include <fnmatch.h>

/* From the text of a configuration to the limits that a build exceeds. */

/* Parses the text, checks the build and describes what it exceeds: "TASK:METRIC:VALUE>LIMIT ...",
 * then the number of values that each limit applies to. */
static void describe(struct buf *out, const char *text, const struct values *f)
{
	RELEASED(configured, c);
	const struct limits *limits = &c.c.limits.limits;
	struct limits_check check;

	configured_read(&c, text);
	ck_assert_int_eq(limits_check(&check, limits, f), 0);
	for (size_t i = 0; i < check.n; i++) {
		const struct limits_excess *e = &check.excess[i];

		buf_addf(out, "%s:%s:%.0f>%.0f ", e->task, metric_word[e->limit->metric], e->value,
			 e->limit->most);
	}
	for (size_t i = 0; i < limits->n; i++)
		buf_addf(out, "%s%zu", i ? "," : "", check.tasks[i]);
	limits_check_release(&check);
}

#define BUILD "+wall_us=90000000\n+max_rss_kb=2097153\n" \
	"compile: a.o|compile|wall_us=1000000 max_rss_kb=100\n" \
	"compile: b.o|compile|wall_us=3000000 max_rss_kb=300 status=1\n" \
	"link: x|link|wall_us=2000000 max_rss_kb=4194304 read_bytes=5 written_bytes=6\n" \
	"link: y|link|max_rss_kb=4194305\n"

static const struct {
	const char *text, *result;
} uses[] = {
	{ "", "" },
	{ "limits: {}\n", "" },
	{ "limits: {build: {memory: 2GiB, wall: 30min}, 'link:*': {memory: 4GiB}}\n",
	  ":memory:2097153>2097152 link: y:memory:4194305>4194304 1,1,2" },
	{ "limits: {build: {memory: 3GiB, wall: 90s}}\n", "1,1" },
	{ "limits:\n  build:\n    wall: 1.4min\n", ":wall:90000000>84000000 1" },
	/* the build is no task, and a task of that name is not the build */
	{ "limits: {'*': {wall: 2s}}\n", "compile: b.o:wall:3000000>2000000 3" },
	{ "limits: {'[b]uild': {wall: 1us}}\n", "0" },
	/* the last limit on a metric that fits applies; the largest value is first */
	{ "limits: {'*': {wall: 1ms}, 'compile:*': {memory: 1KiB}}\n",
	  "compile: b.o:wall:3000000>1000 link: x:wall:2000000>1000 compile: a.o:wall:1000000>1000 "
	  "compile: b.o:memory:300>1 compile: a.o:memory:100>1 3,2" },
	{ "limits: {'*': {wall: 1ms, cpu: 0}, 'compile:*': {wall: 2s}}\n",
	  "link: x:wall:2000000>1000 compile: b.o:wall:3000000>2000000 1,0,2" },
	{ "limits: {'compile:*': {wall: 2s}, '*': {wall: 1h}}\n", "0,3" },
	{ "limits: {'*': {io: 10B, read: 5B, written: 0}}\n",
	  "link: x:io:11>10 link: x:written:6>0 1,1,1" },
};

TEST_EACH(use, uses)
{
	RELEASED(buf, got = BUF_INIT);
	RELEASED(values, f);

	made_values(&f, BUILD);
	describe(&got, uses[_i].text, &f);
	ck_assert_str_eq(buf_str(&got), uses[_i].result);
}

static const struct { const char *text, *message; } mistakes[] = {
	{ "limit: {}\n", "1:1: unknown key 'limit'; did you mean 'limits'?" },
	{ "limits: 2GiB\n", "1:9: expected a mapping of keys to values" },
	{ "limits: [a]\n", "1:9: expected a mapping of keys to values" },
	{ "limits:\n  build: 2GiB\n", "2:10: expected a mapping of keys to values" },
	{ "limits:\n  [a]: {}\n", "2:3: expected a key, then its value" },
	{ "limits:\n  \"a\\0b\": {wall: 1s}\n", "2:3: expected a key, then its value" },
	{ "limits:\n  build: {}\n", "2:10: expected the limit of a metric" },
	{ "limits:\n  '': {wall: 1s}\n", "2:7: expected 'build' or a pattern of task names" },
	{ "limits:\n  build: {mem: 2GiB}\n", "2:11: unknown key 'mem'; did you mean 'memory'?" },
	{ "limits:\n  build: {memmory: 2GiB}\n", "2:11: unknown key 'memmory'; did you mean 'memory'?" },
	{ "limits:\n  a:\n    memory: -2GiB\n", "3:13: expected an amount such as 2s" },
	{ "limits:\n  a:\n    memory: 2GB\n", "3:13: expected an amount such as 2s" },
	{ "limits:\n  a:\n    memory: 2s\n", "3:5: memory: expected an amount with a unit, such as 512MiB" },
	{ "limits:\n  a:\n    wall: 1GiB\n", "3:5: wall: expected an amount with a unit, such as 90s" },
	{ "limits:\n  a:\n    wall: 7\n", "3:5: wall: expected an amount with a unit, such as 90s" },
	{ "limits:\n  a:\n    wall: [1s]\n", "3:11: expected a single value" },
	{ "limits:\n  a:\n    wall: 1s\n    wall: 2s\n", "4:5: duplicate key 'wall' (first on line 3)" },
	{ "limits:\n  a: {wall: 1s}\n  b: {wall: 1s}\n  a: {cpu: 1s}\n",
	  "4:3: duplicate key 'a' (first on line 2)" },
	{ "limits: {}\nlimits: {}\n", "2:1: duplicate key 'limits' (first on line 1)" },
};

TEST_EACH(mistake, mistakes)
{
	configured_refuses(mistakes[_i].text, mistakes[_i].message);
}

/* Generated limits and builds: each value is compared with the last limit that fits, and with no
 * other. */
#define GENERATED 200

static const char *const patterns[] = {
	"build", "*", "t*", "t1*", "t?", "t[0-4]*", "*7", "t12", "none",
};

/* Sets most[pattern * METRICS + metric], -1 without a limit, and writes the text. */
static void generate(struct noise *noise, struct buf *text, int64_t *most, size_t *order)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		size_t k = (size_t)(noise_uniform(noise) * (double)(i + 1));

		order[i] = order[k];
		order[k] = i;
	}
	buf_adds(text, "limits:\n");
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		size_t p = order[i], n = text->len;
		bool any = false;

		buf_addf(text, "  '%s':\n", patterns[p]);
		for (enum metric m = 0; m < METRICS; m++) {
			bool time = metric_info[m].unit == UNIT_US;
			int64_t limit = (int64_t)(noise_uniform(noise) * 100);

			most[p * METRICS + m] = -1;
			if (noise_uniform(noise) < 0.5)
				continue;
			any = true;
			most[p * METRICS + m] = limit;
			buf_addf(text, "    %s: %d%s\n", metric_word[m], (int)limit, time ? "us" :
				 metric_info[m].unit == UNIT_KB ? "KiB" :
				 metric_info[m].unit == UNIT_COUNT ? "" : "B");
		}
		if (!any)
			text->data[text->len = n] = '\0';
	}
}

TEST_LOOP(generated, GENERATED)
{
	struct noise noise = { .state = (uint64_t)_i };
	size_t order[ARRAY_SIZE(patterns)] = { 0 }, found = 0, expected = 0;
	int64_t most[ARRAY_SIZE(patterns) * METRICS];
	struct buf text = BUF_INIT, build = BUF_INIT;
	RELEASED(configured, c);
	struct limits_check check;
	struct values f;

	generate(&noise, &text, most, order);
	for (int t = 0; t < 20; t++) {
		buf_addf(&build, "t%02d|compile|runs=1", t);
		for (enum value_column k = COLUMN_WALL_US; k <= COLUMN_WRITTEN_BYTES; k++) {
			if (noise_uniform(&noise) < 0.7)
				buf_addf(&build, " %s=%d", metric_column_name[k],
					 (int)(noise_uniform(&noise) * 100));
		}
		buf_addc(&build, '\n');
	}
	buf_adds(&build, "+wall_us=50\n+user_us=20\n+system_us=40\n+peak_kb=10\n");
	made_values(&f, buf_str(&build));
	configured_read(&c, buf_str(&text));
	ck_assert_int_eq(limits_check(&check, &c.c.limits.limits, &f), 0);
	for (enum metric m = 0; m < METRICS; m++) {
		for (size_t t = 0; t <= f.n_tasks; t++) {
			const char *task = t < f.n_tasks ? f.task[t].name : "";
			double value = t < f.n_tasks ? values_get(&f, t, m) :
				metric_total(f.total, m);
			int64_t limit = -1;

			for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
				bool fits = t < f.n_tasks ? order[i] && !fnmatch(patterns[order[i]], task, 0) :
					!order[i];

				if (fits && most[order[i] * METRICS + m] >= 0)
					limit = most[order[i] * METRICS + m];
			}
			if (limit < 0 || !(value > (double)limit))
				continue;
			expected++;
			for (size_t i = 0; i < check.n; i++) {
				const struct limits_excess *e = &check.excess[i];

				if (strcmp(e->task, task) || e->limit->metric != m)
					continue;
				found++;
				ck_assert_double_eq(e->value, value);
				ck_assert_double_eq(e->limit->most, (double)limit);
			}
		}
	}
	ck_assert_uint_eq(found, expected);
	ck_assert_uint_eq(check.n, expected);
	buf_release(&text);
	buf_release(&build);
	limits_check_release(&check);
	values_release(&f);
}

/* The first build of an archive, with real make. A failed build exceeds a limit too, and so does the
 * task that failed. */
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static const struct {
	const char *limits;
	int status;
	const char *said;
} builds[] = {
	{ "{build: {wall: 1us}}", 1, "1 limit exceeded, " },
	{ "{bad: {wall: 1us}}", 1, "    bad " },
	{ "{build: {wall: 24h}, bad: {wall: 24h}}", ANY_STATUS, "0 series checked" },
};

TEST_EACH(failed_build, builds)
{
	const char *top = support_tmpdir();
	struct run r;

	SKIP_IF(!support_has("make") || !support_has("git"));
	SKIP_IF(!support_can_be_loaded());
	setenv("HOME", top, 1);
	support_writes(support_path("%s/Makefile", top), "all: good bad\ngood bad:\n\t@test $@ = good\n");
	support_writes(support_path("%s/limits.yaml", top),
		       support_path("limits: %s\n", builds[_i].limits));
	support_run(&r, top, BUILDBEAT " record --no-git -o stats -- make -sk");
	ck_assert_int_eq(r.status, 2);
	support_expect(top, 0, NULL, NULL, BUILDBEAT " archive --repo r.git stats/latest");
	support_run(&r, top, BUILDBEAT " check --repo r.git -c limits.yaml");
	ck_assert_msg(strstr(buf_str(&r.out), builds[_i].said) != NULL, "%s%s", r.out.data, r.err.data);
	if (builds[_i].status == ANY_STATUS)
		ck_assert_int_ne(r.status, 1);
	else
		ck_assert_int_eq(r.status, builds[_i].status);
}

TEST_MAIN(limits);
