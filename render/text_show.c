/* SPDX-License-Identifier: MIT */
#include "render/show.h"

#include "analyse/names.h"
#include "analyse/words.h"
#include "base/saturate.h"
#include "render/facts.h"
#include "render/group_table.h"
#include "render/text_answer.h"
#include "render/text_results.h"

#include <stdio.h>
#include <string.h>

#define BAR_COLUMNS 30
#define NAME_COLUMNS_MIN 20
#define VALUE_COLUMNS 7
#define KIND_COLUMNS 9
#define LEVEL_ROWS 9		/* of the histogram: 0, 1 ... one by one up to here */

static void add_padded(struct buf *out, const char *text, unsigned columns, bool right)
{
	size_t n = strlen(text), blanks = n < columns ? columns - n : 0;

	if (right)
		text_add_blanks(out, blanks);
	buf_adds(out, text);
	if (!right)
		text_add_blanks(out, blanks);
}

static unsigned bar_columns(const struct style *style, unsigned taken)
{
	if (!style->width || style->width >= taken + BAR_COLUMNS)
		return BAR_COLUMNS;
	return style->width > taken ? style->width - taken : 0;
}

static void add_percent_right(struct buf *out, double share)
{
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	text_add_percent(&b, share);
	add_padded(out, buf_str(&b), 6, true);
}

/* A bar after blanks; nothing if the share is too small for a bar. */
static void add_bar(struct buf *out, const struct style *style, double share, size_t blanks,
		    unsigned columns)
{
	size_t before = out->len;

	text_add_blanks(out, blanks);
	if (!text_add_bar(out, style, share, columns))
		buf_cut(out, before);
}

/* Ended badly */

static void add_bad_task(struct buf *out, const struct view *v, uint32_t task,
			 const struct style *style)
{
	const struct recording *rec = v->sum->rec;
	const struct task *t = &rec->task[task];
	struct buf name = BUF_PART_OF(out);
	unsigned width = style->width;
	const char *command;
	char memory[64];
	struct buf how;

	buf_init_fixed(&how, memory, sizeof memory);
	words_add_status(&how, words_task_status(t));
	name_add_task(&name, rec, t);
	buf_adds(out, "  ");
	text_tone(out, style, TONE_ALARM);
	add_padded(out, buf_str(&how), 10, false);
	text_tone(out, style, TONE_PLAIN);
	buf_adds(out, "  ");
	text_add_name(out, buf_str(&name), !width ? 0 : width > 14 + 6 ? width - 14 : 6);
	buf_addc(out, '\n');
	command = *t->name ? recording_command(rec, t) : "";
	if (*command) {
		buf_adds(out, "    ");
		text_tone(out, style, TONE_FAINT);
		text_add_name(out, command, !width ? 0 : width > 10 ? width - 4 : 6);
		text_tone(out, style, TONE_PLAIN);
		buf_addc(out, '\n');
	}
	buf_release(&name);
}

static void add_unsuccessful(struct buf *out, const struct view *v, size_t top,
			     const struct style *style)
{
	size_t n = v->n_unsuccessful < top ? v->n_unsuccessful : top;

	if (!v->n_unsuccessful)
		return;
	text_title(out, style, "Failed, killed, unfinished");
	for (size_t i = 0; i < n; i++)
		add_bad_task(out, v, v->unsuccessful[i], style);
	if (n < v->n_unsuccessful)
		buf_addf(out, "  and %zu more\n", v->n_unsuccessful - n);
}

/* Parallelism */

/* "3", "4-7" or "8+". */
static void add_level_row(struct buf *out, const struct summary *s, size_t from, size_t to,
			  const struct style *style)
{
	char label[48];
	int64_t us = 0;
	double share;

	for (size_t i = from; i <= to; i++)
		us += s->level_us[i];
	share = (double)us / (double)s->wall_us;
	if (to == s->n_levels - 1)
		snprintf(label, sizeof label, "%zu+", from);
	else if (from == to)
		snprintf(label, sizeof label, "%zu", from);
	else
		snprintf(label, sizeof label, "%zu-%zu", from, to);
	add_padded(out, label, 9, true);
	buf_adds(out, "  ");
	add_percent_right(out, share);
	add_bar(out, style, share, 2, bar_columns(style, 20));
	buf_addc(out, '\n');
}

/* Up to eight cores each number of tasks has a row; beyond, each row has twice as many as the
 * one before. */
static void add_levels(struct buf *out, const struct summary *s, const struct style *style)
{
	size_t last = s->n_levels - 1;

	if (!s->n_levels || !s->wall_us || !s->n_ran)
		return;
	text_title(out, style, "Tasks running at once, and how much of the time");
	for (size_t from = 0, to; from <= last; from = to + 1) {
		to = from;
		if (s->n_levels > LEVEL_ROWS && from > 2)
			to = 2 * from - 2;
		if (to >= last)
			to = from < last ? last - 1 : last;
		add_level_row(out, s, from, to, style);
	}
}

/* Memory */

static void add_peak(struct buf *out, const struct summary *s, const struct style *style)
{
	char title[96], memory[32];
	struct buf b, name = BUF_PART_OF(out);

	if (!s->n_peak_tasks)
		return;
	buf_init_fixed(&b, title, sizeof title);
	buf_adds(&b, "Largest memory of all tasks: ");
	text_add_bytes(&b, sat_mul(s->memory_peak_kb.value, 1024));
	buf_adds(&b, " at ");
	text_add_time(&b, s->memory_peak_kb.time_us);
	text_title(out, style, buf_str(&b));
	for (size_t i = 0; i < s->n_peak_tasks; i++) {
		const struct task *t = &s->rec->task[s->peak_task[i].task];

		buf_init_fixed(&b, memory, sizeof memory);
		text_add_bytes(&b, sat_mul(s->peak_task[i].memory_kb, 1024));
		add_padded(out, buf_str(&b), 9, true);
		buf_adds(out, "  ");
		buf_clear(&name);
		name_add_task(&name, s->rec, t);
		text_add_name(out, buf_str(&name), !style->width ? 0 : style->width > 18 ?
			      style->width - 12 : 6);
		buf_addc(out, '\n');
	}
	buf_release(&name);
}

/* Rows of values */

struct rows {
	struct buf *out;
	const struct view *v;
	const struct style *style;
	struct value_columns columns;
	bool kind;
	unsigned name_columns;	/* 0: no limit */
};

struct row {
	const struct cost *cost;
	const struct task *task;	/* the one that gives name and kind */
	size_t n_tasks;
	bool ended_badly;
};

static unsigned columns_taken(const struct rows *r)
{
	return 1 + r->columns.n * (VALUE_COLUMNS + 2) + (r->kind ? KIND_COLUMNS + 2 : 0);
}

/* Drop columns until a name has room: the kind, then the least important value. */
static void choose_columns(struct rows *r, enum value key)
{
	unsigned width = r->style->width;

	r->kind = true;
	value_columns(&r->columns, key, &r->v->cost);
	while (width && columns_taken(r) + NAME_COLUMNS_MIN > width) {
		if (!r->kind && !value_columns_drop(&r->columns, 1u << (key == VALUE_NAME ? VALUE_WALL : key)))
			break;
		r->kind = false;
	}
	r->name_columns = !width ? 0 : width > columns_taken(r) + 6 ?
			  width - columns_taken(r) : 6;
}

static void add_titles(struct rows *r)
{
	text_tone(r->out, r->style, TONE_FAINT);
	buf_addc(r->out, ' ');
	for (unsigned i = 0; i < r->columns.n; i++) {
		add_padded(r->out, value_info[r->columns.column[i]].title, VALUE_COLUMNS, true);
		text_add_blanks(r->out, 2);
	}
	if (r->kind)
		add_padded(r->out, "kind", KIND_COLUMNS + 2, false);
	buf_adds(r->out, "name");
	text_tone(r->out, r->style, TONE_PLAIN);
	buf_addc(r->out, '\n');
}

/* Where some are sums over processes, those that are not are marked. */
static bool is_marked(const struct rows *r, const struct cost *c)
{
	return r->v->sum->rec->n_memory && c->memory_kb && !c->memory_summed;
}

/* ">1.2 s", and an upper bound as "<412MiB", in the same columns. */
static void add_value(struct rows *r, enum value v, const struct cost *c)
{
	static const char *const mark[] = { [VALUE_EXACT] = "", [VALUE_AT_MOST] = "<", [VALUE_AT_LEAST] = ">" };
	char cell[64], number[32];
	struct buf text, b;
	int64_t n;
	enum value_bound bound = value_shown(&n, v, c);

	buf_init_fixed(&text, cell, sizeof cell);
	buf_init_fixed(&b, number, sizeof number);
	value_add(&b, v, n);
	buf_adds(&text, mark[bound]);
	for (size_t i = 0; i < b.len; i++) {
		if (b.data[i] != ' ' || bound != VALUE_AT_MOST)
			buf_addc(&text, b.data[i]);
	}
	add_padded(r->out, buf_str(&text), VALUE_COLUMNS, true);
	buf_adds(r->out, v == VALUE_MEMORY && is_marked(r, c) ? "* " : "  ");
}

static void add_row_kind(struct buf *out, const char *kind)
{
	size_t n = text_add_name(out, kind, KIND_COLUMNS);

	text_add_blanks(out, 2 + (n < KIND_COLUMNS ? KIND_COLUMNS - n : 0));
}

static void add_row_name(struct rows *r, const struct row *row)
{
	char memory[32];
	struct buf more, name = BUF_PART_OF(r->out);
	unsigned left = r->name_columns;

	buf_init_fixed(&more, memory, sizeof memory);
	if (row->n_tasks > 1)
		buf_addf(&more, " (%zu tasks)", row->n_tasks);
	if (left && left > more.len + 6)
		left -= (unsigned)more.len;
	else if (left)
		buf_clear(&more);
	name_add_task(&name, r->v->sum->rec, row->task);
	if (row->ended_badly)
		text_tone(r->out, r->style, TONE_ALARM);
	text_add_name(r->out, buf_str(&name), left);
	text_tone(r->out, r->style, more.len ? TONE_FAINT : TONE_PLAIN);
	buf_add(r->out, more.data, more.len);
	if (more.len)
		text_tone(r->out, r->style, TONE_PLAIN);
	buf_addc(r->out, '\n');
	buf_release(&name);
}

static void add_row(struct rows *r, const struct row *row)
{
	buf_addc(r->out, ' ');
	for (unsigned i = 0; i < r->columns.n; i++)
		add_value(r, r->columns.column[i], row->cost);
	if (r->kind)
		add_row_kind(r->out, row->task->kind);
	add_row_name(r, row);
}

static bool ended_badly(const struct task *t)
{
	return t->state != TASK_DONE && t->state != TASK_QUEUED;
}

/* Rows of the n targets, or tasks, in index. */
static void add_rows(struct buf *out, const struct view *v, const uint32_t *index, size_t n,
		     enum value key, const struct style *style, bool targets)
{
	const struct summary *s = v->sum;
	const struct task *task = s->rec->task;
	struct rows r = { .out = out, .v = v, .style = style };

	choose_columns(&r, key);
	add_titles(&r);
	for (size_t i = 0; i < n; i++) {
		const struct target *g = &s->target[targets ? index[i] : 0];
		uint32_t main_task = targets ? summary_main_task(s, g) : index[i];
		struct cost cost = targets ? summary_target_cost(s, g) : s->nest[index[i]].cost;
		struct row row = { &cost, &task[main_task], targets ? g->n_tasks : 1, false };

		for (uint32_t t = targets ? g->first_task : main_task; t != NO_INDEX;
		     t = targets ? s->nest[t].next : NO_INDEX)
			row.ended_badly |= ended_badly(&task[t]);
		add_row(&r, &row);
	}
}

/* Lists */

/* How many of the first n have a value that is not 0. */
static size_t nonzero(const struct view *v, enum value key, size_t n)
{
	for (; n && key != VALUE_START && key != VALUE_NAME && key != VALUE_WALL; n--) {
		struct cost c = summary_target_cost(v->sum, &v->sum->target[v->target[n - 1]]);

		if (value_get(key, &c) > 0)
			break;
	}
	return n;
}

static void add_list(struct buf *out, struct view *v, enum value key, size_t top,
		     const struct style *style)
{
	size_t n = nonzero(v, key, view_top_targets(v, key, top));

	if (!n)
		return;
	text_title(out, style, value_info[key].list);
	add_rows(out, v, v->target, n, key, style, true);
}

static void add_note(struct buf *out, const struct view *v, const struct style *style)
{
	struct facts f;

	facts_begin(&f, out, style);
	if (v->cost.wall_least_us < v->cost.wall_us) {
		buf_adds(&f.part, "< at most: nobody saw the task end");
		fact_part(&f);
		fact_end(&f, "wall:", TONE_FAINT);
	}
	if (!v->cost.memory_kb && !v->cost.memory_at_most_kb)
		return;
	if (v->sum->rec->n_memory) {
		buf_adds(&f.part, "all processes of a task");
		fact_part(&f);
		buf_adds(&f.part, "as sampled");
		fact_part(&f);
		buf_adds(&f.part, "* its largest process alone");
	} else {
		buf_adds(&f.part, "of a task's largest process");
	}
	if (v->cost.memory_at_most_kb) {
		fact_part(&f);
		buf_adds(&f.part, "< at most as much as its build tool");
	}
	buf_addc(out, '\n');
	fact_end(&f, "memory:", TONE_FAINT);
	facts_release(&f);
}

static void add_command(struct buf *out, const struct recording *rec, const struct style *style)
{
	const char *command = recording_build(rec, "command");

	text_tone(out, style, TONE_TITLE);
	text_add_name(out, command ? command : "a build whose command was not recorded",
		      style->width);
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
}

static void add_selected(struct buf *out, const struct view *v, const struct style *style)
{
	struct facts f;

	facts_begin(&f, out, style);
	fact_selected(&f, v);
	facts_release(&f);
}

static void add_head(struct buf *out, const struct view *v, const struct show_options *o,
		     const struct style *style)
{
	const struct summary *s = v->sum;
	struct facts f;

	facts_begin(&f, out, style);
	add_command(out, s->rec, style);
	if (v->all)
		text_answer_add(out, style, o->answer);
	fact_when(&f, s->rec);
	fact_host(&f, s);
	fact_directory(&f, s->rec);
	fact_sources(&f, s->rec);
	fact_result(&f, s);
	fact_warnings(&f, s->rec);
	fact_trace_errors(&f, s->rec);
	if (v->all) {
		buf_addc(out, '\n');
		fact_cpu(&f, s);
		fact_machine(&f, s);
		fact_speed(&f, &s->host);
		fact_tasks(&f, s);
		fact_setup(&f, s);
		fact_path(&f, s, o->chain);
		fact_memory(&f, s);
		fact_disk(&f, s);
		fact_network(&f, &s->host);
		fact_pressure(&f, &s->host);
		fact_samples(&f, s);
		fact_processes(&f, s->rec);
		fact_cache(&f, s->rec);
		fact_output(&f, s->rec);
	} else {
		fact_selected(&f, v);
		text_caches(&f, v);
	}
	facts_release(&f);
}

int text_show(struct buf *out, struct view *v, const struct show_options *o,
	      const struct style *style)
{
	const struct summary *s = v->sum;
	struct doc d;

	if (o->tasks) {
		enum value key = o->sort < VALUE_SORTS ? o->sort : VALUE_START;
		size_t n = view_top_tasks(v, key, v->n_tasks);

		if (!n && !v->all)
			add_selected(out, v, style);
		else
			add_rows(out, v, v->task, n, key, style, false);
		return buf_error(out) ? buf_error(out) : recording_command_error(s->rec);
	}
	if (o->n_groups) {
		add_command(out, s->rec, style);
		if (!v->all)
			add_selected(out, v, style);
		doc_init_terminal(&d, out, style);
		for (size_t i = 0; i < o->n_groups; i++)
			group_table(&d, &o->groups[i], o->sort, o->top, SIZE_MAX);
		doc_release(&d);
		return buf_error(out) ? buf_error(out) : recording_command_error(s->rec);
	}
	add_head(out, v, o, style);
	add_unsuccessful(out, v, o->top, style);
	if (v->all) {
		text_answer_add_paths(out, style, s, o->chain, o->top);
		add_levels(out, s, style);
		add_peak(out, s, style);
	}
	text_inspected(out, v, o->inspected, o->top, style);
	doc_init_terminal(&d, out, style);
	text_kinds(&d, &v->kinds);
	if (v->all && o->programs)
		text_programs(&d, o->programs, s, o->top);
	doc_release(&d);
	if (o->sort < VALUE_SORTS) {
		add_list(out, v, o->sort, o->top, style);
	} else {
		add_list(out, v, VALUE_WALL, o->top, style);
		add_list(out, v, VALUE_MEMORY, o->top, style);
		add_list(out, v, VALUE_FILES, o->top, style);
	}
	if (!v->all)
		text_files(out, v, o->top, style);
	add_note(out, v, style);
	return buf_error(out) ? buf_error(out) : recording_command_error(s->rec);
}
