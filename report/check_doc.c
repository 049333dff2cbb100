/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "base/array.h"
#include "report/amount.h"
#include "report/check_limits.h"
#include "report/check_population.h"
#include "report/check_power.h"
#include "report/words_change.h"

#include <errno.h>
#include <stdlib.h>

#define NEWS_BUILDS 3
#define CELLS 6		/* after the task */

/* A check as a document for people. On a terminal, changes that began together are listed together. */

static void add_head(struct doc *d, const struct check *c)
{
	const struct verdict *v = c->verdict;
	bool alarm = v->n_confirmed || v->not_judged || (c->limits && c->limits->n);
	struct buf verdict = BUF_PART_OF(d->out), build = BUF_PART_OF(d->out);
	uint32_t good;

	check_limits_add_verdict(&verdict, c->limits);
	if (check_against_is_unknown(c->against, v))
		check_against_add_verdict(&verdict, c->against);
	else
		words_add_verdict(&verdict, v, c->groups->n_causes);
	buf_addf(&build, ": %s, build ", c->builds->ref);
	words_add_build(&build, c->builds, (uint32_t)c->builds->n - 1);
	doc_lead(d, alarm ? TONE_ALARM : TONE_TITLE, buf_str(&verdict), buf_str(&build));
	buf_release(&verdict);
	buf_release(&build);
	words_add_error(doc_item(d, 0), c->builds);
	if (words_last_good(c->builds, v, &good))
		words_add_before_failure(doc_item(d, 0), c->builds, good);
	check_against_lines(d, c->against, c->builds);
	words_add_judged(doc_item(d, 0), v, c->rules);
	check_power_add_short(doc_item(d, 0), c->power);
	for (enum metric m = 0; m < METRICS; m++) {
		if (words_host_event(v, m))
			words_add_host(doc_item(d, 0), v, m);
	}
	for (size_t i = 0; i < v->n_exact; i++)
		words_add_exact(doc_item(d, 0), &v->exact[i]);
	words_add_unaccounted(doc_item(d, 0), c->builds);
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

/* The event of the changes that follow. */
static void add_since(struct doc *d, const struct check *c, const struct verdict_finding *f)
{
	struct buf *text = doc_item(d, 2);

	words_add_since(text, c->builds, f);
	if (!f->creep) {
		buf_adds(text, ", ");
		words_add_count(text, good_builds(c->builds, f->since), "build", "builds");
	}
	words_add_ranges(doc_item(d, 2), c->builds, f);
	if (f->machine)
		buf_adds(doc_item(d, 2), "the machine or its tools changed at that time");
}

static void add_notes(struct doc *d, const struct verdict_finding *f, bool effects)
{
	const char *shared = words_shared(f);

	if (shared)
		buf_adds(doc_item(d, 6), shared);
	if (f->back)
		words_add_back(doc_item(d, 6), f);
	words_add_also(doc_item(d, 6), f, effects);
	if (f->overdue)
		words_add_overdue(doc_item(d, 6), f->overdue);
	if (!f->known)
		return;
	words_add_known(doc_item(d, 6), f->known);
	if (f->known->by && *f->known->by)
		buf_addf(&d->text, " (%s)", f->known->by);
	words_add_handling(doc_item(d, 6), f->known);
}

static bool is_of(const struct verdict_group *g, const struct words_section *section)
{
	return g->whole.state == section->state && g->whole.worse == section->worse;
}

/* What does not ask for anything is reported when it is confirmed and in the next builds: improvements, and
 * what a machine did to all tasks. */
static bool is_old_news(const struct check *c, const struct verdict_group *g)
{
	if (c->all || g->whole.state == FINDING_SUSPECT || g->whole.known ||
	    (g->whole.worse && (g->whole.fails || g->whole.task != TASK_HOST)))
		return false;
	return c->builds->n - 1 >= g->whole.at + NEWS_BUILDS;
}

static bool is_of_all(const struct verdict_finding *f)
{
	return !f->fails && (f->task == TASK_HOST || f->task == TASK_TOTAL);
}

/*
 * The group in whose line another one is reported: a new machine is one line with all metrics of all
 * tasks, and the build's totals say the same again. Tasks that show alone what a group of them shows
 * are in its line. Itself if it has its own.
 */
static size_t line_of(const struct check *c, size_t i)
{
	const struct verdict_finding *f = &c->groups->group[i].whole;

	for (size_t k = 0; !c->all && is_of_all(f) && k < c->groups->n; k++) {
		const struct verdict_finding *g = &c->groups->group[k].whole;

		if (g->task == TASK_HOST && !g->fails && g->state == f->state && g->worse == f->worse &&
		    g->known == f->known && verdict_meet(f, g))
			return k;
	}
	return check_like(c, i);
}

/* Adds the changes of the other groups of a line: ", CPU time -19 %, the build 6m 34s -> 5m 34s", or how many
 * tasks show alone what this one says. */
static void add_others(struct buf *text, const struct check *c, size_t i)
{
	bool has_total = false;
	double more = 0;
	size_t n = 0;

	for (size_t k = i + 1; k < c->groups->n; k++) {
		const struct verdict_finding *f = &c->groups->group[k].whole;

		if (line_of(c, k) != i)
			continue;
		if (c->groups->group[i].whole.task == TASK_SHARED) {
			n += c->groups->group[k].n;
			more += f->now - f->before;
		} else if (f->task == TASK_HOST) {
			buf_addf(text, ", %s ", metric_info[f->metric].title);
			amount_add_share(text, f->effect);
		} else if (!has_total) {
			buf_adds(text, ", the build ");
			words_add_amounts(text, f);
			has_total = true;
		}
	}
	if (n) {
		buf_addf(text, ", and %zu more %s it alone, ", n, n == 1 ? "that shows" : "that each show");
		amount_add_change(text, metric_info[c->groups->group[i].whole.metric].unit, more);
	}
}

/* The change of a group or, if g is NULL, of a member of one, which is f. */
static void add_change(struct doc *d, const struct check *c, const struct verdict_group *g,
		       const struct verdict_finding *f)
{
	const struct builds *builds = c->builds;
	struct buf amounts = BUF_PART_OF(d->out), share = BUF_PART_OF(d->out), *text;

	if (g)
		words_add_group_amounts(&amounts, g);
	else
		words_add_amounts(&amounts, f);
	if ((!g || g->n == 1) && f->task != TASK_SHARED)
		words_add_newest(&amounts, f);
	amount_add_share(&share, f->effect);
	words_add_interval(&share, f);
	doc_row(d);
	if (g) {
		words_add_group(doc_text(d, 0), builds, g);
	} else {
		doc_str(d, words_task(builds, f->task));
		doc_depth(d, 1);
	}
	text = doc_text(d, 0);
	if (g)
		buf_addf(text, "%s ", metric_info[f->metric].title);
	buf_addf(text, "%s, %s", buf_str(&share), buf_str(&amounts));
	if (g)
		add_others(text, c, (size_t)(g - c->groups->group));
	doc_str(d, g ? metric_info[f->metric].title : "");
	doc_str(d, buf_str(&amounts));
	text = doc_text(d, 0);
	buf_adds(text, buf_str(&share));
	if (g)
		add_others(text, c, (size_t)(g - c->groups->group));
	text = doc_text(d, 0);
	if (g) {
		words_add_since(text, builds, f);
		words_add_notes(text, f);
	}
	text = doc_text(d, 0);
	if (g)
		words_add_ranges(text, builds, f);
	buf_release(&amounts);
	buf_release(&share);
}

/* The tasks that changed with all of them. */
static void add_moved(struct doc *d, const struct check *c, const struct verdict_finding *f)
{
	size_t n = c->all || f->n_moved <= CHECK_FEW ? f->n_moved : 0;

	for (size_t i = 0; i < n; i++) {
		doc_row(d);
		doc_str(d, words_task(c->builds, c->verdict->moved[f->first_moved + i]));
		doc_depth(d, 1);
		for (int k = 0; k < CELLS; k++)
			doc_str(d, "");
	}
}

static void add_group(struct doc *d, const struct check *c, const struct verdict_group *g)
{
	add_change(d, c, g, &g->whole);
	if (g->n == 1)
		add_moved(d, c, &g->whole);
	for (size_t i = 0; i < check_members(c, g); i++)
		add_change(d, c, NULL, check_member(c, g, i));
	if (doc_is(d, DOC_TERMINAL))
		add_notes(d, &g->whole, g->n == 1);
}

static int add_section(struct doc *d, const struct check *c, const struct words_section *section)
{
	static const struct doc_column columns[] = {
		{ "task", .gap = 4, .width = 40, .shorten = true },
		{ .in = DOC_TERMINAL, .gap = 2, .below = true }, { "metric", .in = DOC_MARKDOWN },
		{ "before, now", .type = DOC_REAL, .in = DOC_MARKDOWN },
		{ "change", .type = DOC_REAL, .in = DOC_MARKDOWN }, { "since", .in = DOC_MARKDOWN },
		{ "revisions", .in = DOC_MARKDOWN },
	};
	const struct doc_table table = {
		.title = section->title, .column = columns, .n_columns = ARRAY_SIZE(columns),
		.heads = !doc_is(d, DOC_TERMINAL), .more = " (--all lists them)",
	};
	const struct verdict_groups *groups = c->groups;
	bool *printed = array_new_zero(groups->n, sizeof *printed);
	size_t all = 0, shown = 0, top = c->all ? SIZE_MAX : c->top;

	if (!printed)
		return -ENOMEM;
	doc_table(d, &table);
	for (size_t i = 0; i < groups->n; i++) {
		const struct verdict_finding *first = &groups->group[i].whole;

		if (!is_of(&groups->group[i], section) || is_old_news(c, &groups->group[i]) ||
		    line_of(c, i) != i)
			continue;
		all++;
		if (printed[i] || shown == top)
			continue;
		if (doc_is(d, DOC_TERMINAL))
			add_since(d, c, first);
		for (size_t k = i; k < groups->n && shown < top && is_of(&groups->group[k], section); k++) {
			if (k > i && (is_old_news(c, &groups->group[k]) || line_of(c, k) != k ||
				      !(doc_is(d, DOC_TERMINAL) &&
					began_together(&groups->group[k].whole, first))))
				continue;
			add_group(d, c, &groups->group[k]);
			printed[k] = true;
			shown++;
		}
	}
	doc_table_end(d, all - shown);
	free(printed);
	return 0;
}

/* On a terminal: what to do. */
static int add_next(struct doc *d, const struct check *c, struct buf *to_come)
{
	const struct verdict *v = c->verdict;
	bool unknown = check_against_is_unknown(c->against, v);

	if (to_come->len || v->n_confirmed || unknown)
		doc_heading(d, "Next");
	buf_adds(doc_item(d, 2), buf_str(to_come));
	doc_flush(d);
	if (unknown)
		check_add_undecided(d->out, c);
	return v->n_confirmed || (v->n_suspect && !unknown) ? check_add_next(d->out, c) : 0;
}

/* Of several series: their sums. */
static void add_sum(struct doc *d, const struct check *c, size_t n)
{
	struct buf verdict = BUF_PART_OF(d->out), series = BUF_PART_OF(d->out);
	struct verdict sum = { .enough = true };
	size_t unjudged = 0, few = 0, causes = 0;

	for (size_t i = 0; i < n; i++) {
		sum.n_confirmed += c[i].verdict->n_confirmed;
		causes += c[i].groups->n_causes;
		sum.n_known += c[i].verdict->n_known;
		sum.n_suspect += c[i].verdict->n_suspect;
		unjudged += c[i].verdict->not_judged;
		few += !c[i].verdict->not_judged && !c[i].verdict->enough;
	}
	words_add_verdict(&verdict, &sum, causes);
	buf_adds(&series, ": ");
	words_add_count(&series, n, "series", "series");
	if (unjudged)
		buf_addf(&series, ", %zu not judged: the newest build failed", unjudged);
	if (few)
		buf_addf(&series, ", %zu with too few builds for a verdict", few);
	doc_lead(d, sum.n_confirmed || unjudged ? TONE_ALARM : TONE_TITLE, buf_str(&verdict),
		 buf_str(&series));
	buf_release(&verdict);
	buf_release(&series);
}

int check_doc_all(struct doc *d, const struct check *c, size_t n)
{
	int r = 0;

	add_sum(d, c, n);
	for (size_t i = 0; !r && i < n; i++) {
		doc_heading(d, c[i].builds->ref);
		r = check_doc(d, &c[i]);
	}
	return r;
}

int check_doc(struct doc *d, const struct check *c)
{
	size_t top = c->all ? SIZE_MAX : c->top;
	struct buf to_come = BUF_PART_OF(d->out);
	int r = 0;

	if (!c->against || !c->verdict->enough)
		words_add_builds_to_come(&to_come, c->verdict);
	add_head(d, c);
	if (!doc_is(d, DOC_TERMINAL))
		buf_adds(doc_item(d, 0), buf_str(&to_come));
	check_limits_add(d, c->limits, top);
	for (size_t i = 0; !r && i < WORDS_SECTIONS; i++)
		r = add_section(d, c, &words_sections[i]);
	check_population_add(d, c->population, c->builds, top);
	if (!r && doc_is(d, DOC_TERMINAL))
		r = add_next(d, c, &to_come);
	buf_release(&to_come);
	return r ? r : buf_error(d->out);
}
