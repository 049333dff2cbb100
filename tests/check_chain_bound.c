/* SPDX-License-Identifier: MIT */
#include "analyse/chain.h"
#include "rerun/simulate.h"
#include "tests/recorded.h"
#include "tests/support.h"

/*
 * The lower bound of chain.h beside a scheduler of makes: it runs generated builds with any number
 * of workers and writes what a plugin would record. The bound that follows from a recording with
 * few workers is the time that the scheduler needs with unlimited ones.
 */

#define DEPTH_MAX 3
#define MAKES_MAX 400
#define TARGETS_MAX 4000
#define LINES_MAX 3
#define SHELLS_MAX 2
#define SUBS_MAX 3
#define DEPS_MAX 3
#define ANY 1000000

/* Plans: all times are fixed before anything runs. */

struct line {
	int64_t us;		/* of a line that runs no make */
	unsigned n_subs, sub[SUBS_MAX];
	int64_t pause_us[SUBS_MAX + 1];	/* before each make and after the last */
};

struct rule {
	unsigned n_deps, dep[DEPS_MAX], n_lines;
	struct line line[LINES_MAX];
	unsigned at;		/* line that runs */
	unsigned at_sub;
	bool started, done;
	unsigned seq;		/* of the line that runs */
};

struct make {
	unsigned first, n;	/* targets */
	unsigned n_shells;
	int64_t pause_us[SHELLS_MAX + 1], shell_us[SHELLS_MAX], tail_us;
	unsigned depth;
	uint32_t host;		/* target, NO_INDEX: none */
	unsigned at_shell, running, left, seq;
	bool runs;
};

struct event {
	int64_t time_us;
	enum { SHELL_STARTS, SHELL_ENDS, LINE_ENDS, MAKE_OPENS, MAKE_RUNS, MAKE_CLOSES } what;
	uint32_t of;
	uint64_t order;
};

struct build {
	uint64_t state;
	unsigned n_makes, n_targets;
	struct make make[MAKES_MAX];
	struct rule target[TARGETS_MAX];
	uint32_t make_of[TARGETS_MAX];
	/* a run */
	size_t n_events;
	struct event event[TARGETS_MAX + MAKES_MAX];
	uint64_t order;
	unsigned tokens;
	int64_t now_us;
	int64_t end_us;
	uint64_t slow_us;	/* most that a make needs to start a task beside others */
	struct buf tasks;
};

static int64_t some(struct build *b, uint64_t most_us)
{
	return (int64_t)random_below(&b->state, most_us + 1);
}

static unsigned plan_make(struct build *b, unsigned depth, uint32_t host);

static void plan_line(struct build *b, uint32_t target, unsigned depth, struct line *l)
{
	*l = (struct line){ .us = 1 + some(b, random_below(&b->state, 4) ? 20000 : 900000) };
	if (depth == DEPTH_MAX || b->n_makes + SUBS_MAX > MAKES_MAX - 8 ||
	    random_below(&b->state, 6))
		return;
	l->n_subs = 1 + (unsigned)random_below(&b->state, SUBS_MAX);
	for (unsigned i = 0; i <= l->n_subs; i++)
		l->pause_us[i] = 1 + some(b, 30000);
	for (unsigned i = 0; i < l->n_subs; i++)
		l->sub[i] = plan_make(b, depth + 1, target);
}

static unsigned plan_make(struct build *b, unsigned depth, uint32_t host)
{
	unsigned at = b->n_makes++;
	struct make *m = &b->make[at];

	*m = (struct make){
		.first = b->n_targets, .n = (unsigned)random_below(&b->state, depth ? 9 : 25),
		.depth = depth, .host = host,
		.n_shells = (unsigned)random_below(&b->state, SHELLS_MAX + 1),
		.tail_us = 1 + some(b, 5000),
	};
	b->n_targets += m->n;
	for (unsigned i = 0; i <= m->n_shells; i++)
		m->pause_us[i] = 1 + some(b, 20000);
	for (unsigned i = 0; i < m->n_shells; i++)
		m->shell_us[i] = 1 + some(b, 50000);
	for (unsigned i = 0; i < m->n; i++) {
		struct rule *t = &b->target[m->first + i];

		*t = (struct rule){ .n_lines = 1 + (unsigned)random_below(&b->state, LINES_MAX) };
		b->make_of[m->first + i] = at;
		t->n_deps = i ? (unsigned)random_below(&b->state, DEPS_MAX + 1) : 0;
		for (unsigned k = 0; k < t->n_deps; k++)
			t->dep[k] = m->first + (unsigned)random_below(&b->state, i);
		for (unsigned k = 0; k < t->n_lines; k++)
			plan_line(b, m->first + i, depth, &t->line[k]);
	}
	return at;
}

/* The scheduler */

static void at(struct build *b, int64_t after_us, int what, uint32_t of)
{
	ck_assert_uint_lt(b->n_events, TARGETS_MAX + MAKES_MAX);
	b->event[b->n_events++] = (struct event){ b->now_us + after_us, what, of, b->order++ };
}

/* Each line is a process of its own. */
static unsigned pid_of(const struct build *b, uint32_t target)
{
	return 100000 + target * LINES_MAX + b->target[target].at;
}

static void start_line(struct build *b, uint32_t i)
{
	struct rule *t = &b->target[i];
	struct make *m = &b->make[b->make_of[i]];
	const struct line *l = &t->line[t->at];

	t->seq = ++m->seq;
	buf_addf(&b->tasks, "start\t%lld\tm%u.%u\t%u\t\t\tt%u\n", (long long)b->now_us,
		 b->make_of[i], t->seq, pid_of(b, i), i);
	for (unsigned k = 0; k < t->n_deps; k++)
		buf_addf(&b->tasks, "after\t%lld\tm%u.%u\tt%u\n", (long long)b->now_us,
			 b->make_of[i], t->seq, t->dep[k]);
	t->at_sub = 0;
	if (l->n_subs)
		at(b, l->pause_us[0], MAKE_OPENS, l->sub[0]);
	else
		at(b, l->us, LINE_ENDS, i);
}

static bool is_ready(const struct build *b, const struct rule *t)
{
	for (unsigned k = 0; k < t->n_deps; k++) {
		if (!b->target[t->dep[k]].done)
			return false;
	}
	return !t->started;
}

/* A make may always run one task; for more it needs tokens. */
static void start_ready(struct build *b, struct make *m)
{
	for (unsigned i = m->first; m->runs && i < m->first + m->n; i++) {
		struct rule *t = &b->target[i];

		if (!is_ready(b, t) || (m->running && !b->tokens))
			continue;
		if (m->running++) {
			b->tokens--;
			b->now_us += some(b, b->slow_us);
		}
		t->started = true;
		start_line(b, i);
	}
	if (m->runs && !m->left) {
		m->runs = false;
		at(b, m->tail_us, MAKE_CLOSES, (uint32_t)(m - b->make));
	}
}

static void end_line(struct build *b, uint32_t i)
{
	struct rule *t = &b->target[i];
	struct make *m = &b->make[b->make_of[i]];

	buf_addf(&b->tasks, "done\t%lld\tm%u.%u\n", (long long)b->now_us, b->make_of[i], t->seq);
	if (++t->at < t->n_lines) {
		start_line(b, i);
		return;
	}
	t->done = true;
	m->left--;
	if (--m->running)
		b->tokens++;
	start_ready(b, m);
	for (unsigned k = 0; k < b->n_makes; k++)
		start_ready(b, &b->make[k]);
}

static void read_on(struct build *b, uint32_t i)
{
	struct make *m = &b->make[i];

	at(b, m->pause_us[m->at_shell], m->at_shell < m->n_shells ? SHELL_STARTS : MAKE_RUNS, i);
}

static void happen(struct build *b, const struct event *e)
{
	struct make *m = e->what == LINE_ENDS ? NULL : &b->make[e->of];
	struct rule *t;

	switch (e->what) {
	case MAKE_OPENS:
		buf_addf(&b->tasks, "open\t%lld\tm%u\t%u\t%u\t%u,%u\tmake\t4.3\t/src\tmake\n",
			 (long long)b->now_us, e->of, 10 + e->of, m->depth, 10 + e->of,
			 m->host == NO_INDEX ? 1 : pid_of(b, m->host));
		read_on(b, e->of);
		break;
	case SHELL_STARTS:
		buf_addf(&b->tasks, "start\t%lld\tm%u.%u\t5\t\t\t\t$(shell)\tdate\n",
			 (long long)b->now_us, e->of, ++m->seq);
		at(b, m->shell_us[m->at_shell], SHELL_ENDS, e->of);
		break;
	case SHELL_ENDS:
		buf_addf(&b->tasks, "done\t%lld\tm%u.%u\n", (long long)b->now_us, e->of, m->seq);
		m->at_shell++;
		read_on(b, e->of);
		break;
	case MAKE_RUNS:
		m->runs = true;
		m->left = m->n;
		start_ready(b, m);
		break;
	case LINE_ENDS:
		end_line(b, e->of);
		break;
	case MAKE_CLOSES:
		buf_addf(&b->tasks, "close\t%lld\tm%u\n", (long long)b->now_us, e->of);
		if (m->host == NO_INDEX)
			break;
		t = &b->target[m->host];
		t->at_sub++;
		if (t->at_sub < t->line[t->at].n_subs)
			at(b, t->line[t->at].pause_us[t->at_sub], MAKE_OPENS,
			   t->line[t->at].sub[t->at_sub]);
		else
			at(b, t->line[t->at].pause_us[t->at_sub], LINE_ENDS, m->host);
		break;
	}
}

static bool is_first(const struct event *a, const struct event *b)
{
	return a->time_us != b->time_us ? a->time_us < b->time_us : a->order < b->order;
}

/* Run the makes `top` of a build one after the other. */
static void run(struct build *b, const unsigned *top, unsigned n_top, unsigned tokens,
		uint64_t slow_us)
{
	buf_clear(&b->tasks);
	b->now_us = 0;
	b->tokens = tokens;
	b->slow_us = slow_us;
	for (unsigned i = 0; i < b->n_makes; i++)
		b->make[i].at_shell = b->make[i].running = b->make[i].seq = 0;
	for (unsigned i = 0; i < b->n_targets; i++) {
		b->target[i].started = b->target[i].done = false;
		b->target[i].at = 0;
	}
	for (unsigned i = 0; i < n_top; i++) {
		at(b, 3000, MAKE_OPENS, top[i]);
		while (b->n_events) {
			size_t first = 0;
			struct event e;

			for (size_t k = 1; k < b->n_events; k++)
				first = is_first(&b->event[k], &b->event[first]) ? k : first;
			e = b->event[first];
			b->event[first] = b->event[--b->n_events];
			b->now_us = e.time_us > b->now_us ? e.time_us : b->now_us;
			happen(b, &e);
		}
	}
	b->end_us = b->now_us + 2000;
}

static void check_chain(const struct chain *c, const struct recorded *r)
{
	int64_t sum_us = 0, end_us = 0;

	for (size_t i = 0; i < c->n_dependency; i++) {
		const struct task *t = &r->rec.task[c->dependency[i]];

		ck_assert(!t->hosts && task_ran(t));
		ck_assert_int_ge(t->start_us, end_us - WAIT_STAMP_US);
		end_us = recording_task_end_us(&r->rec, t);
		sum_us += end_us - t->start_us;
	}
	if (c->waits.has_dependencies)
		ck_assert_int_le(c->dependency_us, r->sum.wall_us);
	else
		ck_assert(!c->n_dependency && c->dependency_us == -1);
	if (r->rec.end_us < 0)
		ck_assert_int_le(sum_us, c->dependency_us + WAIT_STAMP_US * (int64_t)c->n_dependency);
}

static int64_t bound_of(struct build *b)
{
	struct recorded r;
	struct chain c;
	int64_t us;

	recorded_make(&r, support_path("cwd: /src\nend_us: %lld\nstatus: 0\n",
				       (long long)b->end_us), buf_str(&b->tasks), NULL);
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	check_chain(&c, &r);
	us = c.waits.has_dependencies ? c.dependency_us : -1;
	chain_release(&c);
	recorded_release(&r);
	return us;
}

TEST(scheduled)
{
	static struct build b;
	unsigned known = 0, shorter = 0;

	for (unsigned seed = 0; seed < 60; seed++) {
		unsigned top[2], n_top = 1 + seed % 2;
		int64_t least_us, bound_us;

		buf_release(&b.tasks);
		memset(&b, 0, sizeof b);
		b.state = seed;
		for (unsigned i = 0; i < n_top; i++)
			top[i] = plan_make(&b, 0, NO_INDEX);
		run(&b, top, n_top, ANY, 0);
		least_us = b.end_us;
		bound_us = bound_of(&b);
		if (bound_us < 0)
			continue;
		known++;
		ck_assert_int_eq(bound_us, least_us);
		for (unsigned tokens = 0; tokens < 4; tokens++) {
			run(&b, top, n_top, tokens, 0);
			ck_assert_int_eq(bound_of(&b), least_us);
			shorter += b.end_us > least_us;
			/* makes that are slow: a lower bound still */
			run(&b, top, n_top, tokens, 30000);
			ck_assert_int_le(bound_of(&b), b.end_us);
		}
	}
	buf_release(&b.tasks);
	ck_assert_uint_gt(known, 40);
	ck_assert_uint_gt(shorter, 80);
}

TEST(anything)
{
	for (unsigned i = 0; i < 60; i++) {
		struct recorded r;
		struct chain c;

		recorded_random(&r, 20u << i % 7, i);
		ck_assert_int_eq(chain_make(&c, &r.sum), 0);
		check_chain(&c, &r);
		chain_release(&c);
		recorded_release(&r);
	}
}

/* Nothing took any time, and the first task is one that never ran. */
TEST(no_time)
{
	RELEASED(recorded, r);
	RELEASED(chain, c);

	recorded_make(&r, "start_wall_ns: 1\nend_us: 0\nstatus: 0\n",
		      "open\t0\ta\t10\t0\t\tmake\t4.3\t/src\tmake\nqueue\t0\ta.1\t\tqueued\n"
		      "start\t0\ta.2\t\tfirst\ncc\nafter\t0\ta.2\t\nstart\t0\ta.3\t\tsecond\ncc\n"
		      "after\t0\ta.3\tfirst\ndone\t0\ta.2\ndone\t0\ta.3\nclose\t0\ta\t3\n", NULL);
	ck_assert_int_eq(chain_make(&c, &r.sum), 0);
	ck_assert_uint_eq(c.n_dependency, 0);
	ck_assert_int_eq(c.dependency_us, 0);
}

/* The build of a recording again, with so many workers. */
static int64_t replayed_us(const struct recorded *r, int64_t jobs)
{
	RELEASED(chain, c);
	struct rerun_model m;
	struct rerun_run run;
	int64_t us;

	ck_assert_int_eq(chain_make(&c, &r->sum), 0);
	ck_assert_int_eq(rerun_model_make(&m, &r->sum, &c.waits, &c.free, NULL, NULL), 0);
	ck_assert_int_eq(rerun_simulate(&run, &m, &(struct rerun_conditions){ .jobs = jobs }, false), 0);
	us = run.wall_us;
	rerun_run_release(&run);
	rerun_model_release(&m);
	return us;
}

/* A replay of a recording with some workers takes as long as the scheduler with these, and with others. */
TEST(replayed)
{
	static struct build b;
	double sum = 0;
	unsigned n = 0;

	for (unsigned seed = 0; seed < 60; seed++) {
		int64_t wall_us[4], least_us;
		unsigned top;

		buf_release(&b.tasks);
		memset(&b, 0, sizeof b);
		b.state = seed;
		top = plan_make(&b, 0, NO_INDEX);
		run(&b, &top, 1, ANY, 0);
		least_us = b.end_us;
		for (unsigned tokens = 0; tokens < 4; tokens++) {
			run(&b, &top, 1, tokens, 0);
			wall_us[tokens] = b.end_us;
		}
		for (unsigned tokens = 0; tokens < 4; tokens++) {
			RELEASED(recorded, r);

			run(&b, &top, 1, tokens, 0);
			recorded_make(&r, support_path("cwd: /src\nend_us: %lld\nstatus: 0\n", (long long)b.end_us),
				      buf_str(&b.tasks), NULL);
			if (bound_of(&b) < 0)
				continue;
			for (unsigned to = 0; to < 4; to++) {
				double error = fabs((double)replayed_us(&r, to + 1) / (double)wall_us[to] - 1);

				/* only which of several makes starts a task next can differ */
				ck_assert_msg(to != tokens || error < .01, "seed %u, %u tokens: %.3f", seed, tokens,
					      error);
				sum += error;
				n++;
			}
			ck_assert_double_eq_tol((double)replayed_us(&r, ANY), (double)least_us, .002 * (double)least_us);
		}
	}
	buf_release(&b.tasks);
	ck_assert_uint_gt(n, 500);
	ck_assert_double_lt(sum / n, .015);
}

TEST_MAIN(chain_bound);
