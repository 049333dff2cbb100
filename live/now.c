/* SPDX-License-Identifier: MIT */
#include "live/now_state.h"

#include "base/array.h"
#include "base/field.h"
#include "recording/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The build */

int now_set_text(char **to, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

/* A decoded text. */
static const char *text_of(struct now *n, struct slice field)
{
	struct buf *b = &n->private->text;

	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b) || !b->len)
		return "";
	buf_cut(b, field_decode(b->data, b->len, NULL));
	return b->data;
}

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
	*to = n <= INT32_MAX ? (int32_t)n : -1;
}

/* What was seen before it was known that the build was suspended. */
static void move_seen(struct now *n, const struct suspended *s)
{
	struct recording *rec = &n->private->rec;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		rec->task[i].queued_us = suspended_move(s, rec->task[i].queued_us);
		rec->task[i].start_us = suspended_move(s, rec->task[i].start_us);
		rec->task[i].end_us = suspended_move(s, rec->task[i].end_us);
	}
	for (size_t i = 0; i < rec->n_instances; i++) {
		rec->instance[i].open_us = suspended_move(s, rec->instance[i].open_us);
		rec->instance[i].close_us = suspended_move(s, rec->instance[i].close_us);
	}
	rec->last_us = suspended_move(s, rec->last_us);
	n->last_us = suspended_move(s, n->last_us);
	now_move_samples(n, s);
}

/* Tasks that run */

static const struct task *task_at(const struct now *n, size_t i)
{
	return &n->rec->task[n->task[i]];
}

/* The place in n->task: by start, at one time by index. */
static size_t place_of(const struct now *n, uint32_t task)
{
	int64_t start_us = n->rec->task[task].start_us;
	size_t low = 0, high = n->n_tasks;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = array_order(task_at(n, middle)->start_us, start_us);

		if (order < 0 || (!order && n->task[middle] < task))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Starts that became equal are in the order of their indices, as place_of() needs them. */
static void sort_moved(struct now *n)
{
	for (size_t i = 1; i < n->n_tasks; i++) {
		uint32_t task = n->task[i];
		size_t at = i;

		for (; at && n->task[at - 1] > task &&
		       task_at(n, at - 1)->start_us == n->rec->task[task].start_us; at--)
			n->task[at] = n->task[at - 1];
		n->task[at] = task;
	}
}

static int list_task(struct now *n, uint32_t task)
{
	size_t at = place_of(n, task);

	if (!array_add(&n->task, &n->n_tasks, sizeof *n->task))
		return -ENOMEM;
	memmove(&n->task[at + 1], &n->task[at], (n->n_tasks - 1 - at) * sizeof *n->task);
	n->task[at] = task;
	n->n_running += !n->rec->task[task].hosts;
	return 0;
}

static void unlist_task(struct now *n, size_t at)
{
	n->n_running -= !task_at(n, at)->hosts;
	n->n_tasks--;
	memmove(&n->task[at], &n->task[at + 1], (n->n_tasks - at) * sizeof *n->task);
}

/* Lines of `build` */

/* Leave it out, from its beginning. Times that were seen lack earlier ones already. */
static int leave_out(struct now *n, struct slice value)
{
	struct suspended *all = &n->private->suspended;
	int r = suspended_add(all, value);
	struct suspended_part p;

	if (r)
		return r;
	if (all->open) {
		move_seen(n, &(struct suspended){ .open = true, .since_us = all->since_us - all->sum_us });
		return 0;
	}
	p = all->part[all->n - 1];
	p = (struct suspended_part){ p.from_us - p.before_us, p.until_us - p.before_us, 0 };
	move_seen(n, &(struct suspended){ .part = &p, .n = 1, .sum_us = p.until_us - p.from_us });
	sort_moved(n);
	return 0;
}

/* Names of tasks are relative to it (analyse/names.h). */
static int set_cwd(struct now *n, const char *text)
{
	struct now_private *p = n->private;
	int r = now_set_text(&n->cwd, text);

	p->build = (struct build_line){ "cwd", n->cwd };
	p->rec.build = &p->build;
	p->rec.n_build = 1;
	return r;
}

static int on_build(void *context, struct slice key, struct slice value)
{
	struct now *n = context;
	int r = 0;

	if (slice_is(key, "command") && !*n->title)
		r = now_set_text(&n->title, text_of(n, value));
	else if (slice_is(key, "cwd") && !*n->cwd)
		r = set_cwd(n, text_of(n, value));
	else if (slice_is(key, "tool") && !*n->tool)
		r = now_set_text(&n->tool, text_of(n, value));
	else if (slice_is(key, "start_wall_ns"))
		set_number(&n->start_wall_ns, value);
	else if (slice_is(key, "start_mono_ns"))
		set_number(&n->start_mono_ns, value);
	else if (slice_is(key, "interval_ms"))
		set_number(&n->private->interval_ms, value);
	else if (slice_is(key, "cores"))
		set_number(&n->cores, value);
	else if (slice_is(key, "status"))
		set_small(&n->exit_status, value);
	else if (slice_is(key, "signal"))
		set_small(&n->signal, value);
	else if (slice_is(key, LAYOUT_SUSPENDED))
		r = leave_out(n, value);
	else if (slice_is(key, "end_us")) {
		set_number(&n->end_us, value);
		n->ended = n->end_us >= 0;
	}
	return r;
}

/* Instances */

static int on_opened(void *context, uint32_t instance)
{
	struct now *n = context;
	const struct instance *i = &n->rec->instance[instance];

	if (now_lost_opened(n, instance))
		return -ENOMEM;
	return *n->tool || i->only_spans ? 0 : now_set_text(&n->tool, i->tool);
}

/* Its tasks run only while it is open. */
static int on_closed(void *context, uint32_t instance, int64_t last)
{
	struct now *n = context;

	if (now_lost_closed(n, instance, last))
		return -ENOMEM;
	for (size_t i = n->n_tasks; i-- > 0;) {
		if (task_at(n, i)->instance == instance)
			unlist_task(n, i);
	}
	return 0;
}

static int on_reopened(void *context, uint32_t instance)
{
	struct now *n = context;
	int r = 0;

	for (uint32_t i = 0; i < n->rec->n_tasks && !r; i++) {
		const struct task *t = &n->rec->task[i];

		if (follow_is_used(&n->private->follow, i) && t->instance == instance &&
		    follow_runs(n->rec, t))
			r = list_task(n, i);
	}
	return r;
}

static int on_hosts(void *context, uint32_t task, uint32_t instance)
{
	struct now *n = context;
	const struct task *t = &n->rec->task[task];

	(void)instance;
	now_lost_hosts(n, t);
	n->n_hosting++;
	n->n_running -= follow_runs(n->rec, t);
	if (!n->changed)
		n->changed = t;
	return 0;
}

/* Tasks that change */

static void keep_failure(struct now *n, uint32_t task)
{
	if (n->n_failures == NOW_FAILED_MAX)
		follow_forget(&n->private->follow, n->failure[--n->n_failures]);
	memmove(n->failure + 1, n->failure, n->n_failures * sizeof *n->failure);
	n->n_failures++;
	n->failure[0] = task;
}

static int start_task(struct now *n, uint32_t task)
{
	const struct task *t = &n->rec->task[task];

	if (t->end_us >= 0) {
		n->private->ended = task;
		return 0;
	}
	n->n_queued--;
	n->n_unfinished++;
	return follow_runs(n->rec, t) ? list_task(n, task) : 0;
}

static void end_task(struct now *n, uint32_t task)
{
	const struct task *t = &n->rec->task[task];
	uint64_t *count[] = {
		[TASK_QUEUED] = &n->n_queued, [TASK_UNFINISHED] = &n->n_unfinished,
		[TASK_DONE] = &n->n_done, [TASK_FAILED] = &n->n_failed, [TASK_KILLED] = &n->n_killed,
	};
	size_t at = t->start_us < 0 ? n->n_tasks : place_of(n, task);

	if (at < n->n_tasks && n->task[at] == task)
		unlist_task(n, at);
	--*count[t->start_us < 0 ? TASK_QUEUED : TASK_UNFINISHED];
	++*count[t->state];
	if (task_has_failed(t))
		keep_failure(n, task);
	if (t->start_us >= 0)
		n->private->ended = task;
}

static int on_changed(void *context, uint32_t task, enum follow_change what, struct slice command)
{
	struct now *n = context;
	const struct task *t = &n->rec->task[task];
	int r = now_lost_changed(n, t, what);

	(void)command;
	if (r)
		return r;
	switch (what) {
	case FOLLOW_NEW:
		n->n_queued++;
		return 0;
	case FOLLOW_QUEUED:
		if (t->start_us >= 0)
			return 0;
		break;
	case FOLLOW_STARTED:
		r = start_task(n, task);
		break;
	case FOLLOW_ENDED:
		end_task(n, task);
		break;
	case FOLLOW_NAMED:
		break;
	}
	n->changed = t;
	return r;
}

static const struct follow_to to_now = {
	.opened = on_opened, .closed = on_closed, .reopened = on_reopened, .changed = on_changed,
	.hosts = on_hosts,
};

/* The ended task is needed until the next line comes, and longer if it failed. */
static void forget_ended(struct now *n)
{
	uint32_t ended = n->private->ended;

	n->private->ended = NO_INDEX;
	n->changed = NULL;
	if (ended != NO_INDEX && !task_has_failed(&n->rec->task[ended]))
		follow_forget(&n->private->follow, ended);
}

static int on_event(void *context, struct event *e)
{
	struct now *n = context;
	int r;

	n->n_events++;
	forget_ended(n);
	r = follow_line(&n->private->follow, e);
	if (n->rec->last_us > n->last_us)
		n->last_us = n->rec->last_us;
	return r;
}

static int on_sample(void *context, const struct growing_sample *s)
{
	return now_take_sample(context, s);
}

static int on_lost(void *context, uint64_t tasks)
{
	struct now *n = context;

	n->private->any_lost |= tasks > 0;
	return 0;
}

static int on_memory(void *context, int64_t time_ms, int64_t kb)
{
	return now_take_memory(context, time_ms, kb);
}

const struct growing_to now_growing = {
	.build = on_build, .event = on_event, .sample = on_sample, .memory = on_memory,
	.lost = on_lost,
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
	n->private = calloc(1, sizeof *n->private);
	if (!n->title || !n->tool || !n->cwd || !n->private)
		return -ENOMEM;
	n->private->load_centi = -1;
	n->private->ended = NO_INDEX;
	n->rec = &n->private->rec;
	return follow_growing(&n->private->follow, &n->private->rec, &to_now, n);
}

void now_free(struct now *n)
{
	if (!n)
		return;
	if (n->private) {
		n->private->rec.build = NULL;
		n->private->rec.n_build = 0;
		if (n->rec)
			follow_release(&n->private->follow);
		buf_release(&n->private->text);
		suspended_release(&n->private->suspended);
		free(n->private->numbers);
		now_release_samples(n);
	}
	free_all(n->private, n->task, n->title, n->tool, n->cwd, n);
}
