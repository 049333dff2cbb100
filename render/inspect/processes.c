/* SPDX-License-Identifier: MIT */
#include "render/inspect/processes.h"

#include "base/array.h"
#include "base/clock.h"

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

/* Text */

struct layout {
	size_t task_columns;	/* 0: not shown */
	size_t command_columns;	/* 0: no limit */
	bool pss;
};

static size_t longest_task(const struct processes *p)
{
	size_t most = 4;

	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->row[i].task ? p->row[i].task->name : "";
		size_t n = text_columns(name, strlen(name));

		most = n > most ? n : most;
	}
	return most < TASK_COLUMNS_MAX ? most : TASK_COLUMNS_MAX;
}

static struct layout choose(const struct processes *p, const struct style *style)
{
	struct layout y = { .pss = p->pss, .task_columns = p->tasks ? longest_task(p) : 0 };
	size_t taken = 45 + PROGRAM_COLUMNS + 2 + (y.pss ? 10 : 0);

	taken += y.task_columns ? y.task_columns + 2 : 0;
	if (style->width)
		y.command_columns = style->width >= taken + COMMAND_COLUMNS_MIN ?
				    style->width - taken : COMMAND_COLUMNS_MIN;
	return y;
}

/* What add() wrote, at the right of a column. */
static void right(struct buf *out, struct buf *cell, size_t columns)
{
	size_t n = cell->len;

	text_add_blanks(out, n < columns ? columns - n : 0);
	buf_adds(out, buf_str(cell));
	buf_adds(out, "  ");
	buf_clear(cell);
}

static void left(struct buf *out, const char *text, size_t columns)
{
	size_t n = text_add_name(out, text, columns);

	text_add_blanks(out, 2 + (n < columns ? columns - n : 0));
}

static void add_row(struct buf *out, struct buf *cell, const struct process_row *row,
		    const struct layout *y)
{
	const struct listed *p = row->process;

	buf_addi(cell, p->pid);
	right(out, cell, 7);
	buf_addf(cell, "%.1f", (double)p->cpu_permille / 10);
	right(out, cell, 6);
	text_add_bytes(cell, (int64_t)(p->rss_kb % (INT64_MAX / 1024)) * 1024);
	right(out, cell, 8);
	if (y->pss) {
		text_add_bytes(cell, p->pss_kb < 0 ? -1 : p->pss_kb * 1024);
		right(out, cell, 8);
	}
	buf_addu(cell, p->threads);
	right(out, cell, 7);
	text_add_time(cell, p->age_us);
	right(out, cell, 7);
	left(out, p->name, PROGRAM_COLUMNS);
	if (y->task_columns)
		left(out, row->task ? row->task->name : "-", y->task_columns);
	if (p->state == 'Z')
		buf_adds(out, "(ended)");
	else
		text_add_name(out, row->words, y->command_columns);
	while (out->len && out->data[out->len - 1] == ' ')
		buf_cut(out, out->len - 1);
	buf_addc(out, '\n');
}

static void add_totals(struct buf *out, const struct processes *p)
{
	uint64_t rss_kb = 0;
	int64_t permille = 0, pss_kb = -1;	/* -1: that of no process is known */

	for (size_t i = 0; i < p->n; i++) {
		rss_kb += p->row[i].process->rss_kb;
		permille += p->row[i].process->cpu_permille;
		if (p->row[i].process->pss_kb >= 0)
			pss_kb = (pss_kb < 0 ? 0 : pss_kb) + p->row[i].process->pss_kb;
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
	struct layout y = choose(p, style);
	struct buf cell = BUF_PART_OF(out);

	text_tone(out, style, TONE_TITLE);
	buf_addf(out, "    PID   CPU %%       RSS  %sTHREADS      AGE  ", y.pss ? "     PSS  " : "");
	left(out, "PROGRAM", PROGRAM_COLUMNS);
	if (y.task_columns)
		left(out, "TASK", y.task_columns);
	buf_adds(out, "COMMAND");
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
	for (size_t i = 0; i < p->n; i++)
		add_row(out, &cell, &p->row[i], &y);
	add_totals(out, p);
	buf_release(&cell);
	return buf_error(out);
}

/* JSON */

static void add_object(struct json *j, const struct process_row *row)
{
	const struct listed *p = row->process;
	char state[2] = { p->state, '\0' };

	json_object(j, NULL);
	json_int(j, "pid", p->pid);
	json_int(j, "parent", p->parent);
	json_str(j, "program", p->name);
	json_str(j, "state", state);
	json_real(j, "cpu_percent", (double)p->cpu_permille / 10, 1);
	json_int(j, "cpu_ticks", (int64_t)p->cpu_ticks);
	json_int(j, "rss_kb", (int64_t)p->rss_kb);
	json_known(j, "pss_kb", p->pss_kb);
	json_int(j, "threads", (int64_t)p->threads);
	json_int(j, "age_us", p->age_us);
	json_int(j, "start_ticks", (int64_t)p->start_ticks);
	json_str(j, "task", row->task ? row->task->name : NULL);
	json_str(j, "task_id", row->task ? row->task->id : NULL);
	json_known(j, "read_kb", row->read_kb);
	json_known(j, "written_kb", row->written_kb);
	json_str(j, "wait_channel", *row->wait_channel ? row->wait_channel : NULL);
	json_str(j, "command", row->words);
	json_object_end(j);
}

void processes_json_rows(struct json *j, const struct processes *p)
{
	json_array(j, "processes");
	for (size_t i = 0; i < p->n; i++)
		add_object(j, &p->row[i]);
	json_array_end(j);
}

int processes_json(struct buf *out, const struct processes *p, bool compact)
{
	struct buf time = BUF_PART_OF(out);
	struct json j;

	clock_add_iso(&time, p->wall_ns);
	json_init(&j, out, compact);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat ps 1");
	json_str(&j, "time", buf_str(&time));
	json_str(&j, "recording", p->recording);
	json_str(&j, "tool", p->recording ? p->tool : NULL);
	processes_json_rows(&j, p);
	json_object_end(&j);
	buf_release(&time);
	return buf_error(out);
}
