/* SPDX-License-Identifier: MIT */
#include "rerun/model_parts.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>

/* When it closed, or what was around it ended; and its last task before that. A make that executes itself
 * again does not close. */
void model_find_close(struct model_builder *b)
{
	const struct instance *in = b->rec->instance;

	for (uint32_t i = 0; i < b->rec->n_instances; i++) {
		uint32_t parent = in[i].parent_task;
		int64_t end_us = b->s->wall_us;

		if (parent != NO_INDEX && b->end[parent] != NO_INDEX)
			end_us = b->end_us[parent];
		b->close_us[i] = in[i].close_us >= in[i].open_us && in[i].close_us < end_us ? in[i].close_us :
				 end_us;
		for (uint32_t k = i + 1; in[i].close_us < 0 && in[i].pid > 0 && k < b->rec->n_instances; k++) {
			if (in[k].pid == in[i].pid && in[k].open_us < b->close_us[i]) {
				b->close_us[i] = MAX(in[k].open_us, in[i].open_us);
				break;
			}
		}
	}
	for (size_t k = 0; k < b->s->n_ran; k++) {
		uint32_t i = b->s->order[k], at = model_task(b, i)->instance;

		if (b->end_us[i] <= b->close_us[at])
			b->last_us[at] = MAX(b->end_us[i], b->last_us[at]);
	}
}

/* From its begin to its first task a host reads its files, and runs commands of $(shell). What it does
 * after its last task is the end of it. */
static void open_instance(struct model_builder *b, uint32_t i, uint32_t after)
{
	int64_t at_us = b->rec->instance[i].open_us;
	uint32_t node = after, n = b->first_task[i + 1];

	for (uint32_t k = b->first_task[i]; k < n && !b->error; k++) {
		uint32_t t = b->tasks[k];

		node = model_add_serial(b, node, at_us, model_task(b, t)->start_us, i, 1);
		if (!task_is_shell(model_task(b, t)))
			break;
		at_us = MAX(b->end_us[t], at_us);
		model_add_edge(b, node, t);
		node = b->end[t];
		b->awaited[t] = b->linked[t] = true;
		b->last_shell[i] = node;
	}
	b->ready[i] = node;
	b->done[i] = model_add_node(b, RERUN_JOINT, i);
	if (b->error)
		return;
	model_add_edge(b, node, b->done[i]);
	b->closed[i] = model_add_serial(b, b->done[i], MAX(b->last_us[i], at_us), b->close_us[i], i, 1);
}

/* All tasks that nothing else in the instance waits for. */
void model_close_instances(struct model_builder *b)
{
	for (size_t k = 0; k < b->s->n_ran && !b->error; k++) {
		uint32_t i = b->s->order[k], in = model_task(b, i)->instance;

		if (!b->awaited[i] && b->done[in] != NO_INDEX && b->end_us[i] <= b->close_us[in])
			model_add_edge(b, b->end[i], b->done[in]);
	}
}

/* The share of its own time in which a task that hosts, without what it hosts, computes. */
static double own_share(const struct model_builder *b, uint32_t host)
{
	const struct cost *cost = host == NO_INDEX ? NULL : &b->s->nest[host].cost;

	return cost && cost->measured && cost->wall_us > 0 ?
	       MIN((double)cost->cpu_us / (double)cost->wall_us, 1.0) : 1;
}

/* The end of some instances that ran beside each other. */
static uint32_t join(struct model_builder *b, const struct keyed *in, size_t n, uint32_t instance)
{
	uint32_t all = model_add_node(b, RERUN_JOINT, instance);

	for (size_t k = 0; k < n && !b->error; k++)
		model_add_edge(b, b->closed[in[k].value], all);
	return all;
}

/* What a task hosts: instances that began when others had ended, one after the other; and beside others
 * that still ran, as much later as they did. */
static void host_instances(struct model_builder *b, const struct keyed *in, size_t n, uint32_t begin, uint32_t end,
			   int64_t begin_us, int64_t end_us)
{
	uint32_t instance = b->m->node[begin].instance, front = begin;
	double share = own_share(b, b->m->node[begin].task);
	int64_t front_us = begin_us, until_us = begin_us;
	size_t first = 0;	/* of those that run */

	b->factor = b->effect && begin < b->rec->n_tasks ? (double)b->effect[begin].factor : 1;
	for (size_t k = 0; k < n && !b->error; k++) {
		uint32_t i = (uint32_t)in[k].value;
		int64_t open_us = MAX(b->rec->instance[i].open_us, begin_us);

		if (k > first && open_us >= until_us) {
			front = join(b, in + first, k - first, instance);
			front_us = until_us;
			first = k;
		}
		open_instance(b, i, model_add_serial(b, front, front_us, open_us, instance, share));
		until_us = MAX(until_us, b->close_us[i]);
	}
	if (n > first) {
		front = join(b, in + first, n - first, instance);
		front_us = until_us;
	}
	if (!b->error)
		model_add_edge(b, model_add_serial(b, front, front_us, end_us, instance, share), end);
}

/* The instances of each task around them. */
void model_host_all(struct model_builder *b)
{
	const struct recording *rec = b->rec;
	struct keyed *in = array_new(rec->n_instances + 1, sizeof *in);
	struct rerun_model *m = b->m;
	size_t n = 0, at = 0;

	for (uint32_t i = 0; in && i < rec->n_instances; i++) {
		if (!rec->instance[i].only_spans)
			in[n++] = (struct keyed){ (uint64_t)rec->instance[i].open_us, i };
	}
	b->error = !in || sort_keyed(in, n) ? -ENOMEM : b->error;
	for (size_t k = 0; k < n && !b->error; k++) {
		uint32_t parent = rec->instance[in[k].value].parent_task;

		in[k].key = parent != NO_INDEX && b->end[parent] != NO_INDEX && model_hosts(b, parent) ?
			    (uint64_t)parent + 1 : 0;
	}
	b->error = b->error || sort_keyed(in, n) ? -ENOMEM : 0;
	while (at < n && !b->error && !in[at].key)
		at++;
	if (!b->error)
		host_instances(b, in, at, m->start, m->end, 0, b->s->wall_us);
	for (size_t k = 0; k < b->s->n_ran && !b->error; k++)
		b->of_host[b->s->order[k]] = NO_INDEX;
	for (size_t k = n; k-- > at; )
		b->of_host[in[k].key - 1] = (uint32_t)k;
	for (size_t k = 0; k < b->s->n_ran && !b->error; k++) {
		uint32_t i = b->s->order[k];
		size_t from = b->of_host[i], to = from;

		if (!model_hosts(b, i))
			continue;
		while (from != NO_INDEX && to < n && in[to].key == (uint64_t)i + 1)
			to++;
		host_instances(b, from == NO_INDEX ? NULL : in + from, to - from, i, b->end[i], model_task(b, i)->start_us,
			       b->end_us[i]);
	}
	free(in);
}
