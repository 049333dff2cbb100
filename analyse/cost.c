/* SPDX-License-Identifier: MIT */
#include "analyse/cost.h"

#include "base/array.h"
#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>

#define BLOCK_BYTES 512
#define TICK_US 20000		/* a sample counts clock ticks: this much more is no more */
#define IO_BYTES (64 << 10)	/* the same of storage */

static int64_t positive(int64_t n)
{
	return n > 0 ? n : 0;
}

static int64_t block_bytes(int64_t blocks)
{
	return sat_mul(positive(blocks), BLOCK_BYTES);
}

int64_t cost_wall_us(const struct recording *rec, const struct task *t)
{
	return task_ran(t) ? recording_task_end_us(rec, t) - t->start_us : 0;
}

static void add_memory(struct cost *sum, const struct cost *c)
{
	if (c->memory_at_most_kb > sum->memory_at_most_kb)
		sum->memory_at_most_kb = c->memory_at_most_kb;
	if (c->memory_kb <= sum->memory_kb)
		return;
	sum->memory_kb = c->memory_kb;
	sum->memory_summed = c->memory_summed;
}

void cost_add(struct cost *sum, const struct cost *c)
{
	sum->wall_us = sat_add(sum->wall_us, c->wall_us);
	sum->wall_least_us = sat_add(sum->wall_least_us, c->wall_least_us);
	sum->setup_us = sat_add(sum->setup_us, c->setup_us);
	sum->setup_cpu_us = sat_add(sum->setup_cpu_us, c->setup_cpu_us);
	sum->user_us = sat_add(sum->user_us, c->user_us);
	sum->system_us = sat_add(sum->system_us, c->system_us);
	sum->cpu_us = sat_add(sum->cpu_us, c->cpu_us);
	sum->delay_us = sat_add(sum->delay_us, c->delay_us);
	sum->delay_at_least |= c->delay_at_least || !cost_knows(c, VALUE_DELAY);
	sum->read_bytes = sat_add(sum->read_bytes, c->read_bytes);
	sum->written_bytes = sat_add(sum->written_bytes, c->written_bytes);
	sum->files_bytes = sat_add(sum->files_bytes, c->files_bytes);
	sum->measured |= c->measured;
	sum->at_least |= c->at_least;
	add_memory(sum, c);
	if (cost_knows(c, VALUE_START) && (!cost_knows(sum, VALUE_START) || c->start_us < sum->start_us))
		sum->start_us = c->start_us;
	sum->queue_us = sat_add(sum->queue_us, c->queue_us);
	for (int i = 0; i < VALUES_COUNTED; i++)
		sum->counted[i] = sat_add(sum->counted[i], c->counted[i]);
	sum->known |= c->known;
}

/* In the order of starts: the union of the children's times grows at its end. */
static void add_inside(struct cost_inside *in, const struct recording *rec, const struct task *parent,
		       const struct task *child)
{
	int64_t from = child->start_us, until = recording_task_end_us(rec, child);

	if (from < parent->start_us)
		from = parent->start_us;
	if (from < in->busy_until_us)
		from = in->busy_until_us;
	if (until > recording_task_end_us(rec, parent))
		until = recording_task_end_us(rec, parent);
	if (until > from) {
		in->busy_us += until - from;
		in->busy_until_us = until;
	}
	in->user_us = sat_add(in->user_us, positive(child->user_us));
	in->system_us = sat_add(in->system_us, positive(child->system_us));
	in->read_bytes = sat_add(in->read_bytes, block_bytes(child->in_blocks));
	in->written_bytes = sat_add(in->written_bytes, block_bytes(child->out_blocks));
	for (int i = 0; i < VALUES_COUNTED; i++) {
		int64_t n = value_info[VALUE_COUNTED + i].counts(child);

		in->counted[i] = sat_add(in->counted[i], positive(n));
		if (n < 0)
			in->missing |= 1u << (VALUE_COUNTED + i);
	}
	if (child->max_rss_kb > in->max_rss_kb)
		in->max_rss_kb = child->max_rss_kb;
}

/* The sum of its processes at one sample, or its largest process, whichever is more: it had at
 * least that. Processes of the tasks inside it do not count. */
static void set_memory(struct cost *c, const struct task *t, const struct cost_inside *in)
{
	if (t->max_rss_kb > (in ? in->max_rss_kb : 0))
		c->memory_kb = t->max_rss_kb;
	if (t->n_usage && t->peak_kb >= c->memory_kb) {
		c->memory_kb = t->peak_kb;
		c->memory_summed = true;
	}
	if (!c->memory_kb)
		c->memory_at_most_kb = positive(t->max_rss_at_most_kb);
}

/* How long it ran at least. */
static int64_t least_us(const struct cost *c, const struct task *t)
{
	int64_t seen_us = t->n_usage ? sat_mul(t->peak_ms, 1000) - t->start_us : 0;

	return !t->end_at_most ? c->wall_us : seen_us < 0 ? 0 : seen_us < c->wall_us ? seen_us :
	       c->wall_us;
}

/*
 * The sampled values, which exclude the tasks inside it, if they are more than what was waited for:
 * the end was not recorded, or processes of the task ended later or were never waited for. Of a task
 * that hosts others, a sample may contain what one of these has just used.
 */
static void take_sampled(struct cost *c, const struct task *t, bool hosts)
{
	int64_t cpu_us = sat_mul(t->cpu_ms, 1000);
	int64_t read = sat_mul(t->read_kb, 1024), written = sat_mul(t->written_kb, 1024);
	bool unseen = t->user_us < 0;

	if (!t->n_usage || (hosts && !unseen))
		return;
	c->at_least = unseen || cpu_us > c->cpu_us + TICK_US || read > c->read_bytes + IO_BYTES ||
		      written > c->written_bytes + IO_BYTES;
	if (!c->at_least)
		return;
	if (cpu_us > c->cpu_us) {
		c->user_us = cpu_us - c->system_us;
		c->cpu_us = cpu_us;
	}
	if (read > c->read_bytes)
		c->read_bytes = read;
	if (written > c->written_bytes)
		c->written_bytes = written;
}

static void set_counted(struct cost *c, const struct task *t, const struct cost_inside *in)
{
	for (int i = 0; i < VALUES_COUNTED; i++) {
		int64_t n = value_info[VALUE_COUNTED + i].counts(t);

		if (n < 0 || (in->missing >> (VALUE_COUNTED + i) & 1))
			continue;
		c->counted[i] = positive(n - in->counted[i]);
		c->known |= 1u << (VALUE_COUNTED + i);
	}
}

static void set_cost(struct cost *c, const struct recording *rec, const struct task *t,
		     const struct cost_inside *in)
{
	static const struct cost_inside nothing;
	bool hosts = in;

	set_memory(c, t, in);
	c->files_bytes = positive(t->files_bytes);
	if (!in)
		in = &nothing;
	c->known = 1u << VALUE_START | 1u << VALUE_WALL;
	c->start_us = t->start_us;
	c->wall_us = positive(cost_wall_us(rec, t) - in->busy_us);
	c->wall_least_us = least_us(c, t);
	c->setup_us = t->setup_us;
	c->setup_cpu_us = (int64_t)t->setup_user_us + t->setup_system_us;
	c->measured = t->user_us >= 0 || t->n_usage;
	c->known |= t->in_blocks >= 0 || t->out_blocks >= 0 || t->n_usage ? 1u << VALUE_IO : 0;
	c->known |= t->delay_us >= 0 ? 1u << VALUE_DELAY : 0;
	c->delay_us = positive(t->delay_us);
	c->delay_at_least = t->delay_at_least;
	c->user_us = positive(positive(t->user_us) - in->user_us);
	c->system_us = positive(positive(t->system_us) - in->system_us);
	c->cpu_us = sat_add(c->user_us, c->system_us);
	c->read_bytes = positive(block_bytes(t->in_blocks) - in->read_bytes);
	c->written_bytes = positive(block_bytes(t->out_blocks) - in->written_bytes);
	take_sampled(c, t, hosts);
	set_counted(c, t, in);
}

/*
 * The kernel's values, if they are known and no less than those of the tasks inside it: what a killed
 * task ran was waited for by nobody. Otherwise its own and theirs. inside: the sum over these tasks.
 */
static void set_cpu(struct cost_cpu *cpu, const struct cost *c, const struct task *t,
		    const struct cost_cpu *inside)
{
	int64_t waited_us = t->user_us < 0 ? -1 : sat_add(t->user_us, positive(t->system_us));

	*cpu = (struct cost_cpu){ t->user_us, t->system_us, false };
	if (c->at_least || (waited_us < 0 && inside->user_us >= 0))
		*cpu = (struct cost_cpu){ sat_add(c->user_us, positive(inside->user_us)),
					  sat_add(c->system_us, positive(inside->system_us)), true };
	else if (inside->at_least && sat_add(inside->user_us, inside->system_us) > waited_us)
		*cpu = *inside;
}

static void add_cpu(struct cost_cpu *sum, const struct cost_cpu *cpu)
{
	if (cpu->user_us < 0)
		return;
	sum->user_us = sat_add(positive(sum->user_us), cpu->user_us);
	sum->system_us = sat_add(positive(sum->system_us), positive(cpu->system_us));
	sum->at_least |= cpu->at_least;
}

static uint32_t parent_of(const struct recording *rec, const struct task *t)
{
	uint32_t parent = NO_INDEX;

	if (t->instance < rec->n_instances)
		parent = rec->instance[t->instance].parent_task;
	return parent < rec->n_tasks && task_ran(&rec->task[parent]) ? parent : NO_INDEX;
}

int cost_fill(struct nesting *nest, const struct recording *rec, const uint32_t *order,
		 size_t n)
{
	uint32_t *slot = NULL;	/* of each task that hosts: 1 + index into inside */
	struct cost_inside *inside = NULL;
	uint32_t hosts = 0;
	int r = -ENOMEM;

	slot = calloc(rec->n_tasks + 1, sizeof *slot);
	if (!slot)
		goto out;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		nest[i] = (struct nesting){
			.parent = parent_of(rec, &rec->task[i]),
			.target = NO_INDEX, .next = NO_INDEX, .cpu = { -1, -1, false },
		};
		if (nest[i].parent != NO_INDEX && !slot[nest[i].parent])
			slot[nest[i].parent] = ++hosts;
	}
	inside = calloc(hosts + 1, sizeof *inside);
	if (!inside)
		goto out;
	for (uint32_t i = 0; i <= hosts; i++)
		inside[i] = (struct cost_inside)COST_INSIDE_INIT;
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = nest[order[i]].parent;

		if (parent != NO_INDEX)
			add_inside(&inside[slot[parent] - 1], rec, &rec->task[parent],
				   &rec->task[order[i]]);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t t = order[i];

		set_cost(&nest[t].cost, rec, &rec->task[t], slot[t] ? &inside[slot[t] - 1] : NULL);
	}
	/* From the end: tasks start after those in which they run. */
	for (size_t i = n; i-- > 0;) {
		uint32_t t = order[i], parent = nest[t].parent;

		set_cpu(&nest[t].cpu, &nest[t].cost, &rec->task[t],
			&inside[slot[t] ? slot[t] - 1 : hosts].cpu);
		if (parent != NO_INDEX)
			add_cpu(&inside[slot[parent] - 1].cpu, &nest[t].cpu);
	}
	r = 0;
out:
	free_all(inside, slot);
	return r;
}

struct cost_cpu cost_cpu_of_ended(const struct recording *rec, const struct task *t,
				  const struct cost_inside *in)
{
	static const struct cost_inside nothing = COST_INSIDE_INIT;
	struct cost c = { .wall_us = 0 };
	struct cost_cpu cpu;

	set_cost(&c, rec, t, in);
	set_cpu(&cpu, &c, t, in ? &in->cpu : &nothing.cpu);
	return cpu;
}

void cost_add_inside(struct cost_inside *in, const struct recording *rec, const struct task *parent,
		     const struct task *child, const struct cost_cpu *cpu)
{
	add_inside(in, rec, parent, child);
	add_cpu(&in->cpu, cpu);
}
