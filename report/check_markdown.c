/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "report/amount.h"
#include "report/check_limits.h"
#include "report/check_population.h"
#include "report/words.h"
#include "write/markdown.h"

static void add_words(struct buf *out, struct buf *text)
{
	markdown_add(out, buf_str(text));
	buf_clear(text);
}

static void add_item(struct buf *out, struct buf *text)
{
	buf_adds(out, "- ");
	add_words(out, text);
	buf_addc(out, '\n');
}

static void add_head(struct buf *out, const struct check *c)
{
	const struct verdict *v = c->verdict;
	struct buf text = BUF_PART_OF(out);
	uint32_t good;

	buf_adds(out, "**");
	check_limits_add_verdict(&text, c->limits);
	check_against_add_verdict(&text, c->against, v->n_confirmed);
	words_add_verdict(&text, v);
	add_words(out, &text);
	buf_adds(out, "**: ");
	markdown_add(out, c->builds->ref);
	buf_adds(&text, ", build ");
	words_add_build(&text, c->builds, (uint32_t)c->builds->n - 1);
	add_words(out, &text);
	buf_adds(out, "\n\n");
	if (words_last_good(c->builds, v, &good)) {
		words_add_before_failure(&text, c->builds, good);
		add_item(out, &text);
	}
	check_against_lines(out, c->against, c->builds, add_item);
	words_add_judged(&text, v, c->rules);
	add_item(out, &text);
	for (enum metric m = 0; m < METRICS; m++) {
		if (!words_host_event(v, m))
			continue;
		words_add_host(&text, v, m);
		add_item(out, &text);
	}
	for (size_t i = 0; i < v->n_exact; i++) {
		words_add_exact(&text, &v->exact[i]);
		add_item(out, &text);
	}
	words_add_unaccounted(&text, c->builds);
	if (text.len)
		add_item(out, &text);
	if (!c->against || !v->enough)
		words_add_builds_to_come(&text, v);
	if (text.len)
		add_item(out, &text);
	buf_release(&text);
}

#define CELLS 6

static void add_member(struct buf *out, const struct check *c, struct buf cell[CELLS],
		       const struct verdict_finding *f)
{
	for (size_t i = 0; i < CELLS; i++)
		buf_clear(&cell[i]);
	buf_adds(&cell[0], words_task(c->builds, f->task));
	words_add_amounts(&cell[2], f);
	amount_add_share(&cell[3], f->effect);
	words_add_interval(&cell[3], f);
	markdown_add_row(out, "&emsp;", cell, CELLS);
}

static void add_group(struct buf *out, const struct check *c, const struct verdict_group *g)
{
	const struct verdict_finding *f = &g->whole;
	struct buf cell[CELLS];

	for (size_t i = 0; i < CELLS; i++)
		cell[i] = (struct buf)BUF_PART_OF(out);
	words_add_group(&cell[0], c->builds, g);
	buf_adds(&cell[1], metric_info[f->metric].title);
	words_add_group_amounts(&cell[2], g);
	amount_add_share(&cell[3], f->effect);
	words_add_interval(&cell[3], f);
	words_add_since(&cell[4], c->builds, f);
	words_add_notes(&cell[4], f);
	words_add_ranges(&cell[5], c->builds, f);
	markdown_add_row(out, "", cell, CELLS);
	for (size_t i = 0; i < check_members(c, g); i++)
		add_member(out, c, cell, check_member(c, g, i));
	for (size_t i = 0; i < CELLS; i++)
		buf_release(&cell[i]);
}

static void add_heading(struct buf *out, const char *title)
{
	static const char *const cell[CELLS] = { "task", "metric", "before, now", "change", "since",
						 "revisions" };

	buf_addf(out, "\n#### %s\n\n", title);
	markdown_row(out, cell, CELLS);
	markdown_rule(out, "llrrll");
}

static void add_table(struct buf *out, const struct check *c, const struct words_section *section)
{
	size_t n = 0, top = c->all ? SIZE_MAX : c->top;

	for (size_t i = 0; i < c->groups->n; i++) {
		const struct verdict_group *g = &c->groups->group[i];

		if (g->whole.state != section->state || g->whole.worse != section->worse)
			continue;
		if (!n)
			add_heading(out, section->title);
		if (n++ < top)
			add_group(out, c, g);
	}
	if (n > top)
		buf_addf(out, "\nand %zu more\n", n - top);
}

int check_markdown(struct buf *out, const struct check *c)
{
	add_head(out, c);
	check_limits_markdown(out, c->limits, c->all ? SIZE_MAX : c->top);
	for (size_t i = 0; i < WORDS_SECTIONS; i++)
		add_table(out, c, &words_sections[i]);
	check_population_markdown(out, c->population, c->builds, c->all ? SIZE_MAX : c->top);
	return buf_error(out);
}
