/* SPDX-License-Identifier: MIT */
#include "tests/same.h"

#include "tests/support.h"

static void same_build(const struct recording *a, const struct recording *b)
{
	for (size_t i = 0; i < a->n_build; i++) {
		const char *key = a->build[i].key;

		if (!strcmp(key, "warning"))
			continue;
		ck_assert_msg(recording_build(b, key), "%s", key);
		ck_assert_str_eq(recording_build(a, key), recording_build(b, key));
	}
	ck_assert_int_eq(a->source.one_core, b->source.one_core);
	ck_assert_int_eq(a->source.recipe_keys, b->source.recipe_keys);
	ck_assert_int_eq(a->start_wall_ns, b->start_wall_ns);
	ck_assert_int_eq(a->start_mono_ns, b->start_mono_ns);
	ck_assert_int_eq(a->end_us, b->end_us);
	ck_assert_int_eq(a->last_us, b->last_us);
	ck_assert_int_eq(a->interval_ms, b->interval_ms);
	ck_assert_uint_eq(a->n_warnings, b->n_warnings);
	for (size_t i = 0; i < a->n_warnings; i++)
		ck_assert_str_eq(a->warning[i].text, b->warning[i].text);
}

static void same_instances(const struct recording *a, const struct recording *b)
{
	ck_assert_uint_eq(a->n_instances, b->n_instances);
	for (size_t i = 0; i < a->n_instances; i++) {
		const struct instance *x = &a->instance[i], *y = &b->instance[i];

		ck_assert_int_eq(x->open_us, y->open_us);
		ck_assert_int_eq(x->close_us, y->close_us);
		ck_assert_int_eq(x->used_user_us, y->used_user_us);
		ck_assert_int_eq(x->used_system_us, y->used_system_us);
		ck_assert_int_eq(x->used_in_blocks, y->used_in_blocks);
		ck_assert_int_eq(x->used_out_blocks, y->used_out_blocks);
		ck_assert_int_eq(x->pid, y->pid);
		ck_assert_int_eq(x->level, y->level);
		ck_assert_uint_eq(x->parent_task, y->parent_task);
		ck_assert_str_eq(x->tool, y->tool);
		ck_assert_str_eq(x->version, y->version);
		ck_assert_str_eq(x->cwd, y->cwd);
		ck_assert_str_eq(x->command, y->command);
	}
}

static void same_usage(const struct recording *a, const struct recording *b,
		       const struct task *x, const struct task *y)
{
	ck_assert_uint_eq(x->n_usage, y->n_usage);
	ck_assert_uint_eq(x->peak_kb, y->peak_kb);
	ck_assert_int_eq(x->peak_ms, y->peak_ms);
	ck_assert_uint_eq(x->cpu_ms, y->cpu_ms);
	ck_assert_uint_eq(x->read_kb, y->read_kb);
	ck_assert_uint_eq(x->written_kb, y->written_kb);
	ck_assert_int_eq(x->delay_us, y->delay_us);
	ck_assert_int_eq(x->delay_at_least, y->delay_at_least);
	for (size_t i = 0; i < x->n_usage && a->usage && b->usage; i++)
		ck_assert_mem_eq(&a->usage[x->first_usage + i], &b->usage[y->first_usage + i],
				 sizeof *a->usage);
}

static void same_task(const struct recording *a, const struct recording *b,
		      const struct task *x, const struct task *y)
{
	ck_assert_uint_eq(x->instance, y->instance);
	ck_assert_uint_eq(x->seq, y->seq);
	ck_assert_str_eq(x->name, y->name);
	ck_assert_str_eq(x->kind, y->kind);
	ck_assert_str_eq(x->program, y->program);
	ck_assert_str_eq(x->key, y->key);
	ck_assert_int_eq(x->queued_us, y->queued_us);
	ck_assert_str_eq(x->file, y->file);
	ck_assert_int_eq(x->line, y->line);
	ck_assert_str_eq(x->pool == NO_INDEX ? "" : a->pool[x->pool].name,
			 y->pool == NO_INDEX ? "" : b->pool[y->pool].name);
	ck_assert_int_eq(x->pool == NO_INDEX ? -1 : a->pool[x->pool].depth,
			 y->pool == NO_INDEX ? -1 : b->pool[y->pool].depth);
	ck_assert_int_eq(x->start_us, y->start_us);
	ck_assert_int_eq(x->end_us, y->end_us);
	ck_assert_int_eq(x->user_us, y->user_us);
	ck_assert_int_eq(x->system_us, y->system_us);
	ck_assert_int_eq(x->max_rss_kb, y->max_rss_kb);
	ck_assert_int_eq(x->max_rss_at_most_kb, y->max_rss_at_most_kb);
	ck_assert_int_eq(x->in_blocks, y->in_blocks);
	ck_assert_int_eq(x->out_blocks, y->out_blocks);
	ck_assert_int_eq(x->rchar, y->rchar);
	ck_assert_int_eq(x->wchar, y->wchar);
	ck_assert_int_eq(x->setup_us, y->setup_us);
	ck_assert_int_eq(x->setup_user_us, y->setup_user_us);
	ck_assert_int_eq(x->setup_system_us, y->setup_system_us);
	ck_assert_int_eq(x->end_at_most, y->end_at_most);
	ck_assert_int_eq(x->minor_faults, y->minor_faults);
	ck_assert_int_eq(x->major_faults, y->major_faults);
	ck_assert_int_eq(x->voluntary_switches, y->voluntary_switches);
	ck_assert_int_eq(x->involuntary_switches, y->involuntary_switches);
	ck_assert_int_eq(x->pid, y->pid);
	ck_assert_int_eq(x->slot, y->slot);
	ck_assert_int_eq(x->status, y->status);
	ck_assert_int_eq(x->state, y->state);
	ck_assert_int_eq(x->hosts, y->hosts);
	ck_assert_uint_eq(x->n_after, y->n_after);
	for (size_t i = 0; i < x->n_after; i++)
		ck_assert_str_eq(a->after[x->first_after + i], b->after[y->first_after + i]);
	ck_assert_uint_eq(x->n_out, y->n_out);
	for (size_t i = 0; i < x->n_out; i++)
		ck_assert_str_eq(a->out[x->first_out + i], b->out[y->first_out + i]);
	same_usage(a, b, x, y);
}

static void same_tasks(const struct recording *a, const struct recording *b)
{
	ck_assert_uint_eq(a->n_tasks, b->n_tasks);
	for (size_t i = 0; i < a->n_tasks; i++) {
		char command[8192];

		same_task(a, b, &a->task[i], &b->task[i]);
		snprintf(command, sizeof command, "%s", recording_command(a, &a->task[i]));
		ck_assert_str_eq(command, recording_command(b, &b->task[i]));
	}
	ck_assert_uint_eq(a->n_spans, b->n_spans);
	for (size_t i = 0; i < a->n_spans; i++) {
		const struct span *x = &a->span[i], *y = &b->span[i];

		ck_assert_uint_eq(x->instance, y->instance);
		ck_assert_uint_eq(x->task, y->task);
		ck_assert_int_eq(x->begin_us, y->begin_us);
		ck_assert_int_eq(x->end_us, y->end_us);
		ck_assert_str_eq(x->name, y->name);
	}
	ck_assert_uint_eq(a->n_notes, b->n_notes);
	for (size_t i = 0; i < a->n_notes; i++) {
		ck_assert_uint_eq(a->note[i].task, b->note[i].task);
		ck_assert_int_eq(a->note[i].time_us, b->note[i].time_us);
		ck_assert_str_eq(a->note[i].text, b->note[i].text);
	}
}

static void same_rows(const struct series *x, const struct series *y)
{
	ck_assert_uint_eq(x->n, y->n);
	for (size_t i = 0; i < x->n; i++) {
		ck_assert_int_eq(x->time_ms[i], y->time_ms[i]);
		ck_assert_int_eq(x->gap[i], y->gap[i]);
		for (size_t k = 0; k < x->n_columns; k++)
			ck_assert_int_eq(x->level[i * x->n_columns + k],
					 y->level[i * x->n_columns + k]);
	}
}

static void same_series(const struct recording *a, const struct recording *b)
{
	ck_assert_uint_eq(a->n_series, b->n_series);
	for (size_t i = 0; i < a->n_series; i++) {
		const struct series *x = &a->series[i];
		const struct series *y = recording_series(b, x->name);

		ck_assert_msg(y, "%s", x->name);
		ck_assert_int_eq(x->interval_ms, y->interval_ms);
		ck_assert_uint_eq(x->n_columns, y->n_columns);
		for (size_t k = 0; k < x->n_columns; k++) {
			ck_assert_str_eq(x->column[k].name, y->column[k].name);
			ck_assert_str_eq(x->column[k].unit, y->column[k].unit);
			ck_assert_int_eq(x->column[k].counter, y->column[k].counter);
		}
		same_rows(x, y);
	}
}

void same_recordings(const struct recording *a, const struct recording *b)
{
	same_build(a, b);
	same_instances(a, b);
	same_tasks(a, b);
	same_series(a, b);
}
