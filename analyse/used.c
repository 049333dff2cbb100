/* SPDX-License-Identifier: MIT */
#include "analyse/used.h"

#include "base/array.h"
#include "base/minmax.h"
#include "recording/column.h"

#include <errno.h>
#include <stdlib.h>

/* How much the group may have used of what the build did: ticks are coarse, and the group
 * contains the sampler. */
#define GROUP_LEAST 0.9
#define GROUP_MOST 1.1

struct spread {
	const struct summary *s;
	enum used_what what;
	const int64_t *time_us;
	size_t n;
	double *amount;
	double *change;		/* of the amount in a microsecond, at the start of each stretch */
	double sum, vague;
	struct used_pieces *pieces;	/* NULL, or it gets what would be added to `amount` */
	uint32_t task;		/* whose it is, NO_INDEX: of hosts */
	int error;
};

/* The stretch of a time: the first one from `from` on that ends after it, or with `until` at
 * it. Near ones are found first. */
static size_t stretch(const struct spread *p, size_t from, int64_t time_us, bool until)
{
	size_t step = 1, low = from, high = from;

	time_us -= until;
	if (p->time_us[from] > time_us && p->time_us[from - 1] <= time_us)
		return from;
	while (high < p->n && p->time_us[high] <= time_us) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	high = MIN(high, p->n);
	low = curve_first_after(p->time_us, low, high, time_us);
	return low < 1 ? 1 : low < p->n ? low : p->n - 1;
}

static int64_t within(const struct spread *p, int64_t time_us)
{
	int64_t first = p->time_us[0], last = p->time_us[p->n - 1];

	return time_us < first ? first : MIN(last, time_us);
}

static void add_piece(struct spread *p, int64_t from_us, int64_t until_us, double amount)
{
	struct used_pieces *list = p->pieces;
	struct used_piece *added = array_add(&list->piece, &list->n, sizeof *added);

	if (added)
		*added = (struct used_piece){ from_us, until_us, amount, p->task };
	else
		p->error = -ENOMEM;
}

static void add_stretch(struct spread *p, size_t at, double amount)
{
	if (p->pieces)
		add_piece(p, p->time_us[at - 1], p->time_us[at], amount);
	else
		p->amount[at] += amount;
}

/* Spread an amount evenly. hint: a stretch that is not behind that of from_us. */
static void spread_amount(struct spread *p, size_t hint, int64_t from_us, int64_t until_us,
			  double amount)
{
	size_t a, b;
	double rate;

	if (amount <= 0)
		return;
	from_us = within(p, from_us);
	until_us = within(p, until_us);
	a = stretch(p, hint, from_us, false);
	b = until_us > from_us ? stretch(p, a, until_us, true) : a;
	if (p->pieces && until_us > from_us) {
		add_piece(p, from_us, until_us, amount);
		return;
	}
	if (a >= b) {
		add_stretch(p, a, amount);
		return;
	}
	rate = amount / (double)(until_us - from_us);
	p->amount[a] += rate * (double)(p->time_us[a] - from_us);
	p->amount[b] += rate * (double)(until_us - p->time_us[b - 1]);
	p->change[a + 1] += rate;
	p->change[b] -= rate;
}

/* The sums of the stretches that something lasted all through. */
static void finish(struct spread *p)
{
	double rate = 0;

	for (size_t i = 1; i < p->n; i++) {
		rate += p->change[i];
		if (rate > 0)
			p->amount[i] += rate * (double)(p->time_us[i] - p->time_us[i - 1]);
	}
}

/* Does what began in this stretch last for more than USED_APART samples. */
static bool is_vague(const struct spread *p, size_t first, int64_t until_us)
{
	return first + USED_APART < p->n && p->time_us[first + USED_APART] < until_us;
}

/* Of all its processes, -1: not known. */
static double of_build(const struct spread *p)
{
	const struct summary *s = p->s;

	switch (p->what) {
	case USED_CPU:
		return s->cpu_exact ? (double)s->cpu_us : -1;
	case USED_READ:
		return (double)s->read_bytes;
	case USED_WRITTEN:
		return (double)s->written_bytes;
	case USED_STORAGE:
		break;
	}
	return s->read_bytes < 0 || s->written_bytes < 0 ? -1 :
	       (double)s->read_bytes + (double)s->written_bytes;
}

static double of_task(const struct spread *p, uint32_t i)
{
	const struct cost *c = &p->s->nest[i].cost;

	return p->what == USED_CPU ? (double)c->cpu_us :
	       (p->what == USED_WRITTEN ? 0 : (double)c->read_bytes) +
	       (p->what == USED_READ ? 0 : (double)c->written_bytes);
}

static double of_sample(const struct spread *p, const struct task_usage *u)
{
	return p->what == USED_CPU ? 1e3 * (double)u->cpu_ms :
	       1024 * ((p->what == USED_WRITTEN ? 0 : (double)u->read_kb) +
		       (p->what == USED_READ ? 0 : (double)u->written_kb));
}

/* The most of what samples did not see that can be of the time since the last one: the rest is of
 * processes that lived between two samples. */
static double most(const struct spread *p, int64_t from_us, int64_t until_us)
{
	return p->what != USED_CPU ? 0 :
	       (double)(until_us - from_us) * (p->s->cores > 0 ? (double)p->s->cores : 1);
}

/* A sample without a change of the task is not recorded: it used nothing before the sample
 * that precedes this one, which is a point, too. */
static void add_sampled(struct spread *p, size_t hint, const struct task *t, int64_t end_us,
			double all)
{
	const struct task_usage *u = p->s->rec->usage + t->first_usage;
	int64_t last_us = t->start_us, from_us;
	double done = 0, level, rest;

	for (uint32_t i = 0; i < t->n_usage; i++) {
		int64_t time_us = u[i].time_ms * 1000;

		level = of_sample(p, &u[i]);
		level = MIN(level, all);
		if (level <= done || time_us <= last_us)
			continue;
		hint = stretch(p, hint, time_us, true);
		add_stretch(p, hint, level - done);
		done = level;
		last_us = time_us;
	}
	if (end_us < last_us)
		end_us = last_us;
	hint = stretch(p, hint, end_us, true);
	from_us = MAX(p->time_us[hint - 1], last_us);
	rest = all - done;
	if (rest > most(p, from_us, end_us)) {
		rest = most(p, from_us, end_us);
		spread_amount(p, 1, t->start_us, end_us, all - done - rest);
	}
	spread_amount(p, hint, from_us, end_us, rest);
}

/* hint: a stretch that is not behind its start. */
static size_t add_task(struct spread *p, size_t hint, uint32_t task)
{
	const struct task *t = &p->s->rec->task[task];
	double all = of_task(p, task);
	int64_t end_us;

	if (all <= 0)
		return hint;
	p->task = task;
	end_us = recording_task_end_us(p->s->rec, t);
	hint = stretch(p, hint, t->start_us, false);
	p->sum += all;
	if (t->n_usage && p->s->rec->usage) {
		add_sampled(p, hint, t, end_us, all);
		return hint;
	}
	spread_amount(p, hint, t->start_us, end_us, all);
	if (is_vague(p, hint, end_us))
		p->vague += all;
	return hint;
}

static void add_tasks(struct spread *p)
{
	size_t hint = 1;

	for (size_t i = 0; i < p->s->n_ran; i++)
		hint = add_task(p, hint, p->s->order[i]);
}

/* The times when no task runs: call add() for each with its part of the amount. Returns how long
 * they are together. */
static int64_t add_between(struct spread *p, double rate)
{
	const struct curve *c = &p->s->running;
	int64_t from_us = 0, sum_us = 0;
	size_t hint = 1;

	for (size_t i = 0; i <= c->n; i++) {
		int64_t until_us = i < c->n && c->time_us[i] < p->s->wall_us ? c->time_us[i] :
				   p->s->wall_us;

		if (until_us > from_us && (!i || !c->value[i - 1])) {
			sum_us += until_us - from_us;
			hint = stretch(p, hint, from_us, false);
			spread_amount(p, hint, from_us, until_us,
				      rate * (double)(until_us - from_us));
			if (is_vague(p, hint, until_us))
				p->vague += rate * (double)(until_us - from_us);
		}
		from_us = until_us;
	}
	return sum_us;
}

/* What was used by no task: a core at most while none runs. */
static void add_hosts(struct spread *p)
{
	double rest = of_build(p) - p->sum, alone_us;

	if (rest <= 0)
		return;
	p->sum += rest;
	p->task = NO_INDEX;
	alone_us = p->what == USED_CPU ? (double)add_between(p, 0) : 0;
	if (alone_us > 0) {
		double rate = rest < alone_us ? rest / alone_us : 1;

		add_between(p, rate);
		rest -= rate * alone_us;
	}
	if (rest > 0) {
		spread_amount(p, 1, 0, p->s->wall_us, rest);
		p->vague += rest;
	}
}

/* A control group */

static double positive(int64_t n)
{
	return n > 0 ? (double)n : 0;
}

static bool find_group(struct column *c, size_t *n, const struct recording *rec,
		       enum used_what what)
{
	static const char *const column[][2] = {
		[USED_CPU] = { "user", "system" }, [USED_STORAGE] = { "read", "written" },
		[USED_READ] = { "read" }, [USED_WRITTEN] = { "written" },
	};

	for (*n = 0; *n < 2 && column[what][*n]; ++*n) {
		if (!column_find(&c[*n], rec, "proc_cgroup", column[what][*n]))
			return false;
	}
	return true;
}

static bool is_own_group(const struct summary *s)
{
	struct column c[2];
	double sum = 0;
	size_t n;

	if (!s->cpu_exact || !find_group(c, &n, s->rec, USED_CPU))
		return false;
	for (size_t i = 0; i < n; i++)
		sum += positive(column_growth(&c[i]));
	return sum >= GROUP_LEAST * (double)s->cpu_us && sum <= GROUP_MOST * (double)s->cpu_us;
}

static bool add_group(struct spread *p)
{
	struct column c[2];
	size_t n, hint = 1;

	if (!find_group(c, &n, p->s->rec, p->what))
		return false;
	for (size_t i = 1; i < c[0].series->n; i++) {
		int64_t from_us = c[0].series->time_ms[i - 1] * 1000;
		double sum = 0;

		for (size_t k = 0; k < n; k++)
			sum += positive(column_between(&c[k], i - 1, i));
		hint = stretch(p, hint, from_us, false);
		spread_amount(p, hint, from_us, c[0].series->time_ms[i] * 1000, sum);
	}
	return true;
}

int used_fill(double *amount, enum used_source *source, const struct summary *s,
	      enum used_what what, const int64_t *time_us, size_t n)
{
	struct spread p = {
		.s = s, .what = what, .time_us = time_us, .n = n, .amount = amount,
		.change = array_new_zero(n + 1, sizeof *p.change),
	};

	if (!p.change)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		amount[i] = 0;
	*source = USED_UNKNOWN;
	if (n > 1 && is_own_group(s) && add_group(&p)) {
		*source = USED_GROUP;
	} else if (n > 1) {
		add_tasks(&p);
		add_hosts(&p);
		if (p.sum > 0 && p.vague <= USED_VAGUE * p.sum)
			*source = USED_TASKS;
	}
	finish(&p);
	free(p.change);
	return 0;
}

int used_pieces_make(struct used_pieces *out, const struct summary *s, enum used_what what,
		     const int64_t *time_us, size_t n)
{
	struct spread p = { .s = s, .what = what, .time_us = time_us, .n = n, .pieces = out };

	if (n > 1) {
		add_tasks(&p);
		add_hosts(&p);
	}
	return p.error;
}

int used_task_pieces(struct used_pieces *out, const struct summary *s, enum used_what what,
		     const int64_t *time_us, size_t n, uint32_t task)
{
	struct spread p = { .s = s, .what = what, .time_us = time_us, .n = n, .pieces = out };

	out->n = 0;
	if (n > 1)
		add_task(&p, 1, task);
	return p.error;
}

void used_pieces_release(struct used_pieces *p)
{
	free(p->piece);
	*p = (struct used_pieces){ 0 };
}
