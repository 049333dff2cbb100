/* SPDX-License-Identifier: MIT */
#include "trace/trace_parts.h"

#include "analyse/cost.h"
#include "base/minmax.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MAX 1000
#define ROWS_MAX 1000

struct sink_arg trace_arg_text(const char *name, const char *s)
{
	return (struct sink_arg){ .name = name, .text = s, .len = strnlen(s, TEXT_MAX) };
}

struct sink_arg trace_arg_id(uint64_t id)
{
	return (struct sink_arg){ .name = "id", .number = (int64_t)id, .id = true };
}

bool trace_arg_has(const struct sink_arg *arg, size_t n, const char *name)
{
	while (n > 0 && strcmp(arg[n - 1].name, name))
		n--;
	return n > 0;
}

size_t trace_arg_known(struct sink_arg *arg, size_t n, const char *name, int64_t value)
{
	if (value >= 0)
		arg[n++] = sink_number(name, value);
	return n;
}

size_t trace_run(struct sink_arg *arg, const struct trace_run *run)
{
	size_t n = 1;

	arg[0] = trace_arg_id(run->id);
	n = trace_arg_known(arg, n, "pid", run->pid);
	n = trace_arg_known(arg, n, "level", run->level);
	if (*run->version)
		arg[n++] = trace_arg_text("version", run->version);
	if (*run->command)
		arg[n++] = trace_arg_text("command", run->command);
	return n;
}

size_t trace_arg_result(struct sink_arg *arg, size_t n, const struct task *t, const struct cost_cpu *cpu)
{
	static const char *const states[] = {
		[TASK_QUEUED] = "queued", [TASK_UNFINISHED] = "unfinished", [TASK_DONE] = "done",
		[TASK_FAILED] = "failed", [TASK_KILLED] = "killed",
	};

	arg[n++] = trace_arg_text("state", states[t->state]);
	if (task_has_failed(t))
		n = trace_arg_known(arg, n, "status", t->status);
	n = trace_arg_known(arg, n, "user_us", cpu->user_us);
	n = trace_arg_known(arg, n, "system_us", cpu->system_us);
	n = trace_arg_known(arg, n, "max_rss_kb", t->max_rss_kb);
	n = trace_arg_known(arg, n, "max_rss_at_most_kb", t->max_rss_at_most_kb);
	if (cpu->at_least)
		arg[n++] = trace_arg_text("at_least", "true");
	return n;
}

void trace_track_name(char name[PARTS_NAME_MAX], uint32_t worker, uint32_t row)
{
	int n = worker ? snprintf(name, PARTS_NAME_MAX, "worker %u", (unsigned)worker) :
		snprintf(name, PARTS_NAME_MAX, "build");

	if (row > 1)
		snprintf(name + n, PARTS_NAME_MAX - (size_t)n, " (%u)", (unsigned)row);
}

int trace_track_order(uint32_t worker, uint32_t row)
{
	return (int)(worker * ROWS_MAX + MIN(row, ROWS_MAX));
}
