/* SPDX-License-Identifier: MIT */
#include "analyse/inner.h"
#include "analyse/output.h"
#include "analyse/process_tree.h"
#include "base/json.h"
#include "live/api_parts.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"
#include "report/inspected_find.h"
#include "report/show_output.h"

#include <errno.h>
#include <string.h>

/*
 * /api/v1/task: everything that was recorded of one task. Lists are bounded: n_NAME says how many there
 * are, and NAME has the first ones.
 */
#define LIST_MAX 500
#define SAMPLES_MAX 1000

struct page {
	struct json j;
	const struct source *s;
	const struct recording *rec;
	const struct process_tree *processes;
	uint32_t task;
};

/* What it waited for, and what waited for it */

/* Each name, and the task that made it before this one began. */
static void add_after(struct page *p, const struct task *t)
{
	json_int(&p->j, "n_after", t->n_after);
	json_array(&p->j, "after");
	for (uint32_t i = 0; i < t->n_after && i < LIST_MAX; i++) {
		uint32_t at = t->first_after + i;

		json_object(&p->j, NULL);
		json_str(&p->j, "file", p->rec->after[at]);
		task_json_ref(&p->j, "made_by", p->rec, p->s->chain.waits.needs.maker[at]);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
}

static bool needs(const struct page *p, const struct task *t)
{
	for (uint32_t i = 0; i < t->n_after; i++) {
		if (p->s->chain.waits.needs.maker[t->first_after + i] == p->task)
			return true;
	}
	return false;
}

/* Tasks that need what it made, or began when it ended. */
static void add_needed_by(struct page *p)
{
	const struct chain *c = &p->s->chain;
	size_t n = 0;

	json_array(&p->j, "needed_by");
	for (size_t i = 0; i < p->s->summary.n_ran; i++) {
		uint32_t other = p->s->summary.order[i];
		bool last = c->waits.task[other].before == p->task;
		bool file = needs(p, &p->rec->task[other]);

		if (other == p->task || (!last && !file) || ++n > LIST_MAX)
			continue;
		json_object(&p->j, NULL);
		task_json_names(&p->j, p->rec, other);
		json_bool(&p->j, "needs_file", file);
		json_str(&p->j, "why", last ? wait_word[c->waits.task[other].why] : NULL);
		json_str(&p->j, "link", last ? chain_link_word[chain_link(c->waits.task[other].why)] : NULL);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	json_int(&p->j, "n_needed_by", (int64_t)n);
}

static size_t place_in(const uint32_t *path, size_t n, uint32_t task)
{
	size_t i = 0;

	while (i < n && path[i] != task)
		i++;
	return i;
}

static void add_place(struct page *p, const char *name, const uint32_t *path, size_t n)
{
	size_t at = place_in(path, n, p->task);

	json_object(&p->j, name);
	json_known(&p->j, "place", at < n ? (int64_t)at + 1 : -1);
	json_int(&p->j, "of", (int64_t)n);
	task_json_ref(&p->j, "before", p->rec, at < n && at ? path[at - 1] : NO_INDEX);
	task_json_ref(&p->j, "next", p->rec, at + 1 < n ? path[at + 1] : NO_INDEX);
	json_object_end(&p->j);
}

static void add_waits(struct page *p)
{
	const struct chain *c = &p->s->chain;

	json_known(&p->j, "ready_us", p->s->chain.waits.task[p->task].ready_us);
	task_json_wait(&p->j, p->rec, c, p->task);
	add_after(p, &p->rec->task[p->task]);
	add_needed_by(p);
	add_place(p, "path", c->path, c->n_path);
	add_place(p, "longest_chain", c->dependency, c->n_dependency);
}

/* Where it ran */

static void add_instance(struct page *p, const struct instance *i)
{
	json_object(&p->j, "instance");
	json_str(&p->j, "id", i->id);
	json_str(&p->j, "tool", i->tool);
	json_str(&p->j, "version", i->version);
	json_known(&p->j, "level", i->level);
	json_known(&p->j, "pid", i->pid);
	json_str(&p->j, "cwd", i->cwd);
	json_str(&p->j, "command", i->command);
	json_object_end(&p->j);
}

static void add_place_of_rule(struct page *p, const struct task *t)
{
	json_str(&p->j, "program", *t->program ? t->program : NULL);
	json_str(&p->j, "file", *t->file ? t->file : NULL);
	json_known(&p->j, "line", t->line);
	json_str(&p->j, "pool", t->pool == NO_INDEX ? NULL : p->rec->pool[t->pool].name);
	add_instance(p, &p->rec->instance[t->instance]);
	task_json_ref(&p->j, "parent_task", p->rec, p->s->summary.nest[p->task].parent);
}

static void add_children(struct page *p)
{
	size_t n = 0;

	json_array(&p->j, "children");
	for (size_t i = 0; p->rec->task[p->task].hosts && i < p->rec->n_tasks; i++) {
		uint32_t other = p->s->summary.order[i];

		if (p->s->summary.nest[other].parent != p->task || ++n > LIST_MAX)
			continue;
		json_object(&p->j, NULL);
		task_json_task(&p->j, p->rec, other, p->s->running);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	json_int(&p->j, "n_children", (int64_t)n);
}

/* What it did */

static void add_outputs(struct page *p, const struct task *t)
{
	struct buf log = BUF_INIT;

	json_int(&p->j, "n_outputs", t->n_out);
	json_array(&p->j, "outputs");
	for (uint32_t i = 0; i < t->n_out && i < LIST_MAX; i++)
		json_str(&p->j, NULL, p->rec->out[t->first_out + i]);
	json_array_end(&p->j);
	json_str(&p->j, "log", output_task_log(&log, p->rec, p->task) ? buf_str(&log) : NULL);
	buf_release(&log);
}

static void add_spans(struct page *p)
{
	size_t n = 0;

	json_array(&p->j, "spans");
	for (size_t i = 0; i < p->rec->n_spans; i++) {
		const struct span *s = &p->rec->span[i];

		if (s->task != p->task || ++n > LIST_MAX)
			continue;
		json_object(&p->j, NULL);
		json_str(&p->j, "name", s->name);
		json_int(&p->j, "begin_us", s->begin_us);
		json_known(&p->j, "end_us", s->end_us);
		json_known(&p->j, "thread", s->thread);
		json_str(&p->j, "place", *s->place ? s->place : NULL);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	json_int(&p->j, "n_spans", (int64_t)n);
}

static void add_notes(struct page *p)
{
	size_t n = 0;

	json_array(&p->j, "notes");
	for (size_t i = 0; i < p->rec->n_notes; i++) {
		const struct note *note = &p->rec->note[i];

		if (note->task != p->task || ++n > LIST_MAX)
			continue;
		json_object(&p->j, NULL);
		json_int(&p->j, "time_us", note->time_us);
		json_str(&p->j, "text", note->text);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	json_int(&p->j, "n_notes", (int64_t)n);
}

/* Of more than SAMPLES_MAX, every second, or third ... */
static void add_samples(struct page *p, const struct task *t)
{
	uint32_t step = t->n_usage / SAMPLES_MAX + 1;

	json_int(&p->j, "n_samples", t->n_usage);
	json_array(&p->j, "samples");
	for (uint32_t i = 0; i < t->n_usage && p->rec->usage; i += step) {
		const struct task_usage *u = &p->rec->usage[t->first_usage + i];

		json_object(&p->j, NULL);
		json_int(&p->j, "time_ms", u->time_ms);
		json_int(&p->j, "rss_kb", u->rss_kb);
		json_int(&p->j, "cpu_ms", u->cpu_ms);
		json_int(&p->j, "read_kb", u->read_kb);
		json_int(&p->j, "written_kb", u->written_kb);
		json_int(&p->j, "processes", u->processes);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
}

static void add_process(struct page *p, const struct tree_process *x, const struct process_tree *t)
{
	json_object(&p->j, NULL);
	json_int(&p->j, "pid", x->pid);
	json_known(&p->j, "parent_pid", x->parent == NO_INDEX ? x->parent_pid :
		   t->process[x->parent].pid);
	json_str(&p->j, "command", x->command);
	json_int(&p->j, "start_us", x->start_us);
	json_known(&p->j, "end_us", x->runs ? -1 : x->end_us);
	json_known(&p->j, "cpu_us", x->user_us < 0 ? -1 : x->user_us + x->system_us);
	json_known(&p->j, "delay_us", x->delay_us);
	json_known(&p->j, "max_rss_kb", x->max_rss_kb);
	json_known(&p->j, "outlived_us", x->outlived_us ? x->outlived_us : -1);
	json_object_end(&p->j);
}

static void add_inner(struct page *p, const struct inner *in)
{
	json_object(&p->j, "inner");
	json_int(&p->j, "n_processes", (int64_t)in->n);
	json_int(&p->j, "running_max", in->most);
	json_real(&p->j, "running_mean", inner_mean(in), 2);
	json_int(&p->j, "busy_us", in->busy_us);
	json_int(&p->j, "alone_us", in->alone_us);
	json_array(&p->j, "programs");
	for (size_t i = 0; i < in->n_programs && i < LIST_MAX; i++) {
		const struct inner_program *program = &in->program[i];

		json_object(&p->j, NULL);
		json_strn(&p->j, "name", program->name.p, program->name.len);
		json_int(&p->j, "count", (int64_t)program->n);
		json_int(&p->j, "cpu_us", program->cpu_us);
		json_int(&p->j, "alone_us", program->alone_us);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	json_object_end(&p->j);
}

static int add_processes(struct page *p, struct error *err)
{
	struct inner in = INNER_INIT;
	const struct process_tree *t = p->processes;
	size_t n = 0;

	json_array(&p->j, "processes");
	for (size_t i = 0; i < t->n; i++) {
		if (t->process[i].task == p->task && ++n <= LIST_MAX)
			add_process(p, &t->process[i], t);
	}
	json_array_end(&p->j);
	json_int(&p->j, "n_processes", (int64_t)n);
	if (n && inner_make(&in, t, p->task)) {
		inner_release(&in);
		return error_sys(err, -ENOMEM, NULL, NULL);
	}
	if (in.n)
		add_inner(p, &in);
	inner_release(&in);
	return 0;
}

static int add_inspected(struct page *p, struct error *err)
{
	struct inspected_found found = INSPECTED_INIT;
	int r = inspected_find(&found, p->rec, err);

	json_array(&p->j, "inspected");
	for (size_t i = 0; !r && i < found.inspected.n; i++) {
		const struct inspected_process *x = &found.inspected.process[i];

		if (x->task != p->task)
			continue;
		json_object(&p->j, NULL);
		json_str(&p->j, "archive", x->archive);
		json_str(&p->j, "program", x->program);
		json_int(&p->j, "pid", x->pid);
		json_known(&p->j, "snapshots", x->n_snapshots);
		json_object_end(&p->j);
	}
	json_array_end(&p->j);
	inspected_release(&found);
	return r;
}

static int add_task(struct page *p, struct error *err)
{
	const struct task *t = &p->rec->task[p->task];
	int r;

	task_json_task(&p->j, p->rec, p->task, p->s->running);
	show_json_more(&p->j, &p->s->summary, p->task);
	add_place_of_rule(p, t);
	add_waits(p);
	add_children(p);
	add_outputs(p, t);
	add_spans(p);
	add_notes(p);
	add_samples(p, t);
	r = add_processes(p, err);
	return r ? r : add_inspected(p, err);
}

static int task_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct source *s = q->source;
	const char *id = query_text(q->query, "task");
	struct page p = { .s = s, .rec = &s->recording };
	int r = id ? source_need(s, SOURCE_CHAIN, err) :
		error_say(err, -EINVAL, "parameter 'task' is missing: the id or the name of a task");

	if (!r)
		r = source_task(s, id, &p.task, err);
	if (!r)
		r = api_recorded_tree(s, &p.processes, err);
	if (r)
		return r;
	json_init(&p.j, &out->body, true);
	json_object(&p.j, NULL);
	r = add_task(&p, err);
	json_object_end(&p.j);
	out->keep = true;
	return r ? r : recording_command_error(p.rec);
}

const struct route api_task_routes[] = {
	{ "/api/v1/task", "rec, task", "Everything that was recorded of one task.", task_reply },
	{ 0 }
};
