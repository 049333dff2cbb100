/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "render/show.h"
#include "report/amount.h"
#include "report/check_limits.h"
#include "report/words.h"

#define NAME_COLUMNS 40

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

	text_tone(out, style, v->n_confirmed || (c->limits && c->limits->n) ? TONE_ALARM :
		  TONE_TITLE);
	check_limits_add_verdict(&text, c->limits);
	words_add_verdict(&text, v);
	text_add_name(out, buf_str(&text), 0);
	text_tone(out, style, TONE_PLAIN);
	buf_clear(&text);
	buf_addf(&text, ": %s, build ", c->builds->ref);
	words_add_build(&text, c->builds, (uint32_t)c->builds->n - 1);
	add_line(out, &text);
	words_add_judged(&text, v, c->rules);
	add_line(out, &text);
	for (enum metric m = 0; m < METRICS; m++) {
		if (!v->host_event[m])
			continue;
		words_add_host(&text, v, m);
		add_line(out, &text);
	}
	for (size_t i = 0; i < v->n_exact; i++) {
		words_add_exact(&text, &v->exact[i]);
		add_line(out, &text);
	}
	buf_release(&text);
}

static bool began_together(const struct verdict_finding *a, const struct verdict_finding *b)
{
	return a->since == b->since && a->first == b->first && a->last == b->last;
}

static void add_since(struct buf *out, const struct check *c, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(out);

	buf_adds(out, "  ");
	words_add_since(&text, c->builds, f);
	buf_adds(&text, ", ");
	words_add_count(&text, c->builds->n - f->since, "build", "builds");
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

static void add_finding(struct buf *out, const struct check *c, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(out);
	size_t columns;

	buf_adds(out, "    ");
	columns = text_add_name(out, words_task(c->builds, f->task), NAME_COLUMNS);
	text_add_blanks(out, columns < NAME_COLUMNS ? NAME_COLUMNS - columns : 0);
	buf_addf(out, "  %s ", metric_info[f->metric].title);
	amount_add_share(out, f->effect);
	words_add_interval(out, f);
	buf_adds(out, ", ");
	words_add_amounts(out, f);
	buf_addc(out, '\n');
	if (f->known) {
		buf_adds(&text, f->known->reason);
		if (f->known->by && *f->known->by)
			buf_addf(&text, " (%s)", f->known->by);
		buf_adds(out, "      known: ");
		add_line(out, &text);
	}
	buf_release(&text);
}

static bool is_of(const struct verdict_finding *f, const struct words_section *section)
{
	return f->state == section->state && f->worse == section->worse;
}

static bool is_first_of_build(const struct verdict *v, size_t i,
			      const struct words_section *section)
{
	for (size_t k = 0; k < i; k++) {
		if (is_of(&v->finding[k], section) && began_together(&v->finding[k],
								     &v->finding[i]))
			return false;
	}
	return true;
}

static size_t add_build(struct buf *out, const struct check *c, size_t first,
			const struct words_section *section, size_t most)
{
	const struct verdict *v = c->verdict;
	size_t n = 0;

	add_since(out, c, &v->finding[first]);
	for (size_t i = first; i < v->n && n < most; i++) {
		if (!is_of(&v->finding[i], section) ||
		    !began_together(&v->finding[i], &v->finding[first]))
			continue;
		add_finding(out, c, &v->finding[i]);
		n++;
	}
	return n;
}

static void add_findings(struct buf *out, const struct check *c, const struct style *style,
			 const struct words_section *section)
{
	const struct verdict *v = c->verdict;
	size_t all = 0, shown = 0;

	for (size_t i = 0; i < v->n; i++) {
		if (!is_of(&v->finding[i], section))
			continue;
		if (!all++)
			text_title(out, style, section->title);
		if (shown < c->top && is_first_of_build(v, i, section))
			shown += add_build(out, c, i, section, c->top - shown);
	}
	if (all > shown)
		buf_addf(out, "  and %zu more (--top lists them)\n", all - shown);
}

static void add_next(struct buf *out, const struct check *c, const struct style *style)
{
	const struct verdict *v = c->verdict;
	struct buf to_come = BUF_PART_OF(out);

	words_add_builds_to_come(&to_come, v);
	if (to_come.len || v->n_confirmed)
		text_title(out, style, "Next");
	if (to_come.len) {
		buf_adds(out, "  ");
		add_line(out, &to_come);
	}
	buf_release(&to_come);
	if (!v->n_confirmed)
		return;
	buf_adds(out, "  show its history:          buildbeat history --repo ");
	text_add_name(out, c->repo, 0);
	buf_adds(out, " TASK\n  acknowledge it:            buildbeat ack\n"
		 "  accept it as normal:       buildbeat accept\n"
		 "  find the commit:           buildbeat bisect\n");
}

int check_text(struct buf *out, const struct check *c, const struct style *style)
{
	add_head(out, c, style);
	check_limits_text(out, c->limits, c->top, style);
	for (size_t i = 0; i < WORDS_SECTIONS; i++)
		add_findings(out, c, style, &words_sections[i]);
	add_next(out, c, style);
	return buf_error(out);
}
