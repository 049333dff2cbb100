/* SPDX-License-Identifier: MIT */
#include "report/show_parts.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/saturate.h"
#include "base/sort.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BAR_COLUMNS 30
#define KIND_ROW_COLUMNS 48	/* without a bar */
#define LEVEL_ROW_COLUMNS 20
#define LEVEL_ROWS 9		/* of the histogram: 0, 1 ... one by one up to here */
#define UNSEEN_PART 100		/* of the build's CPU time: less is not worth a row */

/* A bar in what the other columns leave of the terminal. */
static void add_bar(struct doc *d, double share, unsigned taken)
{
	static const struct style plain = { 0 };
	unsigned width = d->style->width;

	text_add_bar(doc_text(d, share), &plain, share, !width || width >= taken + BAR_COLUMNS ? BAR_COLUMNS :
		     width > taken ? width - taken : 0);
	doc_tone(d, TONE_BAR);
}

/* Paths */

/* One after the other, the lines of a recipe are one row. */
struct row {
	uint32_t first, n;	/* tasks in the path */
	bool cause;
	int64_t start_us, wall_us;
};

struct path {
	const struct summary *s;
	const uint32_t *task;
	size_t n;
	const uint8_t *link;	/* enum chain_link; NULL: not printed */
	size_t n_rows;
	bool explain;		/* causes come before long ones */
	struct row *row;
	uint32_t *shown;
};

static bool is_longer(const void *ctx, uint32_t a, uint32_t b)
{
	const struct row *row = ctx;

	if (row[a].cause != row[b].cause)
		return row[a].cause;
	return row[a].wall_us != row[b].wall_us ? row[a].wall_us > row[b].wall_us : a < b;
}

static bool is_earlier(const void *ctx, uint32_t a, uint32_t b)
{
	(void)ctx;
	return a < b;
}

static void make_rows(struct path *p)
{
	const struct summary *s = p->s;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct task *t = &s->rec->task[p->task[i]];
		struct row *last = p->n_rows ? &p->row[p->n_rows - 1] : NULL;

		if (!last || s->nest[p->task[i]].target != s->nest[p->task[last->first]].target) {
			last = &p->row[p->n_rows++];
			*last = (struct row){ .first = i, .start_us = t->start_us };
		}
		last->n++;
		last->wall_us = recording_task_end_us(s->rec, t) - last->start_us;
	}
	for (uint32_t i = 0; i < p->n_rows; i++)
		p->shown[i] = i;
	for (size_t i = p->explain ? p->n_rows : 0; i--; ) {
		if (p->link[p->row[i].first] != LINK_WORKER)
			continue;
		p->row[i].cause = true;
		if (i + 1 < p->n_rows)
			p->row[i + 1].cause = true;
		break;
	}
}

static void put_path(struct doc *d, struct path *p, const char *title, size_t top)
{
	static const char *const word[LINKS] = {
		[LINK_NONE] = "-", [LINK_DEPENDENCY] = "a dependency", [LINK_WORKER] = "a free worker",
		[LINK_POOL] = "a pool", [LINK_LOAD] = "the load limit",
		[LINK_ORDER] = "host's order",
	};
	const struct doc_column columns[] = {
		{ "start", .type = DOC_US, .width = 8 }, { "wall", .type = DOC_US, .width = 10 },
		{ "waited for", .in = p->link ? 0 : DOC_JSON, .gap = 2, .width = 14 },
		{ "name", .gap = 2, .last = true },
	};
	const struct doc_table table = {
		.title = title, .column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true,
		.tone = TONE_FAINT, .least = SHOW_NAME_LEAST,
	};
	size_t shown, tasks = 0;

	make_rows(p);
	shown = sort_top(p->shown, p->n_rows, top, is_longer, p->row);
	sort_top(p->shown, shown, shown, is_earlier, NULL);
	doc_table(d, &table);
	for (size_t i = 0; i < shown; i++) {
		const struct row *row = &p->row[p->shown[i]];

		doc_row(d);
		doc_num(d, row->start_us);
		doc_num(d, row->wall_us);
		doc_str(d, p->link ? word[p->link[row->first]] : NULL);
		show_task_name(d, p->s->rec, &p->s->rec->task[p->task[row->first]]);
		tasks += row->n;
	}
	if (tasks < p->n)
		buf_addf(doc_item(d, 2), "and %zu %s %s", p->n - tasks, p->explain ? "other" : "shorter",
			 p->n - tasks == 1 ? "task" : "tasks");
	doc_table_end(d, 0);
}

static void add_path(struct doc *d, struct path *p, const char *title, size_t top)
{
	p->row = array_new(p->n, sizeof *p->row);
	p->shown = array_new(p->n, sizeof *p->shown);
	if (p->row && p->shown)
		put_path(d, p, title, top);
	else
		d->out->error = -ENOMEM;
	free(p->row);
	free(p->shown);
}

void show_brief_path(struct doc *d, const struct summary *s, const struct chain *c, size_t top)
{
	struct path path = { .s = s, .task = c->path, .n = c->n_path, .link = c->path_link, .explain = true };

	if (path.n > 1)
		add_path(d, &path, "What the end of the build waited for", top);
}

void show_paths(struct doc *d, const struct summary *s, const struct chain *c, size_t top)
{
	struct path path = { .s = s, .task = c->path, .n = c->n_path, .link = c->path_link };
	struct path chain = { .s = s, .task = c->dependency, .n = c->n_dependency };
	bool same = chain.n == path.n && chain.n &&
		    !memcmp(chain.task, path.task, path.n * sizeof *path.task);

	if (path.n > 1)
		add_path(d, &path, "What the end of the build waited for", top);
	if (chain.n > 1 && !same)
		add_path(d, &chain, "Longest chain of dependencies", top);
}

/* Tasks at once */

/* "3", "4-7" or "8+". */
static void add_level(struct doc *d, const struct summary *s, size_t from, size_t to)
{
	int64_t us = 0;
	double share;

	for (size_t i = from; i <= to; i++)
		us += s->level_us[i];
	share = (double)us / (double)s->wall_us;
	doc_row(d);
	buf_addf(doc_text(d, (double)from), to == s->n_levels - 1 ? "%zu+" : from == to ? "%zu" : "%zu-%zu",
		 from, to);
	text_add_percent(doc_text(d, share), share);
	add_bar(d, share, LEVEL_ROW_COLUMNS);
}

/* Up to eight cores each number of tasks has a row; beyond, each row has twice as many as the
 * one before. */
void show_levels(struct doc *d, const struct summary *s)
{
	static const struct doc_column columns[] = {
		{ .right = true, .width = 9 }, { .right = true, .gap = 2, .width = 6 }, { .gap = 2 },
	};
	static const struct doc_table table = {
		.title = "Tasks running at once, and how much of the time", .column = columns,
		.n_columns = ARRAY_SIZE(columns),
	};
	size_t last = s->n_levels - 1;

	if (!s->n_levels || !s->wall_us || !s->n_ran)
		return;
	doc_table(d, &table);
	for (size_t from = 0, to; from <= last; from = to + 1) {
		to = from;
		if (s->n_levels > LEVEL_ROWS && from > 2)
			to = 2 * from - 2;
		if (to >= last)
			to = from < last ? last - 1 : last;
		add_level(d, s, from, to);
	}
	doc_table_end(d, 0);
}

void show_peak(struct doc *d, const struct summary *s)
{
	static const struct doc_column columns[] = {
		{ "memory", .type = DOC_KB, .width = 9 }, { "task", .gap = 2, .last = true },
	};
	struct buf title = BUF_PART_OF(d->out);
	struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = doc_is(d, DOC_MARKDOWN),
		.least = SHOW_NAME_LEAST,
	};

	buf_adds(&title, "Largest memory of all tasks: ");
	text_add_bytes(&title, sat_mul(s->memory_peak_kb.value, 1024));
	buf_adds(&title, " at ");
	text_add_time(&title, s->memory_peak_kb.time_us);
	table.title = buf_str(&title);
	doc_table(d, &table);
	for (size_t i = 0; i < s->n_peak_tasks; i++) {
		doc_row(d);
		doc_num(d, s->peak_task[i].memory_kb);
		show_task_name(d, s->rec, &s->rec->task[s->peak_task[i].task]);
	}
	doc_table_end(d, 0);
	buf_release(&title);
}

/* Processes */

static void add_process(struct doc *d, const struct recording *rec, const struct inspected_process *p)
{
	struct buf *text = doc_item(d, 2);

	text_add_name(text, p->program, 40);
	buf_addf(text, " %d", (int)p->pid);
	if (p->task != NO_INDEX) {
		buf_adds(text, " of ");
		name_add_task(text, rec, &rec->task[p->task]);
	}
	if (p->start_us >= 0) {
		buf_adds(text, ", at ");
		text_add_time(text, p->start_us);
	}
	if (p->n_snapshots >= 0)
		buf_addf(text, ", %lld snapshot%s", (long long)p->n_snapshots,
			 p->n_snapshots == 1 ? "" : "s");
	if (*p->heap)
		buf_addf(text, ", %s heap", p->heap[0] == 'e' ? "exact" : "sampled");
	buf_adds(doc_item(d, 4), p->archive);
}

void show_inspected(struct doc *d, const struct view *v, const struct inspected *x, size_t top)
{
	size_t n = 0;

	for (size_t i = 0; x && i < x->n && n < top; i++) {
		if (!view_has_task(v, x->process[i].task))
			continue;
		if (!n++)
			doc_heading(d, "Inspected processes");
		add_process(d, v->sum->rec, &x->process[i]);
	}
}

/* Groups */

static struct doc_column value_column(enum value v)
{
	static const enum doc_type type[] = {
		[UNIT_US] = DOC_US, [UNIT_KB] = DOC_KB, [UNIT_BYTES] = DOC_BYTES, [UNIT_COUNT] = DOC_COUNT,
	};

	return (struct doc_column){ value_info[v].title, .type = type[value_info[v].unit], .width = 9 };
}

void show_kinds(struct doc *d, struct groups *g)
{
	bool narrow = d->style->width && d->style->width < KIND_ROW_COLUMNS;
	struct doc_column columns[] = {
		{ "tasks", .type = DOC_COUNT, .width = 6 }, value_column(VALUE_WALL),
		value_column(VALUE_CPU), { "share", .right = true, .width = 8 },
		{ "kind", .gap = 2, .width = 12, .shorten = true }, { .gap = 2 },
	};
	const struct doc_table table = {
		.title = "Time by kind", .column = columns, .n_columns = ARRAY_SIZE(columns),
		.heads = true, .tone = TONE_FAINT,
	};
	const uint32_t *order;
	size_t n = groups_top(g, VALUE_WALL, SIZE_MAX, &order);

	columns[2].in = narrow ? DOC_JSON : 0;
	doc_table(d, &table);
	for (size_t i = 0; i < n; i++) {
		const struct group *k = &g->group[order[i]];
		double share = g->total.cost.wall_us ? (double)k->cost.wall_us /
						       (double)g->total.cost.wall_us : 0;

		doc_row(d);
		doc_num(d, (int64_t)k->n);
		doc_num(d, value_get(VALUE_WALL, &k->cost));
		doc_num(d, value_get(VALUE_CPU, &k->cost));
		text_add_percent(doc_text(d, share), share);
		doc_str(d, k->name);
		add_bar(d, share, KIND_ROW_COLUMNS);
	}
	doc_table_end(d, 0);
}

void show_programs(struct doc *d, struct groups *g, const struct summary *s, size_t top)
{
	const struct doc_column columns[] = {
		{ "number", .type = DOC_COUNT, .width = 8 }, value_column(VALUE_WALL), value_column(VALUE_CPU),
		value_column(VALUE_MEMORY), { "program", .gap = 2, .width = 40, .shorten = true },
	};
	const struct doc_table table = {
		.title = "Processes by program", .column = columns, .n_columns = ARRAY_SIZE(columns),
		.heads = true, .empty = true, .tone = TONE_FAINT,
	};
	const uint32_t *order;

	if (!g->of_processes)
		return;
	top = groups_top(g, groups_usual_key(g), top, &order);
	doc_table(d, &table);
	for (size_t i = 0; i < top; i++) {
		const struct group *p = &g->group[order[i]];

		doc_row(d);
		doc_num(d, (int64_t)p->n);
		doc_num(d, value_get(VALUE_WALL, &p->cost));
		doc_num(d, value_get(VALUE_CPU, &p->cost));
		if (p->cost.memory_kb)
			doc_num(d, p->cost.memory_kb);
		else
			doc_str(d, NULL);
		doc_str(d, p->name);
	}
	/* the sum of the rows must not pass as the CPU time of the build */
	if (g->rest.cpu_us > s->cpu_us / UNSEEN_PART) {
		doc_row(d);
		doc_str(d, NULL);
		doc_str(d, NULL);
		doc_num(d, g->rest.cpu_us);
		doc_str(d, NULL);
		doc_str(d, groups_rest_name(g));
	}
	doc_table_end(d, 0);
}

/* Files */

void show_files(struct doc *d, const struct view *v, size_t top)
{
	static const struct doc_column columns[] = {
		{ .type = DOC_BYTES, .width = 9 }, { .gap = 2, .last = true },
	};
	static const struct doc_table table = {
		.title = "Files", .column = columns, .n_columns = ARRAY_SIZE(columns), .least = SHOW_NAME_LEAST,
	};
	const struct recording *rec = v->sum->rec;
	size_t n = 0;

	doc_table(d, &table);
	for (size_t i = 0; i < v->n_tasks; i++) {
		const struct task *t = &rec->task[v->task[i]];

		for (uint32_t k = 0; k < t->n_files; k++) {
			if (n++ >= top)
				continue;
			doc_row(d);
			doc_num(d, rec->file[t->first_file + k].bytes);
			doc_str(d, rec->file[t->first_file + k].path);
		}
	}
	doc_table_end(d, n > top ? n - top : 0);
}
