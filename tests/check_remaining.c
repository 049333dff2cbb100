/* SPDX-License-Identifier: MIT */
#include "archive/archive.h"
#include "base/minmax.h"
#include "compare/remaining.h"
#include "stats/stats.h"
#include "tests/noise.h"
#include "tests/support.h"

/*
 * Generated archives: builds of one project, scheduled on workers as make does it, whose tasks have
 * noise. Every build is predicted from those before it, at several places.
 */
#define TASKS_MAX 300
#define BUILDS_MAX 60
#define PLACES 5

static const double place[PLACES] = { 0.1, 0.3, 0.5, 0.7, 0.9 };

struct archive_kind {
	const char *what;
	size_t tasks, builds, workers;
	double noise;		/* of each task */
	double host;		/* of all tasks of a build */
	double trend;		/* a build takes so much longer than the one before */
	double spikes;		/* share of tasks that take three times as long */
	double incremental;	/* share of builds that run few tasks */
	double setup;		/* seconds before the first task */
	bool tail;		/* a long link at the end */
	bool jobs;		/* the number of workers changes from build to build */
	size_t full;		/* so many full builds, then incremental ones */
	double slower;		/* the last build is up to so many times slower from its first task on */
};

static const struct archive_kind kinds[] = {
	{ .what = "quiet", .tasks = 120, .builds = 30, .workers = 4, .noise = 0.03 },
	{ .what = "noisy", .tasks = 120, .builds = 30, .workers = 4, .noise = 0.3 },
	{ .what = "slow days", .tasks = 100, .builds = 30, .workers = 4, .noise = 0.1,
	  .host = 0.2 },
	{ .what = "very slow days", .tasks = 60, .builds = 20, .workers = 2, .noise = 0.1,
	  .host = 0.5 },
	{ .what = "trend", .tasks = 80, .builds = 40, .workers = 4, .noise = 0.1,
	  .trend = 0.02 },
	{ .what = "spikes", .tasks = 100, .builds = 30, .workers = 4, .noise = 0.1,
	  .spikes = 0.02 },
	{ .what = "a long link", .tasks = 60, .builds = 30, .workers = 4, .noise = 0.1,
	  .host = 0.1, .tail = true },
	{ .what = "configure first", .tasks = 60, .builds = 30, .workers = 4, .noise = 0.1,
	  .host = 0.1, .setup = 20 },
	{ .what = "other -j", .tasks = 100, .builds = 30, .workers = 4, .noise = 0.1,
	  .jobs = true },
	{ .what = "half incremental", .tasks = 120, .builds = 50, .workers = 4, .noise = 0.1,
	  .host = 0.05, .incremental = 0.5 },
	{ .what = "mostly incremental", .tasks = 120, .builds = 60, .workers = 4,
	  .noise = 0.1, .host = 0.05, .incremental = 0.85 },
	{ .what = "few tasks", .tasks = 4, .builds = 30, .workers = 2, .noise = 0.2,
	  .host = 0.1 },
	{ .what = "one task", .tasks = 1, .builds = 30, .workers = 1, .noise = 0.2 },
	{ .what = "serial", .tasks = 40, .builds = 25, .workers = 1, .noise = 0.2, .host = 0.1 },
	{ .what = "three builds", .tasks = 80, .builds = 4, .workers = 4, .noise = 0.1,
	  .host = 0.1 },
	{ .what = "five builds", .tasks = 80, .builds = 6, .workers = 4, .noise = 0.15,
	  .host = 0.05 },
	{ .what = "eight builds", .tasks = 80, .builds = 9, .workers = 4, .noise = 0.05,
	  .host = 0.15 },
	{ .what = "the first incremental", .tasks = 80, .builds = 4, .workers = 4, .noise = 0.1,
	  .host = 0.1, .full = 3 },
	{ .what = "the third incremental", .tasks = 80, .builds = 6, .workers = 4, .noise = 0.1,
	  .host = 0.1, .full = 3 },
	{ .what = "slower from the first task on", .tasks = 80, .builds = 5, .workers = 4, .noise = 0.1,
	  .host = 0.1, .slower = 2 },
	{ .what = "sixty", .tasks = 40, .builds = 60, .workers = 8, .noise = 0.15, .host = 0.1 },
};

struct made_task {
	char name[32];
	double usual_s;
	size_t waits_for[3];	/* numbers below its own, or its own */
};

struct made_project {
	struct archive_kind kind;
	struct made_task task[TASKS_MAX];
	struct recording build[BUILDS_MAX];
};

static void plan(struct made_project *p, struct noise *n)
{
	for (size_t t = 0; t < p->kind.tasks; t++) {
		struct made_task *m = &p->task[t];
		bool last = p->kind.tail && t + 1 == p->kind.tasks;

		snprintf(m->name, sizeof m->name, "dir%zu/file%zu.o", t / 10, t * 7919 % 1000);
		m->usual_s = last ? (double)p->kind.tasks : exp(1 + noise_normal(n));
		for (int i = 0; i < 3; i++) {
			m->waits_for[i] = t;
			/* every tenth links the nine before */
			if (t % 10 == 9 || last)
				m->waits_for[i] = t - 1 - (size_t)(noise_uniform(n) * fmin((double)t, 9));
		}
		if (t % 10 == 9 || last)
			snprintf(m->name, sizeof m->name, "dir%zu/lib%zu.a", t / 10, t);
		if (last)
			m->waits_for[0] = t - 1;
	}
}

/* Which tasks run: those whose sources changed, and what is made of them. */
static void choose(bool *runs, const struct made_project *p, size_t build, struct noise *n)
{
	bool few = noise_uniform(n) < p->kind.incremental || (p->kind.full && build >= p->kind.full);
	double share = few ? 0.01 + 0.1 * noise_uniform(n) : 1;

	for (size_t t = 0; t < p->kind.tasks; t++) {
		runs[t] = noise_uniform(n) < share || t + 1 == p->kind.tasks;
		for (int i = 0; i < 3; i++)
			runs[t] = runs[t] || runs[p->task[t].waits_for[i]];
	}
}

static void schedule(struct recording *rec, const struct made_project *p, size_t build,
		     struct noise *n)
{
	const struct archive_kind *k = &p->kind;
	double host = exp(k->host * noise_normal(n) + k->trend * (double)build);
	size_t workers = k->jobs ? 1 + (size_t)(noise_uniform(n) * (double)k->workers) : k->workers;
	double free_s[16] = { 0 }, end_s[TASKS_MAX] = { 0 }, all = 0;
	bool runs[TASKS_MAX];

	if (k->slower > 0 && build + 1 == k->builds)
		host *= 1 + (k->slower - 1) * noise_uniform(n);
	choose(runs, p, build, n);
	*rec = (struct recording){ .n_instances = 1, .end_us = 0 };
	rec->instance = calloc(1, sizeof *rec->instance);
	rec->task = calloc(k->tasks, sizeof *rec->task);
	ck_assert(rec->instance && rec->task);
	rec->instance[0] = (struct instance){ .id = "1", .tool = "make", .cwd = "/x", .parent_task = NO_INDEX };
	for (size_t w = 0; w < workers; w++)
		free_s[w] = k->setup * host;
	for (size_t t = 0; t < k->tasks; t++) {
		double took = p->task[t].usual_s * host * exp(k->noise * noise_normal(n)), start;
		double spike = noise_uniform(n);
		size_t worker = 0;

		if (!runs[t])
			continue;
		for (size_t w = 1; w < workers; w++)
			worker = free_s[w] < free_s[worker] ? w : worker;
		start = free_s[worker];
		for (int i = 0; i < 3; i++)
			start = fmax(start, end_s[p->task[t].waits_for[i]]);
		end_s[t] = free_s[worker] = start + took * (spike < k->spikes ? 3 : 1);
		all = fmax(all, end_s[t]);
		rec->task[rec->n_tasks++] = (struct task){
			.name = p->task[t].name, .kind = "compile", .state = TASK_DONE, .key = "",
			.start_us = (int64_t)(start * 1e6), .end_us = (int64_t)(end_s[t] * 1e6),
		};
	}
	rec->end_us = (int64_t)((all + 0.05) * 1e6);
}

static void make_project(struct made_project *p, const struct archive_kind *kind, uint64_t seed)
{
	struct noise n = { seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };

	p->kind = *kind;
	plan(p, &n);
	for (size_t b = 0; b < kind->builds; b++)
		schedule(&p->build[b], p, b, &n);
}

static void release_project(struct made_project *p)
{
	for (size_t b = 0; b < p->kind.builds; b++) {
		free(p->build[b].instance);
		free(p->build[b].task);
	}
}

static struct remaining *learnt(const struct made_project *p, size_t before)
{
	struct remaining *r;

	ck_assert(!remaining_new(&r));
	for (size_t b = before > REMAINING_BUILDS ? before - REMAINING_BUILDS : 0; b < before; b++)
		ck_assert(!remaining_add(r, &p->build[b], -1));
	ck_assert(!remaining_learn(r));
	return r;
}

/* The prediction to be beaten: the median duration, less what has passed. */
static double naive(const struct made_project *p, size_t before, int64_t elapsed)
{
	double wall[BUILDS_MAX];

	for (size_t b = 0; b < before; b++)
		wall[b] = (double)p->build[b].end_us;
	return fmax(0, stats_median(wall, before) - (double)elapsed);
}

static int64_t longest(const struct made_project *p, size_t before)
{
	int64_t us = 0;

	for (size_t b = 0; b < before; b++)
		us = MAX(us, p->build[b].end_us);
	return us;
}

struct tally_of_cases {
	size_t n, held;
	double error, naive;	/* sums, as shares of the duration */
	double width;		/* of the intervals */
};

static void try_build(struct tally_of_cases at[PLACES], const struct made_project *p, size_t b)
{
	struct remaining *r = learnt(p, b);
	int64_t wall = p->build[b].end_us;

	for (size_t i = 0; i < PLACES; i++) {
		int64_t elapsed = (int64_t)(place[i] * (double)wall), left = wall - elapsed;
		struct remaining_estimate e;

		ck_assert(!remaining_estimate(&e, r, &p->build[b], elapsed));
		ck_assert(e.low_us >= 0 && e.low_us <= e.left_us && e.left_us <= e.high_us);
		ck_assert(e.done_share >= 0 && e.done_share <= 1);
		at[i].n++;
		at[i].held += e.low_us <= left && left <= e.high_us;
		at[i].error += fabs((double)(e.left_us - left)) / (double)wall;
		at[i].naive += fabs(naive(p, b, elapsed) - (double)left) / (double)wall;
		at[i].width += (double)(e.high_us - e.low_us) / (double)wall;
		/* whatever the earlier builds were like, the interval is one of such builds */
		ck_assert_msg(e.high_us < 20 * longest(p, b), "%s: %.1f s of %.1f s", p->kind.what,
			      (double)e.high_us / 1e6, (double)longest(p, b) / 1e6);
	}
	remaining_free(r);
}

/* About as many predictions of each kind. */
static uint64_t seeds(const struct archive_kind *kind)
{
	return kind->builds > 9 ? 8 : 60;
}

static void try_kind(struct tally_of_cases at[PLACES], const struct archive_kind *kind)
{
	static struct made_project p;

	for (uint64_t seed = 0; seed < seeds(kind); seed++) {
		make_project(&p, kind, seed);
		for (size_t b = kind->builds > 9 ? 3 + seed % 3 : kind->builds - 1; b < kind->builds; b += 3)
			try_build(at, &p, b);
		release_project(&p);
	}
}

/* Coverage, with room for the chance of as many builds as are here; no place is far off. */
TEST_EACH(coverage, kinds)
{
	const struct archive_kind *kind = &kinds[_i];
	struct tally_of_cases at[PLACES] = { 0 }, all = { 0 };
	double held;

	try_kind(at, kind);
	for (size_t i = 0; i < PLACES; i++) {
		double n = (double)at[i].n;

		held = (double)at[i].held / n;
		if (getenv("REMAINING_VERBOSE"))
			printf("%s at %.0f %%: held %.2f of %.0f, error %.3f, naive %.3f, width %.3f\n",
			       kind->what, 100 * place[i], held, n, at[i].error / n, at[i].naive / n,
			       at[i].width / n);
		ck_assert_msg(held >= 0.6, "%s: %.3f at %.1f", kind->what, held, place[i]);
		all.n += at[i].n;
		all.held += at[i].held;
		all.error += at[i].error;
		all.naive += at[i].naive;
	}
	held = (double)all.held / (double)all.n;
	if (getenv("REMAINING_VERBOSE"))
		printf("%s: %.3f of %zu, error %.3f of naive\n", kind->what, held, all.n,
		       all.error / all.naive);
	ck_assert_msg(held >= 0.70 && held <= 0.93, "%s: %.3f", kind->what, held);
	ck_assert_msg(all.error < all.naive, "%s: error %.3f, naive %.3f", kind->what, all.error,
		      all.naive);
}

/* Over all kinds of archives. */
TEST(pooled)
{
	double held = 0, n = 0;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct tally_of_cases at[PLACES] = { 0 };

		try_kind(at, &kinds[k]);
		for (size_t i = 0; i < PLACES; i++) {
			held += (double)at[i].held;
			n += (double)at[i].n;
		}
	}
	if (getenv("REMAINING_VERBOSE"))
		printf("all: %.3f of %.0f\n", held / n, n);
	ck_assert_msg(held / n >= 0.7 && held / n <= 0.9, "%.3f", held / n);
}

/* The predicted end moves little, and at the end nothing remains. */
TEST_LOOP(steady, 10)
{
	static const struct archive_kind usual = { .what = "usual", .tasks = 150, .builds = 12,
						   .workers = 4, .noise = 0.1, .host = 0.1 };
	static struct made_project p;
	struct remaining_estimate e;
	struct remaining *r;
	double before = -1, end;
	int64_t wall;

	make_project(&p, &usual, (uint64_t)_i);
	r = learnt(&p, 11);
	wall = p.build[11].end_us;
	for (int i = 0; i <= 100; i++) {
		ck_assert(!remaining_estimate(&e, r, &p.build[11], wall * i / 100));
		end = ((double)e.left_us + (double)(wall * i / 100)) / (double)wall;
		/* at first little is known of the pace */
		ck_assert_msg(before < 0 || i < 15 || fabs(end - before) < 0.07, "at %d: %.3f after %.3f", i,
			      end, before);
		before = end;
	}
	ck_assert(e.left_us < wall / 50 && e.low_us == 0 && e.done_share > 0.98);
	remaining_free(r);
	release_project(&p);
}

static void rename_tasks(struct made_project *p, size_t from, char (*name)[64])
{
	for (size_t t = 0; t < p->kind.tasks; t++)
		snprintf(name[t], sizeof *name, "src/%s", p->task[t].name);
	for (size_t b = from; b < p->kind.builds; b++) {
		for (size_t i = 0; i < p->build[b].n_tasks; i++) {
			struct task *task = &p->build[b].task[i];

			for (size_t t = 0; t < p->kind.tasks; t++) {
				if (task->name == p->task[t].name)
					task->name = name[t];
			}
		}
	}
}

/* Files that moved keep their durations: even in the second build after it, and for slow days, for
 * which the pace must be known. In the first one the time that has passed counts. */
TEST(renamed)
{
	static const struct archive_kind usual = { .what = "moved", .tasks = 100, .builds = 12,
						   .workers = 4, .noise = 0.05, .host = 0.3 };
	static struct made_project p;
	static char name[TASKS_MAX][64];
	struct remaining_estimate e, later;
	struct remaining *r;
	int64_t half;

	make_project(&p, &usual, 3);
	rename_tasks(&p, 10, name);
	half = p.build[11].end_us / 2;
	r = learnt(&p, 11);
	ck_assert(!remaining_estimate(&e, r, &p.build[11], half));
	ck_assert_msg(llabs(e.left_us - half) < half / 7, "%ld instead of %ld", (long)e.left_us, (long)half);
	remaining_free(r);
	half = p.build[10].end_us / 2;
	r = learnt(&p, 10);
	ck_assert(!remaining_estimate(&e, r, &p.build[10], half / 2));
	ck_assert(!remaining_estimate(&later, r, &p.build[10], half));
	ck_assert(later.left_us < e.left_us && later.high_us - later.low_us > half / 4);
	remaining_free(r);
	release_project(&p);
}

TEST(odd_ones)
{
	static struct made_project p;
	struct remaining_estimate e, later;
	struct remaining *r;
	struct buf words = { 0 };

	make_project(&p, &kinds[0], 1);
	r = learnt(&p, 0);
	ck_assert(!remaining_estimate(&e, r, &p.build[0], 1000000));
	ck_assert(e.builds == 0 && e.left_us == -1 && e.low_us == -1 && e.high_us == -1);
	ck_assert(isnan(e.done_share));
	remaining_words(&words, &e);
	ck_assert_str_eq(buf_str(&words), "no earlier build to predict from");
	remaining_free(r);

	/* one build: an interval, but a wide one */
	r = learnt(&p, 1);
	ck_assert(!remaining_estimate(&e, r, &p.build[1], p.build[1].end_us / 2));
	ck_assert(e.builds == 1 && e.high_us > e.left_us * 11 / 10 && e.low_us < e.left_us * 9 / 10);
	later = remaining_later(&e, e.left_us / 2);
	ck_assert(later.left_us == e.left_us - e.left_us / 2 && later.done_share > e.done_share);
	later = remaining_later(&e, INT64_MAX);
	ck_assert(!later.left_us && !later.low_us && !later.high_us);
	/* long after the end of all work, and before the start */
	ck_assert(!remaining_estimate(&e, r, &p.build[1], p.build[1].end_us * 50));
	ck_assert(e.late && !e.low_us);
	buf_clear(&words);
	remaining_words(&words, &e);
	ck_assert(strstr(buf_str(&words), "longer than"));
	ck_assert(!remaining_estimate(&e, r, &p.build[1], -5));
	ck_assert(e.left_us > 0);
	/* nothing has started */
	ck_assert(!remaining_estimate(&e, r, &(struct recording){ 0 }, 1000));
	ck_assert(e.left_us > 0 && e.left_us <= p.build[0].end_us * 2);
	remaining_free(r);
	buf_release(&words);
	release_project(&p);
}

/* Builds of an archive, each from those before it. */
/* The last task goes on: what remains is never less than it may need, nor sure. */
TEST_EACH(overrun, kinds)
{
	static struct made_project p;
	struct remaining_estimate e;
	struct remaining *r;

	make_project(&p, &kinds[_i], 7);
	r = learnt(&p, p.kind.builds - 1);
	for (int64_t part = 4; part <= 64; part *= 2) {
		struct recording *rec = &p.build[p.kind.builds - 1];
		struct task *last = &rec->task[rec->n_tasks - 1];
		int64_t longest = 0, age;

		for (size_t b = 0; b + 1 < p.kind.builds; b++) {
			for (size_t t = 0; t < p.build[b].n_tasks; t++) {
				const struct task *task = &p.build[b].task[t];

				if (!strcmp(task->name, last->name) && task->end_us - task->start_us > longest)
					longest = task->end_us - task->start_us;
			}
		}
		age = longest + longest * part / 8;
		last->end_us = last->start_us + age * 3;
		ck_assert(!remaining_estimate(&e, r, rec, last->start_us + age));
		ck_assert_int_ge(e.left_us, (age - longest) / 2 - 5);
		ck_assert_int_ge(e.high_us, 2 * (age - longest) - 5);
		ck_assert(e.low_us <= e.left_us && e.left_us <= e.high_us);
	}
	remaining_free(r);
	release_project(&p);
}

static const char *const generated[] = {
	"--tasks 60 --builds 30 --noise 5% --host 5%",
	"--tasks 200 --builds 30 --noise 10% --host 15% --spikes 2%",
	"--tasks 120 --builds 30 --noise 3% --host 3% --step 0-30/12/50% --new 31-40/15 --gone 41-50/20",
};

TEST_EACH(archived, generated)
{
	const char *repo = support_path("%s/a.git", support_tmpdir());
	static struct made_project p;
	struct tally_of_cases at[PLACES] = { 0 };
	struct builds builds = BUILDS_INIT;
	struct error err = { 0 };
	struct archive *a;
	double held = 0, n = 0;

	support_expect(NULL, 0, NULL, "", TOP_BUILDDIR "/tests/gen_archive %s %s", generated[_i], repo);
	ck_assert(!archive_open(&a, repo, ARCHIVE_READ, &err));
	ck_assert(!archive_builds(a, "nightly-1/master/x86_64", 0, &builds, &err));
	p.kind.builds = builds.n;
	for (size_t b = 0; b < builds.n; b++)
		ck_assert_msg(!archive_recording(a, builds.build[b].id, &p.build[b], &err), "%s", err.message);
	for (size_t b = 3; b < builds.n; b++)
		try_build(at, &p, b);
	for (size_t i = 0; i < PLACES; i++) {
		if (getenv("REMAINING_VERBOSE"))
			printf("archive %d at %.0f %%: %zu of %zu\n", _i, 100 * place[i], at[i].held, at[i].n);
		held += (double)at[i].held;
		n += (double)at[i].n;
	}
	/* a step of the level, and 27 builds: room for chance */
	ck_assert_msg(held / n >= 0.7 && held / n <= 0.95, "%.3f of %.0f", held / n, n);
	for (size_t b = 0; b < builds.n; b++)
		recording_release(&p.build[b]);
	builds_release(&builds);
	archive_close(a);
}

TEST_MAIN(remaining);
