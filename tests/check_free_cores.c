/* SPDX-License-Identifier: MIT */
#include "analyse/chain.h"
#include "base/array.h"
#include "base/minmax.h"
#include "tests/recorded.h"
#include "tests/support.h"


#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
#define START(n) "start\t0\tm." n "\t11\t\t\tt" n "\t\tcc\n"
#define DONE(n, end_ms, cpu_ms) "done\t" end_ms "000\tm." n "\t0\t" cpu_ms "000\t0\n"

static const struct {
	const char *name, *build, *tasks, *stat;
	bool known;
	double cores, others, threads[4];
	int64_t need_ms[4], got_ms;	/* in the first second */
} cases[] = {
	{
		.name = "cores are unknown", .build = "user_us: 2000000\nsystem_us: 0\n",
		.tasks = START("1") DONE("1", "4000", "2000"),
		.threads = { 1 }, .need_ms = { 4000 }, .got_ms = 1000,
	}, {
		.name = "CPU times are unknown", .build = "cores: 1\n",
		.tasks = START("1") START("2") "done\t4000000\tm.1\t0\ndone\t4000000\tm.2\t0\n",
		.threads = { 1, 1 }, .need_ms = { 4000, 4000 }, .got_ms = 1000,
	}, {
		.name = "each has a core", .build = "cores: 2\nuser_us: 5000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") DONE("1", "4000", "4000") DONE("2", "4000", "1000"),
		.known = true, .cores = 2, .threads = { 1, 1 }, .need_ms = { 4000, 4000 }, .got_ms = 1000,
	}, {
		.name = "four on two cores", .build = "cores: 2\nuser_us: 8000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") START("3") START("4") DONE("1", "4000", "2000")
			 DONE("2", "4000", "2000") DONE("3", "4000", "2000") DONE("4", "4000", "2000"),
		.known = true, .cores = 2, .threads = { 1, 1, 1, 1 },
		.need_ms = { 2000, 2000, 2000, 2000 }, .got_ms = 500,
	}, {
		.name = "one sleeps", .build = "cores: 1\nuser_us: 4000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") START("3") DONE("1", "4000", "2000")
			 DONE("2", "4000", "2000") DONE("3", "4000", "0"),
		.known = true, .cores = 1, .threads = { 1, 1, 1 }, .need_ms = { 2000, 2000, 4000 },
		.got_ms = 500,
	}, {
		.name = "others have three of the four places",
		.build = "cores: 2\nuser_us: 2000000\nsystem_us: 0\n",
		.tasks = START("1") DONE("1", "4000", "2000"), .stat = "@0 \n@1000 200\n@2000 200\n@3000 200\n@4000 200\n",
		.known = true, .cores = .5, .others = 1.5, .threads = { 1 }, .need_ms = { 2000 },
		.got_ms = 500,
	}, {
		.name = "several threads that have all cores",
		.build = "cores: 4\nuser_us: 12000000\nsystem_us: 0\n",
		.tasks = START("1") START("2") DONE("1", "4000", "12000") DONE("2", "4000", "4000"),
		.known = true, .cores = 4, .threads = { 3, 1 }, .need_ms = { 4000, 4000 }, .got_ms = 1000,
	},
};

static bool is_near(int64_t us, int64_t ms)
{
	return us >= ms * 990 && us <= ms * 1010;
}

TEST_EACH(needs, cases)
{
	RELEASED(recorded, r);
	RELEASED(free_cores, f);
	const char *build = support_path("cwd: /src\nend_us: 4000000\nstatus: 0\n%s", cases[_i].build);
	const char *dir = support_tmpdir();

	if (cases[_i].stat)
		support_writes(support_path("%s/proc_stat.log", dir),
			       support_path("buildbeat proc_stat 1 1000 user:10ms:c\n%s", cases[_i].stat));
	recorded_make(&r, build, support_path("%s%s", OPEN, cases[_i].tasks), NULL);
	ck_assert_int_eq(free_cores_make(&f, &r.sum), 0);
	ck_assert(f.known == cases[_i].known);
	ck_assert_double_eq_tol(f.cores, cases[_i].cores, .01);
	ck_assert_double_eq_tol(f.others, cases[_i].others, .01);
	for (size_t k = 0; k < r.rec.n_tasks; k++) {
		ck_assert_msg(is_near(f.need_us[k], cases[_i].need_ms[k]), "%s: task %zu needs %lld us",
			      cases[_i].name, k, (long long)f.need_us[k]);
		ck_assert_double_eq_tol(f.threads[k], cases[_i].threads[k], .01);
		ck_assert_int_le(f.need_us[k], r.sum.nest[k].cost.wall_us);
	}
	ck_assert_msg(is_near(free_cores_got_us(&f, 0, 1000000), cases[_i].got_ms), "%s: got %lld us",
		      cases[_i].name, (long long)free_cores_got_us(&f, 0, 1000000));
}

/*
 * The lower bound of chain.h beside a scheduler. Plans of tasks that compute and sleep run on two cores,
 * which all processes share evenly, with -j1 to -j16, also beside processes of others that compute. Each run
 * is recorded as a plugin and a sampler would. The bound that follows is nearly the same for all runs of a
 * plan: the time that the plan needs with unlimited workers and cores.
 */

#define CORES 2
#define TASKS_MAX 60
#define PHASES_MAX 8
#define DEPS_MAX 3
#define SAMPLE_US 1000000

struct task_plan {
	unsigned n_phases, threads, n_deps, dep[DEPS_MAX];
	int64_t us[PHASES_MAX];	/* to compute, to sleep, to compute ... */
	/* a run */
	bool started, done;
	unsigned phase;
	double left_us, cpu_us, delay_us;
	double seen_us, seen_delay_us;	/* at the last sample */
	bool seen;
	int64_t start_us, end_us;
};

struct plan {
	uint64_t state;
	unsigned n, delays;	/* as in kinds */
	struct task_plan task[TASKS_MAX];
	/* a run */
	double now_us, busy_us, seen_us, sample_us;
	struct buf tasks, stat, usage;
};

/* How many processes of others compute in each second, again and again. */
static const struct {
	const char *name;
	unsigned n, others[8];
} loads[] = {
	{ "a free machine", 1, { 0 } },
	{ "two others", 1, { 2 } },
	{ "eight others", 1, { 8 } },
	{ "others that come and go", 6, { 0, 0, 0, 4, 4, 1 } },
};

static int64_t some(struct plan *p, uint64_t least, uint64_t most)
{
	return (int64_t)(least + random_below(&p->state, most - least + 1));
}

/* What plans have besides tasks that only compute, and what is recorded. */
static const struct {
	const char *name;
	bool both, threads;	/* tasks that do both, and with several threads */
	enum { NO_DELAYS, SAMPLED, EXACT } delays;
	double low, high;	/* by how much the bound may be wrong */
} kinds[] = {
	{ "tasks that compute or sleep", .low = .1, .high = .1 },
	{ "some do both", .both = true, .low = .3, .high = .1 },
	{ "delays that samples saw", .both = true, .threads = true, .delays = SAMPLED, .low = .3, .high = .15 },
	{ "exact delays", .both = true, .threads = true, .delays = EXACT, .low = .02, .high = .02 },
};

static void plan_task(struct plan *p, size_t kind, struct task_plan *t)
{
	uint64_t what = random_below(&p->state, 10);

	*t = (struct task_plan){ .n_phases = 1, .threads = 1 };
	t->us[0] = some(p, 20000, 2000000);
	if (what < 2) {
		t->n_phases = 2;
		t->us[0] = some(p, 1000, 10000);
		t->us[1] = some(p, 100000, 3000000);
	} else if (what < 4 && kinds[kind].both) {
		t->n_phases = (unsigned)some(p, 2, PHASES_MAX);
		for (unsigned i = 0; i < t->n_phases; i++)
			t->us[i] = some(p, 10000, 300000);
	} else if (what < 5 && kinds[kind].threads) {
		t->threads = (unsigned)some(p, 2, 3);
	}
	t->n_deps = (unsigned)MIN(random_below(&p->state, DEPS_MAX + 1), (uint64_t)p->n);
	for (unsigned i = 0; i < t->n_deps; i++)
		t->dep[i] = (unsigned)random_below(&p->state, p->n);
}

static void plan(struct plan *p, size_t kind, uint64_t seed)
{
	unsigned n = 5 + (unsigned)(seed * 7 % (TASKS_MAX - 4));

	*p = (struct plan){ .state = seed, .delays = kinds[kind].delays, .tasks = p->tasks,
			    .stat = p->stat, .usage = p->usage };
	for (; p->n < n; p->n++)
		plan_task(p, kind, &p->task[p->n]);
}

/* What a task takes on free cores. */
static int64_t needs_us(const struct task_plan *t)
{
	int64_t us = 0;

	for (unsigned i = 0; i < t->n_phases; i++)
		us += t->us[i];
	return us;
}

static int64_t least_us(const struct plan *p)
{
	int64_t end_us[TASKS_MAX], all_us = 0;

	for (unsigned i = 0; i < p->n; i++) {
		const struct task_plan *t = &p->task[i];

		end_us[i] = 0;
		for (unsigned k = 0; k < t->n_deps; k++)
			end_us[i] = MAX(end_us[t->dep[k]], end_us[i]);
		end_us[i] += needs_us(t);
		all_us = MAX(end_us[i], all_us);
	}
	return all_us;
}

/* The scheduler */

static bool computes(const struct task_plan *t)
{
	return t->phase % 2 == 0;
}

static bool is_ready(const struct plan *p, const struct task_plan *t)
{
	for (unsigned i = 0; i < t->n_deps; i++) {
		if (!p->task[t->dep[i]].done)
			return false;
	}
	return !t->started;
}

static unsigned start_ready(struct plan *p, unsigned running, unsigned jobs)
{
	for (unsigned i = 0; i < p->n && running < jobs; i++) {
		struct task_plan *t = &p->task[i];

		if (!is_ready(p, t))
			continue;
		t->started = true;
		t->start_us = (int64_t)p->now_us;
		t->left_us = (double)t->us[0];
		buf_addf(&p->tasks, "start\t%lld\tm.%u\t%u\t\t\tt%u\n", (long long)t->start_us, i + 1,
			 100 + i, i);
		for (unsigned k = 0; k < t->n_deps; k++)
			buf_addf(&p->tasks, "after\t%lld\tm.%u\tt%u\n", (long long)t->start_us, i + 1,
				 t->dep[k]);
		running++;
	}
	return running;
}

static void end_phase(struct plan *p, struct task_plan *t)
{
	if (++t->phase < t->n_phases) {
		t->left_us = (double)t->us[t->phase];
		return;
	}
	t->done = true;
	t->end_us = (int64_t)p->now_us;
	buf_addf(&p->tasks, "done\t%lld\tm.%u\t0\t%lld\t0\n", (long long)t->end_us,
		 (unsigned)(t - p->task) + 1, (long long)t->cpu_us);
}

/* In ticks of 10 ms. */
static void sample(struct plan *p)
{
	int ticks = (int)((p->busy_us - p->seen_us) / 10000);

	buf_addf(&p->stat, "@%lld %d\n", (long long)(p->now_us / 1000), ticks);
	p->seen_us += ticks * 10000.;
	p->sample_us = p->now_us + SAMPLE_US;
	buf_addf(&p->usage, "@%lld ", (long long)(p->now_us / 1000));
	for (unsigned i = 0; i < p->n; i++) {
		struct task_plan *t = &p->task[i];

		if (!t->started || t->done)
			continue;
		ticks = (int)((t->cpu_us - t->seen_us) / 10000);
		buf_addf(&p->usage, t->seen ? "%u" : "%u=m.%u", i, i + 1);
		buf_addf(&p->usage, p->delays == SAMPLED ? ":%d" : ":%d;", ticks);
		t->seen_us += ticks * 10000.;
		ticks = (int)((t->delay_us - t->seen_delay_us) / 1000);
		if (p->delays == SAMPLED)
			buf_addf(&p->usage, ",%d;", ticks);
		t->seen_delay_us += ticks * 1000.;
		t->seen = true;
	}
	if (p->usage.data[p->usage.len - 1] == ';')
		p->usage.len--;
	buf_adds(&p->usage, "\n");
}

/* All that runs goes on until the next thing happens. */
static void step(struct plan *p, unsigned others)
{
	double share = others, us = p->sample_us - p->now_us;

	for (unsigned i = 0; i < p->n; i++) {
		if (p->task[i].started && !p->task[i].done && computes(&p->task[i]))
			share += p->task[i].threads;
	}
	share = share > CORES ? CORES / share : 1;
	for (unsigned i = 0; i < p->n; i++) {
		const struct task_plan *t = &p->task[i];

		if (t->started && !t->done)
			us = MIN(us, t->left_us / (computes(t) ? share : 1));
	}
	p->now_us += us;
	p->busy_us += us * share * others;
	for (unsigned i = 0; i < p->n; i++) {
		struct task_plan *t = &p->task[i];

		if (!t->started || t->done)
			continue;
		t->left_us -= us * (computes(t) ? share : 1);
		if (computes(t)) {
			t->cpu_us += us * share * t->threads;
			t->delay_us += us * (1 - share) * t->threads;
			p->busy_us += us * share * t->threads;
		}
		if (t->left_us < .5)
			end_phase(p, t);
	}
}

static void run(struct plan *p, unsigned jobs, size_t load)
{
	unsigned left = p->n;

	buf_clear(&p->tasks);
	buf_clear(&p->stat);
	buf_clear(&p->usage);
	buf_adds(&p->usage, p->delays == SAMPLED ?
		 "buildbeat proc_tasks 1 1000 cpu:10ms:c delay:1ms:c\n" : "buildbeat proc_tasks 1 1000 cpu:10ms:c\n");
	buf_adds(&p->tasks, "buildbeat tasks 1\nopen\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n");
	buf_adds(&p->stat, "buildbeat proc_stat 1 1000 user:10ms:c\n");
	p->now_us = p->busy_us = p->seen_us = p->sample_us = 0;
	for (unsigned i = 0; i < p->n; i++) {
		struct task_plan *t = &p->task[i];

		t->started = t->done = t->seen = false;
		t->cpu_us = t->delay_us = t->seen_us = t->seen_delay_us = 0;
		t->phase = 0;
	}
	while (left) {
		unsigned running = 0;

		if (p->now_us >= p->sample_us - .5)
			sample(p);
		left = 0;
		for (unsigned i = 0; i < p->n; i++) {
			running += p->task[i].started && !p->task[i].done;
			left += !p->task[i].done;
		}
		start_ready(p, running, jobs);
		if (left)
			step(p, loads[load].others[(unsigned)(p->now_us / 1e6 + .001) % loads[load].n]);
	}
	sample(p);
	buf_addf(&p->tasks, "close\t%lld\tm\n", (long long)p->now_us);
}

static void record(struct recorded *r, struct plan *p)
{
	const char *dir = support_tmpdir();
	double cpu_us = 0;

	for (unsigned i = 0; i < p->n; i++)
		cpu_us += p->task[i].cpu_us;
	support_writes(support_path("%s/build", dir),
		       support_path("buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n"
				    "cwd: /src\ncores: %d\nend_us: %lld\nstatus: 0\nuser_us: %lld\n"
				    "system_us: 0\n", CORES, (long long)p->now_us, (long long)cpu_us));
	support_writes(support_path("%s/tasks.log", dir), buf_str(&p->tasks));
	support_writes(support_path("%s/proc_stat.log", dir), buf_str(&p->stat));
	support_writes(support_path("%s/proc_tasks.log", dir), buf_str(&p->usage));
	recorded_read(r, dir);
	ck_assert_uint_eq(r->rec.n_warnings, 0);
	for (size_t i = 0; i < r->rec.n_tasks && p->delays == EXACT; i++) {
		r->rec.task[i].delay_us = (int64_t)p->task[r->rec.task[i].seq - 1].delay_us;
		r->rec.task[i].delay_at_least = false;
	}
}

static void check_needs(const struct chain *c, const struct recorded *r, const struct plan *p)
{
	ck_assert(c->free.known);
	for (size_t i = 0; i < r->rec.n_tasks; i++) {
		double cpu_us = (double)r->sum.nest[i].cost.cpu_us;

		ck_assert_int_le(c->free.need_us[i], cost_wall_us(&r->rec, &r->rec.task[i]));
		ck_assert_double_ge((double)c->free.need_us[i] + 1, cpu_us / c->free.threads[i]);
		ck_assert_float_ge(c->free.threads[i], 1);
	}
	ck_assert_int_le(c->dependency_us, (int64_t)p->now_us);
}

TEST_EACH(bound, kinds)
{
	static const unsigned jobs[] = { 1, 2, 16 };
	struct plan p = { .tasks = BUF_INIT, .stat = BUF_INIT, .usage = BUF_INIT };

	for (uint64_t seed = 0; seed < 12 * ARRAY_SIZE(loads) * ARRAY_SIZE(jobs); seed++) {
		size_t j = seed % ARRAY_SIZE(jobs), load = seed / ARRAY_SIZE(jobs) % ARRAY_SIZE(loads);
		RELEASED(recorded, r);
		RELEASED(chain, c);
		double off;

		plan(&p, (size_t)_i, seed / ARRAY_SIZE(jobs) / ARRAY_SIZE(loads));
		run(&p, jobs[j], load);
		record(&r, &p);
		ck_assert_int_eq(chain_make(&c, &r.sum), 0);
		check_needs(&c, &r, &p);
		off = (double)c.dependency_us / (double)least_us(&p) - 1;
		ck_assert_msg(off >= -kinds[_i].low && off <= kinds[_i].high, "%s, seed %llu, -j%u, %s: %.0f %%",
			      kinds[_i].name, (unsigned long long)seed, jobs[j], loads[load].name, off * 100);
	}
	buf_release(&p.tasks);
	buf_release(&p.stat);
	buf_release(&p.usage);
}

TEST_MAIN(free_cores);
