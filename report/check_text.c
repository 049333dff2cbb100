/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "render/show.h"
#include "report/amount.h"
#include "report/check_limits.h"
#include "report/check_population.h"
#include "report/words.h"

#include <errno.h>
#include <stdlib.h>

#define NAME_COLUMNS 44	/* with its indent */

static void add_line(struct buf *out, struct buf *text)
{
	text_add_name(out, buf_str(text), 0);
	buf_addc(out, '\n');
	buf_clear(text);
}

static void add_head(struct buf *out, const struct check *c, const struct style *style)
{
	const struct verdict *v = c->verdict;
	struct buf text = BUF_PART_OF(out);
	uint32_t good;

	text_tone(out, style, v->n_confirmed || v->not_judged || (c->limits && c->limits->n) ?
		  TONE_ALARM : TONE_TITLE);
	check_limits_add_verdict(&text, c->limits);
	check_against_add_verdict(&text, c->against, v->n_confirmed);
	words_add_verdict(&text, v);
	text_add_name(out, buf_str(&text), 0);
	text_tone(out, style, TONE_PLAIN);
	buf_clear(&text);
	buf_addf(&text, ": %s, build ", c->builds->ref);
	words_add_build(&text, c->builds, (uint32_t)c->builds->n - 1);
	add_line(out, &text);
	if (words_last_good(c->builds, v, &good)) {
		words_add_before_failure(&text, c->builds, good);
		add_line(out, &text);
	}
	check_against_lines(out, c->against, c->builds, add_line);
	words_add_judged(&text, v, c->rules);
	add_line(out, &text);
	for (enum metric m = 0; m < METRICS; m++) {
		if (!words_host_event(v, m))
			continue;
		words_add_host(&text, v, m);
		add_line(out, &text);
	}
	for (size_t i = 0; i < v->n_exact; i++) {
		words_add_exact(&text, &v->exact[i]);
		add_line(out, &text);
	}
	words_add_unaccounted(&text, c->builds);
	if (text.len)
		add_line(out, &text);
	buf_release(&text);
}

static bool began_together(const struct verdict_finding *a, const struct verdict_finding *b)
{
	return a->since == b->since && a->first == b->first && a->last == b->last &&
	       a->creep == b->creep;
}

/* The number of builds since then that did not fail. */
static size_t good_builds(const struct builds *builds, uint32_t since)
{
	size_t n = 0;

	for (size_t i = since; i < builds->n; i++)
		n += builds->build[i].total[TOTAL_STATUS] <= 0;
	return n;
}

static void add_since(struct buf *out, const struct check *c, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(out);

	buf_adds(out, "  ");
	words_add_since(&text, c->builds, f);
	if (!f->creep) {
		buf_adds(&text, ", ");
		words_add_count(&text, good_builds(c->builds, f->since), "build", "builds");
	}
	add_line(out, &text);
	words_add_ranges(&text, c->builds, f);
	if (text.len) {
		buf_adds(out, "  ");
		add_line(out, &text);
	}
	if (f->machine)
		buf_adds(out, "  the machine or its tools changed at that time\n");
	buf_release(&text);
}

/* A name, and its values beside it or, where the terminal is too narrow, below it. */
static void add_values(struct buf *out, const struct style *style, unsigned indent,
		       const char *name, struct buf *values)
{
	size_t columns = NAME_COLUMNS - indent;

	text_add_blanks(out, indent);
	if (style->width && NAME_COLUMNS + 2 + values->len > style->width) {
		text_add_name(out, name, style->width - indent);
		buf_addc(out, '\n');
		text_add_blanks(out, indent + 2);
	} else {
		columns -= text_add_name(out, name, columns);
		text_add_blanks(out, columns + 2);
	}
	add_line(out, values);
}

static void add_member(struct buf *out, const struct check *c, const struct style *style,
		       const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(out);

	amount_add_share(&text, f->effect);
	words_add_interval(&text, f);
	buf_adds(&text, ", ");
	words_add_amounts(&text, f);
	add_values(out, style, 6, words_task(c->builds, f->task), &text);
	buf_release(&text);
}

static void add_notes(struct buf *out, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(out);
	const char *shared = words_shared(f);

	if (shared)
		buf_addf(out, "      %s\n", shared);
	if (f->known) {
		buf_adds(&text, f->known->reason);
		if (f->known->by && *f->known->by)
			buf_addf(&text, " (%s)", f->known->by);
		buf_adds(out, "      known: ");
		add_line(out, &text);
	}
	buf_release(&text);
}

static void add_group(struct buf *out, const struct check *c, const struct style *style,
		      const struct verdict_group *g)
{
	struct buf name = BUF_PART_OF(out), text = BUF_PART_OF(out);
	const struct verdict_finding *f = &g->whole;

	words_add_group(&name, c->builds, g);
	buf_addf(&text, "%s ", metric_info[f->metric].title);
	amount_add_share(&text, f->effect);
	words_add_interval(&text, f);
	buf_adds(&text, ", ");
	words_add_group_amounts(&text, g);
	add_values(out, style, 4, buf_str(&name), &text);
	for (size_t i = 0; i < check_members(c, g); i++)
		add_member(out, c, style, check_member(c, g, i));
	add_notes(out, f);
	buf_release(&name);
	buf_release(&text);
}

static bool is_of(const struct verdict_group *g, const struct words_section *section)
{
	return g->whole.state == section->state && g->whole.worse == section->worse;
}

/* Prints the groups of the section that began with the first one. */
static size_t add_event(struct buf *out, const struct check *c, const struct style *style,
			size_t first, size_t most, bool *printed)
{
	const struct verdict_groups *groups = c->groups;
	size_t n = 0;

	add_since(out, c, &groups->group[first].whole);
	for (size_t i = first; i < groups->n && n < most; i++) {
		const struct verdict_group *g = &groups->group[i];

		if (g->whole.state != groups->group[first].whole.state ||
		    g->whole.worse != groups->group[first].whole.worse)
			break;
		if (!began_together(&g->whole, &groups->group[first].whole))
			continue;
		add_group(out, c, style, g);
		printed[i] = true;
		n++;
	}
	return n;
}

static void add_section(struct buf *out, const struct check *c, const struct style *style,
			const struct words_section *section, bool *printed)
{
	const struct verdict_groups *groups = c->groups;
	size_t all = 0, shown = 0, top = c->all ? SIZE_MAX : c->top;

	for (size_t i = 0; i < groups->n; i++) {
		if (!is_of(&groups->group[i], section))
			continue;
		if (!all++)
			text_title(out, style, section->title);
		if (shown < top && !printed[i])
			shown += add_event(out, c, style, i, top - shown, printed);
	}
	if (all > shown)
		buf_addf(out, "  and %zu more (--all lists them)\n", all - shown);
}

static int add_next(struct buf *out, const struct check *c, const struct style *style)
{
	const struct verdict *v = c->verdict;
	struct buf to_come = BUF_PART_OF(out);

	if (!c->against || !v->enough)
		words_add_builds_to_come(&to_come, v);
	if (to_come.len || v->n_confirmed)
		text_title(out, style, "Next");
	if (to_come.len) {
		buf_adds(out, "  ");
		add_line(out, &to_come);
	}
	buf_release(&to_come);
	return v->n_confirmed ? check_add_next(out, c) : 0;
}

int check_text(struct buf *out, const struct check *c, const struct style *style)
{
	bool *printed = calloc(c->groups->n + 1, sizeof *printed);
	int r;

	if (!printed)
		return -ENOMEM;
	add_head(out, c, style);
	check_limits_text(out, c->limits, c->all ? SIZE_MAX : c->top, style);
	for (size_t i = 0; i < WORDS_SECTIONS; i++)
		add_section(out, c, style, &words_sections[i], printed);
	free(printed);
	check_population_text(out, c->population, c->builds, c->all ? SIZE_MAX : c->top, style);
	r = add_next(out, c, style);
	return r ? r : buf_error(out);
}
