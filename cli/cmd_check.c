/* SPDX-License-Identifier: MIT */
#include "cli/against_open.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "compare/against_target.h"
#include "compare/fixed_by.h"
#include "report/check_output.h"

#include <errno.h>
#include <stddef.h>

#define TOP_MAX 1000000000

struct check_arguments {
	struct buildset_options buildset;
	bool json, junit, markdown;
	const char *output;
	int64_t top;
	bool all, need_history;
	const char *against;
};

#define OPTIONS struct check_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	BUILDSET_REF_OPTION(buildset),
	BUILDSET_METRICS_OPTION(buildset),
	{ OPT_FLAG('j', "json", json, "write JSON, with every detail") },
	{ OPT_FLAG(0, "junit", junit, "write JUnit XML, for tools that collect test results") },
	{ OPT_FLAG('m', "markdown", markdown, "write Markdown, for a merge request") },
	{ OPT_TEXT('o', "output", output, "FILE",
	  "write --json, --junit or --markdown to FILE, and the text to standard output") },
	{ OPT_NUMBER('t', "top", top, 1, TOP_MAX, "N",
	  "list at most N changes of each kind (default 20)") },
	{ OPT_FLAG('a', "all", all,
	  "list every change, and every task of a recipe, directory or kind") },
	{ OPT_FLAG(0, "need-history", need_history,
	  "exit with status 3 if there are too few builds for a verdict") },
	{ OPT_TEXT(0, "against", against, "BRANCH",
	  "compare a branch with the builds of BRANCH up to the merge base") },
	{ 0 }
};

static int write_for_people(struct buf *out, const struct check *c, bool markdown)
{
	struct style style = output_style();
	struct doc d;
	int r;

	doc_init_people(&d, out, &style, markdown);
	r = check_doc(&d, c);
	doc_release(&d);
	return r;
}

static int print(const struct check_arguments *a, const struct check *c, struct error *err)
{
	bool text = !a->json && !a->junit && !a->markdown;
	struct buf out = BUF_INIT;
	int r = 0;

	if (!text) {
		r = a->json ? check_json(&out, c) : a->junit ? check_junit(&out, c) :
		    write_for_people(&out, c, true);
		if (!a->output)
			return output_end(&out, r, "check", err);
		r = output_file(&out, r, a->output, err);
	}
	return r ? r : output_end(&out, write_for_people(&out, c, false), "check", err);
}

/* Compares the newest build with the limits. */
static int check_limits(struct limits_check *l, struct values *newest, const struct buildset *n,
			struct error *err)
{
	int r = archive_values(n->archive, n->builds.build[n->builds.n - 1].id, newest, err);

	if (!r && (r = limits_check(l, &n->limits.limits, newest)))
		error_sys(err, r, NULL, NULL);
	return r;
}

/* against: NULL without a target branch. */
static int judge_builds(struct verdict *v, struct verdict_groups *groups, const struct buildset *n,
			struct check_against *against, struct error *err)
{
	int r = verdict_make(v, &n->builds, &n->rules, &n->known, err);

	if (!r)
		fixed_by_mark(v, &n->builds, &n->known);
	if (!r && against) {
		against->theirs = against_keep_own(v, against->first);
		r = against_find_undecided(&against->undecided, v, &n->builds, &n->rules,
					   against->first, err);
	}

	if (!r && (r = verdict_groups_make(groups, v, &n->builds)))
		error_sys(err, r, NULL, "check");
	return r;
}

/* The command of the newest build is only for a suggestion: a damaged build has none. */
static int find_command(const char **command, struct values *newest, const struct buildset *n,
			struct error *err)
{
	int r = 0;

	if (!newest->n_facts)
		r = archive_values(n->archive, n->builds.build[n->builds.n - 1].id, newest, err);
	*command = values_fact(newest, "command");
	return r == -ENOMEM ? r : 0;
}

static int exit_status(const struct check *c, bool need_history)
{
	const struct verdict *v = c->verdict;

	if (c->limits && c->limits->n)
		return EXIT_FOUND;
	if (v->not_judged)
		return EXIT_NO_VERDICT;
	if (v->n_confirmed)
		return EXIT_FOUND;
	return need_history && (!v->enough || (c->against && c->against->undecided.n)) ? EXIT_NO_VERDICT :
	       EXIT_GOOD;
}

static int check(const struct check_arguments *a, const struct buildset *n,
		 struct check_against *against, struct error *err)
{
	struct values newest = VALUES_INIT;
	struct limits_check limits = { 0 };
	struct verdict v = { 0 };
	struct verdict_groups groups = { 0 };
	struct population population = { 0 };
	struct check c = {
		.builds = &n->builds, .rules = &n->rules, .verdict = &v, .groups = &groups,
		.population = &population, .against = against,
		.top = (size_t)a->top, .all = a->all, .archive = buildset_command_line(n),
	};
	int r;

	if (!n->builds.n)
		return error_set(err, -ENOENT, n->options->repo, 0, 0, "the series '%s' has no builds",
				 n->builds.ref);
	if (n->limits.n)
		c.limits = &limits;
	r = c.limits ? check_limits(&limits, &newest, n, err) : 0;
	r = r ? r : judge_builds(&v, &groups, n, against, err);
	r = r ? r : population_make(&population, &n->builds, err);
	if (!r && (v.n_confirmed || v.n_suspect))
		r = find_command(&c.command, &newest, n, err);
	if (!r)
		r = print(a, &c, err);
	if (!r)
		r = exit_status(&c, a->need_history);
	population_release(&population);
	verdict_groups_release(&groups);
	verdict_release(&v);
	limits_check_release(&limits);
	values_release(&newest);
	return r;
}

static const struct check_arguments defaults = { .top = 20 };

static int run_check(struct args *a, void *values, struct error *err)
{
	struct check_arguments *c = values;
	struct buildset n = BUILDSET_INIT;
	struct against against = { .ref = BUF_INIT };
	int r, forms = c->json + c->junit + c->markdown;

	if (forms > 1)
		return error_say(err, -EINVAL, "check: --json, --junit and --markdown exclude each "
				 "other");
	if (c->output && !forms)
		return error_say(err, -EINVAL, "check: option '--output' requires --json, --junit "
				 "or --markdown");
	r = c->against ? against_open(&against, &n, a, &c->buildset, c->against, err) :
	    buildset_open(&n, a, &c->buildset, BUILDSET_FRESH, err);
	if (!r)
		r = check(c, &n, c->against ? &against.report : NULL, err);
	against_release(&against);
	buildset_release(&n);
	return r;
}

COMMAND(check, "", "Check the newest build for regressions against earlier ones", COMMAND_OPTIONS);
