/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "analyse/runs.h"
#include "analyse/values.h"
#include "archive/archive.h"
#include "cli/buildset.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/numberlines.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/convert.h"
#include "report/amount.h"
#include "report/diff_output.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define TOP_MAX 1000000000

struct diff_arguments {
	const char *recordings;
	const char *samples;
	struct word_list base, new;
	struct buildset_options buildset;
	const char *filter;
	int sort;
	bool reverse, all;
	int64_t top;
	double share;
	struct word_list amount, floor;
	bool json, markdown;
	const char *html;
	bool fail;
};

#define OPTIONS struct diff_arguments
static const struct option options[] = {
	{ OPT(OPTION_WORDS, struct word_list, 0, "base", base, "REC ...",
	  "builds before the change, up to the next option") },
	{ OPT(OPTION_WORDS, struct word_list, 0, "new", new, "REC ...",
	  "builds after the change, up to the next option") },
	BUILDSET_REPO_OPTIONS(buildset),
	OPENREC_OPTION(recordings),
	BUILDSET_REF_OPTION(buildset),
	BUILDSET_METRICS_OPTION(buildset),
	{ OPT_TEXT('F', "filter", filter, "TEXT",
	  "only tasks whose name contains TEXT or matches it as a pattern") },
	{ OPT(OPTION_SHARE, double, 0, "share", share, "SHARE",
	  "ignore relative changes below SHARE (default 5 %)") },
	{ OPT_LIST(0, "amount", amount, "AMOUNT",
	  "ignore absolute changes below AMOUNT, such as 2s or 16MiB") },
	{ OPT_LIST(0, "floor", floor, "AMOUNT", "ignore tasks below AMOUNT on both sides") },
	{ OPT_FLAG('a', "all", all, "list ignored changes too") },
	{ OPT_CHOICE('s', "sort", sort, diff_sort_word, "KEY",
	  "sort by change, share, base, new or name (default change)") },
	{ OPT_FLAG('r', "reverse", reverse, "reverse the order of the lists") },
	{ OPT_NUMBER('t', "top", top, 1, TOP_MAX, "N",
	  "list at most N tasks of each metric (default 20)") },
	{ OPT_FLAG('j', "json", json, "print JSON: every value, with its unit") },
	{ OPT_FLAG('m', "markdown", markdown, "print Markdown, for a merge request") },
	{ OPT_TEXT(0, "html", html, "FILE", "write an HTML page to FILE too") },
	{ OPT_FLAG(0, "fail", fail,
	  "exit with status 1 if a test finds a regression, and 3 if nothing could be tested") },
	{ OPT_TEXT(0, "samples", samples, "FILE",
	  "compare the pairs of samples in FILE, one JSON object a line") },
	{ 0 }
};

/* Which builds */

static int set_pair(struct args *a, struct diff_arguments *d, const char *base, const char *new,
		    struct error *err)
{
	d->base = (struct word_list){ .n = 1, .item = { options_keep(a, base) } };
	d->new = (struct word_list){ .n = 1, .item = { options_keep(a, new) } };
	return d->base.item[0] && d->new.item[0] ? 0 : error_sys(err, -ENOMEM, NULL, NULL);
}

/* The newest two recordings that can be read. */
static int newest_two(struct args *a, struct diff_arguments *d, struct error *err)
{
	struct buf path = BUF_INIT;
	struct listing l = LISTING_INIT;
	int r = listing_base(&path, d->recordings, err);

	if (!r)
		r = listing_read(&l, path.data, &convert_formats, err);
	if (!r && (l.n < 2 || l.entry[l.n - 2].damaged))
		r = error_set(err, -ENOENT, path.data, 0, 0, "fewer than two recordings: "
			      "record the build once more, or name two builds: buildbeat diff A B");
	if (!r)
		r = set_pair(a, d, l.entry[l.n - 2].name, l.entry[l.n - 1].name, err);
	listing_release(&l);
	buf_release(&path);
	return r;
}

/* The newest two builds of the series. */
static int newest_builds(struct args *a, struct diff_arguments *d, struct buildset *n,
			 struct error *err)
{
	struct buf before = BUF_INIT;
	struct builds two = BUILDS_INIT;
	int r = buildset_series(n, err);

	if (!r)
		r = archive_builds(n->archive, buf_str(&n->ref), 2, &two, err);
	if (!r && two.n < 2)
		r = error_set(err, -ENOENT, buf_str(&n->ref), 0, 0,
			      "only one build: nothing to compare it with");
	builds_release(&two);
	if (!r) {
		buf_addf(&before, "%s~1", buf_str(&n->ref));
		r = buf_error(&before) ? error_sys(err, -ENOMEM, NULL, NULL) :
		    set_pair(a, d, buf_str(&before), buf_str(&n->ref), err);
	}
	buf_release(&before);
	return r;
}

static int choose(struct args *a, struct diff_arguments *d, struct buildset *n, struct error *err)
{
	bool sets = d->base.n || d->new.n;

	if (sets && (a->n || !d->base.n || !d->new.n))
		return error_say(err, -EINVAL, "diff: --base and --new require each other and no "
				 "other operands");
	if (a->n == 1)
		return error_say(err, -EINVAL, "diff: nothing to compare '%s' with; expected %s",
				 a->operand[0], "A B");
	if (a->n)
		return set_pair(a, d, a->operand[0], a->operand[1], err);
	if (sets)
		return 0;
	return n->archive ? newest_builds(a, d, n, err) : newest_two(a, d, err);
}

/* The values of the builds of one side: of recordings or, if archive is not NULL, of builds. */
struct inputs {
	size_t n;
	struct values *values;
	struct recording rec;	/* the last one, if a picture is drawn */
	struct summary sum;
};

static int read_recording(struct inputs *in, const char *base, const char *what, bool keep,
			  struct error *err)
{
	struct recording rec = RECORDING_INIT;
	int r = openrec(&rec, OPENREC_SUMS | OPENREC_WHOLE, base, what, err);

	if (!r && (r = values_make(&in->values[in->n], &rec)))
		error_sys(err, r, what, NULL);
	if (r || !keep) {
		recording_release(&rec);
		return r;
	}
	in->rec = rec;
	r = summary_make(&in->sum, &in->rec);
	return r ? error_sys(err, r, what, NULL) : 0;
}

static int inputs_read(struct inputs *in, const struct word_list *what, const char *base,
		       struct archive *archive, bool drawn, struct error *err)
{
	int r = 0;

	in->values = calloc(what->n, sizeof *in->values);
	if (!in->values)
		return error_sys(err, -ENOMEM, NULL, NULL);
	for (; !r && in->n < what->n; in->n++)
		r = archive ? archive_values(archive, what->item[in->n], &in->values[in->n], err) :
		    read_recording(in, base, what->item[in->n], drawn && in->n + 1 == what->n, err);
	return r;
}

static void inputs_release(struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		values_release(&in->values[i]);
	free(in->values);
	summary_release(&in->sum);
	recording_release(&in->rec);
}

/* Adds a recording, or the good runs of a set. The run that stands for the set is the last one, which a
 * picture shows. */
static int expand_one(struct args *a, struct word_list *list, const char *base, const char *what,
		      struct error *err)
{
	struct buf path = BUF_INIT, run = BUF_INIT;
	struct runs runs = RUNS_INIT;
	struct error unused;
	size_t n;
	int r = 0;

	if (!listing_find_set(&path, base, what, &convert_formats, &unused) &&
	    runs_are_here(buf_str(&path)))
		r = runs_read(&runs, path.data, &convert_formats, err);
	n = runs.n ? runs.n : 1;
	if (!r && runs.n && !runs.n_good)
		r = error_set(err, -EINVAL, path.data, 0, 0, "no run of this set succeeded");
	for (size_t i = 0; !r && i < n; i++) {
		size_t k = i < runs.shown ? i : i + 1 < n ? i + 1 : runs.shown;
		const char *kept = what;

		if (runs.n && !runs.run[k].good)
			continue;
		if (runs.n) {
			buf_clear(&run);
			runs_add_path(&run, path.data, &runs.run[k]);
			kept = buf_error(&run) ? NULL : options_keep(a, run.data);
		}
		if (!kept)
			r = error_sys(err, -ENOMEM, NULL, NULL);
		else if (list->n == WORD_LIST_MAX)
			r = error_set(err, -E2BIG, what, 0, 0, "more than %d builds on one side",
				      WORD_LIST_MAX);
		else
			list->item[list->n++] = kept;
	}
	buf_release(&path);
	buf_release(&run);
	runs_release(&runs);
	return r;
}

static int expand(struct args *a, struct word_list *list, const char *base, struct error *err)
{
	struct word_list given = *list;
	int r = 0;

	list->n = 0;
	for (size_t i = 0; !r && i < given.n; i++)
		r = expand_one(a, list, base, given.item[i], err);
	return r;
}

/* Thresholds */

/* "2s" sets the limits of times, "1MiB" those of sizes, "0" all. */
static int set_amounts(struct rules *rules, const struct word_list *list, bool floor,
		       struct error *err)
{
	for (size_t i = 0; i < list->n; i++) {
		struct amount amount;

		if (!amount_read(&amount, list->item[i]) ||
		    (amount.unit == UNIT_COUNT && amount.value != 0))
			return error_say(err, -EINVAL, "diff: option '--%s': expected an amount "
					 "such as 2s or 16MiB, not '%s'", floor ? "floor" : "amount",
					 list->item[i]);
		for (enum metric m = 0; m < METRICS; m++) {
			struct gate *gate = &rules->gate[m];
			bool set = amount_in(floor ? &gate->floor : &gate->amount, &amount,
					     metric_info[m].unit);

			gate->chosen = gate->chosen || (set && !floor);
		}
	}
	return 0;
}

static int set_rules(struct rules *rules, const struct diff_arguments *d, struct error *err)
{
	int r;

	for (enum metric m = 0; m < METRICS && !isnan(d->share); m++)
		rules->gate[m].share = d->share;
	if (!d->buildset.metrics)
		rules->metrics |= METRIC_BIT(METRIC_PEAK);
	r = set_amounts(rules, &d->amount, false, err);
	return r ? r : set_amounts(rules, &d->floor, true, err);
}

static int print(const struct diff_view *v, const struct diff_arguments *d, struct error *err)
{
	struct style style = output_style();
	struct buf out = BUF_INIT, page = BUF_INIT;
	struct doc doc;
	int r;

	doc_init_people(&doc, &out, &style, d->markdown);
	r = d->json ? diff_json(&out, v) : diff_doc(&doc, v);
	doc_release(&doc);
	if (!r && d->html)
		r = output_file(&page, diff_html(&page, v), d->html, err);
	else if (r)
		error_sys(err, r, NULL, NULL);
	if (!r)
		return output_end(&out, 0, NULL, err);
	buf_release(&out);
	return r;
}

static int exit_status(const struct diff *d)
{
	return diff_is_worse(d) ? EXIT_FOUND : d->n_tests ? EXIT_GOOD : EXIT_NO_VERDICT;
}

/* Returns an exit status, or a negative errno with err. */
static void add_counted(struct rules *rules, const struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		rules_add_counted(rules, in->values[i].total);
}

static int diff(struct args *a, struct diff_arguments *d, struct error *err)
{
	struct buildset n = BUILDSET_INIT;
	struct inputs base = { .rec = RECORDING_INIT }, new = { .rec = RECORDING_INIT };
	struct diff_options o = { &n.rules, d->filter };
	struct diff diff = { 0 };
	struct diff_view view = {
		.diff = &diff, .sort = (enum diff_sort)d->sort, .reverse = d->reverse,
		.all = d->all, .top = (size_t)d->top,
	};
	int r = buildset_settings(&n, a, &d->buildset, err);

	if (!r)
		r = set_rules(&n.rules, d, err);
	if (!r)
		r = options_given(a, "repo") || options_given(a, "ref") ?
		    buildset_archive(&n, ARCHIVE_READ, err) :
		    configfile_apply(a, options, d, d->buildset.config, err);
	if (!r)
		r = choose(a, d, &n, err);
	if (!r && !n.archive)
		r = expand(a, &d->base, d->recordings, err);
	if (!r && !n.archive)
		r = expand(a, &d->new, d->recordings, err);
	if (!r)
		r = inputs_read(&base, &d->base, d->recordings, n.archive, d->html, err);
	if (!r)
		r = inputs_read(&new, &d->new, d->recordings, n.archive, d->html, err);
	if (!r && !d->buildset.metrics) {
		add_counted(&n.rules, &base);
		add_counted(&n.rules, &new);
	}
	if (!r) {
		view.sum[DIFF_BASE] = base.sum.rec ? &base.sum : NULL;
		view.sum[DIFF_NOW] = new.sum.rec ? &new.sum : NULL;
		r = diff_make(&diff, base.values, base.n, new.values, new.n, &o);
		r = r ? error_sys(err, r, NULL, NULL) : print(&view, d, err);
		if (!r && d->fail)
			r = exit_status(&diff);
		diff_release(&diff);
	}
	inputs_release(&base);
	inputs_release(&new);
	buildset_release(&n);
	return r;
}

static const struct diff_arguments defaults = { .sort = DIFF_SORT_CHANGE, .top = 20, .share = NAN };

static int run_diff(struct args *a, void *values, struct error *err)
{
	struct diff_arguments *d = values;
	if (d->json && d->markdown)
		return error_say(err, -EINVAL, "diff: --json and --markdown exclude each other");
	return d->samples ? numberlines_diff(d->samples, err) : diff(a, d, err);
}

COMMAND(diff, "[A B]", "Compare two builds and report changes beyond the noise", COMMAND_OPTIONS);
