/* SPDX-License-Identifier: MIT */
#include "report/diff_output.h"

#include "report/amount.h"
#include "write/markdown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 5

static void add_value(struct buf *out, const char *name, const struct diff_value *f,
		      enum unit unit)
{
	struct buf cell[CELLS];
	const char *text[CELLS];
	const char *bold = diff_is_change(f) ? "**" : "";

	for (size_t i = 0; i < CELLS; i++)
		cell[i] = (struct buf)BUF_PART_OF(out);
	buf_adds(&cell[0], bold);
	markdown_add(&cell[0], name);
	buf_adds(&cell[0], bold);
	amount_add(&cell[1], unit, f->value[DIFF_BASE]);
	amount_add(&cell[2], unit, f->value[DIFF_NOW]);
	amount_add_change(&cell[3], unit, f->change);
	amount_add_share(&cell[4], f->share);
	for (size_t i = 0; i < CELLS; i++)
		text[i] = buf_str(&cell[i]);
	markdown_row(out, text, CELLS);
	for (size_t i = 0; i < CELLS; i++)
		buf_release(&cell[i]);
}

static void add_heading(struct buf *out, const char *first)
{
	const char *const cell[CELLS] = { first, "base", "new", "change", "share" };

	markdown_row(out, cell, CELLS);
	markdown_rule(out, "lrrrr");
}

static int add_metric(struct buf *out, const struct diff_view *v, enum metric m)
{
	const struct diff *d = v->diff;
	uint32_t *task;
	size_t n;
	int r = diff_list(v, m, &task, &n);

	if (!r && n) {
		buf_adds(out, "\n#### ");
		diff_add_heading(out, d, m);
		buf_adds(out, "\n\n");
		add_heading(out, "task");
	}
	for (size_t i = 0; !r && i < n && i < v->top; i++)
		add_value(out, d->task[task[i]].name, &d->value[m][task[i]],
			  metric_info[m].unit);
	if (!r && n > v->top)
		buf_addf(out, "\nand %zu more\n", n - v->top);
	free(task);
	return r;
}

static void add_facts(struct buf *out, const struct diff *d)
{
	struct buf value = BUF_PART_OF(out);

	if (d->n_facts)
		buf_adds(out, "\nChanged circumstances:\n\n");
	for (size_t i = 0; i < d->n_facts; i++) {
		buf_addf(out, "- %s: ", strcmp(d->fact[i].key, "memory_kb") ? d->fact[i].key :
			 "memory");
		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			buf_clear(&value);
			diff_add_fact(&value, &d->fact[i], s);
			buf_adds(out, s ? " → " : "");
			markdown_add(out, buf_str(&value));
		}
		buf_addc(out, '\n');
	}
	buf_release(&value);
}

static void add_rest(struct buf *out, const struct diff_view *v, size_t n)
{
	if (n > v->top)
		buf_addf(out, "- and %zu more\n", n - v->top);
}

static void add_ends(struct buf *out, const struct diff_view *v, enum diff_end end)
{
	const struct diff *d = v->diff;
	size_t n = 0;

	for (size_t i = 0; i < d->n_tasks; i++) {
		if (d->task[i].end != end)
			continue;
		if (!n++)
			buf_addf(out, "\n%s:\n\n", diff_end_title[end]);
		if (n > v->top)
			continue;
		buf_adds(out, "- ");
		markdown_add(out, d->task[i].name);
		buf_adds(out, ": ");
		diff_add_end(out, d, &d->task[i], end == DIFF_END_FIXED ? DIFF_BASE : DIFF_NOW);
		buf_addc(out, '\n');
	}
	add_rest(out, v, n);
}

static int add_lost(struct buf *out, const struct diff_view *v, enum diff_presence presence,
		    const char *title)
{
	uint32_t *task;
	size_t n;
	int r = diff_list_lost(v, presence, &task, &n);

	if (!r && n)
		buf_addf(out, "\n%s:\n\n", title);
	for (size_t i = 0; !r && i < n && i < v->top; i++) {
		buf_adds(out, "- ");
		markdown_add(out, v->diff->task[task[i]].name);
		buf_addc(out, '\n');
	}
	add_rest(out, v, n);
	free(task);
	return r;
}

static void add_renamed(struct buf *out, const struct diff_view *v)
{
	const struct diff *d = v->diff;
	size_t n = 0;

	for (size_t i = 0; i < d->n_tasks; i++) {
		const struct diff_task *t = &d->task[i];

		if (!t->was)
			continue;
		if (!n++)
			buf_adds(out, "\nRenamed:\n\n");
		if (n > v->top)
			continue;
		buf_adds(out, "- ");
		markdown_add(out, t->was);
		buf_adds(out, " → ");
		markdown_add(out, t->name);
		buf_addc(out, '\n');
	}
	add_rest(out, v, n);
}

static void add_packages(struct buf *out, const struct diff_view *v)
{
	const struct diff *d = v->diff;

	if (d->n_packages)
		buf_adds(out, "\nRecipes:\n\n");
	for (size_t i = 0; i < d->n_packages && i < v->top; i++) {
		const struct diff_package *p = &d->package[i];

		buf_addf(out, "- %s: ", diff_package_word[p->change]);
		markdown_add(out, p->name);
		for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
			if (!p->version[s])
				continue;
			buf_adds(out, s && p->version[DIFF_BASE] ? " → " : " ");
			markdown_add(out, p->version[s]);
		}
		buf_addc(out, '\n');
	}
	add_rest(out, v, d->n_packages);
}

int diff_markdown(struct buf *out, const struct diff_view *v)
{
	const struct diff *d = v->diff;
	int r = 0;

	buf_adds(out, diff_is_worse(d) ? "### The build is worse\n\n" : "### Builds compared\n\n");
	if (d->unlike) {
		buf_adds(out, "Warning: ");
		diff_add_warning(out, d);
		buf_adds(out, ".\n\n");
	}
	buf_adds(out, "Verdict: ");
	diff_add_verdict(out, d);
	buf_adds(out, ".\n\nTasks: ");
	diff_add_counts(out, d);
	buf_adds(out, ".\n");
	for (enum metric m = 0; m < METRICS; m++) {
		size_t before = out->len;

		buf_adds(out, "Common factor of all tasks: ");
		diff_add_common(out, d, m);
		if (out->len == before + strlen("Common factor of all tasks: "))
			buf_cut(out, before);
		else
			buf_adds(out, ".\n");
	}
	buf_addc(out, '\n');
	add_heading(out, "the build");
	for (enum metric m = 0; m < METRICS; m++) {
		const struct diff_value *f = &d->whole[m];

		if (d->value[m] && !(isnan(f->value[DIFF_BASE]) && isnan(f->value[DIFF_NOW])))
			add_value(out, metric_info[m].title, f, metric_info[m].unit);
	}
	for (enum diff_end end = DIFF_END_FAILS; end <= DIFF_END_OTHER; end++)
		add_ends(out, v, end);
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (d->value[m])
			r = add_metric(out, v, m);
	}
	if (!r)
		r = add_lost(out, v, DIFF_NEW, "New");
	if (!r)
		r = add_lost(out, v, DIFF_GONE, "Gone");
	add_renamed(out, v);
	add_packages(out, v);
	add_facts(out, d);
	return r ? r : buf_error(out);
}
