/* SPDX-License-Identifier: MIT */
#include "live/now_state.h"

#include "analyse/tool_count.h"
#include "base/minmax.h"
#include "live/task_json.h"

#include <stdio.h>

bool now_is_suspended(const struct now *n)
{
	return !n->ended && (n->stopped || n->private->suspended.open);
}

int64_t now_elapsed_us(const struct now *n, int64_t mono_ns)
{
	int64_t us;

	if (n->ended)
		return n->end_us >= 0 ? n->end_us : n->last_us;
	if (n->start_mono_ns < 0 || mono_ns < n->start_mono_ns)
		return n->last_us;
	us = suspended_move(&n->private->suspended, (mono_ns - n->start_mono_ns) / 1000);
	/* since the next sample, which was not taken */
	return n->stopped ? MIN(us, n->last_us + n->private->interval_ms * 1000) : us;
}

#define RUNNING_MAX 1000	/* tasks in a reply: the longest running ones */

void now_id(char id[NOW_ID_MAX], const struct now *n, const struct task *t)
{
	snprintf(id, NOW_ID_MAX, "%s.%llu", n->rec->instance[t->instance].id, (unsigned long long)t->seq);
}

void now_sample_json(struct json *j, const struct now_sample *s)
{
	json_int(j, "time_ms", s->time_ms);
	json_known(j, "cpu_permille", s->cpu_permille);
	json_known(j, "load_centi", s->load_centi);
	json_known(j, "memory_kb", s->memory_kb);
	json_known(j, "available_kb", s->available_kb);
	json_known(j, "tasks_kb", s->tasks_kb);
	json_known(j, "read_kb_s", s->read_kb_s);
	json_known(j, "written_kb_s", s->written_kb_s);
}

static void add_task(struct json *j, const struct now *n, uint32_t task)
{
	json_object(j, NULL);
	task_json_task(j, n->rec, task, !n->ended);
	json_object_end(j);
}

void now_tool_count(struct tool_count *p, const struct now *n, const char *path)
{
	tool_count_find(p, n->rec, n->n_done + n->n_failed + n->n_killed, path);
}

static void add_progress(struct json *j, const struct tool_count *p)
{
	if (p->total < 0) {
		json_null(j, "progress");
		return;
	}
	json_object(j, "progress");
	json_int(j, "done", p->done);
	json_int(j, "total", p->total);
	json_object_end(j);
}

void now_json(struct json *j, const struct now *n, const struct tool_count *p, int64_t mono_ns)
{
	json_str(j, "command", n->title);
	json_str(j, "tool", n->tool);
	json_str(j, "cwd", n->cwd);
	json_known(j, "start_wall_ns", n->start_wall_ns);
	json_known(j, "cores", n->cores);
	json_bool(j, "ended", n->ended);
	json_bool(j, "suspended", now_is_suspended(n));
	json_int(j, "elapsed_us", now_elapsed_us(n, mono_ns));
	json_known(j, "exit_status", n->exit_status);
	json_known(j, "signal", n->signal > 0 ? n->signal : -1);
	json_int(j, "tasks_queued", (int64_t)n->n_queued);
	json_int(j, "tasks_running", n->ended ? 0 : (int64_t)n->n_running);
	json_int(j, "tasks_done", (int64_t)n->n_done);
	json_int(j, "tasks_failed", (int64_t)n->n_failed);
	json_int(j, "tasks_killed", (int64_t)n->n_killed);
	json_int(j, "tasks_unfinished", (int64_t)n->n_unfinished);
	json_int(j, "tasks_hosting", (int64_t)n->n_hosting);
	add_progress(j, p);
	json_int(j, "events", (int64_t)n->n_events);
	json_array(j, "running");
	for (size_t i = 0; !n->ended && i < n->n_tasks && i < RUNNING_MAX; i++)
		add_task(j, n, n->task[i]);
	json_array_end(j);
	json_array(j, "failures");
	for (size_t i = 0; i < n->n_failures; i++)
		add_task(j, n, n->failure[i]);
	json_array_end(j);
	json_array(j, "samples");
	for (size_t i = 0; i < n->n_samples; i++) {
		json_object(j, NULL);
		now_sample_json(j, &n->sample[(n->first_sample + i) % NOW_HISTORY]);
		json_object_end(j);
	}
	json_array_end(j);
}
