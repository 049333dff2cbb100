/* SPDX-License-Identifier: MIT */
#include "analyse/largest.h"
#include "analyse/used.h"
#include "base/array.h"
#include "recording/column.h"
#include "render/chart/panels.h"
#include "tests/launched.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <sys/prctl.h>
#include <sys/resource.h>

/* What the build used over time, and what the charts make of it. */

#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
#define USAGE "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g written:1KiB:c\n"
#define POINTS 12		/* seconds, from 0 */

static void fill(double *amount, enum used_source *source, const struct recorded *r,
		 enum used_what what)
{
	int64_t time_us[POINTS];

	for (int64_t i = 0; i < POINTS; i++)
		time_us[i] = i * 1000000;
	ck_assert_int_eq(used_fill(amount, source, &r->sum, what, time_us, POINTS), 0);
}

static const struct {
	const char *name, *build, *tasks, *usage, *group;
	enum used_what what;
	enum used_source source;
	double ms[POINTS - 1];	/* or 512 bytes */
} cases[] = {
	{
		.name = "a task without samples uses its time evenly",
		.tasks = "start\t500000\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t3000000\tm.1\t0\t2000000\t500000\n",
		.source = USED_TASKS, .ms = { 500, 1000, 1000 },
	}, {
		.name = "samples, then what is left",
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t3500000\tm.1\t0\t1000000\t300000\n",
		.usage = "\n0=m.1:1,10\n0:,50\n0:,20\n",
		.source = USED_TASKS, .ms = { 100, 500, 200, 500 },
	}, {
		.name = "nothing changed for seconds: it worked in the last one",
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t7000000\tm.1\t0\t900000\t0\n",
		.usage = "\n0=m.1:1,10\n@6000 0:,80\n",
		.source = USED_TASKS, .ms = { 100, 0, 0, 0, 0, 800, 0 },
	}, {
		.name = "no more than all cores after the last sample",
		.build = "cores: 2\n",
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t4000000\tm.1\t0\t6000000\t0\n",
		.usage = "\n0=m.1:1\n@3000 0:1\n",
		.source = USED_TASKS, .ms = { 1000, 1000, 1000, 3000 },
	}, {
		.name = "storage that no sample saw is spread evenly",
		.what = USED_STORAGE,
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t4000000\tm.1\t0\t6000000\t0\t10\t0\t0\t0\t4000\n",
		.usage = "\n@2000 0=m.1:1,,,1000\n",
		.source = USED_TASKS, .ms = { 500, 2500, 500, 500 },
	}, {
		.name = "the hosts work where no task runs",
		.build = "user_us: 4000000\nsystem_us: 0\n",
		.tasks = "start\t2000000\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t9000000\tm.1\t0\t3000000\t0\n",
		.usage = "\n@4000 0=m.1:1,300\n",
		.source = USED_TASKS, .ms = { 250, 250, 0, 3000, 0, 0, 0, 0, 0, 250, 250 },
	}, {
		.name = "a long task without samples says nothing",
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t10000000\tm.1\t0\t5000000\t0\n",
		.source = USED_UNKNOWN,
		.ms = { 500, 500, 500, 500, 500, 500, 500, 500, 500, 500 },
	}, {
		.name = "a group of its own",
		.build = "user_us: 3000000\nsystem_us: 0\n",
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t10000000\tm.1\t0\t2900000\t0\n",
		.group = "\n1000,100\n1000,100\n@5000 300,600\n",
		.source = USED_GROUP, .ms = { 1100, 1100, 0, 0, 900 },
	}, {
		.name = "a group with other processes",
		.build = "user_us: 1000000\nsystem_us: 0\n",
		.tasks = "start\t0\tm.1\t11\t\t\ta\t\tcc\n"
			 "done\t1000000\tm.1\t0\t1000000\t0\n",
		.group = "\n1000,100\n1000,100\n@5000 300,600\n",
		.source = USED_TASKS, .ms = { 1000 },
	},
};

TEST_EACH(worked_out_by_hand, cases)
{
	double amount[POINTS], unit = cases[_i].what == USED_CPU ? 1000 : 512;
	enum used_source source;
	RELEASED(recorded, r);

	if (cases[_i].group)
		support_writes(support_path("%s/proc_cgroup.log", support_tmpdir()),
			       support_path("buildbeat proc_cgroup 1 1000 user:1ms:c system:1ms:c\n%s",
					    cases[_i].group));
	if (cases[_i].usage)
		support_writes(support_path("%s/proc_tasks.log", support_tmpdir()),
			       support_path(USAGE "%s", cases[_i].usage));
	recorded_make(&r, support_path("end_us: 11000000\n%s",
				       cases[_i].build ? cases[_i].build : ""),
		      support_path("%s%sclose\t11000000\tm\n", OPEN, cases[_i].tasks), NULL);
	fill(amount, &source, &r, cases[_i].what);
	ck_assert_msg(source == cases[_i].source, "%s: %d", cases[_i].name, source);
	for (size_t i = 0; i < POINTS - 1; i++)
		ck_assert_msg(fabs(amount[i + 1] / unit - cases[_i].ms[i]) < 1e-3, "%s: %zu: %f",
			      cases[_i].name, i, amount[i + 1] / unit);
}

/* Any recording: nothing is lost, and nothing is negative. */

static double sum_of_tasks(const struct summary *s, enum used_what what)
{
	double sum = 0;

	for (size_t i = 0; i < s->n_ran; i++) {
		const struct cost *c = &s->nest[s->order[i]].cost;

		sum += what == USED_CPU ? (double)c->cpu_us :
		       (double)c->read_bytes + (double)c->written_bytes;
	}
	return sum;
}

TEST(sums_are_those_of_the_build)
{
	struct recorded r;

	for (uint64_t seed = 0; seed < 60; seed++) {
		uint64_t state = seed;
		int64_t time_us[100] = { 0 };
		size_t n = 2 + random_below(&state, 98);

		recorded_random(&r, 1 + (unsigned)random_below(&state, 300), seed);
		for (size_t i = 1; i < n; i++)
			time_us[i] = time_us[i - 1] + 1 + (int64_t)random_below(&state, 200000);
		for (int what = 0; what <= USED_STORAGE; what++) {
			double amount[100], sum = 0, all = sum_of_tasks(&r.sum, (enum used_what)what);
			enum used_source source;

			ck_assert_int_eq(used_fill(amount, &source, &r.sum, (enum used_what)what,
						   time_us, n), 0);
			for (size_t i = 0; i < n; i++) {
				ck_assert(amount[i] >= 0);
				sum += amount[i];
			}
			ck_assert_double_eq_tol(sum, all, 1 + all * 1e-6);
		}
		recorded_release(&r);
	}
}

/* Panels of recordings as of large builds */

static const char *const generated[] = { "16 8", "200 60", "3000 300" };

struct world {
	struct recorded r;
	struct panels panels;
};

static void make_world(struct world *w, int i)
{
	support_expect(NULL, 0, NULL, NULL, TOP_BUILDDIR "/tests/gen_recording %s/rec %s %d",
		       support_tmpdir(), generated[i], i);
	recorded_read(&w->r, support_path("%s/rec", support_tmpdir()));
	ck_assert_int_eq(panels_make(&w->panels, &w->r.sum), 0);
}

static void release_world(struct world *w)
{
	panels_release(&w->panels);
	recorded_release(&w->r);
}

static const struct band *find_band(const struct panel *p, const char *id)
{
	for (size_t i = 0; i < p->n_bands; i++) {
		if (!strcmp(p->band[i].id, id))
			return &p->band[i];
	}
	ck_abort_msg("no band %s", id);
}

/* User, nice, system and interrupts of a stretch, in 1/10000 of all cores. */
static double busy(const struct world *w, int64_t from_us, int64_t until_us)
{
	static const char *const names[] = { "user", "nice", "system", "irq" };
	struct column c;
	double sum = 0;

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		size_t from = 0, until;

		ck_assert(column_find(&c, &w->r.rec, "proc_stat", names[k]));
		while (c.series->time_ms[from] * 1000 < from_us)
			from++;
		for (until = from; c.series->time_ms[until] * 1000 < until_us; until++)
			;
		sum += (double)column_between(&c, from, until);
	}
	return sum / (double)(until_us - from_us) * 1e4 / (double)w->r.sum.cores;
}

TEST_EACH(the_build_is_part_of_the_machine, generated)
{
	const int64_t *build, *other;
	const struct panel *p;
	double sum = 0, all = 0;
	struct world w;

	make_world(&w, _i);
	p = panels_find(&w.panels, PANEL_CPU);
	ck_assert_ptr_nonnull(p->note);
	build = find_band(p, "build")->value;
	other = find_band(p, "other")->value;
	for (size_t i = 1; i < p->n; i++) {
		double span_us = (double)(p->time_us[i] - p->time_us[i - 1]);
		double most = busy(&w, p->time_us[i - 1], p->time_us[i]);

		ck_assert(build[i] >= 0 && other[i] >= 0);
		/* 100 % at most: ticks are coarse */
		if (most <= 9900)
			ck_assert_double_eq_tol((double)(build[i] + other[i]), most, 1.5);
		sum += (double)build[i] * span_us;
		all += (double)(build[i] + other[i]) * span_us;
	}
	sum = sum / 1e4 * (double)w.r.sum.cores;
	all = all / 1e4 * (double)w.r.sum.cores;
	ck_assert_double_eq_tol(sum, fmin((double)w.r.sum.cpu_us, all), 1e5 + 2e-3 * sum);
	release_world(&w);
}

/* What each task has at a time: its newest level, until it ends. */
static uint32_t *levels_at(const struct recording *rec, int64_t time_us)
{
	uint32_t *kb = calloc(rec->n_tasks + 1, sizeof *kb);

	for (size_t i = 0; i < rec->n_memory && rec->memory[i].time_ms * 1000 <= time_us; i++) {
		const struct memory_change *m = &rec->memory[i];
		const struct task *t = &rec->task[m->task];

		kb[m->task] = m->time_ms * 1000 == time_us ||
			      recording_task_end_us(rec, t) > time_us ? m->kb : 0;
	}
	return kb;
}

/* The bands of tasks at each point, against all levels at the sample with most since the
 * previous point. */
static bool is_at(const struct world *w, const struct panel *p, size_t i, int64_t time_us)
{
	uint32_t *kb = levels_at(&w->r.rec, time_us);
	int64_t sum = 0, all = 0;
	bool same = true;

	for (size_t t = 0; t < w->r.rec.n_tasks; t++)
		all += kb[t];
	for (size_t k = 0; k < p->n_bands; k++) {
		const struct band *b = &p->band[k];

		if (b->mark != MARK_STACK)
			continue;
		ck_assert(b->value[i] >= 0);
		sum += b->value[i];
		if (b->task != NO_INDEX)
			same &= b->value[i] == kb[b->task] * 1024LL;
	}
	free(kb);
	return same && sum == all * 1024;
}

TEST_EACH(tasks_add_up, generated)
{
	const struct recording *rec;
	const struct panel *p;
	struct bin all;
	struct world w;
	size_t at = 0;

	make_world(&w, _i);
	rec = &w.r.rec;
	p = panels_find(&w.panels, PANEL_MEMORY);
	for (size_t i = 0; i < p->n; i++) {
		bool same = is_at(&w, p, i, p->time_us[i]);

		for (; at < rec->n_memory && rec->memory[at].time_ms * 1000 <= p->time_us[i]; at++) {
			if (!same && (!at || rec->memory[at].time_ms > rec->memory[at - 1].time_ms))
				same = is_at(&w, p, i, rec->memory[at].time_ms * 1000);
		}
		ck_assert_msg(same, "point %zu", i);
	}
	panel_stack_bins(p, 0, w.r.sum.wall_us + 1000000, &all, 1);
	ck_assert_int_eq(all.max, w.r.sum.memory_peak_kb.value * 1024);
	release_world(&w);
}

/* The two largest of the peak, no task twice, rising weights. */
TEST_EACH(the_largest_tasks, generated)
{
	struct largest l;
	struct world w;
	size_t sure = 0;

	make_world(&w, _i);
	ck_assert_int_eq(largest_make(&l, &w.r.sum), 0);
	ck_assert_uint_le(l.n, LARGEST_MAX);
	for (size_t i = 0; i < l.n; i++) {
		for (size_t k = 0; k < LARGEST_SURE; k++)
			sure += l.task[i] == w.r.sum.peak_task[k].task;
		for (size_t k = 0; k < i; k++)
			ck_assert_uint_ne(l.task[i], l.task[k]);
		ck_assert_int_eq(l.kb[i].value[l.kb[i].n - 1], 0);
	}
	ck_assert_uint_eq(sure, LARGEST_SURE);
	largest_release(&l);
	release_world(&w);
}

/* Tasks that wait, counted one by one. */
TEST(waiting_tasks)
{
	struct recorded r;
	struct panels panels;

	for (uint64_t seed = 0; seed < 40; seed++) {
		const struct panel *p;

		recorded_random(&r, 100, seed);
		ck_assert_int_eq(panels_make(&panels, &r.sum), 0);
		p = panels_find(&panels, PANEL_RUNNING);
		for (size_t i = 1; p && p->n_bands > 1 && i < p->n; i++) {
			int64_t middle = p->time_us[i - 1] + (p->time_us[i] - p->time_us[i - 1]) / 2;
			int64_t n = 0;

			for (size_t k = 0; k < r.sum.n_ran; k++) {
				uint32_t t = r.sum.order[k];
				int64_t wait_us = wait_queue_us(&panels.chain.waits, &r.rec, t);
				int64_t ready_us = panels.chain.waits.task[t].ready_us;

				n += wait_us > WAIT_REACTION_US && ready_us <= middle &&
				     middle < ready_us + wait_us;
			}
			ck_assert_int_eq(p->band[1].value[i], n * 100);
		}
		panels_release(&panels);
		recorded_release(&r);
	}
}

/*
 * A real make beside a process that computes all the time. Witnesses: what wait4() says of the
 * launcher with all its children, and what /proc/stat counts around it.
 */

static pid_t start_spinning(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			;
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* User, nice, system and interrupts of all cores, in seconds. */
static double machine_busy(void)
{
	long long user, nice, system, idle, iowait, irq, softirq;
	FILE *f = fopen("/proc/stat", "r");
	int n;

	ck_assert_ptr_nonnull(f);
	n = fscanf(f, "cpu %lld %lld %lld %lld %lld %lld %lld", &user, &nice, &system, &idle,
		   &iowait, &irq, &softirq);
	fclose(f);
	ck_assert_int_eq(n, 7);
	return (double)(user + nice + system + irq + softirq) / (double)sysconf(_SC_CLK_TCK);
}

static double cpu_of_children(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Core-seconds of a band. */
static double core_seconds(const struct world *w, const char *id)
{
	const struct panel *p = panels_find(&w->panels, PANEL_CPU);
	const int64_t *value = find_band(p, id)->value;
	double sum = 0;

	for (size_t i = 1; i < p->n; i++)
		sum += (double)value[i] * (double)(p->time_us[i] - p->time_us[i - 1]);
	return sum / 1e10 * (double)w->r.sum.cores;
}

TEST(beside_a_foreign_load)
{
	const char *dir = support_tmpdir();
	double busy, children, build, other;
	struct world w;
	struct run run;
	pid_t spinning;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", dir), "all: a b c d\na b c d:\n"
		       "\t@i=0; while [ $$i -lt 150000 ]; do i=$$((i+1)); done\n");
	spinning = start_spinning();
	busy = machine_busy();
	children = cpu_of_children();
	support_run(&run, dir, RECORD "-n one make -j2");
	children = cpu_of_children() - children;
	busy = machine_busy() - busy;
	kill(spinning, SIGKILL);
	waitpid(spinning, NULL, 0);
	ck_assert_int_eq(run.status, 0);
	recorded_read(&w.r, support_path("%s/stats/one", dir));
	ck_assert_int_eq(panels_make(&w.panels, &w.r.sum), 0);
	build = core_seconds(&w, "build");
	other = core_seconds(&w, "other");
	/* ticks of 10 ms, and the launcher's own time */
	ck_assert_double_le(build, children + 0.05);
	ck_assert_double_ge(build, (double)w.r.sum.cpu_us / 1e6 * 0.8 - 0.05);
	ck_assert_double_gt(other, 0);
	ck_assert_double_le(build + other, busy + 0.02 * (double)w.r.sum.cores + 0.1);
	release_world(&w);
}

TEST_MAIN(used);
