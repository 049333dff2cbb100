/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_LIVE_STATE_H
#define BUILDBEAT_TRACE_LIVE_STATE_H

#include "analyse/cost.h"
#include "base/index.h"
#include "base/name_table.h"
#include "recording/follow.h"
#include "recording/identity.h"
#include "trace/live.h"

/* The inside of live.h, private to live*.c. */

#define LIVE_NONE UINT32_MAX

/* A task, under its index in live.rec. */
struct live_task {
	uint32_t tid;		/* 0: it has not started */
	uint32_t lane;
	bool waits;		/* its slice begins at the end of the reading, when names that came soon
				   are known, or before something in it */
	bool renamed;		/* since its slice has begun */
	char *command;		/* while it waits: escaped, or NULL */
	struct cost_inside *inside;	/* tasks inside it that have ended, NULL: none */
};

/* The newest sample of a task. */
struct live_usage {
	uint32_t cpu_ms, read_kb, written_kb;
};

/* A worker of an instance. */
struct live_lane {
	uint32_t tid;
	int64_t free_us;	/* INT64_MAX: a task runs */
};

/* A row of spans beside those of its thread. */
struct live_row {
	uint32_t tid, thread;	/* thread: its tid */
	int64_t newest_us;
};

struct live_instance {
	bool slice;		/* on thread 0, not ended */
	uint32_t n_tids;
	size_t n_lanes, n_rows;
	struct live_lane *lane;
	struct live_row *row;
};

/* A span that has begun, in the order of begins. */
struct live_span {
	uint32_t writer;	/* the instance that wrote it */
	uint64_t seq, number;	/* as written */
	uint32_t owner;		/* the instance in whose process it is shown, LIVE_NONE: the machine */
	uint64_t owner_seq;	/* the task in whose thread it is, 0: none */
	uint32_t tid;
	int64_t begin_us;
	int32_t thread;		/* of the program, -1: unknown */
	char name[64];		/* its beginning */
};

#define LIVE_SPANS_MAX 4096	/* further ones are not shown */

struct live_counters {
	struct arena *arena;
	struct name_table names;	/* series and column */
	size_t n;
	struct live_counter *counter;	/* under the number of the name */
	size_t n_series;
	struct live_columns *series;
	uint32_t memory, running;	/* LIVE_NONE: not begun */
};

struct live {
	struct sink *sink;
	int (*flush)(void *context, struct buf *out);
	void *context;
	bool begun;		/* the first lines were written */
	bool described;		/* the lines of `build` from before the build were read: */
	struct buf build, result;	/* these, and further ones */
	struct identity identity;
	int64_t end_us;
	uint64_t n_flows;
	uint32_t n_running;	/* tasks that host no build tool */
	struct follow follow;
	struct recording rec;	/* of follow */
	size_t n_instances, n_tasks;
	struct live_instance *instance;
	struct live_task *task;
	size_t n_waiting;
	uint32_t *waiting;	/* tasks that do, or did */
	struct index sampled;	/* the id of a task that has not ended -> usage */
	size_t n_usage;
	struct live_usage *usage;
	size_t n_spans;
	struct live_span *span;
	struct live_counters counters;
	struct buf text;
};

/* Before something of an instance is shown: one whose first line is lost or comes later has only a
 * name. 0 or -ENOMEM. */
int live_describe(struct live *l, uint32_t instance);

/* Is the task shown? Then its slice has begun. */
bool live_shows(struct live *l, uint32_t task);

/* Choose the track of a task that starts. 0 or -ENOMEM. */
int live_place(struct live *l, uint32_t task);
/* A further track of an instance. worker: from 1, 0 for the build tool; row: from 1. */
uint32_t live_add_track(struct live *l, uint32_t instance, uint32_t worker, uint32_t row);

/* Spans: see follow.h. */
int live_begin_span(void *context, const struct span *s, int64_t parent);
int live_end_span(void *context, const struct span_end *e);
/* End those of a task, or of an instance without a task. Returns the time at which what is around
 * them may end. */
int64_t live_end_spans(struct live *l, uint32_t instance, uint64_t seq, int64_t us);

/* Counters. 0 or -ENOMEM. */
int live_sample(struct live *l, const struct growing_sample *s);
void live_memory(struct live *l, int64_t time_ms, int64_t kb);
void live_running(struct live *l, int64_t us, int change);
int live_counters_init(struct live_counters *c);
void live_counters_release(struct live_counters *c);

#endif
