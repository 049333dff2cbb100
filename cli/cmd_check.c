/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/buildset.h"
#include "cli/output.h"
#include "report/check_output.h"

#include <errno.h>
#include <stddef.h>

#define TOP_MAX 1000000000

struct check_arguments {
	struct buildset_options buildset;
	bool json, junit, markdown;
	const char *output;
	int64_t top;
	bool need_history;
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
	{ OPT_FLAG(0, "need-history", need_history,
	  "exit with status 3 if there are too few builds for a verdict") },
	{ 0 }
};

static int print(const struct check_arguments *a, const struct check *c, struct error *err)
{
	bool text = !a->json && !a->junit && !a->markdown;
	struct style style = output_style();
	struct buf out = BUF_INIT;
	int r = 0;

	if (!text) {
		r = a->json ? check_json(&out, c) : a->junit ? check_junit(&out, c) :
		    check_markdown(&out, c);
		if (!a->output)
			return output_end(&out, r, "check", err);
		r = output_file(&out, r, a->output, err);
	}
	return r ? r : output_end(&out, check_text(&out, c, &style), "check", err);
}

/* Compares the newest build with the limits. values must outlive l. */
static int check_limits(struct limits_check *l, struct values *values, const struct buildset *n,
			struct error *err)
{
	const struct build *newest = &n->builds.build[n->builds.n - 1];
	int r = archive_values(n->archive, newest->id, values, err);

	if (!r && (r = limits_check(l, &n->limits.limits, values)))
		error_sys(err, r, NULL, NULL);
	return r;
}

static int check(const struct check_arguments *a, const struct buildset *n, struct error *err)
{
	struct values newest = VALUES_INIT;
	struct limits_check limits = { 0 };
	struct verdict v = { 0 };
	struct check c = { .builds = &n->builds, .rules = &n->rules, .verdict = &v,
			   .repo = n->options->repo, .top = (size_t)a->top };
	int r;

	if (!n->builds.n)
		return error_set(err, -ENOENT, n->options->repo, 0, 0, "the series '%s' has no builds",
				 n->builds.ref);
	if (n->limits.n)
		c.limits = &limits;
	r = c.limits ? check_limits(&limits, &newest, n, err) : 0;
	if (!r)
		r = verdict_make(&v, &n->builds, &n->rules, &n->known, err);
	if (!r)
		r = print(a, &c, err);
	if (!r)
		r = v.n_confirmed || limits.n ? EXIT_FOUND :
		    a->need_history && !v.enough ? EXIT_TOO_LITTLE : EXIT_GOOD;
	verdict_release(&v);
	limits_check_release(&limits);
	values_release(&newest);
	return r;
}

static const struct check_arguments defaults = { .top = 20 };

static int run(struct args *a, void *values, struct error *err)
{
	struct check_arguments *c = values;
	struct buildset n = BUILDSET_INIT;
	int r, forms = c->json + c->junit + c->markdown;

	if (forms > 1)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "check: --json, --junit and --markdown exclude each other");
	if (c->output && !forms)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "check: option '--output' requires --json, --junit or --markdown");
	r = buildset_open(&n, a, &c->buildset, BUILDSET_WINDOW, err);
	if (!r)
		r = check(c, &n, err);
	buildset_release(&n);
	return r;
}

const struct command cmd_check = {
	.name = "check", .operands = "", .run = run, .options = options, COMMAND_DEFAULTS(defaults),
	.summary = "Check the newest build for regressions against earlier ones",
};
