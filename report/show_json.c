/* SPDX-License-Identifier: MIT */
#include "report/show_json_parts.h"

#include "analyse/cache_counts.h"
#include "analyse/names.h"
#include "analyse/words.h"
#include "base/array.h"
#include "base/json.h"
#include "base/saturate.h"
#include "recording/layout.h"
#include "recording/results.h"
#include "report/error_text.h"

#include <stdio.h>
#include <string.h>

/* Every key is described in buildbeat-show(1); tests compare. */

static void add_share(struct json *j, const char *name, double share)
{
	if (share < 0)
		json_null(j, name);
	else
		json_real(j, name, share, 4);
}

static void add_moment(struct json *j, const char *value, const char *time, struct moment m)
{
	json_known(j, value, m.value);
	json_known(j, time, m.value < 0 ? -1 : m.time_us);
}

/* What only some recordings have is left out where it is not known. */
static void add_value(struct json *j, enum value v, const struct cost *c)
{
	int64_t n = value_get(v, c);

	if (n >= 0 || !value_info[v].needs)
		json_known(j, value_info[v].key, n);
}

static void add_cost(struct json *j, const struct cost *c)
{
	for (enum value v = VALUE_WALL; v < VALUES; v++) {
		add_value(j, v, c);
		if (v == VALUE_CPU) {
			json_known(j, "cpu_user_us", c->measured ? c->user_us : -1);
			json_known(j, "cpu_system_us", c->measured ? c->system_us : -1);
			if (c->at_least)
				json_bool(j, "at_least", true);
		} else if (v == VALUE_DELAY) {
			if (value_is_at_least(v, value_get(v, c), cost_bounds(c)))
				json_bool(j, "delay_at_least", true);
		} else if (v == VALUE_MEMORY) {
			json_str(j, "memory_of", !c->memory_kb ? NULL :
				 c->memory_summed ? "all processes" : "largest process");
			json_known(j, "memory_at_most_kb",
				   !c->memory_kb && c->memory_at_most_kb ? c->memory_at_most_kb : -1);
		}
	}
}

/* What was built */

static void add_build(struct json *j, const struct recording *rec)
{
	static const char *const texts[] = {
		"host", "kernel", "machine", "buildbeat",
	};
	const char *version, *tool = recording_tool(rec, &version);

	json_object(j, "build");
	json_str(j, "command", recording_build(rec, "command"));
	json_str(j, "cwd", recording_build(rec, "cwd"));
	json_str(j, "tool", tool);
	json_str(j, "version", version);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		json_str(j, texts[i], recording_build(rec, texts[i]));
	json_known(j, "cores", recording_build_number(rec, "cores"));
	json_known(j, "host_memory_kb", recording_build_number(rec, "memory_kb"));
	json_str(j, "start", recording_build(rec, "start"));
	json_known(j, "start_wall_ns", rec->start_wall_ns);
	json_object_end(j);
}

static void add_sources(struct json *j, const struct recording *rec)
{
	bool open = false;

	json_array(j, "sources");
	for (size_t i = 0; i < rec->n_build; i++) {
		const struct build_line *l = &rec->build[i];

		if (!strcmp(l->key, "source")) {
			if (open)
				json_object_end(j);
			json_object(j, NULL);
			json_str(j, "source", l->value);
			open = true;
		} else if (open && !strcmp(l->key, "dirty")) {
			json_bool(j, "dirty", !strcmp(l->value, "yes"));
		} else if (open && (!strcmp(l->key, "revision") || !strcmp(l->key, "branch") ||
				    !strcmp(l->key, "describe") ||
				    !strcmp(l->key, "git_error"))) {
			json_str(j, l->key, l->value);
		}
	}
	if (open)
		json_object_end(j);
	json_array_end(j);
}

static void add_result(struct json *j, const struct summary *s)
{
	bool exited = s->result == BUILD_OK || s->result == BUILD_FAILED;

	json_str(j, "result", words_result(s->result));
	json_known(j, "exit_status", exited ? s->status : -1);
	json_known(j, "signal", s->result == BUILD_KILLED ? s->status : -1);
	if (s->reason)
		json_str(j, "reason", s->reason);
	else
		json_null(j, "reason");
	json_bool(j, "complete", !s->rec->lost.reason);
	json_array(j, "warnings");
	for (size_t i = 0; i < s->rec->n_warnings; i++)
		json_str(j, NULL, s->rec->warning[i].text);
	json_array_end(j);
}

/* Sums */

static int64_t instances(const struct recording *rec)
{
	int64_t n = 0;

	for (size_t i = 0; i < rec->n_instances; i++)
		n += !rec->instance[i].only_spans;
	return n;
}

static void add_trace_errors(struct json *j, const struct recording *rec)
{
	json_object(j, "trace_errors");
	for (int i = 0; i < SPAN_FAULTS; i++)
		json_int(j, recording_span_faults[i], (int64_t)rec->span_faults[i]);
	json_object_end(j);
}

static void add_totals(struct json *j, const struct summary *s)
{
	json_object(j, "totals");
	json_int(j, "wall_us", s->wall_us);
	json_known(j, "cpu_us", s->cpu_us);
	json_known(j, "cpu_user_us", s->user_us);
	json_known(j, "cpu_system_us", s->system_us);
	json_bool(j, "cpu_exact", s->cpu_exact);
	json_bool(j, "at_least", s->at_least);
	json_known(j, "instructions", recording_build_number(s->rec, LAYOUT_INSTRUCTIONS));
	json_str(j, "instructions_are", recording_build(s->rec, LAYOUT_COUNTED));
	add_share(j, "cpu_share", summary_cpu_share(s));
	json_int(j, "instances", instances(s->rec));
	json_int(j, "targets", (int64_t)s->n_targets);
	json_int(j, "tasks", (int64_t)s->n_tasks);
	json_int(j, "tasks_done", (int64_t)s->n_state[TASK_DONE]);
	json_int(j, "tasks_failed", (int64_t)s->n_state[TASK_FAILED]);
	json_int(j, "tasks_killed", (int64_t)s->n_state[TASK_KILLED]);
	json_int(j, "probes_said_no", (int64_t)s->n_said_no);
	json_int(j, "tasks_unfinished", (int64_t)s->n_state[TASK_UNFINISHED]);
	json_int(j, "tasks_queued", (int64_t)s->n_state[TASK_QUEUED]);
	json_int(j, "tasks_lost", (int64_t)s->rec->lost.tasks);
	json_int(j, "lines_lost", (int64_t)s->rec->lost.lines);
	json_known(j, "cpu_unaccounted_us", s->rec->proof.known ? s->rec->proof.cpu_us : -1);
	json_known(j, "processes_unaccounted", s->rec->proof.known ? s->rec->proof.processes : -1);
	json_int(j, "instances_unclosed", (int64_t)s->rec->proof.n_unclosed);
	json_int(j, "tasks_hosting", (int64_t)s->n_hosting);
	json_int(j, "spans", (int64_t)s->rec->n_spans);
	add_trace_errors(j, s->rec);
	json_object_end(j);
}

static void add_parallelism(struct json *j, const struct summary *s)
{
	json_object(j, "parallelism");
	json_int(j, "task_wall_us", s->running_sum_us);
	add_share(j, "mean", s->wall_us ? (double)s->running_sum_us / (double)s->wall_us : -1);
	json_int(j, "max", s->running_max);
	json_array(j, "time_at_us");
	for (size_t i = 0; i < s->n_levels; i++)
		json_int(j, NULL, s->level_us[i]);
	json_array_end(j);
	json_object_end(j);
}

static void add_memory(struct json *j, const struct summary *s)
{
	const struct host *h = &s->host;

	json_object(j, "memory");
	add_moment(j, "tasks_peak_kb", "tasks_peak_time_us", s->memory_peak_kb);
	json_array(j, "tasks_at_peak");
	for (size_t i = 0; i < s->n_peak_tasks; i++) {
		show_json_line(j, NULL);
		show_json_id(j, "task", s->rec, s->peak_task[i].task);
		show_json_name(j, s->rec, &s->rec->task[s->peak_task[i].task]);
		json_int(j, "memory_kb", s->peak_task[i].memory_kb);
		show_json_line_end(j);
	}
	json_array_end(j);
	json_known(j, "largest_process_kb", recording_build_number(s->rec, "max_rss_kb"));
	add_moment(j, "cgroup_peak_bytes", "cgroup_peak_time_us", h->cgroup_memory_bytes);
	add_moment(j, "host_peak_bytes", "host_peak_time_us", h->memory_used_bytes);
	json_known(j, "host_total_bytes", h->memory_total_bytes);
	add_moment(j, "swap_peak_bytes", "swap_peak_time_us", h->swap_used_bytes);
	json_known(j, "swapped_in_bytes", h->swapped_in_bytes);
	json_known(j, "swapped_out_bytes", h->swapped_out_bytes);
	json_known(j, "oom_kills", h->oom_kills);
	json_object_end(j);
}

static void add_pressure(struct json *j, const struct host *h)
{
	static const char *const keys[PRESSURES] = {
		[PRESSURE_CPU_SOME] = "cpu_some_us",
		[PRESSURE_IO_SOME] = "io_some_us", [PRESSURE_IO_FULL] = "io_full_us",
		[PRESSURE_MEMORY_SOME] = "memory_some_us",
		[PRESSURE_MEMORY_FULL] = "memory_full_us",
	};

	json_object(j, "pressure");
	json_int(j, "span_us", h->pressure_span_us);
	for (size_t i = 0; i < PRESSURES; i++)
		json_known(j, keys[i], h->stalled_us[i]);
	json_object_end(j);
}

static void add_calibration(struct json *j, const char *name,
			    const struct host_calibration *c)
{
	show_json_line(j, name);
	json_known(j, "least_ns", c->least_ns);
	json_known(j, "mean_ns", c->mean_ns);
	json_known(j, "mhz", c->mhz);
	show_json_line_end(j);
}

static void add_host(struct json *j, const struct summary *s)
{
	const struct host *h = &s->host;
	int64_t busy_us = h->user_us < 0 ? -1 :
			  sat_add(h->user_us, h->system_us > 0 ? h->system_us : 0);

	json_object(j, "host");
	json_int(j, "span_us", h->span_us);
	json_known(j, "cpu_user_us", h->user_us);
	json_known(j, "cpu_system_us", h->system_us);
	json_known(j, "iowait_us", h->iowait_us);
	json_known(j, "steal_us", h->steal_us);
	add_share(j, "busy_share", summary_host_share(s, busy_us));
	add_share(j, "iowait_share", summary_host_share(s, h->iowait_us));
	add_share(j, "steal_share", summary_host_share(s, h->steal_us));
	json_object_end(j);
	json_object(j, "calibration");
	add_calibration(j, "start", &h->start);
	add_calibration(j, "end", &h->end);
	json_object_end(j);
	json_object(j, "disk");
	json_known(j, "disk_read_bytes", h->disk_read_bytes);
	json_known(j, "disk_written_bytes", h->disk_written_bytes);
	add_moment(j, "busiest_second_bytes", "busiest_second_time_us", h->disk_busiest_bytes);
	json_object_end(j);
	json_object(j, "network");
	json_known(j, "received_bytes", h->net_received_bytes);
	json_known(j, "sent_bytes", h->net_sent_bytes);
	json_object_end(j);
	add_pressure(j, h);
	json_object(j, "samples");
	json_int(j, "samples", (int64_t)h->samples);
	json_known(j, "interval_ms", s->rec->interval_ms);
	json_int(j, "gaps", (int64_t)h->gaps);
	json_object_end(j);
}

/* Lists */

static void add_kinds(struct json *j, struct view *v)
{
	const uint32_t *order;
	size_t n = groups_top(&v->kinds, VALUE_WALL, SIZE_MAX, &order);

	json_object(j, "selected");
	json_int(j, "tasks", (int64_t)v->n_tasks);
	json_int(j, "targets", (int64_t)v->n_targets);
	add_cost(j, &v->cost);
	json_object_end(j);
	json_array(j, "kinds");
	for (size_t i = 0; i < n; i++) {
		const struct group *k = &v->kinds.group[order[i]];

		show_json_line(j, NULL);
		json_str(j, "kind", k->name);
		json_int(j, "tasks", (int64_t)k->n);
		add_cost(j, &k->cost);
		show_json_line_end(j);
	}
	json_array_end(j);
}

static void add_programs(struct json *j, struct groups *g, const struct summary *s, size_t top)
{
	const struct recording *rec = s->rec;
	const uint32_t *order;
	size_t n;

	if (!rec->n_processes && !recording_build(rec, "processes"))
		return;
	n = groups_top(g, groups_usual_key(g), g->of_processes ? top : 0, &order);
	json_object(j, "processes");
	json_int(j, "processes", (int64_t)rec->n_processes);
	json_str(j, "recorded_from", recording_build(rec, "processes"));
	json_known(j, "look_us", recording_build_number(rec, "processes_look_us"));
	json_int(j, "events_lost", rec->process_events_lost);
	json_known(j, "cpu_unseen_us", summary_unseen_us(s));
	json_array(j, "programs");
	for (size_t i = 0; i < n; i++) {
		const struct group *p = &g->group[order[i]];

		show_json_line(j, NULL);
		json_str(j, "program", p->name);
		json_int(j, "processes", (int64_t)p->n);
		json_int(j, "wall_us", p->cost.wall_us);
		json_known(j, "cpu_us", p->cost.measured ? p->cost.cpu_us : -1);
		json_known(j, "max_rss_kb", p->cost.memory_kb ? p->cost.memory_kb : -1);
		show_json_line_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* Tables of --by */

static void add_group_cost(struct json *j, const struct groups *g, const struct cost *c)
{
	if (!g->of_processes) {
		add_cost(j, c);
		return;
	}
	add_value(j, VALUE_WALL, c);
	add_value(j, VALUE_CPU, c);
	add_value(j, VALUE_MEMORY, c);
}

static void add_group(struct json *j, const struct groups *g, const char *key,
		      const struct group *group)
{
	show_json_line(j, key);
	if (group->name)
		json_str(j, "name", group->name);
	json_int(j, g->of_processes ? "processes" : "tasks", (int64_t)group->n);
	add_group_cost(j, g, &group->cost);
	show_json_line_end(j);
}

static void add_table(struct json *j, struct groups *g, const struct show_options *o)
{
	const enum value key = o->sort < VALUE_SORTS ? o->sort : groups_usual_key(g);
	const uint32_t *order;
	size_t n = groups_top(g, key, o->top, &order);
	struct group more;

	json_object(j, NULL);
	json_str(j, "by", groups_by_word[g->by]);
	json_str(j, "of", g->of_processes ? "processes" : "tasks");
	json_int(j, "groups", (int64_t)g->n);
	json_array(j, "largest");
	for (size_t i = 0; i < n; i++)
		add_group(j, g, NULL, &g->group[order[i]]);
	json_array_end(j);
	groups_add_up(&more, g, order + n, g->n - n);
	add_group(j, g, "others", &more);
	show_json_line(j, "in_no_group");
	json_int(j, "cpu_us", g->rest.cpu_us);
	json_known(j, "disk_read_bytes", g->of_processes ? -1 : g->rest.read_bytes);
	json_known(j, "disk_written_bytes", g->of_processes ? -1 : g->rest.written_bytes);
	show_json_line_end(j);
	add_group(j, g, "total", &g->total);
	json_object_end(j);
}

static void add_tables(struct json *j, const struct show_options *o)
{
	if (!o->n_groups)
		return;
	json_array(j, "by");
	for (size_t i = 0; i < o->n_groups; i++)
		add_table(j, &o->groups[i], o);
	json_array_end(j);
}

static void add_target(struct json *j, const struct summary *s, const struct target *g)
{
	const struct task *t = &s->rec->task[summary_main_task(s, g)];
	struct cost cost = summary_target_cost(s, g);

	show_json_line(j, NULL);
	show_json_name(j, s->rec, t);
	json_str(j, "kind", t->kind);
	json_str(j, "key", t->key);
	json_int(j, "tasks", g->n_tasks);
	json_int(j, "start_us", g->start_us);
	json_int(j, "end_us", g->end_us);
	add_cost(j, &cost);
	show_json_line_end(j);
}

static void add_list(struct json *j, struct view *v, enum value key, size_t top)
{
	size_t n = view_top_targets(v, key, top);
	char name[32];

	snprintf(name, sizeof name, "by_%s", value_word[key]);
	json_array(j, name);
	for (size_t i = 0; i < n; i++)
		add_target(j, v->sum, &v->sum->target[v->target[i]]);
	json_array_end(j);
}

/* These include the tasks inside it. */
static void add_usage(struct json *j, const struct task *t, const struct cost_cpu *cpu)
{
	json_known(j, "cpu_user_us", cpu->user_us);
	json_known(j, "cpu_system_us", cpu->system_us);
	if (cpu->at_least)
		json_bool(j, "at_least", true);
	json_known(j, "max_rss_kb", t->max_rss_kb);
	json_known(j, "max_rss_at_most_kb", t->max_rss_at_most_kb);
	json_known(j, "minor_faults", t->minor_faults);
	json_known(j, "major_faults", t->major_faults);
	json_known(j, "disk_read_bytes", t->in_blocks < 0 ? -1 : sat_mul(t->in_blocks, 512));
	json_known(j, "disk_written_bytes", t->out_blocks < 0 ? -1 : sat_mul(t->out_blocks, 512));
	json_known(j, "voluntary_switches", t->voluntary_switches);
	json_known(j, "involuntary_switches", t->involuntary_switches);
	json_known(j, "instructions", t->instructions);
	json_known(j, "read_call_bytes", t->rchar);
	json_known(j, "write_call_bytes", t->wchar);
	json_known(j, "memory_peak_kb", t->n_usage ? (int64_t)t->peak_kb : -1);
	json_known(j, "memory_peak_time_us", t->n_usage ? sat_mul(t->peak_ms, 1000) : -1);
	json_known(j, "setup_us", t->setup_us ? t->setup_us : -1);
	json_known(j, "setup_cpu_user_us", t->setup_us ? t->setup_user_us : -1);
	json_known(j, "setup_cpu_system_us", t->setup_us ? t->setup_system_us : -1);
	json_bool(j, "end_at_most", t->end_at_most);
}

/* What was found out after the build; no keys without it. */
static void add_results(struct json *j, const struct recording *rec, const struct task *t)
{
	if (rec->has_cache)
		json_str(j, "cache", t->cache ? results_cache_word[t->cache] : NULL);
	if (!rec->has_files)
		return;
	json_array(j, "files");
	for (uint32_t i = 0; i < t->n_files; i++) {
		json_object(j, NULL);
		json_str(j, "path", rec->file[t->first_file + i].path);
		json_int(j, "bytes", rec->file[t->first_file + i].bytes);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_values(struct json *j, const struct summary *s, uint32_t task)
{
	add_usage(j, &s->rec->task[task], &s->nest[task].cpu);
	add_results(j, s->rec, &s->rec->task[task]);
	json_object(j, "self");
	add_cost(j, &s->nest[task].cost);
	json_object_end(j);
}

void show_json_more(struct json *j, const struct summary *s, uint32_t task)
{
	const struct task *t = &s->rec->task[task];

	show_json_id(j, "parent", s->rec, s->nest[task].parent);
	json_str(j, "key", t->key);
	json_str(j, "command", recording_command(s->rec, t));
	json_known(j, "slot", t->slot);
	add_values(j, s, task);
}

static void add_one(struct json *j, const struct summary *s, uint32_t task)
{
	const struct recording *rec = s->rec;
	const struct task *t = &rec->task[task];
	bool exited = t->state == TASK_DONE || t->state == TASK_FAILED;

	show_json_id(j, "task", rec, task);
	show_json_id(j, "parent", rec, s->nest[task].parent);
	show_json_name(j, rec, t);
	json_str(j, "kind", t->kind);
	json_str(j, "key", t->key);
	json_str(j, "command", recording_command(rec, t));
	json_str(j, "state", words_state(t->state));
	json_known(j, "exit_status", exited ? t->status : -1);
	json_known(j, "signal", t->state == TASK_KILLED ? t->status : -1);
	json_bool(j, "hosting", t->hosts);
	json_known(j, "pid", t->pid);
	json_known(j, "slot", t->slot);
	json_known(j, "queued_us", t->queued_us);
	json_known(j, "start_us", t->start_us);
	json_known(j, "end_us", t->end_us);
	add_values(j, s, task);
}

static void add_task(struct json *j, const struct summary *s, uint32_t task)
{
	show_json_line(j, NULL);
	add_one(j, s, task);
	show_json_line_end(j);
}

/* With what it said, where the output was recorded. */
static void add_unsuccessful(struct json *j, const struct summary *s, uint32_t task,
			     const struct build_output *output)
{
	show_json_line(j, NULL);
	add_one(j, s, task);
	if (output->output)
		error_json_task(j, &output->errors, task);
	show_json_line_end(j);
}

static void add_lists(struct json *j, struct view *v, const struct show_options *o)
{
	static const enum value usual[] = { VALUE_WALL, VALUE_CPU, VALUE_MEMORY, VALUE_IO };

	json_array(j, "unsuccessful");
	for (size_t i = 0; i < v->n_unsuccessful; i++)
		add_unsuccessful(j, v->sum, v->unsuccessful[i], o->output);
	json_array_end(j);
	json_object(j, "targets");
	if (o->sort < VALUE_SORTS)
		add_list(j, v, o->sort, o->top);
	for (size_t i = 0; o->sort == VALUE_SORTS && i < ARRAY_SIZE(usual); i++)
		add_list(j, v, usual[i], o->top);
	if (o->sort == VALUE_SORTS && v->sum->rec->has_files)
		add_list(j, v, VALUE_FILES, o->top);
	json_object_end(j);
}

static void add_caches(struct json *j, const struct recording *rec)
{
	struct cache_counts c;

	for (int i = 0; i < CACHES; i++) {
		if (!cache_counts_get(&c, rec, i))
			continue;
		json_object(j, cache_counts_name[i]);
		json_int(j, "hits", c.hits);
		json_int(j, "misses", c.misses);
		json_int(j, "uncacheable", c.uncacheable);
		add_share(j, "hit_share", cache_counts_share(&c));
		json_object_end(j);
	}
}

/* Only where processes were inspected. */
static void add_inspected(struct json *j, const struct view *v, const struct inspected *x)
{
	if (!x || !x->n)
		return;
	json_array(j, "inspections");
	for (size_t i = 0; i < x->n; i++) {
		const struct inspected_process *p = &x->process[i];

		if (!view_has_task(v, p->task))
			continue;
		show_json_line(j, NULL);
		json_str(j, "archive", p->archive);
		json_str(j, "program", p->program);
		json_int(j, "pid", p->pid);
		show_json_id(j, "task", v->sum->rec, p->task);
		json_known(j, "start_us", p->start_us);
		json_known(j, "snapshots", p->n_snapshots);
		json_str(j, "heap", *p->heap ? p->heap : NULL);
		show_json_line_end(j);
	}
	json_array_end(j);
}

static void add_tasks(struct json *j, struct view *v, const struct show_options *o)
{
	enum value key = o->sort < VALUE_SORTS ? o->sort : VALUE_START;
	size_t n = view_top_tasks(v, key, v->n_tasks);

	json_array(j, "tasks");
	for (size_t i = 0; i < n; i++)
		add_task(j, v->sum, v->task[i]);
	json_array_end(j);
}

void show_json_summary(struct json *j, const struct summary *s, const struct answer *a)
{
	add_build(j, s->rec);
	add_result(j, s);
	show_json_answer(j, s->rec, a);
	add_totals(j, s);
	add_parallelism(j, s);
	add_memory(j, s);
}

int show_json(struct buf *out, struct view *v, const struct show_options *o)
{
	const struct summary *s = v->sum;
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat show 1");
	json_str(&j, "recording", s->rec->path);
	add_build(&j, s->rec);
	add_sources(&j, s->rec);
	add_result(&j, s);
	show_json_answer(&j, s->rec, o->answer);
	show_json_error(&j, s->rec, o->output);
	add_totals(&j, s);
	add_parallelism(&j, s);
	show_json_paths(&j, s->rec, o->chain);
	add_memory(&j, s);
	add_host(&j, s);
	add_caches(&j, s->rec);
	add_kinds(&j, v);
	add_tables(&j, o);
	add_programs(&j, o->programs, s, o->top);
	add_inspected(&j, v, o->inspected);
	add_lists(&j, v, o);
	if (o->tasks)
		add_tasks(&j, v, o);
	json_object_end(&j);
	return buf_error(out) ? buf_error(out) : recording_command_error(s->rec);
}
