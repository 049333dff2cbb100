/* SPDX-License-Identifier: MIT */
#include "analyse/curve.h"
#include "analyse/names.h"
#include "analyse/tracker.h"
#include "analyse/tracker_class.h"
#include "analyse/used.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Stacked areas over time: their sums are the curves of `show` and the charts. */

#define SECONDS 24
#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake -j4\n" \
	"open\t0\tn\t12\t0\t12\tmake\t4.3\t/src/lib\tmake -j4\n"
#define USAGE "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g " \
	"written:1KiB:c read:1KiB:c\n"

struct made {
	struct recorded r;
	struct chain chain;
	struct tracker *tracker;
};

static void start(struct made *m)
{
	ck_assert_int_eq(chain_make(&m->chain, &m->r.sum), 0);
	m->tracker = tracker_new(&m->r.sum, &m->chain.waits);
	ck_assert_ptr_nonnull(m->tracker);
}

static void stop(struct made *m)
{
	tracker_free(m->tracker);
	chain_release(&m->chain);
	recorded_release(&m->r);
}

#define TASKS_MAX 60

/* Random tasks of several kinds and directories, each with samples at some whole seconds. */
static void make_random(struct made *m, uint64_t seed)
{
	static const char *const command[] = { "cc -c a.c", "ld -o a", "ar rc a.a", "sh x", "gcc -c a.c -o b.o" };
	struct { int64_t from, until; } task[TASKS_MAX];
	size_t n = 5 + random_below(&seed, TASKS_MAX - 5);
	RELEASED(buf, tasks = BUF_INIT, usage = BUF_INIT, build = BUF_INIT, own = BUF_INIT);

	*m = (struct made){ 0 };
	buf_adds(&tasks, OPEN);
	for (size_t i = 0; i < n; i++) {
		task[i].from = (int64_t)random_below(&seed, 20000000);
		task[i].until = task[i].from + (int64_t)random_below(&seed, 4000000);
		buf_addf(&tasks, "start\t%lld\t%c.%zu\t%zu\t\t\tt%llu\t\t%s\n",
			 (long long)task[i].from, "mn"[i % 2], i + 1, 100 + i,
			 (unsigned long long)random_below(&seed, n), command[random_below(&seed, 5)]);
		if (random_below(&seed, 10))
			buf_addf(&tasks, "done\t%lld\t%c.%zu\t0\t%llu\t%llu\t1\t0\t0\t%llu\t%llu\n",
				 (long long)task[i].until, "mn"[i % 2], i + 1,
				 (unsigned long long)random_below(&seed, 3000000),
				 (unsigned long long)random_below(&seed, 100000),
				 (unsigned long long)random_below(&seed, 4000),
				 (unsigned long long)random_below(&seed, 9000));
	}
	buf_adds(&usage, USAGE);
	for (int64_t s = 0; s <= SECONDS; s++) {
		const char *separator = "=";

		for (size_t i = 0; i < n; i++) {
			int64_t at = s * 1000000 - task[i].from;

			if (at < 0 || s * 1000000 > task[i].until)
				continue;
			buf_addf(&usage, "%s%zu=%c.%zu:%llu,%lld,,1,%lld", separator, i, "mn"[i % 2],
				 i + 1, (unsigned long long)random_below(&seed, 900), (long long)at / 20000,
				 (long long)at / 100000);
			separator = ";";
		}
		buf_addc(&usage, '\n');
	}
	buf_addf(&build, "end_us: %d\ncores: 4\nuser_us: %llu\nsystem_us: 0\n", SECONDS * 1000000,
		 (unsigned long long)random_below(&seed, 90000000));
	buf_adds(&own, "buildbeat proc_own 1 1000 cpu:1us:c memory:1KiB:g\n");
	for (int64_t s = 0; s <= SECONDS; s++)
		buf_adds(&own, "500,10\n");
	support_writes(support_path("%s/proc_own.log", support_tmpdir()), buf_str(&own));
	support_writes(support_path("%s/proc_tasks.log", support_tmpdir()), buf_str(&usage));
	buf_clear(&own);
	buf_adds(&own, "buildbeat proc_stat 1 1000 user:10ms:c\n");
	for (int64_t s = 0; s <= SECONDS; s++)
		buf_addf(&own, "%lld\n", (long long)(1 + s * s % 3));
	support_writes(support_path("%s/proc_stat.log", support_tmpdir()), buf_str(&own));
	recorded_make(&m->r, buf_str(&build), buf_str(&tasks), NULL);
	start(m);
}

static void near(double a, double b, const char *what, size_t i)
{
	ck_assert_msg(fabs(a - b) <= 1e-7 * (1 + fabs(a)), "%s, point %zu: %.12g is not %.12g",
		      what, i, a, b);
}

/* The value of each point, from the functions that show and the charts use. */
static void reference(double *out, const struct made *m, const struct tracker_view *v)
{
	RELEASED(curve, waiting = CURVE_INIT);
	const struct curve *c = v->query.metric == TRACKER_RUNNING ? &m->r.sum.running : &waiting;
	double amount[TRACKER_POINTS_MAX + 1];
	enum used_source source;
	int64_t at;

	if (v->query.metric == TRACKER_WAITING)
		ck_assert_int_eq(wait_curve(&waiting, &m->r.sum, &m->chain.waits), 0);
	if (v->query.metric >= TRACKER_CPU && v->query.metric != TRACKER_MEMORY)
		ck_assert_int_eq(used_fill(amount, &source, &m->r.sum,
					   v->query.metric == TRACKER_CPU ? USED_CPU :
					   v->query.metric == TRACKER_READ ? USED_READ : USED_WRITTEN,
					   v->edge_us, v->n + 1), 0);
	for (size_t i = 0; i < v->n; i++) {
		int64_t from = v->edge_us[i], until = v->edge_us[i + 1];

		if (v->query.metric == TRACKER_MEMORY)
			out[i] = (double)curve_peak(&m->r.sum.memory_kb, from, until, &at);
		else if (v->query.metric == TRACKER_RUNNING || v->query.metric == TRACKER_WAITING)
			out[i] = (double)curve_integral(c, from, until) / (double)(until - from);
		else
			out[i] = amount[i + 1] / (double)(until - from);
	}
}

static void check_view(const struct made *m, const struct tracker_view *v)
{
	const char *metric = tracker_metric_word[v->query.metric];
	double expected[TRACKER_POINTS_MAX], sum = 0, at_peak = 0;
	bool whole = v->query.from_us == 0 && v->query.until_us == SECONDS * 1000000 &&
		     v->n == SECONDS;

	ck_assert_int_eq(v->edge_us[0], v->query.from_us);
	ck_assert_int_eq(v->edge_us[v->n], v->query.until_us);
	if (whole || v->query.metric < TRACKER_CPU || v->query.metric == TRACKER_MEMORY)
		reference(expected, m, v);
	else
		memcpy(expected, v->total, v->n * sizeof *expected);
	for (size_t i = 0; i < v->n; i++) {
		double of_series = 0;

		for (size_t k = 0; k < v->n_series; k++) {
			ck_assert_double_ge(v->series[k].value[i], 0);
			if (v->series[k].role != TRACKER_OVERHEAD)
				of_series += v->series[k].value[i];
		}
		near(of_series, v->total[i], metric, i);
		near(v->total[i], expected[i], metric, i);
		ck_assert(v->total[i] <= v->total[v->peak]);
	}
	for (size_t k = 0; k < v->n_series; k++) {
		const struct tracker_series *s = &v->series[k];

		near(s->at_peak, s->value[v->peak], metric, k);
		if (s->role == TRACKER_OVERHEAD)
			continue;
		sum += s->sum;
		at_peak += s->at_peak;
		if (k && s->role == TRACKER_GROUP)
			ck_assert_double_le(s->sum, s[-1].sum);
	}
	near(sum, v->sum, metric, v->n_series);
	near(at_peak, v->total[v->peak], metric, v->peak);
	for (size_t k = 1; k < v->n_peak; k++)
		ck_assert_double_le(v->at_peak[k].value, v->at_peak[k - 1].value);
}

TEST_LOOP(sums_are_the_total, TRACKER_METRICS)
{
	struct made m;

	for (uint64_t seed = 1; seed < 12; seed++) {
		uint64_t state = seed;

		make_random(&m, seed * 977 + (uint64_t)_i);
		for (int by = 0; by < TRACKER_BYS; by++) {
			int64_t from = (int64_t)random_below(&state, 20000000);
			struct tracker_query q = { (enum tracker_metric)_i, (enum tracker_by)by, 0,
				SECONDS * 1000000, SECONDS, 1 + random_below(&state, 8), NULL };
			struct tracker_view v;

			ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
			check_view(&m, &v);
			tracker_view_release(&v);
			q.from_us = from;
			q.until_us = from + 1 + (int64_t)random_below(&state, 3000000);
			q.n_points = 1 + random_below(&state, TRACKER_POINTS_MAX);
			ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
			check_view(&m, &v);
			tracker_view_release(&v);
		}
		stop(&m);
		support_cleanup();
	}
}

/* The level of each task at a time, as it was recorded, in one loop. */
TEST(groups_by_hand)
{
	struct made m;
	struct tracker_groups g;
	struct tracker_query q = { TRACKER_RUNNING, TRACKER_KIND, 0, SECONDS * 1000000, 777,
		TRACKER_TOP_MAX, NULL };

	make_random(&m, 4711);
	for (int by = 0; by < TRACKER_BYS; by++) {
		struct tracker_view v;

		q.by = (enum tracker_by)by;
		ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
		ck_assert_int_eq(tracker_groups(m.tracker, q.by, &g), 0);
		for (size_t k = 0; k < v.n_series; k++) {
			size_t n = 0;

			if (v.series[k].role != TRACKER_GROUP)
				continue;
			for (size_t i = 0; i < v.n; i++) {
				double sum = 0;

				for (size_t t = 0; t < m.r.rec.n_tasks; t++) {
					const struct task *task = &m.r.rec.task[t];
					int64_t from = task->start_us, until = recording_task_end_us(&m.r.rec, task);

					if (strcmp(g.name[g.of_task[t]], v.series[k].name) || !task_ran(task))
						continue;
					n += !i;
					from = from > v.edge_us[i] ? from : v.edge_us[i];
					until = until < v.edge_us[i + 1] ? until : v.edge_us[i + 1];
					if (until > from)
						sum += (double)(until - from);
				}
				near(v.series[k].value[i], sum / (double)(v.edge_us[i + 1] - v.edge_us[i]),
				     v.series[k].name, i);
			}
			ck_assert_uint_eq(v.series[k].n_tasks, n);
		}
		tracker_view_release(&v);
	}
	stop(&m);
}

TEST(memory_peak_of_show)
{
	struct made m;
	struct tracker_query q = { TRACKER_MEMORY, TRACKER_KIND, 0, SECONDS * 1000000, 300, 8, NULL };
	struct tracker_view v;

	make_random(&m, 99);
	ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
	ck_assert(v.known);
	ck_assert_double_eq(v.total[v.peak], (double)m.r.sum.memory_peak_kb.value);
	ck_assert_int_eq(v.moment_us[v.peak], m.r.sum.memory_peak_kb.time_us);
	tracker_view_release(&v);
	stop(&m);
}

TEST(own_cost)
{
	static const struct { enum tracker_metric metric; double value; } expected[] = {
		{ TRACKER_CPU, 500e-6 }, { TRACKER_MEMORY, -1 },
	};
	struct made m;

	make_random(&m, 3);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct tracker_query q = { expected[i].metric, TRACKER_KIND, 0, SECONDS * 1000000, SECONDS, 8, NULL };
		struct tracker_view v;
		const struct tracker_series *own;

		ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
		own = &v.series[v.n_series - 1];
		ck_assert_int_eq(own->role, TRACKER_OVERHEAD);
		for (size_t k = 0; k < v.n; k++) {
			if (expected[i].value > 0)
				near(own->value[k], expected[i].value, "own CPU time", k);
			else
				ck_assert_double_gt(own->value[k], 0);
		}
		tracker_view_release(&v);
	}
	stop(&m);
}

/* The table of a point's time is the view at that point. */
TEST_LOOP(tables_are_points, TRACKER_METRICS)
{
	struct made m;

	make_random(&m, 77 + (uint64_t)_i);
	for (int by = 0; by < TRACKER_BYS; by++) {
		struct tracker_query q = { (enum tracker_metric)_i, (enum tracker_by)by, 0, SECONDS * 1000000, 50,
			TRACKER_TOP_MAX, NULL };
		struct tracker_groups g;
		struct tracker_view v;

		ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
		ck_assert_int_eq(tracker_groups(m.tracker, q.by, &g), 0);
		for (size_t i = 0; i < v.n; i += 7) {
			int64_t from = v.moment_us ? v.moment_us[i] : v.edge_us[i];
			struct tracker_table table;

			ck_assert_int_eq(tracker_table_make(&table, m.tracker, q.by, q.metric, from,
							    v.moment_us ? from : v.edge_us[i + 1]), 0);
			near(table.total, v.total[i], "table", i);
			for (size_t k = 0; k < table.n; k++) {
				const char *name = table.row[k].group == g.n ? "" : g.name[table.row[k].group];

				ck_assert(!k || table.row[k].total <= table.row[k - 1].total);
				for (size_t s = 0; s < v.n_series; s++) {
					if ((v.series[s].role == TRACKER_GROUP && table.row[k].group != g.n &&
					     !strcmp(v.series[s].name, name)) ||
					    (v.series[s].role == TRACKER_HOSTS && table.row[k].group == g.n))
						near(v.series[s].value[i], table.row[k].total, name, i);
				}
			}
			tracker_table_release(&table);
		}
		tracker_view_release(&v);
	}
	stop(&m);
}

/* One class beside all others, and its tasks in each point. */
static void check_over_time(struct made *m, const struct tracker_class *c, const char *name)
{
	struct tracker_query q = { TRACKER_RUNNING, TRACKER_KIND, 1000000, 21000000, 33, 1, name };
	uint32_t n_tasks[TRACKER_POINTS_MAX];
	RELEASED(tracker_view, v);

	ck_assert_int_eq(tracker_view_make(&v, m->tracker, &q), 0);
	ck_assert_str_eq(v.series[0].name, name);
	check_view(m, &v);
	tracker_class_running(n_tasks, c, m->tracker, v.edge_us, v.n);
	for (size_t i = 0; i < v.n; i++) {
		uint32_t n = 0;

		for (size_t k = 0; k < c->n; k++) {
			const struct task *t = &m->r.rec.task[c->task[k]];
			int64_t end_us = recording_task_end_us(&m->r.rec, t);

			n += t->start_us < v.edge_us[i + 1] && (end_us > v.edge_us[i] ||
			     (t->start_us == end_us && end_us >= v.edge_us[i]));
		}
		ck_assert_uint_eq(n_tasks[i], n);
	}
}

static int by_number(const void *a, const void *b)
{
	return array_order(*(const int64_t *)a, *(const int64_t *)b);
}

TEST(classes_by_hand)
{
	struct tracker_groups g;
	struct tracker_class c;
	struct made m;
	size_t tasks = 0;

	make_random(&m, 1234);
	ck_assert_int_eq(tracker_groups(m.tracker, TRACKER_KIND, &g), 0);
	for (size_t k = 0; k < g.n; k++) {
		int64_t value[TASKS_MAX], sum = 0, before = INT64_MAX;
		size_t n = 0;

		ck_assert_int_eq(tracker_class_make(&c, m.tracker, TRACKER_KIND, g.name[k]), 0);
		for (size_t i = 0; i < m.r.rec.n_tasks; i++) {
			if (strcmp(m.r.rec.task[i].kind, g.name[k]))
				continue;
			value[n] = m.r.sum.nest[i].cost.wall_us;
			sum += value[n++];
		}
		qsort(value, n, sizeof *value, by_number);
		tasks += n;
		ck_assert_uint_eq(c.n, n);
		ck_assert_int_eq(c.stat[VALUE_WALL].sum, sum);
		ck_assert_int_eq(c.stat[VALUE_WALL].min, value[0]);
		ck_assert_int_eq(c.stat[VALUE_WALL].max, value[n - 1]);
		ck_assert_int_eq(c.stat[VALUE_WALL].median, (value[(n - 1) / 2] + value[n / 2]) / 2);
		check_over_time(&m, &c, g.name[k]);
		ck_assert_int_eq(tracker_class_sort(&c, m.tracker, VALUE_WALL, false), 0);
		for (size_t i = 0; i < n; i++) {
			ck_assert_int_le(m.r.sum.nest[c.sorted[i]].cost.wall_us, before);
			before = m.r.sum.nest[c.sorted[i]].cost.wall_us;
		}
		tracker_class_release(&c);
	}
	ck_assert_uint_eq(tasks, m.r.rec.n_tasks);
	ck_assert_int_eq(tracker_class_make(&c, m.tracker, TRACKER_KIND, "no such kind"), -ENOENT);
	tracker_class_release(&c);
	stop(&m);
}

TEST(nothing_recorded)
{
	struct made m = { 0 };

	recorded_make(&m.r, "end_us: 1000000\n", "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n", NULL);
	start(&m);
	for (int metric = 0; metric < TRACKER_METRICS; metric++) {
		struct tracker_query q = { (enum tracker_metric)metric, TRACKER_TASK, 0, 5, 100, 5, NULL };
		struct tracker_view v;

		ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), 0);
		ck_assert_uint_eq(v.n, 5);
		ck_assert_uint_eq(v.n_series, 0);
		ck_assert_uint_eq(v.n_peak, 0);
		tracker_view_release(&v);
		q.until_us = 0;
		ck_assert_int_eq(tracker_view_make(&v, m.tracker, &q), -EINVAL);
		tracker_view_release(&v);
	}
	stop(&m);
}

TEST_MAIN(tracker);
