/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "cli/against_open.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "compare/against_more.h"
#include "compare/everywhere.h"
#include "compare/fixed_by.h"
#include "report/check_output.h"
#include "report/check_power.h"
#include "report/check_replay.h"
#include "report/kept_builds.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define TOP_MAX 1000000000

struct check_arguments {
	struct buildset_options buildset;
	bool json, junit, markdown;
	const char *output;
	int64_t top;
	bool all, need_history, everywhere, replay, power;
	const char *against, *since, *svg;
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
	{ OPT_FLAG(0, "everywhere", everywhere,
	  "check every series, or those that --ref fits: one change is one finding") },
	{ OPT_TEXT(0, "against", against, "BRANCH",
	  "compare a branch with the builds of BRANCH up to the merge base") },
	{ OPT_FLAG(0, "replay", replay,
	  "report what check says about each build of the archive with these settings") },
	{ OPT_TEXT(0, "since", since, "DATE",
	  "begin --replay with the first build on DATE (YYYY-MM-DD, UTC) or later") },
	{ OPT_TEXT(0, "svg", svg, "FILE", "draw the builds and regressions of --replay to FILE") },
	{ OPT_FLAG(0, "power", power,
	  "report how large a change must be for check to find it, and after how many builds") },
	{ 0 }
};

/* The check of one series. */
struct checked {
	const struct buildset *n;
	struct values newest;
	struct limits_check limits;
	struct verdict v;
	struct verdict_groups groups;
	struct population population;
	struct power power;
};

static int write_for_people(struct buf *out, const struct check *c, size_t n, bool markdown)
{
	struct style style = output_style();
	struct doc d;
	int r;

	doc_init_people(&d, out, &style, markdown);
	r = n ? check_doc_all(&d, c, n) : check_doc(&d, c);
	doc_release(&d);
	return r;
}

/* n: of --everywhere; 0: one series. */
static int print(const struct check_arguments *a, const struct check *c, size_t n, struct error *err)
{
	bool text = !a->json && !a->junit && !a->markdown;
	struct buf out = BUF_INIT;
	int r = 0;

	if (!text) {
		r = a->json ? n ? check_json_all(&out, c, n) : check_json(&out, c) :
		    a->junit ? check_junit(&out, c, n ? n : 1) : write_for_people(&out, c, n, true);
		if (!a->output)
			return output_end(&out, r, "check", err);
		r = output_file(&out, r, a->output, err);
	}
	return r ? r : output_end(&out, write_for_people(&out, c, n, false), "check", err);
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
static int judge_builds(struct verdict *v, const struct buildset *n, struct check_against *against,
			struct error *err)
{
	int r = verdict_make(v, &n->builds, &n->rules, &n->known, err);

	if (!r)
		fixed_by_mark(v, &n->builds, &n->known);
	if (!r && against) {
		r = against_find_undecided(&against->undecided, v, &n->builds, &n->rules,
					   against->first, err);
		against->theirs = against_keep_own(v, against->first);
		r = r ? r : against_find_more(&against->undecided, &n->builds, &n->rules, &n->known,
					      against->first, err);
	}
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
	return need_history && (!v->enough || check_against_is_unknown(c->against, v)) ?
	       EXIT_NO_VERDICT : EXIT_GOOD;
}

static int has_builds(const struct buildset *n, struct error *err)
{
	return n->builds.n ? 0 : error_set(err, -ENOENT, n->options->repo, 0, 0,
					   "the series '%s' has no builds", n->builds.ref);
}

static int judge(struct checked *k, struct check_against *against, struct error *err)
{
	const struct buildset *n = k->n;
	int r = has_builds(n, err);

	if (r)
		return r;
	r = n->limits.n ? check_limits(&k->limits, &k->newest, n, err) : 0;
	return r ? r : judge_builds(&k->v, n, against, err);
}

/* What is printed about a verdict. */
static int describe(struct check *c, struct checked *k, const struct check_arguments *a,
		    const struct check_against *against, struct error *err)
{
	const struct buildset *n = k->n;
	int r = verdict_groups_make(&k->groups, &k->v, &n->builds);

	if (r)
		return error_sys(err, r, NULL, "check");
	*c = (struct check){
		.builds = &n->builds, .rules = &n->rules, .verdict = &k->v, .groups = &k->groups,
		.population = &k->population, .against = against, .limits = n->limits.n ? &k->limits : NULL,
		.top = (size_t)a->top, .all = a->all, .archive = buildset_command_line(n),
	};
	r = population_make(&k->population, &n->builds, err);
	if (!r && !against && power_is_short(&k->v, &n->builds, &n->rules)) {
		r = power_find_short(&k->power, &n->builds, &n->rules, &n->known, err);
		c->power = &k->power;
	}
	if (!r && (k->v.n_confirmed || k->v.n_suspect || check_against_is_unknown(against, &k->v)))
		r = find_command(&c->command, &k->newest, n, err);
	return r;
}

static void checked_release(struct checked *k)
{
	population_release(&k->population);
	verdict_groups_release(&k->groups);
	verdict_release(&k->v);
	limits_check_release(&k->limits);
	values_release(&k->newest);
}

static int check(const struct check_arguments *a, const struct buildset *n,
		 struct check_against *against, struct error *err)
{
	struct checked k = { .n = n, .newest = VALUES_INIT };
	struct check c;
	int r = judge(&k, against, err);

	r = r ? r : describe(&c, &k, a, against, err);
	r = r ? r : print(a, &c, 0, err);
	if (!r)
		r = exit_status(&c, a->need_history);
	checked_release(&k);
	return r;
}

/* A regression in one of them is one; then the first that has no verdict decides. */
static int worst_status(const struct check *c, size_t n, bool need_history)
{
	int worst = EXIT_GOOD;

	for (size_t i = 0; i < n; i++) {
		int status = exit_status(&c[i], need_history);

		if (status == EXIT_FOUND || worst == EXIT_GOOD)
			worst = worst == EXIT_FOUND ? worst : status;
	}
	return worst;
}

static int check_sets(const struct check_arguments *a, const struct buildset *sets, size_t n,
		      struct error *err)
{
	struct everywhere_series *series = array_new_zero(n, sizeof *series);
	struct checked *k = array_new_zero(n, sizeof *k);
	struct check *c = array_new_zero(n, sizeof *c);
	struct everywhere e = { 0 };
	int r = series && k && c ? 0 : error_sys(err, -ENOMEM, NULL, "check");

	for (size_t i = 0; !r && i < n; i++) {
		k[i] = (struct checked){ .n = &sets[i], .newest = VALUES_INIT };
		series[i] = (struct everywhere_series){ &sets[i].builds, &k[i].v };
		r = judge(&k[i], NULL, err);
	}
	if (!r && (r = everywhere_join(&e, series, n, &sets->rules)))
		error_sys(err, r, NULL, "check");
	for (size_t i = 0; !r && i < n; i++)
		r = describe(&c[i], &k[i], a, NULL, err);
	r = r ? r : print(a, c, n, err);
	if (!r)
		r = worst_status(c, n, a->need_history);
	for (size_t i = 0; k && i < n; i++)
		checked_release(&k[i]);
	everywhere_release(&e);
	free_all(series, k, c);
	return r;
}

static int check_everywhere(struct check_arguments *a, struct args *args, struct error *err)
{
	struct buildset *sets;
	size_t n;
	int r = buildset_open_every(&sets, &n, args, &a->buildset, BUILDSET_FRESH, err);

	r = r ? r : check_sets(a, sets, n, err);
	buildset_release_every(sets, n);
	return r;
}

/* The first build of the day or later. */
static int find_since(uint32_t *first, const char *since, const struct builds *builds,
		      struct error *err)
{
	struct buf text = BUF_INIT;
	struct cursor c;
	int64_t since_s;
	bool valid;

	*first = 0;
	if (!since)
		return 0;
	buf_addf(&text, "%sT00:00:00", since);
	cursor_init(&c, buf_str(&text), text.len);
	valid = clock_parse_iso(&c, &since_s) && cursor_at_end(&c);
	buf_release(&text);
	if (!valid)
		return error_set(err, -EINVAL, NULL, 0, 0, "check: option '--since': '%s' is no date: "
				 "use YYYY-MM-DD", since);
	while (*first < builds->n && builds->build[*first].start_s < since_s)
		++*first;
	return *first < builds->n ? 0 :
	       error_set(err, -ENOENT, builds->ref, 0, 0, "no build since %s", since);
}

/* Which builds exceed a limit. */
static int find_exceeding(bool *exceeds, const struct buildset *n, uint32_t first, struct error *err)
{
	int r = 0;

	for (uint32_t b = first; !r && b < n->builds.n; b++) {
		struct limits_check limits = { 0 };
		struct values values = VALUES_INIT;

		r = archive_values(n->archive, n->builds.build[b].id, &values, err);
		if (!r && (r = limits_check(&limits, &n->limits.limits, &values)))
			error_sys(err, r, NULL, NULL);
		exceeds[b - first] = limits.n;
		limits_check_release(&limits);
		values_release(&values);
	}
	return r;
}

/* What --replay or --power found. */
static int write_found(struct buf *out, const struct check_replay *replay, const struct check_power *power,
		       bool markdown)
{
	struct style style = output_style();
	struct doc d;
	int r;

	doc_init_people(&d, out, &style, markdown);
	r = replay ? check_replay_doc(&d, replay) : check_power_doc(&d, power);
	doc_release(&d);
	return r;
}

static int print_found(const struct check_arguments *a, const struct check_replay *replay,
		       const struct check_power *power, struct error *err)
{
	struct buf out = BUF_INIT;
	int r = 0;

	if (a->json || a->markdown) {
		r = a->markdown ? write_found(&out, replay, power, true) :
		    replay ? check_replay_json(&out, replay) : check_power_json(&out, power);
		if (!a->output)
			return output_end(&out, r, "check", err);
		r = output_file(&out, r, a->output, err);
	}
	return r ? r : output_end(&out, write_found(&out, replay, power, false), "check", err);
}

static int power(const struct check_arguments *a, const struct buildset *n, struct error *err)
{
	struct kept_builds kept, kept_repeated;
	struct repeated_builds repeated;
	struct power found, found_repeated;
	int r;

	kept_builds_init(&kept, &n->builds);
	r = repeated_builds_init(&repeated, &kept.builds, err);
	kept_builds_init(&kept_repeated, &repeated.builds);
	if (!r)
		r = power_find(&found, &kept.builds, &n->rules, &n->known, POWER_BUILDS, POWER_TASKS, err);
	if (!r)
		r = power_find_same(&found_repeated, &found, &kept_repeated.builds, &n->rules, &n->known, err);
	if (!r) {
		const struct check_power c = { &n->builds, &n->rules, &found, &found_repeated, &repeated };

		r = print_found(a, NULL, &c, err);
	}
	kept_builds_release(&kept_repeated);
	repeated_builds_release(&repeated);
	kept_builds_release(&kept);
	return r;
}

/* --replay: it says what check said, and does not fail. */
static int replay(const struct check_arguments *a, const struct buildset *n, struct error *err)
{
	struct episodes episodes = { 0 };
	struct check_replay c = {
		.builds = &n->builds, .rules = &n->rules, .episodes = &episodes,
		.need_history = a->need_history, .top = a->all ? SIZE_MAX : (size_t)a->top,
	};
	bool *exceeds = NULL;
	uint32_t first = 0;
	int r = has_builds(n, err);

	r = r ? r : find_since(&first, a->since, &n->builds, err);
	if (!r && n->limits.n) {
		c.exceeds = exceeds = array_new_zero(n->builds.n, sizeof *exceeds);
		r = exceeds ? find_exceeding(exceeds, n, first, err) :
		    error_sys(err, -ENOMEM, NULL, "check");
	}
	if (!r)
		r = episodes_find(&episodes, &n->builds, &n->rules, &n->known, first, err);
	if (!r && a->svg) {
		struct buf out = BUF_INIT;

		r = output_file(&out, check_replay_svg(&out, &c), a->svg, err);
	}
	if (!r)
		r = print_found(a, &c, NULL, err);
	episodes_release(&episodes);
	free(exceeds);
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
	if (c->everywhere && c->against)
		return error_say(err, -EINVAL, "check: --everywhere and --against exclude each other");
	if ((c->since || c->svg) && !c->replay)
		return error_say(err, -EINVAL, "check: option '--%s' requires --replay",
				 c->since ? "since" : "svg");
	if (c->replay && c->power)
		return error_say(err, -EINVAL, "check: --replay and --power exclude each other");
	if ((c->replay || c->power) && (c->junit || c->everywhere || c->against))
		return error_say(err, -EINVAL, "check: --%s excludes --junit, --everywhere and --against",
				 c->replay ? "replay" : "power");
	if (c->everywhere)
		return check_everywhere(c, a, err);
	r = c->against ? against_open(&against, &n, a, &c->buildset, c->against, err) :
	    buildset_open(&n, a, &c->buildset, BUILDSET_FRESH, err);
	if (!r && c->replay)
		r = replay(c, &n, err);
	else if (!r && c->power)
		r = (r = has_builds(&n, err)) ? r : power(c, &n, err);
	else if (!r)
		r = check(c, &n, c->against ? &against.report : NULL, err);
	against_release(&against);
	buildset_release(&n);
	return r;
}

COMMAND(check, "", "Check the newest build for regressions against earlier ones", COMMAND_OPTIONS);
