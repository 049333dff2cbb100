/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "report/amount.h"
#include "report/check_limits.h"
#include "report/words_change.h"
#include "write/junit.h"

/* Improvements, and what the machine did, have no case. */
static bool is_case(const struct verdict_finding *f)
{
	return f->worse && (f->task != TASK_HOST || f->fails || f->known);
}

/* How the newest build ended. */
static void add_status(struct junit *j, const struct check *c)
{
	const struct verdict *v = c->verdict;
	struct buf text = BUF_PART_OF(&j->cases);

	junit_case(j, c->builds->ref, "status of the build", NULL);
	words_add_end(&text, v->build_status);
	if (v->not_judged)
		junit_result(j, "build", buf_str(&text), c->builds->build[c->builds->n - 1].error);
	else if (v->build_status)
		junit_result(j, NULL, "unknown", NULL);
	buf_release(&text);
}

static bool is_undecided(const struct check *c, enum metric m)
{
	const struct against_list *list = c->against ? &c->against->undecided : NULL;

	for (size_t i = 0; list && i < list->n; i++) {
		if (list->item[i].metric == m)
			return true;
	}
	return false;
}

static void add_metrics(struct junit *j, const struct check *c)
{
	const char *why = c->verdict->not_judged ? "not judged: the build failed" :
			  !c->verdict->enough ? "too few builds for a verdict" : NULL;

	for (enum metric m = 0; m < METRICS; m++) {
		if (!(c->rules->metrics & METRIC_BIT(m)))
			continue;
		junit_case(j, c->builds->ref, metric_info[m].title, NULL);
		if (why || is_undecided(c, m))
			junit_result(j, NULL, why ? why : "unknown: a change is undecided", NULL);
	}
}

static void add_members(struct buf *text, const struct check *c, const struct verdict_group *g)
{
	size_t n = c->all || g->n < c->top ? g->n : c->top;

	for (size_t i = 0; i < n; i++) {
		const struct verdict_finding *f = check_member(c, g, i);

		buf_addf(text, "%s%s ", i ? ", " : "; ", words_task(c->builds, f->task));
		amount_add_share(text, f->effect);
	}
	if (n < g->n)
		buf_addf(text, ", and %zu more", g->n - n);
}

/* The tasks that changed together. */
static void add_moved(struct buf *text, const struct check *c, const struct verdict_finding *f)
{
	size_t n = c->all || f->n_moved < c->top ? f->n_moved : c->top;

	for (size_t i = 0; i < n; i++)
		buf_addf(text, "%s%s", i ? ", " : "; ", words_task(c->builds, c->verdict->moved[f->first_moved + i]));
	if (n < f->n_moved)
		buf_addf(text, ", and %zu more", f->n_moved - n);
}

/* One line: the writer would escape line breaks. */
static void explain(struct buf *text, const struct check *c, const struct verdict_group *g)
{
	const struct verdict_finding *f = &g->whole;

	words_add_since(text, c->builds, f);
	buf_adds(text, "; ");
	words_add_ranges(text, c->builds, f);
	words_add_notes(text, f);
	if (g->n > 1)
		add_members(text, c, g);
	if (f->task == TASK_SHARED)
		add_moved(text, c, f);
}

static void add_message(struct buf *text, const struct builds *builds,
			const struct verdict_group *g)
{
	const struct verdict_finding *f = &g->whole;

	if (f->known)
		buf_adds(text, f->known->invalid ? "invalid: " : "known: ");
	else if (f->state == FINDING_SUSPECT)
		buf_adds(text, "suspect: ");
	if (g->n > 1) {
		words_add_count(text, g->n, "task", "tasks");
		buf_adds(text, ", ");
	} else if (f->task == TASK_HOST || f->task == TASK_SHARED) {
		words_add_subject(text, builds, f);
		buf_adds(text, ", ");
	}
	buf_addf(text, "%s ", metric_info[f->metric].title);
	amount_add_share(text, f->effect);
	buf_adds(text, ", ");
	words_add_group_amounts(text, g);
}

/* Of the groups of one cause only the first fails. A case keeps its name while its subject has one change. */
static void add_group(struct junit *j, const struct check *c, size_t i)
{
	const struct verdict_group *g = &c->groups->group[i];
	bool is_cause = c->groups->cause[i] == i;
	struct buf name = BUF_PART_OF(&j->cases), message = BUF_PART_OF(&j->cases), text = BUF_PART_OF(&j->cases);
	const struct verdict_finding *f = &g->whole;

	if (f->task == TASK_TOTAL)
		buf_adds(&name, "the build as a whole");
	else
		words_add_group_name(&name, c->builds, g);
	buf_addf(&name, ": %s", metric_info[f->metric].title);
	words_add_since(&text, c->builds, f);
	junit_case(j, c->builds->ref, buf_str(&name), buf_str(&text));
	buf_clear(&text);
	add_message(&message, c->builds, g);
	explain(&text, c, g);
	if (f->fails && !is_cause) {
		buf_adds(&text, "; fails with ");
		words_add_group_name(&text, c->builds, &c->groups->group[c->groups->cause[i]]);
		buf_addf(&text, ": %s", metric_info[c->groups->group[c->groups->cause[i]].whole.metric].title);
	}
	junit_result(j, f->fails && is_cause ? "regression" : NULL, buf_str(&message), buf_str(&text));
	buf_release(&name);
	buf_release(&message);
	buf_release(&text);
}

int check_junit(struct buf *out, const struct check *c, size_t n)
{
	struct junit j;

	junit_begin(&j);
	for (const struct check *end = c + n; c < end; c++) {
		add_status(&j, c);
		add_metrics(&j, c);
		check_limits_junit(&j, c->limits, c->builds->ref);
		for (size_t i = 0; i < c->groups->n; i++) {
			if (is_case(&c->groups->group[i].whole))
				add_group(&j, c, i);
		}
	}
	c--;
	return junit_end(&j, out, "buildbeat check", c->builds->build[c->builds->n - 1].start_s);
}
