/* SPDX-License-Identifier: MIT */
#include "report/show_parts.h"

#include "analyse/facts.h"
#include "analyse/names.h"
#include "analyse/output_excerpt.h"
#include "analyse/words.h"
#include "base/minmax.h"
#include "command/shell.h"
#include "report/error_text.h"
#include "report/group_table.h"
#include "write/markdown.h"

#include <math.h>
#include <string.h>

#define ROOM (32 * 1024)	/* for the end, and for what is added before it is measured again */
#define FULL (SHOW_MARKDOWN_MAX - ROOM)
#define NAME_COLUMNS_MIN 20

static bool is_full(const struct doc *d)
{
	return doc_is(d, DOC_MARKDOWN) && d->out->len > FULL;
}

void show_task_name(struct doc *d, const struct recording *rec, const struct task *t)
{
	name_add_task(doc_text(d, NAN), rec, t);
	doc_code(d);
}

/* Head and facts */

static void add_title(struct doc *d, const struct summary *s)
{
	const char *command = recording_build(s->rec, "command");
	struct buf result = BUF_PART_OF(d->out);

	buf_adds(&result, ": ");
	words_add_result(&result, s->result, s->status);
	buf_adds(&result, s->result == BUILD_UNFINISHED ? ", seen for " : " after ");
	text_add_time(&result, s->wall_us);
	doc_title(d, command ? command : doc_is(d, DOC_MARKDOWN) ? "A build" :
		  "a build whose command was not recorded", command, buf_str(&result));
	buf_release(&result);
}

static void add_answer(struct doc *d, const struct answer *a)
{
	if (a->n)
		doc_empty_line(d);
	for (size_t i = 0; i < a->n; i++) {
		buf_adds(doc_sentence(d), a->sentence[i].text);
		if (a->sentence[i].about == ANSWER_FAILED)
			doc_line_tone(d, TONE_ALARM);
	}
}

/* Lines as they are, for a page. */
static void add_pre(struct doc *d, struct buf *text)
{
	markup_begin(d->html, "pre");
	for (char *p = text->data, *end = p + text->len, *next; p < end; p = next + 1) {
		next = memchr(p, '\n', (size_t)(end - p));
		*next = '\0';
		markup_text(d->html, p);
		buf_addc(markup_content(d->html), '\n');
	}
	markup_end(d->html);
}

/* What the build failed of. In Markdown, tasks have theirs with their names. */
static void add_error(struct doc *d, const struct show_options *o, const struct recording *rec)
{
	const struct first_error *e = first_error_of_build(&o->output->errors);
	struct buf text = BUF_PART_OF(d->out);

	if (!e && o->answer->n && doc_is(d, DOC_TERMINAL))
		doc_empty_line(d);
	if (!e || (e->task != NO_INDEX && doc_is(d, DOC_MARKDOWN)))
		return;
	error_add_title(&text, rec, e);
	doc_heading(d, buf_str(&text));
	buf_clear(&text);
	error_add_lines(&text, e, doc_is(d, DOC_TERMINAL) ? "  " : "");
	doc_flush(d);
	if (doc_is(d, DOC_TERMINAL)) {
		buf_add(d->out, text.data, text.len);
		buf_addc(d->out, '\n');
	} else if (doc_is(d, DOC_HTML)) {
		add_pre(d, &text);
	} else {
		buf_cut(d->out, d->out->len - 1);	/* the block begins with an empty line */
		markdown_add_block(d->out, &text);
	}
	buf_release(&text);
}

/* Of the whole build. */
static void add_costs(struct facts *f, const struct summary *s, const struct chain *chain, bool terminal, bool page)
{
	fact_cpu(f, s);
	fact_machine(f, s);
	if (terminal)
		fact_speed(f, &s->host);
	fact_tasks(f, s);
	if (terminal)
		fact_setup(f, s);
	fact_path(f, s, chain);
	fact_memory(f, s);
	fact_disk(f, s);
	if (terminal)
		fact_network(f, &s->host);
	fact_pressure(f, &s->host);
	if (terminal) {
		fact_samples(f, s);
		fact_processes(f, s->rec);
	}
	fact_cache(f, s->rec);
	if (terminal && !page)
		fact_output(f, s->rec);
}

static void add_facts(struct doc *d, const struct view *v, const struct show_options *o)
{
	const bool terminal = !doc_is(d, DOC_MARKDOWN);	/* or a page */
	const struct summary *s = v->sum;
	struct facts f;

	facts_begin(&f, d->out, doc_fact, d);
	if (!terminal)
		fact_result(&f, s);
	fact_when(&f, s->rec);
	fact_host(&f, s);
	fact_directory(&f, s->rec);
	fact_sources(&f, s->rec);
	if (terminal)
		fact_result(&f, s);
	fact_warnings(&f, s->rec);
	if (terminal)
		fact_trace_errors(&f, s->rec);
	if (terminal && v->all)
		doc_empty_line(d);
	if (v->all) {
		add_costs(&f, s, o->chain, terminal, doc_is(d, DOC_HTML));
	} else {
		fact_selected(&f, v);
		fact_caches(&f, v);
	}
	facts_release(&f);
}

static void add_selected(struct doc *d, const struct view *v)
{
	struct facts f;

	facts_begin(&f, d->out, doc_fact, d);
	fact_selected(&f, v);
	facts_release(&f);
}

/* Failed tasks */

static void add_nearby(struct doc *d, const struct output_nearby *near)
{
	struct buf text = BUF_PART_OF(d->out), line = BUF_PART_OF(d->out);

	for (size_t i = 0; i < near->n; i++) {
		buf_clear(&line);
		output_excerpt_text(&line, (struct slice){ near->line[i].text.data, near->line[i].text.len });
		buf_cut(&line, line.len - 1);
		text_add_name(&text, buf_str(&line), 0);
		buf_addc(&text, '\n');
	}
	if (near->n) {
		buf_adds(d->out, "\nNo message is known to come from this task. " NEARBY_TEXT "\n");
		markdown_add_block(d->out, &text);
	}
	buf_release(&text);
	buf_release(&line);
}

/* In Markdown, with its command and the message of its error. */
static void add_block(struct doc *d, const struct recording *rec, uint32_t task,
		      const struct show_options *o)
{
	const struct first_error *e = first_error_of(&o->output->errors, task);
	const struct output_nearby *near = e ? NULL : output_nearby_of(&o->output->nearby, task);
	const struct task *t = &rec->task[task];
	struct buf text = BUF_PART_OF(d->out);

	name_add_task(&text, rec, t);
	markdown_add_name(d->out, buf_str(&text), DOC_NAME_COLUMNS);
	buf_adds(d->out, ": ");
	buf_clear(&text);
	words_add_status(&text, words_task_status(t));
	markdown_add(d->out, buf_str(&text));
	buf_adds(d->out, "\n");
	buf_clear(&text);
	if (*t->name && *recording_command(rec, t)) {
		buf_adds(&text, "$ ");
		text_add_name(&text, recording_command(rec, t), 4 * DOC_NAME_COLUMNS);
		buf_addc(&text, '\n');
	}
	if (e && e->while_ran) {
		if (text.len)
			markdown_add_block(d->out, &text);
		buf_adds(d->out, "\n" NEARBY_TEXT "\n");
		buf_clear(&text);
	}
	if (e)
		error_add_lines(&text, e, "");
	if (text.len)
		markdown_add_block(d->out, &text);
	if (near)
		add_nearby(d, near);
	buf_release(&text);
}

/* On a page, which has the lines of the build's first error above. */
static void add_bad_lines(struct doc *d, const struct recording *rec, uint32_t task, const struct show_options *o)
{
	const struct first_error *e = first_error_of(&o->output->errors, task);
	const struct task *t = &rec->task[task];
	struct buf text = BUF_PART_OF(d->out);

	markup_begin(d->html, "p");
	name_add_task(&text, rec, t);
	markup_leaf(d->html, "strong", NULL, buf_str(&text));
	buf_clear(&text);
	buf_adds(&text, " ");
	words_add_status(&text, words_task_status(t));
	markup_text(d->html, buf_str(&text));
	markup_end(d->html);
	buf_clear(&text);
	if (*t->name && *recording_command(rec, t)) {
		buf_adds(&text, "$ ");
		text_add_name(&text, recording_command(rec, t), 4 * DOC_NAME_COLUMNS);
		buf_addc(&text, '\n');
	}
	if (e && e != first_error_of_build(&o->output->errors)) {
		buf_adds(&text, e->while_ran ? NEARBY_TEXT "\n" : "");
		error_add_lines(&text, e, "");
	}
	if (text.len)
		add_pre(d, &text);
	buf_release(&text);
}

static void add_bad_task(struct doc *d, const struct recording *rec, const struct task *t)
{
	doc_row(d);
	words_add_status(doc_text(d, NAN), words_task_status(t));
	doc_tone(d, TONE_ALARM);
	show_task_name(d, rec, t);
	if (!*t->name)
		return;
	buf_adds(doc_item(d, 4), recording_command(rec, t));
	doc_line_tone(d, TONE_FAINT);
	doc_line_shorten(d, SHOW_NAME_LEAST);
}

static void add_failed(struct doc *d, const struct view *v, const struct show_options *o)
{
	static const struct doc_column columns[] = { { .gap = 2, .width = 10 }, { .gap = 2, .last = true } };
	static const struct doc_table table = {
		.column = columns, .n_columns = 2, .least = SHOW_NAME_LEAST,
	};
	const struct recording *rec = v->sum->rec;
	size_t i;

	if (v->n_unsuccessful)
		doc_heading(d, "Failed, killed, unfinished");
	if (doc_is(d, DOC_TERMINAL))
		doc_table(d, &table);
	for (i = 0; i < v->n_unsuccessful && i < o->top && !is_full(d); i++) {
		if (doc_is(d, DOC_TERMINAL)) {
			add_bad_task(d, rec, &rec->task[v->unsuccessful[i]]);
			continue;
		}
		if (doc_is(d, DOC_HTML)) {
			doc_flush(d);
			add_bad_lines(d, rec, v->unsuccessful[i], o);
			continue;
		}
		if (i)
			buf_addc(d->out, '\n');
		add_block(d, rec, v->unsuccessful[i], o);
	}
	if (doc_is(d, DOC_TERMINAL))
		doc_table_end(d, v->n_unsuccessful - i);
	else if (i < v->n_unsuccessful)
		buf_addf(doc_note(d), "and %zu more", v->n_unsuccessful - i);
}

/* Rows of values */

struct rows {
	const struct view *v;
	struct value_columns value;
	struct doc_column column[VALUES + 2];
	struct doc_table table;
};

/* Where a terminal is narrow, the kind is dropped first, then the least important value. */
static void make_rows(struct rows *r, const struct view *v, enum value key, const char *title)
{
	enum value stays = key == VALUE_NAME ? VALUE_WALL : key;
	size_t n = 0;

	*r = (struct rows){ .v = v };
	value_columns(&r->value, key, &v->cost);
	for (; n < r->value.n; n++) {
		enum value of = r->value.column[n];

		r->column[n] = (struct doc_column){
			value_info[of].title, .right = true, .gap = n ? 2 : 1, .width = 7,
			.drop = of == stays ? 0 : value_drop(of),
		};
	}
	r->column[n++] = (struct doc_column){
		"kind", .gap = 2, .width = 9, .drop = UINT8_MAX, .shorten = true
	};
	r->column[n++] = (struct doc_column){ "name", .gap = 2, .last = true };
	r->table = (struct doc_table){
		.title = title, .column = r->column, .n_columns = n, .heads = true, .empty = !title,
		.tone = TONE_FAINT, .least = SHOW_NAME_LEAST, .room = NAME_COLUMNS_MIN,
	};
}

/* A bound says so: ">1.2 s", "<412MiB" in as many columns, "at most 412 MiB". Where some memory is a sum
 * over processes, that which is not is marked on a terminal. */
static void add_value(struct doc *d, const struct view *v, enum value of, const struct cost *c)
{
	static const char *const mark[] = { [VALUE_EXACT] = "", [VALUE_AT_MOST] = "<", [VALUE_AT_LEAST] = ">" };
	bool terminal = doc_is(d, DOC_TERMINAL);
	char memory[32];
	struct buf b, *text;
	int64_t n;
	enum value_bound bound = value_shown(&n, of, c);

	text = doc_text(d, (double)n);
	buf_adds(text, bound == VALUE_AT_MOST && !terminal ? "at most " : mark[bound]);
	buf_init_fixed(&b, memory, sizeof memory);
	value_add(bound == VALUE_AT_MOST && terminal ? &b : text, of, n);
	for (size_t i = 0; i < b.len; i++) {
		if (b.data[i] != ' ')
			buf_addc(text, b.data[i]);
	}
	if (terminal && of == VALUE_MEMORY && v->sum->rec->n_memory && c->memory_kb && !c->memory_summed)
		buf_addc(doc_after(d), '*');
}

static void add_row(struct doc *d, const struct rows *r, const struct cost *c, const struct task *t,
		    size_t n_tasks, bool ended_badly)
{
	doc_row(d);
	for (unsigned i = 0; i < r->value.n; i++)
		add_value(d, r->v, r->value.column[i], c);
	doc_str(d, t->kind);
	show_task_name(d, r->v->sum->rec, t);
	if (ended_badly && doc_is(d, DOC_TERMINAL))
		doc_tone(d, TONE_ALARM);
	if (n_tasks > 1)
		buf_addf(doc_after(d), " (%zu tasks)", n_tasks);
}

static bool ended_badly(const struct task *t)
{
	return t->state != TASK_DONE && t->state != TASK_QUEUED;
}

static void add_target(struct doc *d, const struct rows *r, const struct target *g)
{
	const struct summary *s = r->v->sum;
	struct cost cost = summary_target_cost(s, g);
	bool bad = false;

	for (uint32_t t = g->first_task; t != NO_INDEX; t = s->nest[t].next)
		bad |= ended_badly(&s->rec->task[t]);
	add_row(d, r, &cost, &s->rec->task[summary_main_task(s, g)], g->n_tasks, bad);
}

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

static void add_list(struct doc *d, struct view *v, enum value key, size_t top)
{
	size_t n = view_top_targets(v, key, top), i;
	struct rows r;

	if (doc_is(d, DOC_TERMINAL))
		n = nonzero(v, key, n);
	make_rows(&r, v, key, value_info[key].list);
	doc_table(d, &r.table);
	for (i = 0; i < n && !is_full(d); i++)
		add_target(d, &r, &v->sum->target[v->target[i]]);
	doc_table_end(d, n - i);
}

static void add_tasks(struct doc *d, struct view *v, enum value key)
{
	size_t n = view_top_tasks(v, key, v->n_tasks);
	const struct summary *s = v->sum;
	struct rows r;

	if (!n && !v->all) {
		add_selected(d, v);
		return;
	}
	make_rows(&r, v, key, NULL);
	doc_table(d, &r.table);
	for (size_t i = 0; i < n; i++) {
		const struct task *t = &s->rec->task[v->task[i]];

		add_row(d, &r, &s->nest[v->task[i]].cost, t, 1, ended_badly(t));
	}
	doc_table_end(d, 0);
}

/* The end */

static void add_notes(struct doc *d, const struct view *v)
{
	struct facts f;

	facts_begin(&f, d->out, doc_fact, d);
	if (v->cost.wall_least_us < v->cost.wall_us) {
		fact_add_name(&f, "", "< at most: nobody saw the task end");
		fact_end(&f, "wall:", TONE_FAINT);
	}
	if (v->cost.memory_kb || v->cost.memory_at_most_kb) {
		doc_empty_line(d);
		if (v->sum->rec->n_memory) {
			fact_add_name(&f, "", "all processes of a task");
			fact_add_name(&f, "", "as sampled");
			fact_add_name(&f, "", "* its largest process alone");
		} else {
			fact_add_name(&f, "", "of a task's largest process");
		}
		if (v->cost.memory_at_most_kb)
			fact_add_name(&f, "", "< at most as much as its build tool");
		fact_end(&f, "memory:", TONE_FAINT);
	}
	facts_release(&f);
}

static void add_next(struct doc *d, const struct recording *rec)
{
	struct buf command = BUF_PART_OF(d->out);

	doc_flush(d);
	buf_adds(d->out, "\nEvery task over time: ");
	buf_adds(&command, "buildbeat chart ");
	shell_add_shown(&command, rec->path);
	markdown_add_name(d->out, buf_str(&command), DOC_NAME_COLUMNS);
	buf_addc(d->out, '\n');
	buf_release(&command);
}

static void add_groups(struct doc *d, const struct show_options *o)
{
	for (size_t i = 0; i < o->n_groups; i++)
		group_table(d, &o->groups[i], o->sort, o->top, doc_is(d, DOC_MARKDOWN) ? FULL : SIZE_MAX);
}

static void add_terminal(struct doc *d, struct view *v, const struct show_options *o)
{
	const struct summary *s = v->sum;

	if (v->all) {
		show_paths(d, s, o->chain, o->top);
		if (doc_is(d, DOC_TERMINAL))
			show_levels(d, s);	/* bars of signs */
		show_peak(d, s);
	}
	show_inspected(d, v, o->inspected, o->top);
	if (doc_is(d, DOC_TERMINAL))
		show_kinds(d, &v->kinds);
	if (v->all && o->programs)
		show_programs(d, o->programs, s, o->top);
	add_list(d, v, o->sort < VALUE_SORTS ? o->sort : VALUE_WALL, o->top);
	if (o->sort == VALUE_SORTS) {
		add_list(d, v, VALUE_MEMORY, o->top);
		add_list(d, v, VALUE_FILES, o->top);
	}
	if (!v->all)
		show_files(d, v, o->top);
	if (doc_is(d, DOC_TERMINAL))
		add_notes(d, v);
}

static void add_markdown(struct doc *d, struct view *v, const struct show_options *o)
{
	add_list(d, v, o->sort < VALUE_SORTS ? o->sort : VALUE_WALL, o->top);
	if (v->all)
		show_peak(d, v->sum);
	add_groups(d, o);
	add_next(d, v->sum->rec);
}

/* What fits on one screen */

#define BRIEF_LABELS 14		/* columns of brief facts */
#define BRIEF_HEAD 3		/* lines of a list without its rows */
#define BRIEF_END 5		/* lines of the end */
#define BRIEF_FAILED 3		/* tasks */
#define BRIEF_PATH 10		/* links */
#define BRIEF_SLOWEST 5

static void add_brief_facts(struct doc *d, const struct summary *s, const struct chain *chain)
{
	size_t labels = d->labels;
	struct facts f;

	d->labels = BRIEF_LABELS;
	facts_begin(&f, d->out, doc_fact, d);
	f.brief = true;
	fact_result(&f, s);
	fact_warnings(&f, s->rec);
	fact_cpu(&f, s);
	fact_tasks(&f, s);
	fact_bound(&f, chain);
	fact_memory(&f, s);
	facts_release(&f);
	doc_flush(d);
	d->labels = labels;
}

static size_t lines_left(struct doc *d, size_t reserved)
{
	size_t n = reserved;

	doc_flush(d);
	for (size_t i = 0; i < d->out->len; i++)
		n += d->out->data[i] == '\n';
	return n < SHOW_BRIEF_LINES ? SHOW_BRIEF_LINES - n : 0;
}

static void add_brief(struct doc *d, struct view *v, const struct show_options *o)
{
	struct show_options failed = *o;
	size_t slowest, path;

	failed.top = BRIEF_FAILED;
	add_title(d, v->sum);
	add_answer(d, o->answer);
	add_error(d, o, v->sum->rec);
	if (!o->answer->n)
		doc_empty_line(d);
	add_brief_facts(d, v->sum, o->chain);
	add_failed(d, v, &failed);
	slowest = MIN(BRIEF_SLOWEST, lines_left(d, BRIEF_HEAD + BRIEF_END));
	path = lines_left(d, BRIEF_HEAD + slowest + BRIEF_HEAD + 1 + BRIEF_END);
	if (path)
		show_brief_path(d, v->sum, o->chain, MIN(path, BRIEF_PATH));
	if (slowest) {
		add_list(d, v, VALUE_WALL, slowest);
		add_notes(d, v);
	}
	doc_flush(d);
	buf_adds(d->out, "\nMore: buildbeat show --all\n");
}

int show_doc(struct doc *d, struct view *v, const struct show_options *o)
{
	const struct recording *rec = v->sum->rec;

	if (o->tasks) {
		add_tasks(d, v, o->sort < VALUE_SORTS ? o->sort : VALUE_START);
	} else if (o->n_groups && doc_is(d, DOC_TERMINAL)) {
		add_title(d, v->sum);
		if (!v->all)
			add_selected(d, v);
		add_groups(d, o);
	} else if (o->brief && v->all && doc_is(d, DOC_TERMINAL)) {
		add_brief(d, v, o);
	} else {
		add_title(d, v->sum);
		if (v->all)
			add_answer(d, o->answer);
		if (v->all)
			add_error(d, o, rec);
		add_facts(d, v, o);
		add_failed(d, v, o);
		if (doc_is(d, DOC_MARKDOWN))
			add_markdown(d, v, o);
		else
			add_terminal(d, v, o);
	}
	doc_flush(d);
	return buf_error(d->out) ? buf_error(d->out) : recording_command_error(rec);
}
