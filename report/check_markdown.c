/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "report/amount.h"
#include "report/check_limits.h"
#include "report/markdown.h"
#include "report/words.h"

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

	buf_adds(out, "**");
	check_limits_add_verdict(&text, c->limits);
	words_add_verdict(&text, v);
	add_words(out, &text);
	buf_adds(out, "**: ");
	markdown_add(out, c->builds->ref);
	buf_adds(&text, ", build ");
	words_add_build(&text, c->builds, (uint32_t)c->builds->n - 1);
	add_words(out, &text);
	buf_adds(out, "\n\n");
	words_add_judged(&text, v, c->rules);
	add_item(out, &text);
	for (enum metric m = 0; m < METRICS; m++) {
		if (!v->host_event[m])
			continue;
		words_add_host(&text, v, m);
		add_item(out, &text);
	}
	for (size_t i = 0; i < v->n_exact; i++) {
		words_add_exact(&text, &v->exact[i]);
		add_item(out, &text);
	}
	words_add_builds_to_come(&text, v);
	if (text.len)
		add_item(out, &text);
	buf_release(&text);
}

#define CELLS 6

static void fill(struct buf cell[CELLS], const struct check *c, const struct verdict_finding *f)
{
	buf_adds(&cell[0], words_task(c->builds, f->task));
	buf_adds(&cell[1], metric_info[f->metric].title);
	words_add_amounts(&cell[2], f);
	amount_add_share(&cell[3], f->effect);
	words_add_interval(&cell[3], f);
	words_add_since(&cell[4], c->builds, f);
	if (f->machine)
		buf_adds(&cell[4], "; the machine or its tools changed at that time");
	if (f->known)
		buf_addf(&cell[4], "; known: %s", f->known->reason);
	words_add_ranges(&cell[5], c->builds, f);
}

static void add_row(struct buf *out, const struct check *c, const struct verdict_finding *f)
{
	struct buf plain[CELLS], cell[CELLS];
	const char *text[CELLS];

	for (size_t i = 0; i < CELLS; i++)
		plain[i] = cell[i] = (struct buf)BUF_PART_OF(out);
	fill(plain, c, f);
	for (size_t i = 0; i < CELLS; i++) {
		markdown_add(&cell[i], buf_str(&plain[i]));
		text[i] = buf_str(&cell[i]);
	}
	markdown_row(out, text, CELLS);
	for (size_t i = 0; i < CELLS; i++) {
		buf_release(&plain[i]);
		buf_release(&cell[i]);
	}
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
	size_t n = 0;

	for (size_t i = 0; i < c->verdict->n; i++) {
		const struct verdict_finding *f = &c->verdict->finding[i];

		if (f->state != section->state || f->worse != section->worse)
			continue;
		if (!n)
			add_heading(out, section->title);
		if (n++ < c->top)
			add_row(out, c, f);
	}
	if (n > c->top)
		buf_addf(out, "\nand %zu more\n", n - c->top);
}

int check_markdown(struct buf *out, const struct check *c)
{
	add_head(out, c);
	check_limits_markdown(out, c->limits, c->top);
	for (size_t i = 0; i < WORDS_SECTIONS; i++)
		add_table(out, c, &words_sections[i]);
	return buf_error(out);
}
