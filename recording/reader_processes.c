/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "recording/process_log.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A host may record the start of a task a while after that of its process, and its end a while
 * after the end of the process. */
#define SLACK_US 100000

/* One line of processes.log. */
struct process {
	int32_t pid, parent;
	int64_t start_us, end_us;
	int64_t delay_us;	/* -1: unknown, or it still ran */
	uint32_t program;
};

/* The task or instance for which a process and its children work. */
struct owner {
	uint32_t instance, task;	/* NO_INDEX, NO_INDEX: not known */
};

/* Programs */

static int find_program(struct reader *r, struct slice name, uint32_t *at)
{
	struct recording *rec = r->rec;
	struct program *grown;
	char *copy;

	r->programs.arena = rec->arena;
	if (name_table_add(&r->programs, name, at))
		return -ENOMEM;
	if (*at < rec->n_programs)
		return 0;
	grown = array_grow(rec->program, rec->n_programs, sizeof *grown);
	copy = arena_text(rec->arena, name.p, name.len);
	if (grown)
		rec->program = grown;
	if (!grown || !copy)
		return -ENOMEM;
	copy[field_decode(copy, name.len, NULL)] = '\0';
	grown[rec->n_programs++] = (struct program){ .name = copy, .max_rss_kb = -1 };
	return 0;
}

static void plus(int64_t *sum, int64_t n)
{
	if (n > 0)
		*sum = *sum > INT64_MAX - n ? INT64_MAX : *sum + n;
}

static void count(struct program *p, const struct process_line *l)
{
	p->n++;
	plus(&p->wall_us, l->wall_us);
	if (l->end.user_us < 0 || l->end.system_us < 0)
		return;
	p->n_measured++;
	plus(&p->cpu_us, l->end.user_us);
	plus(&p->cpu_us, l->end.system_us);
	if (l->end.max_rss_kb > p->max_rss_kb)
		p->max_rss_kb = l->end.max_rss_kb;
}

/* Lines */

static int add_process(struct reader *r, const struct process_line *l)
{
	struct process *added;
	uint32_t program;

	if (find_program(r, process_log_program(l->command), &program))
		return -ENOMEM;
	count(&r->rec->program[program], l);
	r->rec->n_processes++;
	added = array_add(&r->process, &r->n_processes, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct process){ l->pid, l->parent, l->time_us - l->wall_us, l->time_us,
				   l->word == PROCESS_ENDED ? l->delay_us : -1, program };
	return 0;
}

static int read_line(struct reader *r, struct slice line, unsigned number, struct reader_damage *d)
{
	struct process_line l;
	enum event_parsed parsed = process_log_parse(line, &l);

	if (parsed == EVENT_UNKNOWN)
		return 0;
	if (parsed == EVENT_DAMAGED || l.time_us > EVENT_TIME_MAX_US) {
		if (line.len != strlen(PROCESS_LOG_HEADER) - 1 ||
		    memcmp(line.p, PROCESS_LOG_HEADER, line.len))
			reader_damaged(d, number);
		return 0;
	}
	reader_saw(r, l.time_us);
	if (l.word != PROCESS_LOST)
		return add_process(r, &l);
	plus(&r->rec->process_events_lost, l.n_lost);
	return 0;
}

int reader_processes(struct reader *r, const char *file, struct feed *f)
{
	struct reader_damage damage = { 0 };
	struct slice line, rest;
	bool whole = feed_line(f, &line) == FEED_WHOLE;
	int error = reader_header(r, whole ? &line : NULL, file, PROCESS_LOG_NAME, &rest);

	if (error <= 0)
		return error;
	error = 0;
	while (!error && reader_feed_line(f, &line, &damage))
		error = read_line(r, line, f->line, &damage);
	return error ? error : reader_report_damage(r, &damage, file);
}

/* After all files: owners of processes */

/* Tasks or instances by the number of their process; next[] leads to others of it. */
struct by_pid {
	struct index index;
	uint32_t *next;
};

static int put_pid(struct by_pid *b, int32_t pid, uint32_t i)
{
	if (!index_find(&b->index, (uint64_t)pid, 0, &b->next[i]))
		b->next[i] = NO_INDEX;
	return index_put(&b->index, (uint64_t)pid, 0, i);
}

static uint32_t first_of_pid(const struct by_pid *b, int32_t pid)
{
	uint32_t i;

	return index_find(&b->index, (uint64_t)pid, 0, &i) ? i : NO_INDEX;
}

static int collect_pids(const struct recording *rec, struct by_pid *tasks,
			struct by_pid *instances)
{
	int error = 0;

	tasks->next = array_new(rec->n_tasks, sizeof *tasks->next);
	instances->next = array_new(rec->n_instances, sizeof *instances->next);
	if (!tasks->next || !instances->next)
		return -ENOMEM;
	for (uint32_t i = 0; !error && i < rec->n_tasks; i++) {
		if (rec->task[i].pid > 0 && rec->task[i].start_us >= 0)
			error = put_pid(tasks, rec->task[i].pid, i);
	}
	for (uint32_t i = 0; !error && i < rec->n_instances; i++) {
		if (rec->instance[i].pid > 0)
			error = put_pid(instances, rec->instance[i].pid, i);
	}
	return error;
}

/* The task whose process this is. */
static uint32_t task_of(const struct recording *rec, const struct by_pid *tasks,
			const struct process *p)
{
	uint32_t i = first_of_pid(tasks, p->pid);

	for (; i != NO_INDEX; i = tasks->next[i]) {
		const struct task *t = &rec->task[i];

		if (t->start_us <= p->end_us + SLACK_US &&
		    recording_task_end_us(rec, t) + SLACK_US >= p->start_us)
			return i;
	}
	return NO_INDEX;
}

/* The instance whose process this is. */
static uint32_t instance_of(const struct recording *rec, const struct by_pid *instances,
			    const struct process *p)
{
	uint32_t i = first_of_pid(instances, p->pid);

	for (; i != NO_INDEX; i = instances->next[i]) {
		if (rec->instance[i].open_us >= p->start_us - SLACK_US &&
		    rec->instance[i].open_us <= p->end_us + SLACK_US)
			return i;
	}
	return NO_INDEX;
}

/* Without recorded tasks, the processes are all that can be drawn. */
static int make_instance(struct reader *r, const struct process *first)
{
	static const char id[] = "processes";
	struct instance *i;

	if (follow_add_instance(&r->follow, (struct slice){ id, sizeof id - 1 }, first->start_us))
		return -ENOMEM;
	i = &r->rec->instance[r->rec->n_instances - 1];
	i->pid = first->pid;
	i->ancestors = i->version = i->cwd = i->command = "";
	i->tool = r->rec->program[first->program].name;
	i->close_us = first->end_us;
	return 0;
}

static int add_span(const struct reader *r, const struct process *p, struct owner o)
{
	struct recording *rec = r->rec;
	struct span *added = array_add(&rec->span, &rec->n_spans, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct span){ .instance = o.instance, .task = o.task, .begin_us = p->start_us,
		.end_us = p->end_us, .name = rec->program[p->program].name,
		.seq = o.task == NO_INDEX ? 0 : rec->task[o.task].seq,
		.number = SPAN_OF_PROCESS + (uint64_t)(p - r->process), .parent = NO_INDEX,
		.thread = p->pid, .place = "" };
	return 0;
}

/* The processes that count for a task. */
struct delay {
	int64_t us;
	bool any, missing;
};

struct walk {
	struct reader *r;
	struct delay *delay;	/* of each task */
	struct by_pid tasks, instances;
	struct index living;	/* the newest process of a number */
	struct owner *inner;	/* of each process: the owner of its children */
};

/* As samples count it: an instance that runs in a task, and its processes, count for that task. What
 * ended after the task waited at other times, too. */
static void count_delay(struct walk *w, const struct process *p, struct owner o)
{
	const struct recording *rec = w->r->rec;
	uint32_t task = o.task;
	struct delay *d;

	if (task == NO_INDEX && o.instance < rec->n_instances)
		task = rec->instance[o.instance].parent_task;
	if (task == NO_INDEX)
		return;
	d = &w->delay[task];
	if (p->delay_us < 0 || p->end_us > recording_task_end_us(rec, &rec->task[task]) + SLACK_US) {
		d->missing = true;
		return;
	}
	d->any = true;
	plus(&d->us, p->delay_us);
}

/* Of all processes of a task; otherwise what is more, that of some or what samples saw. */
static void set_delays(const struct walk *w)
{
	struct recording *rec = w->r->rec;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct delay *d = &w->delay[i];
		struct task *t = &rec->task[i];

		if (!d->any)
			continue;
		t->delay_at_least = d->missing || rec->process_events_lost > 0;
		if (!t->delay_at_least || d->us > t->delay_us)
			t->delay_us = d->us;
	}
}

static int place(struct walk *w, uint32_t i)
{
	struct recording *rec = w->r->rec;
	const struct process *p = &w->r->process[i];
	uint32_t task = task_of(rec, &w->tasks, p), parent;
	uint32_t instance = instance_of(rec, &w->instances, p);
	struct owner o = { 0, NO_INDEX };
	bool is_first = !index_find(&w->living, (uint64_t)p->parent, 0, &parent);

	if (!is_first)
		o = w->inner[parent];
	w->inner[i] = o;
	if (task != NO_INDEX)
		w->inner[i] = (struct owner){ rec->task[task].instance, task };
	count_delay(w, p, w->inner[i]);
	if (instance != NO_INDEX)
		w->inner[i] = (struct owner){ instance, NO_INDEX };
	if (index_put(&w->living, (uint64_t)p->pid, 0, i))
		return -ENOMEM;
	if (w->r->sums_only || task != NO_INDEX || (is_first && instance != NO_INDEX))
		return 0;
	return add_span(w->r, p, o);
}

/* Parents before their children. */
static int by_start(const void *a, const void *b)
{
	const struct process *x = a, *y = b;
	int order = array_order(x->start_us, y->start_us);

	if (!order)
		order = array_order(y->end_us, x->end_us);
	return order ? order : array_order(x->pid, y->pid);
}

int reader_finish_processes(struct reader *r)
{
	struct walk w = { .r = r };
	int error = 0;

	if (!r->n_processes)
		return 0;
	qsort(r->process, r->n_processes, sizeof *r->process, by_start);
	if (!r->rec->n_instances && !r->sums_only)
		error = make_instance(r, &r->process[0]);
	w.inner = malloc(r->n_processes * sizeof *w.inner);
	w.delay = array_new_zero(r->rec->n_tasks, sizeof *w.delay);
	if (!error)
		error = w.inner && w.delay ? collect_pids(r->rec, &w.tasks, &w.instances) : -ENOMEM;
	for (uint32_t i = 0; !error && i < r->n_processes; i++)
		error = place(&w, i);
	if (!error)
		set_delays(&w);
	r->rec->span = array_trim(r->rec->span, r->rec->n_spans, sizeof *r->rec->span);
	index_release(&w.tasks.index);
	index_release(&w.instances.index);
	index_release(&w.living);
	free_all(w.tasks.next, w.instances.next, w.inner, w.delay);
	return error;
}
