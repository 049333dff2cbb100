/* SPDX-License-Identifier: MIT */
#include "live/now.h"

int64_t now_elapsed_us(const struct now *n, int64_t mono_ns)
{
	if (n->ended)
		return n->end_us >= 0 ? n->end_us : n->last_us;
	if (n->start_mono_ns < 0 || mono_ns < n->start_mono_ns)
		return n->last_us;
	return (mono_ns - n->start_mono_ns) / 1000;
}

#define RUNNING_MAX 1000	/* tasks in a reply: the longest running ones */

static const char *const states[] = { "queued", "running", "done", "failed", "killed", "unfinished" };

void now_task_json(struct json *j, const struct now_task *t)
{
	json_str(j, "id", t->id);
	json_str(j, "state", states[t->state]);
	json_str(j, "name", t->name);
	json_str(j, "kind", t->kind);
	json_str(j, "tool", t->tool);
	json_known(j, "pid", t->pid);
	json_known(j, "queued_us", t->queued_us);
	json_known(j, "start_us", t->start_us);
	json_known(j, "end_us", t->end_us);
	json_bool(j, "hosting", t->hosts);
	json_known(j, "status", t->status);
	json_known(j, "signal", t->signal ? t->signal : -1);
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

static void add_task(struct json *j, const struct now_task *t)
{
	json_object(j, NULL);
	now_task_json(j, t);
	json_object_end(j);
}

void now_json(struct json *j, const struct now *n, int64_t mono_ns)
{
	json_str(j, "command", n->title);
	json_str(j, "tool", n->tool);
	json_str(j, "cwd", n->cwd);
	json_known(j, "start_wall_ns", n->start_wall_ns);
	json_known(j, "cores", n->cores);
	json_bool(j, "ended", n->ended);
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
	json_int(j, "events", (int64_t)n->n_events);
	json_array(j, "running");
	for (size_t i = 0; !n->ended && i < n->n_tasks && i < RUNNING_MAX; i++)
		add_task(j, n->task[i]);
	json_array_end(j);
	json_array(j, "failures");
	for (size_t i = 0; i < n->n_failures; i++)
		add_task(j, &n->failure[i]);
	json_array_end(j);
	json_array(j, "samples");
	for (size_t i = 0; i < n->n_samples; i++) {
		json_object(j, NULL);
		now_sample_json(j, &n->sample[(n->first_sample + i) % NOW_HISTORY]);
		json_object_end(j);
	}
	json_array_end(j);
}
