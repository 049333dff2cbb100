/* SPDX-License-Identifier: MIT */
#include "report/check_against.h"

#include "compare/diff.h"
#include "report/amount.h"
#include "report/words_change.h"

#include <string.h>

#define UNDECIDED_MOST 10	/* in text and Markdown */

static bool is_of_machine(const struct diff_fact *f)
{
	return strcmp(f->key, "revision") != 0 && strcmp(f->key, "directory") != 0;
}

static const char *known(const char *value)
{
	return *value ? value : "unknown";
}

bool check_against_is_unknown(const struct check_against *a, const struct verdict *v)
{
	return a && a->undecided.n && v->enough && !v->n_confirmed && !v->not_judged;
}

void check_against_add_verdict(struct buf *b, const struct check_against *a)
{
	const struct against_list *list = &a->undecided;

	buf_adds(b, "unknown: ");
	if (list->n_stuck == list->n) {
		buf_addf(b, "%d more recordings would not decide about ", AGAINST_MORE_MAX);
		words_add_count(b, list->n, "change", "changes");
		return;
	}
	words_add_count(b, list->more, "more recording", "more recordings");
	buf_adds(b, " would decide about ");
	if (list->n_stuck)
		buf_addf(b, "%zu of ", list->n - list->n_stuck);
	words_add_count(b, list->n, "change", "changes");
}

/* Those that the verdict does not list. */
static void add_undecided(struct doc *d, const struct check_against *a, const struct builds *builds)
{
	size_t n = 0;

	for (size_t i = 0; i < a->undecided.n; i++) {
		const struct against_undecided *u = &a->undecided.item[i];
		enum unit unit = metric_info[u->metric].unit;
		struct buf *text;

		if (u->suspect || n++ >= UNDECIDED_MOST)
			continue;
		text = doc_item(d, 0);
		buf_addf(text, "undecided: %s: %s ", words_task(builds, u->task),
			 metric_info[u->metric].title);
		amount_add(text, unit, u->before);
		buf_adds(text, " -> ");
		amount_add(text, unit, u->now);
		buf_adds(text, " (");
		amount_add_share(text, u->now / u->before - 1);
		buf_adds(text, u->more ? "), " : "), not decided by more recordings");
		if (u->more)
			words_add_count(text, u->more, "more recording", "more recordings");
	}
	if (n > UNDECIDED_MOST)
		buf_addf(doc_item(d, 0), "undecided: %zu more", n - UNDECIDED_MOST);
}

static void add_target(struct buf *text, const struct check_against *a, const struct builds *builds)
{
	buf_addf(text, "against %s: ", a->ref);
	words_add_count(text, a->first, "build", "builds");
	buf_adds(text, " up to ");
	words_add_build(text, builds, a->first - 1);
	if (a->why)
		buf_addf(text, ", the newest before this one, because %s", a->why);
	else
		buf_adds(text, ", the newest that this branch contains");
}

void check_against_lines(struct doc *d, const struct check_against *a, const struct builds *builds)
{
	struct buf *text;

	if (!a)
		return;
	add_target(doc_item(d, 0), a, builds);
	text = doc_item(d, 0);
	words_add_count(text, builds->n - a->first, "recording", "recordings");
	buf_adds(text, " of this revision");
	add_undecided(d, a, builds);
	for (size_t i = 0; i < a->n_facts; i++) {
		const struct diff_fact *f = &a->fact[i];

		if (is_of_machine(f))
			buf_addf(doc_item(d, 0), "%s differs: %s -> %s", f->key,
				 known(f->value[DIFF_BASE]), known(f->value[DIFF_NOW]));
	}
	if (a->theirs) {
		text = doc_item(d, 0);
		words_add_count(text, a->theirs, "confirmed regression", "confirmed regressions");
		buf_addf(text, " of %s itself not listed", a->ref);
	}
}

void check_against_json(struct json *j, const struct check_against *a, const struct builds *builds)
{
	if (!a) {
		json_null(j, "against");
		return;
	}
	json_object(j, "against");
	json_str(j, "ref", a->ref);
	json_int(j, "builds", a->first);
	json_object(j, "base");
	json_str(j, "id", builds->build[a->first - 1].id);
	json_known(j, "start_s", builds->build[a->first - 1].start_s);
	json_object_end(j);
	json_str(j, "by", a->why ? "time" : "revision");
	json_str(j, "why", a->why);
	json_int(j, "recordings", (int64_t)builds->n - a->first);
	if (a->undecided.n && a->undecided.n_stuck == a->undecided.n)
		json_null(j, "more_recordings");
	else
		json_int(j, "more_recordings", a->undecided.more);
	json_int(j, "confirmed_before", (int64_t)a->theirs);
	json_array(j, "undecided");
	for (size_t i = 0; i < a->undecided.n; i++) {
		const struct against_undecided *u = &a->undecided.item[i];

		json_object(j, NULL);
		json_str(j, "task", u->task == TASK_TOTAL ? NULL : words_task(builds, u->task));
		json_str(j, "metric", metric_info[u->metric].name);
		json_str(j, "unit", amount_unit_word[metric_info[u->metric].unit]);
		json_real(j, "before", u->before, 0);
		json_real(j, "now", u->now, 0);
		json_known(j, "more_recordings", u->more ? (int64_t)u->more : -1);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "environment");
	for (size_t i = 0; i < a->n_facts; i++) {
		const struct diff_fact *f = &a->fact[i];

		if (!is_of_machine(f))
			continue;
		json_object(j, NULL);
		json_str(j, "key", f->key);
		json_str(j, "before", f->value[DIFF_BASE]);
		json_str(j, "now", f->value[DIFF_NOW]);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}
