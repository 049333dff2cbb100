/* SPDX-License-Identifier: MIT */
#include "trace/live_state.h"

#include "base/array.h"
#include "base/field.h"
#include "base/minmax.h"
#include "base/sort.h"
#include "convert/trace.h"
#include "trace/trace_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_MAX 65536
#define BUILD_ARGS_MAX 64

/* Write what was said to a file if it is much. */
static int write_much(struct live *l)
{
	struct buf *out = &l->sink->out;

	if (buf_error(out))
		return buf_error(out);
	return out->len > LIVE_FLUSH_SIZE ? l->flush(l->context, out) : 0;
}

static uint64_t id_of(const struct live *l, uint32_t instance, uint64_t task)
{
	return identity_hash(&l->identity, l->rec.instance[instance].id, task, 0);
}

/* The build */

/* The lines as arguments: the text is changed. */
static size_t build_args(struct buf *b, struct sink_arg *arg, struct sink_start *start,
			 const char **host)
{
	size_t n = 0;
	char *p = b->data, *end = p + b->len;

	while (p < end && n < BUILD_ARGS_MAX) {
		char *eol = memchr(p, '\n', (size_t)(end - p)), *colon = memchr(p, ':', (size_t)(eol - p));
		char *value = colon + 2;

		*colon = '\0';
		eol[0] = '\0';
		value[field_decode(value, (size_t)(eol - value), NULL)] = '\0';
		if (!strcmp(p, "start_wall_ns"))
			cursor_slice_i64(slice_of(value), &start->wall_ns);
		if (!strcmp(p, "start_mono_ns"))
			cursor_slice_i64(slice_of(value), &start->mono_ns);
		if (!strcmp(p, "host"))
			*host = value;
		/* a key may come several times, as for several source trees */
		if (!trace_arg_has(arg, n, p))
			arg[n++] = trace_arg_text(p, value);
		p = eol + 1;
	}
	return n;
}

/* The first lines of the trace need those of `build`. */
static void begin_sink(struct live *l)
{
	struct sink_start start = { -1, -1 };
	struct sink_arg arg[BUILD_ARGS_MAX];
	const char *host = NULL;
	size_t n;

	if (l->begun)
		return;
	l->begun = true;
	identity_of_build(&l->identity, buf_str(&l->build), l->build.len);
	n = build_args(&l->build, arg, &start, &host);
	l->sink->ops->begin(l->sink, &start);
	l->sink->ops->process(l->sink, SINK_MACHINE, "machine", host, 0);
	l->sink->ops->track(l->sink, SINK_MACHINE, SINK_PATH_TID, "build", 0);
	l->sink->ops->track(l->sink, SINK_MACHINE, SINK_SPANS_TID, "spans", 1);
	l->sink->ops->instant(l->sink, SINK_MACHINE, SINK_PATH_TID, 0, "build", arg, n);
}

/* Those up to the version of buildbeat are written before the build begins. */
static int on_build(void *context, struct slice key, struct slice value)
{
	struct live *l = context;
	struct buf *to = l->described || l->begun ? &l->result : &l->build;

	if (slice_is(key, "end_us"))
		cursor_slice_i64(value, &l->end_us);
	if (to->len + key.len + value.len > BUILD_MAX)
		return 0;
	buf_add(to, key.p, key.len);
	buf_adds(to, ": ");
	buf_add(to, value.p, value.len);
	buf_addc(to, '\n');
	l->described |= slice_is(key, "buildbeat");
	return buf_error(to);
}

/* Instances */

static struct live_instance *instance_at(struct live *l, uint32_t instance)
{
	while (l->n_instances <= instance) {
		struct live_instance *added = array_add(&l->instance, &l->n_instances, sizeof *added);

		if (!added)
			return NULL;
		*added = (struct live_instance){ .slice = false };
	}
	return &l->instance[instance];
}

/* The arrow from the task that an instance runs in. False: it runs in none. */
static bool begin_arrow(struct live *l, uint32_t instance, struct sink_flow *flow)
{
	int64_t open_us = l->rec.instance[instance].open_us;
	uint64_t seq;
	uint32_t of = follow_host(&l->follow, instance, &seq), host = follow_task(&l->follow, of, seq);

	if (host == NO_INDEX || !live_shows(l, host) || l->rec.task[host].start_us > open_us)
		return false;
	*flow = (struct sink_flow){ .id = ++l->n_flows, .kind = SINK_CHILD, .us = open_us };
	l->sink->ops->flow_begin(l->sink, *flow, of + 1, l->task[host].tid);
	return true;
}

static int on_opened(void *context, uint32_t instance)
{
	struct live *l = context;
	const struct instance *i = &l->rec.instance[instance];
	const char *name = *i->tool ? i->tool : "build";
	const struct trace_run run = { id_of(l, instance, 0), i->pid, i->level, i->version, i->command };
	struct live_instance *of = instance_at(l, instance);
	struct sink_arg arg[PARTS_RUN_ARGS];
	struct sink_flow flow;
	struct sink_slice slice = { .pid = instance + 1, .begin_us = i->open_us, .arg = arg,
		.n_args = trace_run(arg, &run), .name = name, .category = TRACE_INSTANCE, .to = &flow };

	if (!of)
		return -ENOMEM;
	if (i->only_spans)
		return 0;
	l->sink->ops->process(l->sink, instance + 1, name, i->cwd, (int)instance + 1);
	if (!of->n_tids)
		live_add_track(l, instance, 0, 1);
	slice.n_to = begin_arrow(l, instance, &flow);
	l->sink->ops->slice_begin(l->sink, &slice);
	of->slice = true;
	return 0;
}

int live_describe(struct live *l, uint32_t instance)
{
	struct live_instance *of = instance_at(l, instance);

	if (!of)
		return -ENOMEM;
	if (of->n_tids || l->rec.instance[instance].only_spans)
		return 0;
	l->sink->ops->process(l->sink, instance + 1, "build", NULL, (int)instance + 1);
	live_add_track(l, instance, 0, 1);
	return 0;
}

static void end_instance(struct live *l, uint32_t instance, int64_t us)
{
	const struct instance *i = &l->rec.instance[instance];

	if (!i->only_spans)
		us = live_end_spans(l, instance, 0, us);
	if (l->instance[instance].slice)
		l->sink->ops->slice_end(l->sink, instance + 1, 0, MAX(us, i->open_us), NULL, 0);
	l->instance[instance].slice = false;
}

static int on_closed(void *context, uint32_t instance, int64_t last)
{
	struct live *l = context;

	(void)last;
	if (live_describe(l, instance))
		return -ENOMEM;
	end_instance(l, instance, l->rec.instance[instance].close_us);
	return 0;
}

static int on_hosts(void *context, uint32_t task, uint32_t instance)
{
	struct live *l = context;

	if (l->task[task].tid)
		live_running(l, l->rec.instance[instance].open_us, -1);
	return 0;
}

/* Tasks */

static void begin_task(struct live *l, uint32_t task)
{
	const struct task *t = &l->rec.task[task];
	struct live_task *of = &l->task[task];
	struct sink_arg arg[4] = { trace_arg_id(id_of(l, t->instance, t->seq)) };
	struct sink_slice slice = { .pid = t->instance + 1, .tid = of->tid, .arg = arg, .n_args = 1,
				    .begin_us = t->start_us, .name = follow_name(t),
				    .category = t->kind };

	of->waits = false;
	if (*t->key)
		arg[slice.n_args++] = trace_arg_text("key", t->key);
	if (t->pid >= 0)
		arg[slice.n_args++] = sink_number("pid", t->pid);
	if (of->command) {
		of->command[field_decode(of->command, strlen(of->command), NULL)] = '\0';
		arg[slice.n_args++] = trace_arg_text("command", of->command);
	}
	l->sink->ops->slice_begin(l->sink, &slice);
	free(of->command);
	of->command = NULL;
}

bool live_shows(struct live *l, uint32_t task)
{
	if (l->task[task].waits)
		begin_task(l, task);
	return l->task[task].tid > 0;
}

/* The newest sample is the last one of a task that has ended. */
static void add_usage(struct live *l, struct task *t)
{
	uint64_t id = id_of(l, t->instance, t->seq);
	const struct live_usage *u;
	uint32_t at;

	if (!index_find(&l->sampled, id, 0, &at))
		return;
	u = &l->usage[at];
	t->n_usage = 1;
	t->cpu_ms = u->cpu_ms;
	t->read_kb = u->read_kb;
	t->written_kb = u->written_kb;
	index_remove(&l->sampled, id, 0);
}

/* The task around it gets its values. 0 or -ENOMEM. */
static int find_cpu(struct live *l, uint32_t task, struct cost_cpu *cpu)
{
	struct task *t = &l->rec.task[task];
	struct cost_inside **around;
	uint32_t of, host;
	uint64_t seq;

	add_usage(l, t);
	*cpu = cost_cpu_of_ended(&l->rec, t, l->task[task].inside);
	free(l->task[task].inside);
	l->task[task].inside = NULL;
	of = follow_host(&l->follow, t->instance, &seq);
	host = of == NO_INDEX ? NO_INDEX : follow_task(&l->follow, of, seq);
	if (host == NO_INDEX)
		return 0;
	around = &l->task[host].inside;
	if (!*around) {
		*around = malloc(sizeof **around);
		if (!*around)
			return -ENOMEM;
		**around = (struct cost_inside)COST_INSIDE_INIT;
	}
	cost_add_inside(*around, &l->rec, &l->rec.task[host], t, cpu);
	return 0;
}

static int end_task(struct live *l, uint32_t task, int64_t us)
{
	const struct task *t = &l->rec.task[task];
	struct sink_arg arg[PARTS_RESULT_ARGS + 3];
	struct cost_cpu cpu;
	size_t n;

	if (find_cpu(l, task, &cpu))
		return -ENOMEM;
	live_shows(l, task);
	n = trace_arg_result(arg, 0, t, &cpu);
	if (l->task[task].renamed) {
		arg[n++] = trace_arg_text("name", follow_name(t));
		arg[n++] = trace_arg_text("kind", t->kind);
		if (*t->key)
			arg[n++] = trace_arg_text("key", t->key);
	}
	us = live_end_spans(l, t->instance, t->seq, MAX(us, t->start_us));
	l->sink->ops->slice_end(l->sink, t->instance + 1, l->task[task].tid, us, arg, n);
	l->instance[t->instance].lane[l->task[task].lane].free_us = us;
	if (!t->hosts)
		live_running(l, us, -1);
	follow_forget(&l->follow, task);
	return 0;
}

static int start_task(struct live *l, uint32_t task, struct slice command)
{
	const struct task *t = &l->rec.task[task];
	struct live_task *of = &l->task[task];
	uint32_t *added = array_add(&l->waiting, &l->n_waiting, sizeof *added);

	if (!added || live_describe(l, t->instance) || live_place(l, task))
		return -ENOMEM;
	*added = task;
	of->waits = true;
	of->command = command.len ? strndup(command.p, command.len) : NULL;
	if (command.len && !of->command)
		return -ENOMEM;
	if (!t->hosts)
		live_running(l, t->start_us, 1);
	return t->end_us >= 0 ? end_task(l, task, t->end_us) : 0;
}

static int on_changed(void *context, uint32_t task, enum follow_change what, struct slice command)
{
	struct live *l = context;
	struct live_task *grown;

	switch (what) {
	case FOLLOW_NEW:
		if (task == l->n_tasks) {
			grown = array_add(&l->task, &l->n_tasks, sizeof *grown);
			if (!grown)
				return -ENOMEM;
		}
		l->task[task] = (struct live_task){ .tid = 0 };
		return 0;
	case FOLLOW_STARTED:
		return start_task(l, task, command);
	case FOLLOW_NAMED:
		l->task[task].renamed = l->task[task].tid && !l->task[task].waits;
		return 0;
	case FOLLOW_ENDED:
		return l->task[task].tid ? end_task(l, task, l->rec.task[task].end_us) : 0;
	case FOLLOW_QUEUED:
		break;
	}
	return 0;
}

static int on_note(void *context, const struct note *n)
{
	struct live *l = context;
	uint32_t tid = n->task != NO_INDEX && live_shows(l, n->task) ? l->task[n->task].tid : 0;

	if (live_describe(l, n->instance))
		return -ENOMEM;
	l->sink->ops->instant(l->sink, n->instance + 1, tid, n->time_us, n->text, NULL, 0);
	return 0;
}

static const struct follow_to to_live = {
	.opened = on_opened, .closed = on_closed, .changed = on_changed, .hosts = on_hosts,
	.span = live_begin_span, .span_end = live_end_span, .note = on_note,
};

static int on_event(void *context, struct event *e)
{
	struct live *l = context;
	int r;

	begin_sink(l);
	r = follow_line(&l->follow, e);
	return r ? r : write_much(l);
}

void live_settle(struct live *l)
{
	for (size_t i = 0; i < l->n_waiting; i++)
		live_shows(l, l->waiting[i]);
	l->n_waiting = 0;
}

static int on_sample(void *context, const struct growing_sample *s)
{
	struct live *l = context;
	int r;

	begin_sink(l);
	l->rec.last_us = MAX(l->rec.last_us, s->time_ms * 1000);
	r = live_sample(l, s);
	return r ? r : write_much(l);
}

static int on_memory(void *context, int64_t time_ms, int64_t kb)
{
	struct live *l = context;

	begin_sink(l);
	live_memory(l, time_ms, kb);
	return write_much(l);
}

static uint32_t on_sampled(void *context, struct slice inst, uint64_t seq)
{
	struct live *l = context;
	struct live_usage *added;
	char id[INSTANCE_ID_MAX];
	uint64_t key;
	uint32_t at;

	begin_sink(l);
	if (inst.len >= sizeof id)
		return NO_INDEX;
	memcpy(id, inst.p, inst.len);
	id[inst.len] = '\0';
	key = identity_hash(&l->identity, id, seq, 0);
	if (index_find(&l->sampled, key, 0, &at))
		return at;
	at = (uint32_t)l->n_usage;
	added = array_add(&l->usage, &l->n_usage, sizeof *added);
	if (!added || index_put(&l->sampled, key, 0, at))
		return NO_INDEX;
	*added = (struct live_usage){ 0 };
	return at;
}

static void on_usage(void *context, uint32_t number, const struct task_usage *u)
{
	struct live *l = context;

	l->usage[number] = (struct live_usage){ u->cpu_ms, u->read_kb, u->written_kb };
}

const struct growing_to live_growing = {
	.build = on_build, .event = on_event, .sample = on_sample, .memory = on_memory,
	.sampled = on_sampled, .usage = on_usage,
};

/* The whole */

int live_new(struct live **out, struct sink *sink, int (*flush)(void *context, struct buf *out),
	     void *context)
{
	struct live *l = calloc(1, sizeof *l);
	int r;

	*out = l;
	if (!l)
		return -ENOMEM;
	l->sink = sink;
	l->flush = flush;
	l->context = context;
	l->end_us = -1;
	r = follow_growing(&l->follow, &l->rec, &to_live, l);
	return r ? r : live_counters_init(&l->counters);
}

void live_free(struct live *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_tasks; i++)
		free_all(l->task[i].command, l->task[i].inside);
	for (size_t i = 0; i < l->n_instances; i++) {
		free_all(l->instance[i].lane, l->instance[i].row);
	}
	buf_release(&l->build);
	buf_release(&l->result);
	live_counters_release(&l->counters);
	if (l->follow.rec)
		follow_release(&l->follow);
	index_release(&l->sampled);
	free_all(l->instance, l->task, l->waiting, l->span, l->usage, l);
}

static void add_result(struct live *l, uint64_t damaged)
{
	struct sink_start start = { -1, -1 };
	struct sink_arg arg[BUILD_ARGS_MAX + 1];
	const char *host;
	size_t n;

	if (!l->result.len && !damaged)
		return;
	n = build_args(&l->result, arg, &start, &host);
	if (damaged)
		arg[n++] = sink_number("damaged_lines", (int64_t)damaged);
	l->sink->ops->instant(l->sink, SINK_MACHINE, SINK_PATH_TID,
			      l->end_us >= 0 ? l->end_us : l->rec.last_us, "build ended", arg, n);
}

/* Those that nobody saw end: tasks before those around them, which started earlier. */
static int end_unseen(struct live *l)
{
	struct keyed *key = array_new(l->n_tasks, sizeof *key);
	size_t n = 0;
	int r = key ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < l->n_tasks && key; i++) {
		if (follow_is_used(&l->follow, i) && l->task[i].tid)
			key[n++] = (struct keyed){ (uint64_t)MAX(l->rec.task[i].start_us, 0), i };
	}
	if (!r)
		r = sort_keyed(key, n);
	while (!r && n--) {
		uint32_t task = (uint32_t)key[n].value;

		r = end_task(l, task, recording_unseen_end_us(&l->rec, &l->rec.task[task]));
	}
	free(key);
	return r;
}

int live_end(struct live *l, uint64_t damaged)
{
	int r;

	begin_sink(l);
	l->rec.last_us = MAX(l->rec.last_us, l->end_us);
	r = end_unseen(l);
	if (r)
		return r;
	live_end_spans(l, LIVE_NONE, 0, l->rec.last_us);
	for (uint32_t i = 0; i < l->n_instances; i++)
		end_instance(l, i, l->rec.last_us);
	add_result(l, damaged);
	l->sink->ops->end(l->sink);
	return buf_error(&l->sink->out);
}
