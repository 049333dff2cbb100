/* SPDX-License-Identifier: MIT */
#include "base/heap.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/buildset.h"
#include "cli/output.h"
#include "launch/notice.h"
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

static int write_text(struct buf *out, const struct check *c)
{
	struct style style = output_style();

	return check_text(out, c, &style);
}

/* The one form that is asked for. */
static int write_form(struct buf *out, const struct check_arguments *a, const struct check *c)
{
	return a->json ? check_json(out, c) : a->junit ? check_junit(out, c) :
	       a->markdown ? check_markdown(out, c) : write_text(out, c);
}

static int print(const struct check_arguments *a, const struct check *c, struct error *err)
{
	struct buf out = BUF_INIT, file = BUF_INIT;
	int r;

	if (a->output) {
		r = write_form(&file, a, c);
		r = r ? error_sys(err, r, a->output, NULL) : outfile_write(a->output, &file, err);
		if (!r && (r = write_text(&out, c)))
			error_sys(err, r, NULL, "check");
	} else {
		r = write_form(&out, a, c);
		if (r)
			error_sys(err, r, NULL, "check");
	}
	if (!r)
		output_write(&out);
	buf_release(&out);
	buf_release(&file);
	return r;
}

static int status_of(const struct check_arguments *a, const struct verdict *v)
{
	if (v->n_confirmed)
		return EXIT_FOUND;
	return a->need_history && !v->enough ? EXIT_TOO_LITTLE : EXIT_GOOD;
}

static int check(const struct check_arguments *a, const struct buildset *n, int *status,
		 struct error *err)
{
	struct verdict v = { 0 };
	struct check c = { .builds = &n->builds, .rules = &n->rules, .verdict = &v,
			   .repo = n->options->repo, .top = (size_t)a->top };
	int r;

	if (!n->builds.n)
		return error_set(err, -ENOENT, n->options->repo, 0, 0, "the series '%s' has no builds",
				 n->builds.ref);
	r = verdict_make(&v, &n->builds, &n->rules, &n->known, err);
	if (!r)
		r = print(a, &c, err);
	*status = status_of(a, &v);
	verdict_release(&v);
	return r;
}

static int one_form(const struct check_arguments *a, struct error *err)
{
	int forms = a->json + a->junit + a->markdown;

	if (forms > 1)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "check: --json, --junit and --markdown exclude each other");
	if (a->output && !forms)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "check: option '--output' requires --json, --junit or --markdown");
	return 0;
}

static const struct check_arguments defaults = { .top = 20 };

static int run(struct args *a, void *values, struct error *err)
{
	struct check_arguments *arguments = values;
	struct buildset n = BUILDSET_INIT;
	int r, status = EXIT_GOOD;

	heap_expect_much();
	r = one_form(arguments, err);
	if (!r)
		r = buildset_open(&n, a, &arguments->buildset, BUILDSET_WINDOW, err);
	if (!r)
		r = check(arguments, &n, &status, err);
	buildset_release(&n);
	return r ? r : status;
}

const struct command cmd_check = {
	.name = "check",
	.summary = "Check the newest build for regressions against earlier ones",
	.operands = "",
	.options = options,
	.defaults = &defaults,
	.size = sizeof defaults,
	.run = run,
};
