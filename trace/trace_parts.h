/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_TRACE_PARTS_H
#define BUILDBEAT_TRACE_TRACE_PARTS_H

#include "recording/recording.h"
#include "trace/sink.h"

/* What traces of whole and of growing recordings have in common: arguments, names of tracks. */

#define PARTS_WORKERS_MAX 1024	/* a worker with a larger number gets the lowest free thread */

/* At most the first 1000 bytes of s, which must stay. */
struct sink_arg trace_arg_text(const char *name, const char *s);
struct sink_arg trace_arg_id(uint64_t id);
bool trace_arg_has(const struct sink_arg *arg, size_t n, const char *name);

/* These write arguments from arg[n] on and return the new number. Unknown numbers (-1) and empty
 * texts are left out. */
size_t trace_arg_known(struct sink_arg *arg, size_t n, const char *name, int64_t value);

struct trace_run {		/* of a build tool */
	uint64_t id;
	int64_t pid, level;
	const char *version, *command;
};

#define PARTS_RUN_ARGS 5
size_t trace_run(struct sink_arg *arg, const struct trace_run *run);

/* cpu: as the trace shows it; a task that still runs has what its lines said so far. */
struct cost_cpu;
#define PARTS_RESULT_ARGS 7
size_t trace_arg_result(struct sink_arg *arg, size_t n, const struct task *t, const struct cost_cpu *cpu);

/* The thread of a worker, from 1, or that of the build (0); row: from 1, one below the other. */
#define PARTS_NAME_MAX 48
void trace_track_name(char name[PARTS_NAME_MAX], uint32_t worker, uint32_t row);
int trace_track_order(uint32_t worker, uint32_t row);

#endif
