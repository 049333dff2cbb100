/* SPDX-License-Identifier: MIT */
#include "live/now_state.h"

#include "base/array.h"
#include "base/field.h"
#include "base/str.h"
#include "command/command_name.h"
#include "command/kind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK_US 100000		/* as in reader_link.c: a start may be stamped late */
#define ENDED_MAX (UINT64_C(1) << 24)	/* larger numbers are damage */

/* A decoded text in one of the buffers. */
static const char *text_of(struct now *n, unsigned at, struct slice field)
{
	struct buf *b = &n->private->text[at];

	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b) || !b->len)
		return "";
	buf_cut(b, field_decode(b->data, b->len, NULL));
	return b->data;
}

static int set_text(char **to, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static int32_t small(int64_t n)
{
	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

/* The build */

static void set_number(int64_t *to, struct slice value)
{
	int64_t n;

	if (cursor_slice_i64(value, &n) && n >= 0)
		*to = n;
}

static void set_small(int32_t *to, struct slice value)
{
	int64_t n = -1;

	set_number(&n, value);
	*to = small(n);
}

static int on_build(void *context, struct slice key, struct slice value)
{
	struct now *n = context;
	int r = 0;

	if (slice_is(key, "command") && !*n->title)
		r = set_text(&n->title, text_of(n, 0, value));
	else if (slice_is(key, "cwd") && !*n->cwd)
		r = set_text(&n->cwd, text_of(n, 0, value));
	else if (slice_is(key, "tool") && !*n->tool)
		r = set_text(&n->tool, text_of(n, 0, value));
	else if (slice_is(key, "start_wall_ns"))
		set_number(&n->start_wall_ns, value);
	else if (slice_is(key, "start_mono_ns"))
		set_number(&n->start_mono_ns, value);
	else if (slice_is(key, "cores"))
		set_number(&n->cores, value);
	else if (slice_is(key, "status"))
		set_small(&n->exit_status, value);
	else if (slice_is(key, "signal"))
		set_small(&n->signal, value);
	else if (slice_is(key, "end_us")) {
		set_number(&n->end_us, value);
		n->ended = n->end_us >= 0;
	}
	return r;
}

/* Tasks that are queued or run */

static struct now_live *find_live(const struct now *n, uint32_t instance, uint64_t seq)
{
	uint32_t at;

	return index_find(&n->private->tasks, instance, seq, &at) ? n->private->live[at] : NULL;
}

static bool is_open(const struct now *n, uint32_t instance)
{
	return n->private->instance[instance].close_us < 0;
}

static bool runs(const struct now *n, const struct now_live *t)
{
	return t->task.start_us >= 0 && is_open(n, t->instance);
}

/* The place in n->task: by start, at one time by address. */
static size_t place_of(const struct now *n, const struct now_task *t)
{
	size_t low = 0, high = n->n_tasks;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct now_task *other = n->task[middle];

		if (other->start_us < t->start_us || (other->start_us == t->start_us && other < t))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int list_task(struct now *n, struct now_task *t)
{
	size_t at = place_of(n, t);

	if (!array_add(&n->task, &n->n_tasks, sizeof(struct now_task *)))
		return -ENOMEM;
	memmove(&n->task[at + 1], &n->task[at], (n->n_tasks - 1 - at) * sizeof *n->task);
	n->task[at] = t;
	t->state = NOW_RUNNING;
	n->n_running += !t->hosts;
	return 0;
}

static void unlist_task(struct now *n, struct now_task *t)
{
	size_t at = place_of(n, t);

	n->n_tasks--;
	memmove(&n->task[at], &n->task[at + 1], (n->n_tasks - at) * sizeof *n->task);
	t->state = NOW_UNFINISHED;
	n->n_running -= !t->hosts;
}

static void set_pid(struct now *n, struct now_live *t, int32_t pid)
{
	uint32_t at;

	if (t->task.pid >= 0 && index_find(&n->private->pids, (uint64_t)t->task.pid, 0, &at) &&
	    n->private->live[at] == t)
		index_remove(&n->private->pids, (uint64_t)t->task.pid, 0);
	t->task.pid = pid;
}

static int put_pid(struct now *n, struct now_live *t, int32_t pid)
{
	set_pid(n, t, pid);
	return pid < 0 ? 0 : index_put(&n->private->pids, (uint64_t)pid, 0, t->at);
}

static bool ended_before(const struct now_instance *i, uint64_t seq)
{
	return seq / 8 < i->n_ended && i->ended[seq / 8] >> seq % 8 & 1;
}

static int mark_ended(struct now_instance *i, uint64_t seq)
{
	size_t room = i->n_ended ? i->n_ended : 8;
	uint8_t *grown;

	if (seq >= ENDED_MAX)
		return 0;
	if (seq / 8 >= i->n_ended) {
		while (room <= seq / 8)
			room *= 2;
		grown = realloc(i->ended, room);
		if (!grown)
			return -ENOMEM;
		memset(grown + i->n_ended, 0, room - i->n_ended);
		i->ended = grown;
		i->n_ended = room;
	}
	i->ended[seq / 8] |= (uint8_t)(1 << seq % 8);
	return 0;
}

static int more_live(struct now_private *p, uint32_t *at)
{
	uint32_t *list = array_grow(p->free_live, p->n_live, sizeof *list);
	struct now_live **added, *made = calloc(1, sizeof *made);

	if (list)
		p->free_live = list;
	*at = (uint32_t)p->n_live;
	added = list && made ? array_add(&p->live, &p->n_live, sizeof *added) : NULL;
	if (!added) {
		free(made);
		return -ENOMEM;
	}
	*added = made;
	return 0;
}

static int add_live(struct now *n, uint32_t instance, uint64_t seq, struct now_live **out)
{
	struct now_private *p = n->private;
	const struct now_instance *i = &p->instance[instance];
	struct now_live *t;
	uint32_t at;

	if (p->n_free)
		at = p->free_live[--p->n_free];
	else if (more_live(p, &at))
		return -ENOMEM;
	*out = t = p->live[at];
	*t = (struct now_live){ .at = at, .instance = instance, .seq = seq, .used = true, .task = {
		.state = NOW_QUEUED, .tool = i->tool, .pid = -1, .queued_us = -1, .start_us = -1,
		.end_us = -1, .status = -1, .name = strdup(""), .kind = strdup("") } };
	snprintf(t->task.id, sizeof t->task.id, "%s.%llu", i->id, (unsigned long long)seq);
	n->n_queued++;
	if (!t->task.name || !t->task.kind)
		return -ENOMEM;
	return index_put(&p->tasks, instance, seq, at);
}

/* With the next line. */
static void forget_ended(struct now *n)
{
	struct now_private *p = n->private;

	if (!p->ended)
		return;
	free(p->ended->task.name);
	free(p->ended->task.kind);
	p->free_live[p->n_free++] = p->ended->at;
	*p->ended = (struct now_live){ .used = false };
	p->ended = NULL;
}

/* Instances */

static void instance_key(struct slice id, uint64_t key[2])
{
	key[0] = key[1] = 0;
	memcpy(key, id.p, id.len);
}

static bool find_instance(const struct now *n, struct slice id, uint32_t *at)
{
	uint64_t key[2];

	instance_key(id, key);
	return index_find(&n->private->instances, key[0], key[1], at);
}

static int add_instance(struct now *n, const struct event *e, uint32_t *at)
{
	struct now_private *p = n->private;
	struct now_instance *added = array_add(&p->instance, &p->n_instances, sizeof *added);
	uint64_t key[2];

	if (!added)
		return -ENOMEM;
	*at = (uint32_t)p->n_instances - 1;
	*added = (struct now_instance){ .open_us = e->time_us, .close_us = -1, .made_up = true,
					.tool = strdup("") };
	memcpy(added->id, e->inst.p, e->inst.len);
	instance_key(e->inst, key);
	return added->tool ? index_put(&p->instances, key[0], key[1], *at) : -ENOMEM;
}

/* A task that becomes known to host a build tool. As in reader_link.c. */
static bool make_host(struct now *n, uint32_t instance, struct now_live *t)
{
	struct now_instance *i = &n->private->instance[instance];
	const struct now_instance *parent = &n->private->instance[t->instance];

	if (parent->open_us > i->open_us ||
	    (parent->open_us == i->open_us && t->instance >= instance))
		return false;
	i->has_host = true;
	if (i->only_spans || t->task.hosts)
		return true;
	t->task.hosts = true;
	n->n_hosting++;
	n->n_running -= runs(n, t);
	n->changed = &t->task;
	return true;
}

static bool next_pid(struct cursor *c, int32_t *pid)
{
	uint64_t number;

	if (!cursor_u64(c, &number) || number > INT32_MAX)
		return false;
	cursor_byte(c, ',');
	*pid = (int32_t)number;
	return true;
}

static void find_host(struct now *n, uint32_t instance)
{
	struct now_instance *i = &n->private->instance[instance];
	struct now_live *t = NULL;
	struct slice inst;
	struct cursor c;
	uint64_t seq;
	uint32_t at;
	int32_t pid;

	cursor_init(&c, i->ancestors, strlen(i->ancestors));
	if (cursor_byte(&c, '=')) {
		if (cursor_until(&c, '.', &inst) && inst.len < INSTANCE_ID_MAX &&
		    cursor_u64(&c, &seq) && find_instance(n, inst, &at))
			t = find_live(n, at, seq);
		if (t)
			make_host(n, instance, t);
		return;
	}
	while (!i->has_host && next_pid(&c, &pid)) {
		t = index_find(&n->private->pids, (uint64_t)pid, 0, &at) ? n->private->live[at] : NULL;
		if (t && t->task.start_us <= i->open_us + SLACK_US)
			make_host(n, instance, t);
	}
}

/* Hosts whose lines come later than that of the instance. */
static void find_hosts(struct now *n)
{
	struct now_private *p = n->private;
	size_t left = 0;

	for (size_t k = 0; k < p->n_orphans; k++) {
		struct now_instance *i = &p->instance[p->orphan[k]];

		find_host(n, p->orphan[k]);
		if (!i->has_host && i->close_us < 0) {
			p->orphan[left++] = p->orphan[k];
			continue;
		}
		free(i->ancestors);
		i->ancestors = NULL;
	}
	p->n_orphans = left;
}

static bool is_span_tool(const char *tool)
{
	size_t len = strlen(EVENT_SPAN_TOOL);

	return str_starts(tool, EVENT_SPAN_TOOL) && (!tool[len] || tool[len] == ' ');
}

/* Tasks and failures have a pointer to the old text. */
static int set_tool(struct now *n, uint32_t instance, const char *tool)
{
	struct now_private *p = n->private;
	char *old = p->instance[instance].tool, *copy = strdup(tool);

	if (!copy)
		return -ENOMEM;
	for (size_t k = 0; k < p->n_live; k++) {
		if (p->live[k]->used && p->live[k]->instance == instance)
			p->live[k]->task.tool = copy;
	}
	for (size_t k = 0; k < n->n_failures; k++) {
		if (n->failure[k].tool == old)
			n->failure[k].tool = copy;
	}
	p->instance[instance].tool = copy;
	free(old);
	return 0;
}

static int open_instance(struct now *n, uint32_t instance, struct event *e)
{
	struct now_private *p = n->private;
	struct now_instance *i = &p->instance[instance];
	const char *ancestors, *tool;
	uint32_t *orphan;
	int r;

	event_number(e);
	event_number(e);
	ancestors = text_of(n, 0, event_field(e));
	tool = text_of(n, 1, event_field(e));
	i->made_up = false;
	i->open_us = e->time_us;
	i->only_spans = is_span_tool(tool);
	r = set_tool(n, instance, tool);
	if (!r && !*n->tool && !i->only_spans)
		r = set_text(&n->tool, tool);
	i->ancestors = strdup(ancestors);
	orphan = r || !i->ancestors ? NULL : array_add(&p->orphan, &p->n_orphans, sizeof *orphan);
	if (!orphan)
		return -ENOMEM;
	*orphan = instance;
	find_hosts(n);
	return 0;
}

/* Its tasks run only while it is open. */
static int set_close(struct now *n, uint32_t instance, int64_t close_us)
{
	struct now_private *p = n->private;
	bool was_open = is_open(n, instance);
	int r = 0;

	p->instance[instance].close_us = close_us;
	if (was_open == is_open(n, instance))
		return 0;
	for (size_t k = 0; k < p->n_live && !r; k++) {
		struct now_live *t = p->live[k];

		if (!t->used || t == p->ended || t->instance != instance || t->task.start_us < 0)
			continue;
		if (was_open)
			unlist_task(n, &t->task);
		else
			r = list_task(n, &t->task);
	}
	return r;
}

/* Lines of tasks */

static int replace(char **to, const char *text)
{
	return *text ? set_text(to, text) : 0;
}

static int unless_named(struct now_live *t, char **to, const char *text)
{
	return t->named && **to ? 0 : replace(to, text);
}

static int queue_task(struct now *n, struct now_live *t, struct event *e)
{
	int r;

	t->task.queued_us = t->task.queued_us < 0 ? e->time_us : t->task.queued_us;
	if (t->task.start_us >= 0)
		return 0;
	r = unless_named(t, &t->task.kind, text_of(n, 0, event_field(e)));
	return r ? r : unless_named(t, &t->task.name, text_of(n, 1, event_field(e)));
}

static int name_task(struct now *n, struct now_live *t, struct event *e)
{
	int r = replace(&t->task.name, text_of(n, 0, event_field(e)));

	event_field(e);
	t->named = true;
	return r ? r : replace(&t->task.kind, text_of(n, 0, event_field(e)));
}

/* Names and kinds that were not recorded are those that the command shows, as in the reader. */
static int complete(struct now *n, struct now_live *t, const char *command)
{
	size_t len = strlen(command);
	bool oe = !strcmp(t->task.tool, "bitbake");
	struct buf *b = &n->private->text[1];
	int r = 0;

	if (!*t->task.kind)
		r = set_text(&t->task.kind, oe ? kind_of_oe_task(t->task.name, strlen(t->task.name)) :
					    kind_of_command(command, len));
	if (r || *t->task.name)
		return r;
	buf_clear(b);
	command_name_add(b, command, len);
	return set_text(&t->task.name, b->len && !buf_error(b) ? buf_str(b) : t->task.kind);
}

static int start_task(struct now *n, struct now_live *t, struct event *e)
{
	int32_t pid = small(event_number(e));
	int r;

	if (t->task.start_us >= 0)
		return 0;
	event_number(e);
	t->task.start_us = e->time_us;
	r = unless_named(t, &t->task.kind, text_of(n, 0, event_field(e)));
	if (!r)
		r = unless_named(t, &t->task.name, text_of(n, 0, event_field(e)));
	event_field(e);
	if (!r)
		r = complete(n, t, text_of(n, 0, event_field(e)));
	if (!r && !is_open(n, t->instance) &&
	    e->time_us > n->private->instance[t->instance].close_us)
		r = set_close(n, t->instance, -1);	/* lists it, too */
	else if (!r && is_open(n, t->instance))
		r = list_task(n, &t->task);
	else
		t->task.state = NOW_UNFINISHED;
	n->n_queued--;
	n->n_unfinished++;
	if (!r)
		r = put_pid(n, t, pid >= 0 ? pid : t->task.pid);
	find_hosts(n);
	n->changed = &t->task;
	return r;
}

static int keep_failure(struct now *n, const struct now_live *t)
{
	struct now_task *f = n->failure;

	if (n->n_failures == NOW_FAILED_MAX) {
		n->n_failures--;
		free(f[n->n_failures].name);
		free(f[n->n_failures].kind);
	}
	memmove(f + 1, f, n->n_failures * sizeof *f);
	n->n_failures++;
	f[0] = t->task;
	f[0].name = strdup(t->task.name);
	f[0].kind = strdup(t->task.kind);
	return f[0].name && f[0].kind ? 0 : -ENOMEM;
}

static uint64_t *count_of(struct now *n, enum now_state state)
{
	return state == NOW_DONE ? &n->n_done : state == NOW_FAILED ? &n->n_failed :
	       state == NOW_KILLED ? &n->n_killed : &n->n_unfinished;
}

static int end_task(struct now *n, struct now_live *t, struct event *e, enum now_state state)
{
	bool ran = t->task.start_us >= 0;
	int64_t status = event_number(e);
	int r = 0;

	if (ran && is_open(n, t->instance))
		unlist_task(n, &t->task);
	set_pid(n, t, -1);
	n->n_queued -= !ran;
	n->n_unfinished -= ran;
	++*count_of(n, state);
	t->task.state = state;
	t->task.end_us = e->time_us;
	if (state == NOW_FAILED)
		t->task.status = small(status);
	if (state == NOW_KILLED)
		t->task.signal = status > 0 ? small(status) : 0;
	if (state == NOW_FAILED || state == NOW_KILLED)
		r = keep_failure(n, t);
	index_remove(&n->private->tasks, t->instance, t->seq);
	n->private->ended = t;
	n->changed = &t->task;
	return r ? r : mark_ended(&n->private->instance[t->instance], t->seq);
}

static int task_line(struct now *n, uint32_t instance, struct event *e)
{
	struct now_live *t = find_live(n, instance, e->seq);
	int r = 0;

	if (!t && ended_before(&n->private->instance[instance], e->seq))
		return 0;
	if (!t)
		r = add_live(n, instance, e->seq, &t);
	if (r)
		return r;
	switch (e->kind) {
	case EVENT_QUEUE:
		r = queue_task(n, t, e);
		n->changed = t->task.start_us < 0 ? &t->task : NULL;
		return r;
	case EVENT_START: return start_task(n, t, e);
	case EVENT_PID:
		r = put_pid(n, t, small(event_number(e)));
		find_hosts(n);
		return r;
	case EVENT_NAME:
		n->changed = &t->task;
		return name_task(n, t, e);
	case EVENT_DONE: return end_task(n, t, e, NOW_DONE);
	case EVENT_FAIL: return end_task(n, t, e, NOW_FAILED);
	case EVENT_KILL: return end_task(n, t, e, NOW_KILLED);
	case EVENT_GONE: return end_task(n, t, e, NOW_UNFINISHED);
	default: return 0;
	}
}

static int on_event(void *context, struct event *e)
{
	struct now *n = context;
	bool opens = e->kind == EVENT_OPEN;
	uint32_t instance;
	int r = 0;

	n->n_events++;
	n->changed = NULL;
	forget_ended(n);
	if (e->time_us < 0 || (e->seq && (opens || e->kind == EVENT_CLOSE)))
		return 0;
	n->last_us = e->time_us > n->last_us ? e->time_us : n->last_us;
	if (!find_instance(n, e->inst, &instance) ||
	    (opens && !n->private->instance[instance].made_up))
		r = add_instance(n, e, &instance);
	if (r)
		return r;
	if (opens)
		return open_instance(n, instance, e);
	if (e->kind == EVENT_CLOSE)
		return set_close(n, instance, e->time_us);
	return e->seq ? task_line(n, instance, e) : 0;
}

static int on_sample(void *context, const struct growing_sample *s)
{
	return now_take_sample(context, s);
}

static int on_memory(void *context, int64_t time_ms, int64_t kb)
{
	return now_take_memory(context, time_ms, kb);
}

const struct growing_to now_growing = {
	.build = on_build, .event = on_event, .sample = on_sample, .memory = on_memory,
};

/* The whole */

int now_new(struct now **out)
{
	struct now *n = calloc(1, sizeof *n);

	*out = n;
	if (!n)
		return -ENOMEM;
	n->start_wall_ns = n->start_mono_ns = n->cores = n->end_us = -1;
	n->exit_status = n->signal = -1;
	n->title = strdup("");
	n->tool = strdup("");
	n->cwd = strdup("");
	n->failure = calloc(NOW_FAILED_MAX, sizeof *n->failure);
	n->private = calloc(1, sizeof *n->private);
	if (!n->title || !n->tool || !n->cwd || !n->failure || !n->private)
		return -ENOMEM;
	n->private->load_centi = -1;
	return 0;
}

static void free_private(struct now *n)
{
	struct now_private *p = n->private;

	for (size_t i = 0; i < p->n_live; i++) {
		free(p->live[i]->task.name);
		free(p->live[i]->task.kind);
		free(p->live[i]);
	}
	for (size_t i = 0; i < p->n_instances; i++) {
		free(p->instance[i].tool);
		free(p->instance[i].ancestors);
		free(p->instance[i].ended);
	}
	for (size_t i = 0; i < ARRAY_SIZE(p->text); i++)
		buf_release(&p->text[i]);
	index_release(&p->instances);
	index_release(&p->tasks);
	index_release(&p->pids);
	free(p->live);
	free(p->free_live);
	free(p->instance);
	free(p->orphan);
	now_release_samples(n);
	free(p);
}

void now_free(struct now *n)
{
	if (!n)
		return;
	if (n->private)
		free_private(n);
	for (size_t i = 0; i < n->n_failures; i++) {
		free(n->failure[i].name);
		free(n->failure[i].kind);
	}
	free(n->failure);
	free(n->task);
	free(n->title);
	free(n->tool);
	free(n->cwd);
	free(n);
}
