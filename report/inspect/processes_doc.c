/* SPDX-License-Identifier: MIT */
#include "report/inspect/processes_doc.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/minmax.h"

#include <stdlib.h>
#include <string.h>

#define PROGRAM_COLUMNS 15
#define TASK_COLUMNS_MAX 32
#define COMMAND_COLUMNS_MIN 12

const char *const processes_keys[] = {
	[PROCESSES_BY_RSS] = "rss", [PROCESSES_BY_CPU] = "cpu", [PROCESSES_BY_PSS] = "pss",
	[PROCESSES_BY_THREADS] = "threads", [PROCESSES_BY_AGE] = "age", [PROCESSES_BY_PID] = "pid",
	[PROCESSES_BY_PROGRAM] = "program", [PROCESSES_BY_TASK] = "task", NULL
};

/* Sorting */

static int64_t number(const struct listed *p, enum processes_key key)
{
	switch (key) {
	case PROCESSES_BY_CPU:
		return p->cpu_permille;
	case PROCESSES_BY_PSS:
		return p->pss_kb;
	case PROCESSES_BY_THREADS:
		return (int64_t)(p->threads % INT64_MAX);
	case PROCESSES_BY_AGE:
		return p->age_us;
	default:
		return (int64_t)(p->rss_kb % INT64_MAX);
	}
}

/* Those without a task come last. */
static int by_task(const struct process_row *a, const struct process_row *b)
{
	if (!a->task || !b->task)
		return (a->task == NULL) - (b->task == NULL);
	return strcmp(a->task->name, b->task->name);
}

static int order(const void *left, const void *right, void *key)
{
	const struct process_row *a = left, *b = right;
	enum processes_key by = *(enum processes_key *)key;
	int r = 0;

	if (by == PROCESSES_BY_PROGRAM)
		r = strcmp(a->process->name, b->process->name);
	else if (by == PROCESSES_BY_TASK)
		r = by_task(a, b);
	else if (by != PROCESSES_BY_PID)
		r = -array_order(number(a->process, by), number(b->process, by));
	return r ? r : array_order(a->process->pid, b->process->pid);
}

void processes_sort(struct processes *p, enum processes_key key)
{
	if (p->n)
		qsort_r(p->row, p->n, sizeof *p->row, order, &key);
}

/* The table */

static size_t longest_task(const struct processes *p)
{
	size_t most = 4;

	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->row[i].task ? p->row[i].task->name : "";
		size_t n = text_columns(name, strlen(name));

		most = MAX(n, most);
	}
	return MIN(most, TASK_COLUMNS_MAX);
}

static void add_row(struct doc *d, const struct process_row *row)
{
	const struct listed *p = row->process;
	const char *task = row->task ? row->task->name : NULL;
	char state[2] = { p->state, '\0' };
	bool text = doc_is(d, DOC_TERMINAL);

	doc_row(d);
	doc_num(d, p->pid);
	doc_num(d, p->parent);
	doc_str(d, p->name);
	doc_str(d, state);
	doc_real(d, (double)p->cpu_permille / 10);
	doc_num(d, (int64_t)p->cpu_ticks);
	doc_num(d, (int64_t)p->rss_kb);
	doc_num(d, p->pss_kb);
	doc_num(d, (int64_t)p->threads);
	doc_num(d, p->age_us);
	doc_num(d, (int64_t)p->start_ticks);
	doc_str(d, p->name);
	doc_str(d, !task && text ? "-" : task);
	doc_str(d, row->task ? row->task->id : NULL);
	doc_num(d, row->read_kb);
	doc_num(d, row->written_kb);
	doc_str(d, *row->wait_channel ? row->wait_channel : NULL);
	doc_str(d, text && p->state == 'Z' ? "(ended)" : row->words);
}

void processes_table(struct doc *d, const struct processes *p)
{
	const unsigned json = DOC_JSON, text = DOC_TERMINAL;
	const struct doc_column columns[] = {
		{ "PID", "pid", DOC_COUNT, .width = 7 }, { NULL, "parent", .type = DOC_COUNT, .in = json },
		{ NULL, "program", .in = json }, { NULL, "state", .in = json },
		{ "CPU %", "cpu_percent", DOC_REAL, .gap = 2, .width = 6 },
		{ NULL, "cpu_ticks", .type = DOC_COUNT, .in = json },
		{ "RSS", "rss_kb", DOC_KB, .gap = 2, .width = 8 },
		{ "PSS", "pss_kb", .type = DOC_KB, .in = p->pss ? 0 : json, .gap = 2, .width = 8 },
		{ "THREADS", "threads", DOC_COUNT, .gap = 2, .width = 7 },
		{ "AGE", "age_us", DOC_US, .gap = 2, .width = 7 },
		{ NULL, "start_ticks", .type = DOC_COUNT, .in = json },
		{ "PROGRAM", .in = text, .gap = 2, .width = PROGRAM_COLUMNS, .shorten = true },
		{ "TASK", "task", .in = p->tasks ? 0 : json, .gap = 2, .shorten = true,
		  .width = (uint8_t)longest_task(p) },
		{ NULL, "task_id", .in = json }, { NULL, "read_kb", .type = DOC_KB, .in = json },
		{ NULL, "written_kb", .type = DOC_KB, .in = json }, { NULL, "wait_channel", .in = json },
		{ "COMMAND", "command", .gap = 2, .last = true },
	};
	const struct doc_table table = {
		.key = "processes", .column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true,
		.empty = true, .tone = TONE_TITLE, .least = COMMAND_COLUMNS_MIN,
	};

	doc_table(d, &table);
	for (size_t i = 0; i < p->n; i++)
		add_row(d, &p->row[i]);
	doc_table_end(d, 0);
}

static void add_totals(struct buf *out, const struct processes *p)
{
	uint64_t rss_kb = 0;
	int64_t permille = 0, pss_kb = -1;	/* -1: that of no process is known */

	for (size_t i = 0; i < p->n; i++) {
		rss_kb += p->row[i].process->rss_kb;
		permille += p->row[i].process->cpu_permille;
		if (p->row[i].process->pss_kb >= 0)
			pss_kb = MAX(pss_kb, 0) + p->row[i].process->pss_kb;
	}
	buf_addf(out, "%zu process%s, %.1f %% CPU, ", p->n, p->n == 1 ? "" : "es",
		 (double)permille / 10);
	text_add_bytes(out, (int64_t)(rss_kb % (INT64_MAX / 1024)) * 1024);
	buf_adds(out, " RSS");
	if (p->pss) {
		buf_adds(out, ", ");
		text_add_bytes(out, pss_kb < 0 ? -1 : pss_kb * 1024);
		buf_adds(out, " PSS");
	}
	buf_addc(out, '\n');
}

int processes_text(struct buf *out, const struct processes *p, const struct style *style)
{
	struct doc d;

	doc_init_terminal(&d, out, style);
	processes_table(&d, p);
	doc_release(&d);
	add_totals(out, p);
	return buf_error(out);
}

int processes_json(struct buf *out, const struct processes *p, bool compact)
{
	struct buf time = BUF_PART_OF(out);
	struct json j;
	struct doc d;

	clock_add_iso(&time, p->wall_ns);
	json_init(&j, out, compact);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat ps 1");
	json_str(&j, "time", buf_str(&time));
	json_str(&j, "recording", p->recording);
	json_str(&j, "tool", p->recording ? p->tool : NULL);
	doc_init_json(&d, &j);
	processes_table(&d, p);
	doc_release(&d);
	json_object_end(&j);
	buf_release(&time);
	return buf_error(out);
}
