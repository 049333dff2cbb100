/* SPDX-License-Identifier: MIT */
#include "trace/live_state.h"

#include "base/array.h"
#include "base/field.h"
#include "base/str.h"
#include "command/command_name.h"
#include "command/kind.h"
#include "convert/trace.h"
#include "trace/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_MAX 65536
#define BUILD_ARGS_MAX 64
#define SLACK_US 100000		/* as in reader_link.c: a start may be stamped late */

const char *live_text(struct live *l, unsigned at, struct slice field)
{
	struct buf *b = &l->text[at];

	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b) || !b->len)
		return "";
	buf_cut(b, field_decode(b->data, b->len, NULL));
	return b->data;
}

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
	return identity_hash(&l->identity, l->instance[instance].id, task, 0);
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
		if (!parts_has(arg, n, p))
			arg[n++] = parts_text(p, value);
		p = eol + 1;
	}
	return n;
}

/* The first lines of the trace need those of `build`. */
static void begin(struct live *l)
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

static int find_instance(struct live *l, struct slice id, uint32_t *at)
{
	uint64_t key[2] = { 0 };

	memcpy(key, id.p, id.len);
	return index_find(&l->instances, key[0], key[1], at);
}

static int add_instance(struct live *l, const struct event *e, uint32_t *at)
{
	struct live_instance *added = array_add(&l->instance, &l->n_instances, sizeof *added);
	uint64_t key[2] = { 0 };

	if (!added)
		return -ENOMEM;
	*at = (uint32_t)l->n_instances - 1;
	*added = (struct live_instance){ .pid = -1, .open_us = e->time_us, .close_us = -1,
					 .made_up = true, .host = LIVE_NONE };
	memcpy(added->id, e->inst.p, e->inst.len);
	memcpy(key, e->inst.p, e->inst.len);
	return index_put(&l->instances, key[0], key[1], *at);
}

/* Where an instance runs: in the task of the first of its ancestors that has one, or "=INST.SEQ". */
static struct live_task *find_host(struct live *l, const char *ancestors, int64_t time_us)
{
	struct live_task *found = NULL;
	struct slice inst;
	struct cursor c;
	uint64_t n;
	uint32_t at;

	cursor_init(&c, ancestors, strlen(ancestors));
	if (cursor_byte(&c, '='))
		return cursor_until(&c, '.', &inst) && inst.len < INSTANCE_ID_MAX &&
		       cursor_u64(&c, &n) && find_instance(l, inst, &at) ?
		       live_find_task(l, at, n) : NULL;
	while (!found && cursor_u64(&c, &n)) {
		found = n <= INT32_MAX ? live_task_of_pid(l, (int32_t)n) : NULL;
		if (found && found->start_us > time_us + SLACK_US)
			found = NULL;
		cursor_byte(&c, ',');
	}
	return found;
}

static void set_host(struct live *l, uint32_t instance, struct live_task *host)
{
	struct live_instance *i = &l->instance[instance];

	if (!host || host->instance == instance)
		return;
	i->host = host->instance;
	i->host_seq = host->seq;
	if (i->only_spans || host->hosts)
		return;
	host->hosts = true;
	live_running(l, i->open_us, -1);
}

/* The arrow from the task that an instance runs in. False: it runs in none. */
static bool begin_arrow(struct live *l, const struct live_instance *i, struct sink_flow *flow)
{
	const struct live_task *host = i->host == LIVE_NONE ? NULL :
				       live_find_task(l, i->host, i->host_seq);

	if (!host || !host->tid || host->start_us > i->open_us)
		return false;
	*flow = (struct sink_flow){ .id = ++l->n_flows, .kind = SINK_CHILD, .us = i->open_us };
	l->sink->ops->flow_begin(l->sink, *flow, host->instance + 1, host->tid);
	return true;
}

/* A span command is no process of the trace. */
static bool is_span_tool(const char *tool)
{
	size_t len = strlen(EVENT_SPAN_TOOL);

	return str_starts(tool, EVENT_SPAN_TOOL) && (!tool[len] || tool[len] == ' ');
}

/* An instance whose first line is lost or comes later has only a name. */
static void describe(struct live *l, uint32_t instance, const char *tool, const char *cwd)
{
	l->sink->ops->process(l->sink, instance + 1, *tool ? tool : "build", cwd,
			      (int)instance + 1);
	if (!l->instance[instance].n_tids)
		live_add_track(l, instance, 0, 1);
}

static void begin_slice(struct live *l, uint32_t instance, int64_t level, const char *tool,
			const char *version, const char *command)
{
	struct live_instance *i = &l->instance[instance];
	const struct parts_run run = { id_of(l, instance, 0), i->pid, level, version, command };
	struct sink_arg arg[PARTS_RUN_ARGS];
	struct sink_flow flow;
	struct sink_slice slice = { .pid = instance + 1, .begin_us = i->open_us, .arg = arg,
		.n_args = parts_run(arg, &run), .name = *tool ? tool : "build",
		.category = TRACE_INSTANCE, .to = &flow, .n_to = begin_arrow(l, i, &flow) };

	l->sink->ops->slice_begin(l->sink, &slice);
	i->slice = true;
}

static int open_instance(struct live *l, uint32_t instance, struct event *e)
{
	struct live_instance *i = &l->instance[instance];
	int64_t pid = event_number(e), level = event_number(e);
	const char *ancestors = live_text(l, 0, event_field(e));
	const char *tool = live_text(l, 1, event_field(e));
	const char *version = live_text(l, 2, event_field(e));
	const char *cwd = live_text(l, 3, event_field(e));
	const char *command = live_text(l, 4, event_field(e));

	i->made_up = false;
	i->open_us = e->time_us;
	i->pid = pid <= INT32_MAX ? (int32_t)pid : -1;
	i->only_spans = is_span_tool(tool);
	i->is_begin = !strcmp(tool, EVENT_SPAN_BEGIN_TOOL);
	set_host(l, instance, find_host(l, ancestors, e->time_us));
	if (i->only_spans) {
		i->ancestors = strdup(ancestors);
		return i->ancestors ? 0 : -ENOMEM;
	}
	describe(l, instance, tool, cwd);
	begin_slice(l, instance, level, tool, version, command);
	return 0;
}

/* The instance of a line, a new one if needed. An id that is opened again is another process. */
static int instance_of(struct live *l, const struct event *e, uint32_t *at)
{
	bool opens = e->kind == EVENT_OPEN;
	int r;

	if (find_instance(l, e->inst, at) && (!opens || l->instance[*at].made_up))
		return 0;
	r = add_instance(l, e, at);
	if (!r && !opens)
		describe(l, *at, "", NULL);
	return r;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void close_instance(struct live *l, uint32_t instance, int64_t us)
{
	struct live_instance *i = &l->instance[instance];

	i->close_us = us;
	if (!i->only_spans)
		us = live_end_spans(l, instance, 0, us);
	if (i->slice)
		l->sink->ops->slice_end(l->sink, instance + 1, 0, later(us, i->open_us), NULL, 0);
	i->slice = false;
}

/* Tasks */

static int set_copy(char **to, const char *text)
{
	if (!*text)
		return 0;
	free(*to);
	*to = strdup(text);
	return *to ? 0 : -ENOMEM;
}

/* Until its start line, which may lack them. */
static int queue_task(struct live_task *t, struct live *l, struct event *e)
{
	int r = set_copy(&t->kind, live_text(l, 0, event_field(e)));

	if (!r)
		r = set_copy(&t->name, live_text(l, 1, event_field(e)));
	return r ? r : set_copy(&t->key, live_text(l, 2, event_field(e)));
}

static int name_task(struct live_task *t, struct live *l, struct event *e)
{
	int r = set_copy(&t->name, live_text(l, 0, event_field(e)));

	if (!r)
		r = set_copy(&t->key, live_text(l, 1, event_field(e)));
	return r ? r : set_copy(&t->kind, live_text(l, 2, event_field(e)));
}

static const char *or_queued(const char *text, const char *queued)
{
	return *text || !queued ? text : queued;
}

/* Names and kinds that were not recorded are those that the command shows, as in the reader. */
static const char *name_by_command(struct live *l, struct slice command, const char *kind)
{
	struct buf *b = &l->text[1];

	buf_clear(b);
	command_name_add(b, command.p, command.len);
	return b->len && !buf_error(b) ? buf_str(b) : kind;
}

static void begin_task(struct live *l, struct live_task *t, struct event *e)
{
	const char *kind = or_queued(live_text(l, 0, event_field(e)), t->kind);
	const char *name = or_queued(live_text(l, 1, event_field(e)), t->name);
	const char *key = or_queued(live_text(l, 2, event_field(e)), t->key);
	const char *command = live_text(l, 3, event_field(e));
	struct sink_arg arg[4] = { parts_id(id_of(l, t->instance, t->seq)) };
	struct sink_slice slice = { .pid = t->instance + 1, .tid = t->tid, .arg = arg, .n_args = 1,
				    .begin_us = t->start_us };

	if (!*kind)
		kind = kind_of_command(command, strlen(command));
	if (!*name)
		name = name_by_command(l, slice_of(command), kind);
	slice.name = name;
	slice.category = kind;
	if (*key)
		arg[slice.n_args++] = parts_text("key", key);
	if (t->pid >= 0)
		arg[slice.n_args++] = sink_number("pid", t->pid);
	if (*command)
		arg[slice.n_args++] = parts_text("command", command);
	l->sink->ops->slice_begin(l->sink, &slice);
	live_running(l, t->start_us, 1);
}

static int start_task(struct live *l, struct live_task *t, struct event *e)
{
	int64_t pid = event_number(e), slot = event_number(e);
	int r;

	if (t->tid)
		return 0;
	t->start_us = e->time_us;
	if (pid >= 0 && pid <= INT32_MAX)
		t->pid = (int32_t)pid;
	r = live_place(l, t, slot <= INT32_MAX ? (int32_t)slot : -1);
	if (r)
		return r;
	begin_task(l, t, e);
	free(t->name);
	free(t->key);
	free(t->kind);
	t->name = t->key = t->kind = NULL;
	return 0;
}

/* e: NULL, or a line with the values. */
static void end_task(struct live *l, struct live_task *t, int64_t us, enum task_state state,
		     struct event *e)
{
	struct live_instance *i = &l->instance[t->instance];
	struct sink_arg arg[PARTS_RESULT_ARGS + 2];
	int64_t value[4] = { -1, -1, -1, -1 }, unused[8], at_most = -1;
	size_t n;

	if (e) {
		event_numbers(e, value, ARRAY_SIZE(value));
		event_numbers(e, unused, ARRAY_SIZE(unused));
		at_most = value[3] < 0 ? event_number(e) : -1;
	}
	n = parts_result(arg, 0, &(struct parts_result){ state, value[0], value[1], value[2],
							 value[3], at_most });
	if (t->name)
		arg[n++] = parts_text("name", t->name);
	if (t->key)
		arg[n++] = parts_text("key", t->key);
	us = live_end_spans(l, t->instance, t->seq, later(us, t->start_us));
	l->sink->ops->slice_end(l->sink, t->instance + 1, t->tid, us, arg, n);
	i->lane[t->lane].free_us = us;
	if (!t->hosts)
		live_running(l, us, -1);
	live_remove_task(l, t);
}

static int task_line(struct live *l, uint32_t instance, struct event *e)
{
	struct live_task *t = live_find_task(l, instance, e->seq);
	int64_t pid;

	if (!t && (e->kind == EVENT_START || e->kind == EVENT_QUEUE)) {
		t = live_add_task(l, instance, e->seq);
		if (!t)
			return -ENOMEM;
	}
	if (!t || (!t->tid && e->kind != EVENT_START && e->kind != EVENT_QUEUE))
		return 0;
	switch (e->kind) {
	case EVENT_QUEUE:
		return t->tid ? 0 : queue_task(t, l, e);
	case EVENT_START:
		return start_task(l, t, e);
	case EVENT_NAME:
		return name_task(t, l, e);
	case EVENT_PID:
		pid = event_number(e);
		if (pid >= 0 && pid <= INT32_MAX)
			t->pid = (int32_t)pid;
		return 0;
	case EVENT_DONE:
		end_task(l, t, e->time_us, TASK_DONE, e);
		return 0;
	case EVENT_FAIL:
		end_task(l, t, e->time_us, TASK_FAILED, e);
		return 0;
	case EVENT_KILL:
		end_task(l, t, e->time_us, TASK_KILLED, e);
		return 0;
	case EVENT_GONE:
		end_task(l, t, e->time_us, TASK_UNFINISHED, e);
		return 0;
	default:
		return 0;
	}
}

static void add_note(struct live *l, uint32_t instance, struct event *e)
{
	const struct live_task *t = e->seq ? live_find_task(l, instance, e->seq) : NULL;

	l->sink->ops->instant(l->sink, instance + 1, t ? t->tid : 0, e->time_us,
			      live_text(l, 0, event_field(e)), NULL, 0);
}

static int on_event(void *context, struct event *e)
{
	struct live *l = context;
	uint32_t instance;
	int r;

	begin(l);
	r = instance_of(l, e, &instance);
	l->last_us = later(l->last_us, e->time_us);
	if (r)
		return r;
	switch (e->kind) {
	case EVENT_OPEN:
		r = open_instance(l, instance, e);
		break;
	case EVENT_CLOSE:
		close_instance(l, instance, e->time_us);
		break;
	case EVENT_BEGIN:
		r = live_begin_span(l, instance, e);
		break;
	case EVENT_END:
		live_end_span(l, instance, e);
		break;
	case EVENT_NOTE:
		add_note(l, instance, e);
		break;
	default:
		r = e->seq ? task_line(l, instance, e) : 0;
	}
	return r ? r : write_much(l);
}

static int on_sample(void *context, const struct growing_sample *s)
{
	struct live *l = context;
	int r;

	begin(l);
	l->last_us = later(l->last_us, s->time_ms * 1000);
	r = live_sample(l, s);
	return r ? r : write_much(l);
}

static int on_memory(void *context, int64_t time_ms, int64_t kb)
{
	struct live *l = context;

	begin(l);
	live_memory(l, time_ms, kb);
	return write_much(l);
}

const struct growing_to live_growing = {
	.build = on_build, .event = on_event, .sample = on_sample, .memory = on_memory,
};

/* The whole */

int live_new(struct live **out, struct sink *sink, int (*flush)(void *context, struct buf *out),
	     void *context)
{
	struct live *l = calloc(1, sizeof *l);

	*out = l;
	if (!l)
		return -ENOMEM;
	l->sink = sink;
	l->flush = flush;
	l->context = context;
	l->end_us = -1;
	return live_counters_init(&l->counters);
}

void live_free(struct live *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_tasks; i++) {
		free(l->task[i].name);
		free(l->task[i].key);
		free(l->task[i].kind);
	}
	for (size_t i = 0; i < l->n_instances; i++) {
		free(l->instance[i].ancestors);
		free(l->instance[i].lane);
		free(l->instance[i].row);
	}
	for (size_t i = 0; i < ARRAY_SIZE(l->text); i++)
		buf_release(&l->text[i]);
	buf_release(&l->build);
	buf_release(&l->result);
	live_counters_release(&l->counters);
	index_release(&l->instances);
	index_release(&l->tasks);
	free(l->instance);
	free(l->task);
	free(l->free_task);
	free(l->span);
	free(l);
}

/* When nobody saw its end: as recording_unseen_end_us(). */
static int64_t unseen_end_us(const struct live *l, const struct live_task *t)
{
	int64_t close_us = l->instance[t->instance].close_us;

	return close_us >= 0 ? close_us : l->last_us;
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
			      l->end_us >= 0 ? l->end_us : l->last_us, "build ended", arg, n);
}

int live_end(struct live *l, uint64_t damaged)
{
	begin(l);
	l->last_us = later(l->last_us, l->end_us);
	for (size_t i = 0; i < l->n_tasks; i++) {
		struct live_task *t = &l->task[i];

		if (t->used && t->tid)
			end_task(l, t, unseen_end_us(l, t), TASK_UNFINISHED, NULL);
	}
	live_end_spans(l, LIVE_NONE, 0, l->last_us);
	for (uint32_t i = 0; i < l->n_instances; i++) {
		if (l->instance[i].close_us < 0)
			close_instance(l, i, l->last_us);
	}
	add_result(l, damaged);
	l->sink->ops->end(l->sink);
	return buf_error(&l->sink->out);
}
