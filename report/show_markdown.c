/* SPDX-License-Identifier: MIT */
#include "report/show_markdown.h"

#include "analyse/names.h"
#include "analyse/words.h"
#include "base/saturate.h"
#include "command/shell.h"
#include "render/facts.h"
#include "render/group_table.h"
#include "render/text_results.h"
#include "write/markdown.h"

#include <string.h>

#define ROOM (32 * 1024)	/* for the end, and for what is added before it is measured again */
#define NAME_COLUMNS 200	/* longer names are shortened in the middle */

static bool is_full(const struct buf *out)
{
	return out->len > SHOW_MARKDOWN_MAX - ROOM;
}

static void add_words(struct buf *out, struct buf *text)
{
	markdown_add(out, buf_str(text));
	buf_clear(text);
}

static void add_name(struct buf *out, const char *name)
{
	struct buf shown = BUF_PART_OF(out);

	text_add_name(&shown, name, NAME_COLUMNS);
	markdown_add_code(out, buf_str(&shown));
	buf_release(&shown);
}

static void add_task_name(struct buf *out, const struct recording *rec, const struct task *t)
{
	struct buf name = BUF_PART_OF(out);

	name_add_task(&name, rec, t);
	add_name(out, buf_str(&name));
	buf_release(&name);
}

/* What is known only as a bound says so. */
static void add_value(struct buf *out, enum value v, const struct cost *c)
{
	static const char *const words[] = {
		[VALUE_EXACT] = "", [VALUE_AT_MOST] = "at most ", [VALUE_AT_LEAST] = "&gt;",
	};
	int64_t n;

	buf_addf(out, "| %s", words[value_shown(&n, v, c)]);
	value_add(out, v, n);
	buf_addc(out, ' ');
}

static void add_more(struct buf *out, size_t n)
{
	if (n)
		buf_addf(out, "\nand %zu more\n", n);
}

/* Facts */

static void write_fact(struct facts *f, const char *label, enum tone tone)
{
	const char *end = f->part.data + f->part.len;

	buf_addf(f->out, "| %s | %s", label, tone == TONE_ALARM ? "**" : "");
	for (const char *p = f->part.data; p < end; p += strlen(p) + 1) {
		struct buf shown = BUF_PART_OF(f->out);

		buf_adds(f->out, p == f->part.data ? "" : ", ");
		text_add_name(&shown, p, 2 * NAME_COLUMNS);
		add_words(f->out, &shown);
		buf_release(&shown);
	}
	buf_addf(f->out, "%s |\n", tone == TONE_ALARM ? "**" : "");
}

static void add_facts(struct buf *out, const struct view *v, const struct show_options *o)
{
	const struct summary *s = v->sum;
	const struct style style = { 0 };
	struct facts f;

	facts_begin(&f, out, &style);
	f.write = write_fact;
	buf_adds(out, "\n| | |\n");
	markdown_rule(out, "ll");
	fact_result(&f, s);
	fact_when(&f, s->rec);
	fact_host(&f, s);
	fact_directory(&f, s->rec);
	fact_sources(&f, s->rec);
	fact_warnings(&f, s->rec);
	if (v->all) {
		fact_cpu(&f, s);
		fact_machine(&f, s);
		fact_tasks(&f, s);
		fact_path(&f, s, o->chain);
		fact_memory(&f, s);
		fact_disk(&f, s);
		fact_pressure(&f, &s->host);
		fact_cache(&f, s->rec);
	} else {
		fact_selected(&f, v);
		text_caches(&f, v);
	}
	facts_release(&f);
}

static void add_head(struct buf *out, const struct view *v, const struct show_options *o)
{
	const char *command = recording_build(v->sum->rec, "command");
	struct buf result = BUF_PART_OF(out);

	buf_adds(out, "### ");
	if (command)
		add_name(out, command);
	else
		buf_adds(out, "A build");
	buf_adds(out, ": ");
	words_add_result(&result, v->sum->result, v->sum->status);
	buf_adds(&result, v->sum->result == BUILD_UNFINISHED ? ", seen for " : " after ");
	text_add_time(&result, v->sum->wall_us);
	add_words(out, &result);
	buf_addc(out, '\n');
	for (size_t i = 0; v->all && i < o->answer->n; i++) {
		text_add_name(&result, o->answer->sentence[i].text, 4 * NAME_COLUMNS);
		buf_adds(out, i ? "- " : "\n- ");
		add_words(out, &result);
		buf_addc(out, '\n');
	}
	buf_release(&result);
}

/* Failed tasks */

/* A block that no line in it can end: its fence is longer than all rows of backquotes. */
static void add_block(struct buf *out, const struct buf *lines)
{
	size_t longest = 2, run = 0;

	for (size_t i = 0; i < lines->len; i++) {
		run = lines->data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	buf_addc(out, '\n');
	for (size_t i = 0; i <= longest; i++)
		buf_addc(out, '`');
	buf_adds(out, "text\n");
	buf_add(out, lines->data, lines->len);
	for (size_t i = 0; i <= longest; i++)
		buf_addc(out, '`');
	buf_addc(out, '\n');
}

static void add_lines(struct buf *lines, const struct output_excerpt *x, uint32_t task)
{
	const char *p = x->text.data, *end = p ? p + x->text.len : p;

	for (size_t i = 0; i < x->n && p < end; i++) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		struct buf line = BUF_PART_OF(lines);

		if (!newline)
			break;
		if (x->task[i] == task) {
			buf_add(&line, p, (size_t)(newline - p));
			text_add_name(lines, buf_str(&line), 0);
			buf_addc(lines, '\n');
		}
		buf_release(&line);
		p = newline + 1;
	}
}

static void add_failed(struct buf *out, const struct view *v, size_t top,
		       const struct output_excerpt *x)
{
	const struct recording *rec = v->sum->rec;
	size_t n = v->n_unsuccessful < top ? v->n_unsuccessful : top, i;
	struct buf text = BUF_PART_OF(out);

	if (!v->n_unsuccessful)
		return;
	buf_adds(out, "\n#### Failed, killed, unfinished\n");
	for (i = 0; i < n && !is_full(out); i++) {
		const struct task *t = &rec->task[v->unsuccessful[i]];

		buf_adds(out, "\n");
		add_task_name(out, rec, t);
		buf_adds(out, ": ");
		words_add_status(&text, words_task_status(t));
		add_words(out, &text);
		buf_adds(out, "\n");
		if (*t->name && *recording_command(rec, t)) {
			buf_adds(&text, "$ ");
			text_add_name(&text, recording_command(rec, t), 4 * NAME_COLUMNS);
			buf_addc(&text, '\n');
		}
		add_lines(&text, x, v->unsuccessful[i]);
		if (text.len)
			add_block(out, &text);
		buf_clear(&text);
	}
	add_more(out, v->n_unsuccessful - i);
	buf_release(&text);
}

/* Tables */

struct head {
	size_t n;
	const char *title[VALUES + 4];
	char align[VALUES + 5];		/* 'l' or 'r'; ends with 0 */
};

static void head_add(struct head *h, const char *title, char align)
{
	h->title[h->n] = title;
	h->align[h->n++] = align;
}

static void head_write(struct buf *out, const struct head *h)
{
	markdown_row(out, h->title, h->n);
	markdown_rule(out, h->align);
}

static void add_targets(struct buf *out, struct view *v, enum value key, size_t top)
{
	const struct summary *s = v->sum;
	size_t n = view_top_targets(v, key, top), i;
	struct value_columns columns;
	struct head head = { 0 };

	if (!n)
		return;
	value_columns(&columns, key, &v->cost);
	buf_addf(out, "\n#### %s\n\n", value_info[key].list);
	for (unsigned k = 0; k < columns.n; k++)
		head_add(&head, value_info[columns.column[k]].title, 'r');
	head_add(&head, "kind", 'l');
	head_add(&head, "name", 'l');
	head_write(out, &head);
	for (i = 0; i < n && !is_full(out); i++) {
		const struct target *g = &s->target[v->target[i]];
		const struct task *t = &s->rec->task[summary_main_task(s, g)];
		const struct cost c = summary_target_cost(s, g);

		for (unsigned k = 0; k < columns.n; k++)
			add_value(out, columns.column[k], &c);
		buf_adds(out, "| ");
		markdown_add(out, t->kind);
		buf_adds(out, " | ");
		add_task_name(out, s->rec, t);
		if (g->n_tasks > 1)
			buf_addf(out, " (%u tasks)", g->n_tasks);
		buf_adds(out, " |\n");
	}
	if (i < n)
		add_more(out, n - i);
}

static void add_peak(struct buf *out, const struct summary *s)
{
	static const char *const cells[] = { "memory", "task" };

	if (!s->n_peak_tasks)
		return;
	buf_adds(out, "\n#### Largest memory of all tasks: ");
	text_add_bytes(out, sat_mul(s->memory_peak_kb.value, 1024));
	buf_adds(out, " at ");
	text_add_time(out, s->memory_peak_kb.time_us);
	buf_adds(out, "\n\n");
	markdown_row(out, cells, 2);
	markdown_rule(out, "rl");
	for (size_t i = 0; i < s->n_peak_tasks; i++) {
		buf_adds(out, "| ");
		value_add(out, VALUE_MEMORY, s->peak_task[i].memory_kb);
		buf_adds(out, " | ");
		add_task_name(out, s->rec, &s->rec->task[s->peak_task[i].task]);
		buf_adds(out, " |\n");
	}
}

int show_markdown(struct buf *out, struct view *v, const struct show_options *o,
		  const struct output_excerpt *excerpt)
{
	const struct recording *rec = v->sum->rec;
	struct buf command = BUF_PART_OF(out);
	struct doc d;

	add_head(out, v, o);
	add_facts(out, v, o);
	add_failed(out, v, o->top, excerpt);
	add_targets(out, v, o->sort < VALUE_SORTS ? o->sort : VALUE_WALL, o->top);
	if (v->all)
		add_peak(out, v->sum);
	doc_init_markdown(&d, out);
	for (size_t i = 0; i < o->n_groups; i++)
		group_table(&d, &o->groups[i], o->sort, o->top, SHOW_MARKDOWN_MAX - ROOM);
	doc_release(&d);
	buf_adds(out, "\nEvery task over time: ");
	buf_adds(&command, "buildbeat chart ");
	shell_add_shown(&command, rec->path);
	add_name(out, buf_str(&command));
	buf_addc(out, '\n');
	if (!out->error)
		out->error = buf_error(&command);
	buf_release(&command);
	return buf_error(out) ? buf_error(out) : recording_command_error(rec);
}
