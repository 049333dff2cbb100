/* SPDX-License-Identifier: MIT */
#include "analyse/inner.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_KNOWN_PART 2
#define DELAY_UNKNOWN_PART 8

/* A process begins or ends. */
struct change {
	int64_t time_us;
	uint32_t process;
	bool begins;
};

struct state {
	uint32_t children;	/* that live */
	uint32_t program;
	bool lives, counts;
	int64_t since_us;	/* it runs; -1: it does not */
	int64_t ran_us;
};

struct sweep {
	const struct process_tree *t;
	uint32_t task;
	struct inner *in;	/* NULL: only ran_us is wanted */
	struct state *state;	/* of each process */
	size_t n_changes;
	struct change *change;
	int64_t last_us;
	uint32_t running;	/* processes that count */
	uint64_t sum;		/* of their numbers: that of the only one */
};

/* At one time parents begin before their children, and who ends has a smaller number than who begins. */
static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	int r = array_order(x->time_us, y->time_us);

	return r ? r : array_order(x->process, y->process);
}

static bool is_ours(const struct sweep *s, uint32_t i)
{
	return i != NO_INDEX && s->t->process[i].task == s->task;
}

static void collect_changes(struct sweep *s)
{
	for (uint32_t i = 0; i < s->t->n; i++) {
		const struct tree_process *p = &s->t->process[i];

		if (p->end_us <= p->start_us || !(is_ours(s, i) || is_ours(s, p->parent)))
			continue;
		s->change[s->n_changes++] = (struct change){ p->start_us, i, true };
		s->change[s->n_changes++] = (struct change){ p->end_us, i, false };
	}
	qsort(s->change, s->n_changes, sizeof *s->change, by_time);
}

static void pass(struct sweep *s, int64_t now_us)
{
	int64_t us = now_us - s->last_us;

	s->last_us = now_us;
	if (!s->running)
		return;
	s->in->most = MAX(s->in->most, s->running);
	s->in->busy_us += us;
	s->in->running_us = sat_add(s->in->running_us, us * s->running);
	if (s->running > 1)
		return;
	s->in->alone_us += us;
	s->in->program[s->state[s->sum].program].alone_us += us;
}

/* A process starts to run or stops. */
static void turn(struct sweep *s, uint32_t i, int64_t now_us)
{
	struct state *p = &s->state[i];
	bool runs = p->lives && !p->children;

	if (runs == (p->since_us >= 0))
		return;
	if (!runs)
		p->ran_us += now_us - p->since_us;
	p->since_us = runs ? now_us : -1;
	if (!s->in || !p->counts)
		return;
	s->running += runs ? 1 : UINT32_MAX;
	s->sum += runs ? i : -(uint64_t)i;
}

static void sweep(struct sweep *s)
{
	for (uint32_t i = 0; i < s->t->n; i++) {
		s->state[i].since_us = -1;
		s->state[i].children = 0;
	}
	for (size_t k = 0; k < s->n_changes; k++) {
		const struct change *c = &s->change[k];
		uint32_t parent = s->t->process[c->process].parent;

		if (s->in)
			pass(s, c->time_us);
		s->state[c->process].lives = c->begins;
		turn(s, c->process, c->time_us);
		if (parent == NO_INDEX)
			continue;
		s->state[parent].children += c->begins ? 1 : UINT32_MAX;
		turn(s, parent, c->time_us);
	}
}

static int64_t cpu_of(const struct tree_process *p)
{
	return p->user_us < 0 || p->system_us < 0 ? -1 : sat_add(p->user_us, p->system_us);
}

static bool computes(const struct tree_process *p, int64_t ran_us)
{
	int64_t cpu_us = cpu_of(p);

	return cpu_us > 0 && (p->delay_us < 0 ? sat_mul(cpu_us, DELAY_UNKNOWN_PART) :
			      sat_mul(sat_add(cpu_us, p->delay_us), DELAY_KNOWN_PART)) >= ran_us;
}

static int find_program(struct inner *in, struct slice name, uint32_t *at)
{
	struct inner_program *added;

	for (*at = 0; *at < in->n_programs; ++*at) {
		if (slice_equal(in->program[*at].name, name))
			return 0;
	}
	added = array_add(&in->program, &in->n_programs, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct inner_program){ .name = name };
	return 0;
}

static int count_processes(struct sweep *s, struct inner *in)
{
	for (uint32_t i = 0; i < s->t->n; i++) {
		const struct tree_process *p = &s->t->process[i];
		struct state *state = &s->state[i];
		struct inner_program *program;

		if (!is_ours(s, i) || cpu_of(p) < 0)
			continue;
		if (find_program(in, process_log_program(slice_of(p->command)), &state->program))
			return -ENOMEM;
		program = &in->program[state->program];
		program->n++;
		program->cpu_us = sat_add(program->cpu_us, cpu_of(p));
		in->n++;
		state->counts = computes(p, state->ran_us);
	}
	return 0;
}

static int by_cpu(const void *a, const void *b)
{
	const struct inner_program *x = a, *y = b;
	int r = array_order(y->cpu_us, x->cpu_us);

	r = r ? r : memcmp(x->name.p, y->name.p, MIN(x->name.len, y->name.len));
	return r ? r : array_order(x->name.len, y->name.len);
}

static void sort_programs(struct inner *in)
{
	if (in->n_programs)
		qsort(in->program, in->n_programs, sizeof *in->program, by_cpu);
	in->alone = in->n_programs;
	for (size_t i = 0; i < in->n_programs; i++) {
		int64_t most_us = in->alone < in->n_programs ? in->program[in->alone].alone_us : 0;

		if (in->program[i].alone_us > most_us)
			in->alone = i;
	}
}

int inner_make(struct inner *in, const struct process_tree *t, uint32_t task)
{
	struct sweep s = { .t = t, .task = task };
	int r = -ENOMEM;

	*in = (struct inner)INNER_INIT;
	s.state = array_new_zero(t->n, sizeof *s.state);
	s.change = array_new(2 * t->n, sizeof *s.change);
	if (!s.state || !s.change)
		goto out;
	collect_changes(&s);
	sweep(&s);
	r = count_processes(&s, in);
	if (r)
		goto out;
	s.in = in;
	sweep(&s);
	sort_programs(in);
out:
	free_all(s.state, s.change);
	return r;
}

void inner_release(struct inner *in)
{
	free(in->program);
	*in = (struct inner)INNER_INIT;
}

double inner_mean(const struct inner *in)
{
	return in->busy_us ? (double)in->running_us / (double)in->busy_us : 0;
}
