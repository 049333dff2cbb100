/* SPDX-License-Identifier: MIT */
#include "sampler/tasks.h"

#include "recording/usage_log.h"
#include "sampler/log.h"
#include "sampler/running.h"
#include "sampler/tail.h"
#include "sampler/tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_US 10000
#define PSS_PART 200		/* of the interval: half a percent */

struct tasks {
	struct log log;
	struct tail tail;
	struct running running;
	struct tree tree;
	struct usage_writer writer;
	struct usage_slot now[RUNNING_MAX], written[RUNNING_MAX];
	int64_t interval_ms;
	bool want_header;
};

__attribute__((cold)) int tasks_open(struct tasks **out, const struct source_setup *setup)
{
	struct tasks *t = calloc(1, sizeof *t);
	int r;

	if (!t)
		return -ENOMEM;
	t->log = (struct log)LOG_CLOSED;
	t->tail = (struct tail){ .fd = -1, .list_fd = -1 };
	t->interval_ms = setup->interval_ms;
	t->want_header = true;
	r = tree_init(&t->tree, setup->root.proc_fd);
	if (!r)
		r = tail_open(&t->tail, setup->dir_fd);
	if (!r)
		r = log_open(&t->log, setup->dir_fd, USAGE_LOG_NAME);
	if (r) {
		tasks_free(t);
		return r;
	}
	usage_writer_init(&t->writer, t->written, RUNNING_MAX, t->interval_ms);
	if (t->log.size)
		usage_lost(&t->writer);
	*out = t;
	return 0;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	log_close(&t->log);
	tail_close(&t->tail);
	tree_release(&t->tree);
	free(t);
}

static bool take_line(void *ctx, struct slice line)
{
	return running_take(ctx, line);
}

static void follow_tasks(struct tasks *t)
{
	const struct tail_taker taker = { take_line, &t->running };

	tail_read(&t->tail, &taker);
}

/* Counters have the use of the task alone, and never decrease. */
static void count_use(int64_t *level, int64_t total, int64_t inner, int64_t unit)
{
	int64_t own = total > inner ? (total - inner) / unit : 0;

	if (own > *level)
		*level = own;
}

static void fill_row(struct tasks *t, size_t slot)
{
	struct running_task *task = &t->running.task[slot];
	const struct tree_sum *sum = &t->tree.sum[slot];
	struct usage_slot *u = &t->now[slot];
	char id[USAGE_TASK_ID_MAX];

	snprintf(id, sizeof id, "%s.%llu", task->inst, (unsigned long long)task->seq);
	if (strcmp(id, u->task)) {
		memset(u, 0, sizeof *u);
		strcpy(u->task, id);
	}
	if (task->pid) {
		task->total.cpu_us = (int64_t)sum->cpu_ticks * TICK_US;
		task->total.written_kb = (int64_t)(sum->written_bytes / 1024);
		task->total.read_kb = (int64_t)(sum->read_bytes / 1024);
	}
	task->delay_ns += sum->delay_ns;
	u->level[USAGE_DELAY] = (int64_t)(task->delay_ns / 1000000);
	u->level[USAGE_RSS] = (int64_t)((sum->rss_pages * t->tree.page_kb + 512) / 1024);
	u->level[USAGE_PSS] = sum->has_pss ? (int64_t)((sum->pss_kb + 512) / 1024) : 0;
	u->level[USAGE_PROCESSES] = (int64_t)sum->processes;
	count_use(&u->level[USAGE_CPU], task->total.cpu_us, task->inner.cpu_us, TICK_US);
	count_use(&u->level[USAGE_WRITTEN], task->total.written_kb, task->inner.written_kb, 1);
	count_use(&u->level[USAGE_READ], task->total.read_kb, task->inner.read_kb, 1);
}

/*
 * The log is read again after the processes: a task that was waited for in between is in its
 * parent's values already, and must be subtracted from them.
 */
static void measure_tasks(struct tasks *t)
{
	follow_tasks(t);
	tree_read(&t->tree, &t->running);
	tree_read_pss(&t->tree, &t->running, t->interval_ms * 1000000 / PSS_PART);
	for (size_t slot = 0; slot < t->running.top; slot++)
		t->running.task[slot].sampled = t->running.task[slot].inst[0] != '\0';
	follow_tasks(t);
	for (size_t slot = 0; slot < t->running.top; slot++) {
		if (!t->running.task[slot].inst[0])
			memset(&t->now[slot], 0, sizeof t->now[slot]);
		else if (t->running.task[slot].sampled)
			fill_row(t, slot);
	}
}

int tasks_sample(struct tasks *t, struct buf *scratch, int64_t t_us, bool forced)
{
	bool header = t->want_header;
	int r;

	buf_clear(scratch);
	measure_tasks(t);
	if (header)
		series_add_header(scratch, USAGE_LOG_NAME, t->interval_ms,
				  usage_columns, t->tree.counts_delay ? USAGE_COLUMNS : USAGE_DELAY);
	t->writer.n_slots = t->running.top;
	usage_add(&t->writer, scratch, t_us, t->now, forced || header);
	r = log_append(&t->log, scratch);
	if (r)
		usage_lost(&t->writer);
	else
		t->want_header = false;
	return r;
}
