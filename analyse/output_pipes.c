/* SPDX-License-Identifier: MIT */
#include "analyse/output_pipes.h"

#include "base/array.h"
#include "base/search.h"
#include "recording/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OUT (1u << 1)
#define ERR (1u << 2)

/* Those that the note says, 0: it is another one. */
static uint8_t outputs_of(const char *note)
{
	return !strcmp(note, EVENT_NOTE_PIPES) ? OUT | ERR : !strcmp(note, EVENT_NOTE_PIPE_OUT) ? OUT :
		!strcmp(note, EVENT_NOTE_PIPE_ERR) ? ERR : 0;
}

/* The tasks of an instance that start after its note have pipes, except $(shell). */
static int find_piped(struct output_pipes *p)
{
	const struct recording *rec = p->rec;
	int64_t *since_us = array_new_zero(rec->n_instances, sizeof *since_us);
	uint8_t *has = array_new_zero(rec->n_instances, sizeof *has);

	for (size_t i = 0; since_us && has && i < rec->n_notes; i++) {
		const struct note *n = &rec->note[i];
		uint8_t outputs = n->task == NO_INDEX && n->instance < rec->n_instances ? outputs_of(n->text) : 0;

		if (!outputs)
			continue;
		since_us[n->instance] = n->time_us;
		has[n->instance] = outputs;
		p->any = true;
	}
	for (size_t i = 0; since_us && has && i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (!task_is_shell(t) && t->start_us >= since_us[t->instance])
			p->piped[i] = has[t->instance];
	}
	for (size_t i = 0; i < rec->n_notes; i++) {
		if (rec->note[i].task != NO_INDEX && !strcmp(rec->note[i].text, EVENT_NOTE_NO_PIPE))
			p->piped[rec->note[i].task] = 0;
	}
	if (!since_us || !has) {
		free_all(since_us, has);
		return -ENOMEM;
	}
	free_all(since_us, has);
	return 0;
}

/* An instance follows those around it. */
static void find_outer(struct output_pipes *p)
{
	const struct recording *rec = p->rec;

	for (uint32_t i = 0; i < rec->n_instances; i++) {
		uint32_t parent = rec->instance[i].parent_task;

		if (parent != NO_INDEX && !rec->instance[i].only_spans)
			p->hosts[parent] = true;
	}
	for (unsigned e = 0; e < 2; e++) {
		for (uint32_t i = 0; i < rec->n_instances; i++) {
			uint32_t at = rec->instance[i].parent_task;

			while (at != NO_INDEX && !(p->piped[at] & (e ? ERR : OUT)))
				at = rec->instance[rec->task[at].instance].parent_task;
			p->outer[e][i] = at;
		}
		for (uint32_t i = 0; i < rec->n_tasks; i++) {
			uint32_t at = output_pipes_of_task(p, i, e);

			if (at != NO_INDEX && at != i && !task_is_shell(&rec->task[i]))
				p->shared[e][at] = true;
		}
	}
}

static int id_order(const void *a, const void *b, void *context)
{
	const struct recording *rec = context;

	return strcmp(rec->instance[*(const uint32_t *)a].id, rec->instance[*(const uint32_t *)b].id);
}

static int number_order(const void *a, const void *b, void *context)
{
	const struct keyed *x = a, *y = b;
	const struct recording *rec = context;
	uint32_t of_x = rec->task[x->value].instance, of_y = rec->task[y->value].instance;

	return of_x != of_y ? array_order(of_x, of_y) : array_order(x->key, y->key);
}

int output_pipes_init(struct output_pipes *p, const struct recording *rec)
{
	int r;

	*p = (struct output_pipes){ .rec = rec, .found = NO_INDEX };
	p->piped = array_new_zero(rec->n_tasks, sizeof *p->piped);
	p->hosts = array_new_zero(rec->n_tasks, sizeof *p->hosts);
	p->by_id = array_new_zero(rec->n_instances, sizeof *p->by_id);
	p->number = array_new_zero(rec->n_tasks, sizeof *p->number);
	for (unsigned e = 0; e < 2; e++) {
		p->outer[e] = array_new_zero(rec->n_instances, sizeof **p->outer);
		p->shared[e] = array_new_zero(rec->n_tasks, sizeof **p->shared);
	}
	if (!p->piped || !p->hosts || !p->by_id || !p->number || !p->outer[0] || !p->outer[1] ||
	    !p->shared[0] || !p->shared[1])
		return -ENOMEM;
	r = find_piped(p);
	if (r)
		return r;
	find_outer(p);
	for (uint32_t i = 0; i < rec->n_instances; i++)
		p->by_id[i] = i;
	for (uint32_t i = 0; i < rec->n_tasks; i++)
		p->number[i] = (struct keyed){ rec->task[i].seq, i };
	if (rec->n_instances)
		qsort_r(p->by_id, rec->n_instances, sizeof *p->by_id, id_order, (void *)(uintptr_t)rec);
	if (rec->n_tasks)
		qsort_r(p->number, rec->n_tasks, sizeof *p->number, number_order, (void *)(uintptr_t)rec);
	return 0;
}

void output_pipes_release(struct output_pipes *p)
{
	free_all(p->piped, p->hosts, p->by_id, p->number, p->outer[0], p->outer[1], p->shared[0],
		 p->shared[1]);
}

static uint32_t find_instance(const struct output_pipes *p, const char *id)
{
	const struct recording *rec = p->rec;
	struct search_range s = search_all(rec->n_instances);

	while (search_next(&s))
		search_past(&s, strcmp(rec->instance[p->by_id[s.at]].id, id) < 0);
	return s.at < rec->n_instances && !strcmp(rec->instance[p->by_id[s.at]].id, id) ? p->by_id[s.at] : NO_INDEX;
}

static uint32_t find_task(const struct output_pipes *p, uint32_t instance, uint64_t seq)
{
	const struct recording *rec = p->rec;
	struct search_range s = search_all(rec->n_tasks);
	uint32_t found;

	while (search_next(&s)) {
		const struct keyed *k = &p->number[s.at];
		uint32_t of = rec->task[k->value].instance;

		search_past(&s, of != instance ? of < instance : k->key < seq);
	}
	if (s.at == rec->n_tasks)
		return NO_INDEX;
	found = (uint32_t)p->number[s.at].value;
	return rec->task[found].instance == instance && rec->task[found].seq == seq ? found : NO_INDEX;
}

uint32_t output_pipes_of_line(struct output_pipes *p, const struct output_line *line)
{
	uint32_t instance;

	if (!*line->inst)
		return NO_INDEX;
	if (line->task == p->seq && !strcmp(line->inst, p->inst))
		return p->found;
	instance = find_instance(p, line->inst);
	p->seq = line->task;
	strcpy(p->inst, line->inst);
	p->found = instance == NO_INDEX ? NO_INDEX : find_task(p, instance, line->task);
	return p->found;
}

uint32_t output_pipes_of_task(const struct output_pipes *p, uint32_t task, bool errors)
{
	return p->piped[task] & (errors ? ERR : OUT) ? task : p->outer[errors][p->rec->task[task].instance];
}
