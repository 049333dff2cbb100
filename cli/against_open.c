/* SPDX-License-Identifier: MIT */
#include "cli/against_open.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/heap.h"
#include "base/nearest.h"
#include "compare/follow_renames.h"
#include "compare/merge.h"
#include "compare/repeats.h"
#include "report/fix_look.h"
#include "report/source_log.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECORDINGS_MAX 64	/* of the branch that are read */
#define COMMIT_DIGITS 12
#define PARTS 3

/* The parts of "host/branch/machine". */
static void split(struct slice part[PARTS], const char *ref)
{
	for (int i = 0; i < PARTS; i++) {
		size_t len = strcspn(ref, "/");

		part[i] = (struct slice){ ref, len };
		ref += len + (ref[len] == '/');
	}
}

/* Says which branch there is instead. */
static int no_branch(struct buildset *n, const char *branch, const char *const *series,
		     size_t n_series, struct error *err)
{
	const char **names = calloc(n_series + 1, sizeof *names), *near;
	struct slice own[PARTS], part[PARTS];
	struct arena *texts = arena_new();
	struct buf text = BUF_INIT;
	size_t k = 0;
	int r;

	split(own, buf_str(&n->ref));
	for (size_t i = 0; names && texts && i < n_series; i++) {
		split(part, series[i]);
		if (!slice_equal(part[0], own[0]) || !slice_equal(part[2], own[2]) ||
		    slice_equal(part[1], own[1]))
			continue;
		names[k] = arena_text(texts, part[1].p, part[1].len);
		k += names[k] != NULL;
	}
	near = names ? nearest_word(branch, names) : NULL;
	if (names)
		names[k] = NULL;
	buf_addf(&text, "no builds of the branch '%.100s' on the host '%.*s' and machine '%.*s'",
		 branch, (int)own[0].len, own[0].p, (int)own[2].len, own[2].p);
	if (near)
		buf_addf(&text, "; did you mean '%s'?", near);
	for (size_t i = 0; !near && i < k && text.len < 400; i++)
		buf_addf(&text, "%s%s", i ? ", " : "; they have ", names[i]);
	r = error_set(err, -EINVAL, n->options->repo, 0, 0, "%s", buf_str(&text));
	buf_release(&text);
	arena_free(texts);
	free(names);
	return r;
}

/* Sets a->ref to HOST/BRANCH/MACHINE. */
static int find_target(struct against *a, struct buildset *n, const char *branch,
		       struct error *err)
{
	struct arena *texts = arena_new();
	struct slice own[PARTS], wanted[PARTS];
	struct buf name = BUF_INIT;
	const char **series = NULL;
	size_t n_series = 0;
	bool found = false;
	int r = texts ? archive_refs(n->archive, texts, &series, &n_series, err) :
		error_sys(err, -ENOMEM, NULL, NULL);

	split(own, buf_str(&n->ref));
	archive_ref(&name, "host", branch, "machine");	/* as names of git are written */
	split(wanted, buf_str(&name));
	buf_addf(&a->ref, "%.*s/%.*s/%.*s", (int)own[0].len, own[0].p, (int)wanted[1].len,
		 wanted[1].p, (int)own[2].len, own[2].p);
	for (size_t i = 0; !r && i < n_series; i++)
		found = found || !strcmp(series[i], buf_str(&a->ref));
	if (!r && buf_error(&a->ref))
		r = error_sys(err, -ENOMEM, NULL, NULL);
	else if (!r && slice_equal(own[1], wanted[1]))
		r = error_set(err, -EINVAL, n->options->repo, 0, 0, "%s is of the branch '%s' "
			      "itself: choose the series to check with --ref", buf_str(&n->ref),
			      branch);
	else if (!r && !found)
		r = no_branch(n, branch, series, n_series, err);
	buf_release(&name);
	arena_free(texts);
	return r;
}

/* The repository that has the revision, or NULL. */
static struct source_log *open_source(const struct revision *revision)
{
	const char *const dir[] = { revision->source, "." };
	struct source_log *log;
	struct error unused;

	for (int i = 0; i < 2; i++) {
		if (source_log_open(&log, dir[i], &unused))
			continue;
		if (source_log_has(log, revision->commit))
			return log;
		source_log_close(log);
	}
	return NULL;
}

/* The same tree in another build, wherever it was checked out. */
static const struct revision *same_tree(const struct build *b, const struct build *newest,
					const struct revision *revision)
{
	const struct revision *same = build_revision(b, revision->source);

	return same || b->n_revisions != 1 || newest->n_revisions != 1 ? same : b->revision;
}

/* The number of the target's builds up to the newest one that the branch contains, 0 with a->why
 * if there is none. */
static size_t by_revision(struct against *a, const struct builds *target,
			  const struct build *newest)
{
	const struct revision *own = newest->n_revisions ? newest->revision : NULL;
	struct source_log *log = own ? open_source(own) : NULL;
	const char *last = "";
	size_t n = log ? target->n : 0;

	for (; n; n--) {
		const struct revision *r = same_tree(&target->build[n - 1], newest, own);

		/* Counting is quicker, and one answer is enough for a revision. */
		if (!r || !strcmp(last, r->commit) || (own->count >= 0 && r->count > own->count))
			continue;
		last = r->commit;
		if (source_log_follows(log, r->commit, own->commit))
			break;
	}
	if (!own)
		buf_adds(&a->why, "the newest build has no revision");
	else if (!log)
		buf_addf(&a->why, "neither %s nor the working directory has the revision %.*s",
			 own->source, COMMIT_DIGITS, own->commit);
	else if (!n)
		buf_addf(&a->why, "the history of %.*s has the revision of none%s", COMMIT_DIGITS,
			 own->commit, source_log_is_shallow(log) ? " and is incomplete (a "
			 "shallow clone)" : "");
	source_log_close(log);
	return n;
}

static size_t by_time(const struct builds *target, const struct build *newest)
{
	size_t n = target->n;

	while (n && newest->start_s >= 0 && target->build[n - 1].start_s > newest->start_s)
		n--;
	return n;
}

/* Renumbers the notes and adds them to those of n. */
static int add_known(struct buildset *n, const struct known_list *list, const uint32_t *to)
{
	struct known *grown = realloc(n->known.known, (n->known.n + list->n + 1) * sizeof *grown);

	if (!grown)
		return -ENOMEM;
	n->known.known = grown;
	for (size_t i = 0; i < list->n; i++) {
		if (to[list->known[i].build] == MERGE_NONE)
			continue;
		grown[n->known.n] = list->known[i];
		grown[n->known.n++].build = to[list->known[i].build];
	}
	return 0;
}

static int read_part(struct merge_part *part, struct known_list *known, const struct buildset *n,
		     const char *ref, size_t newest, struct error *err)
{
	int r = archive_builds(n->archive, ref, newest, &part->builds, err);

	r = r ? r : archive_known(n->archive, &part->builds, known, err);
	if (r < 0)
		return r;
	part->to = malloc((part->builds.n + 1) * sizeof *part->to);
	return part->to ? 0 : error_sys(err, -ENOMEM, NULL, NULL);
}

/* The target's builds, then each recording of the branch's newest build. */
static int join(struct against *a, struct buildset *n, struct merge_part part[2],
		const struct known_list known[2], struct error *err)
{
	struct builds *target = &part[0].builds, *branch = &part[1].builds;
	size_t base, own, all;
	int r = 0;

	all = base = repeats_find(part[0].to, target);
	own = repeats_find(part[1].to, branch);
	for (size_t i = 0; i < branch->n; i++)
		part[1].to[i] = part[1].to[i] + 1 == own ? (uint32_t)all++ : MERGE_NONE;
	for (int i = 0; !r && i < 2; i++) {
		r = add_known(n, &known[i], part[i].to);
		if (r)
			return error_sys(err, r, NULL, NULL);
	}
	a->report.first = (uint32_t)base;
	r = merge_builds(&n->builds, all, part, 2, err);
	r = r ? r : follow_renames(&n->builds, err);
	return r ? r : builds_scale(&n->builds, &n->rules, err);
}

static int read_builds(struct against *a, struct buildset *n, struct error *err)
{
	struct merge_part part[2] = { { .to = NULL } };
	struct known_list known[2] = { { 0 } };
	struct builds *target = &part[0].builds, *branch = &part[1].builds;
	int r = read_part(&part[0], &known[0], n, buf_str(&a->ref), 0, err);

	r = r ? r : read_part(&part[1], &known[1], n, buf_str(&n->ref), RECORDINGS_MAX, err);
	if (!r && !branch->n)
		r = error_set(err, -ENOENT, n->options->repo, 0, 0, "the series '%s' has no builds",
			      buf_str(&n->ref));
	if (!r) {
		size_t base = by_revision(a, target, &branch->build[branch->n - 1]);

		target->n = base ? base : by_time(target, &branch->build[branch->n - 1]);
		if (!target->n)
			r = error_set(err, -ENOENT, n->options->repo, 0, 0,
				      "%s has no build before the newest one of %s",
				      buf_str(&a->ref), buf_str(&n->ref));
	}
	for (size_t i = 0; !r && i < known[0].n; i++) {
		if (known[0].known[i].build >= target->n)
			known[0].n = i;		/* they are sorted */
	}
	r = r ? r : join(a, n, part, known, err);
	if (!r && (r = fix_look(&n->known, &n->builds, &n->rules)))
		error_sys(err, r, NULL, NULL);
	for (int i = 0; i < 2; i++) {
		builds_release(&part[i].builds);
		free(part[i].to);
		free(known[i].known);
	}
	return r;
}

/* The thresholds of diff for the same builds. Returns 0 or -ENOMEM. */
static int scale_rules(const struct against *a, struct buildset *n)
{
	const struct builds *builds = &n->builds;
	size_t first = a->report.first;
	double *values = array_new(builds->n, sizeof *values), whole[METRICS];

	if (!values)
		return -ENOMEM;
	for (enum metric m = 0; m < METRICS; m++) {
		size_t before = 0, own = 0;

		for (size_t i = 0; i < builds->n; i++) {
			double value = build_total(&builds->build[i], m);

			if (isnan(value))
				continue;
			values[before + own] = value;
			before += i < first;
			own += i >= first;
		}
		whole[m] = fmax(stats_median(values, before), stats_median(values + before, own));
	}
	rules_scale(&n->rules, whole, true);
	free(values);
	return 0;
}

/* The circumstances that differ. */
static int compare_sides(struct against *a, const struct buildset *n, struct error *err)
{
	const struct build *was = &n->builds.build[a->report.first - 1];
	const struct build *now = &n->builds.build[n->builds.n - 1];
	struct diff_options options = { .rules = &n->rules };
	int r = 0;

	if (was->circumstances == now->circumstances)
		return 0;
	r = archive_values(n->archive, was->id, &a->side[DIFF_BASE], err);
	r = r ? r : archive_values(n->archive, now->id, &a->side[DIFF_NOW], err);
	if (!r && (r = diff_make(&a->diff, &a->side[DIFF_BASE], 1, &a->side[DIFF_NOW], 1, &options)))
		error_sys(err, r, NULL, NULL);
	a->report.fact = a->diff.fact;
	a->report.n_facts = r ? 0 : a->diff.n_facts;
	return r;
}

int against_open(struct against *a, struct buildset *n, struct args *args,
		 struct buildset_options *options, const char *branch, struct error *err)
{
	int r = buildset_settings(n, args, options, err);

	*a = (struct against){ .ref = BUF_INIT };
	heap_expect_much();
	r = r ? r : buildset_fresh_archive(n, err);
	r = r ? r : buildset_series(n, err);
	r = r ? r : find_target(a, n, branch, err);
	r = r ? r : read_builds(a, n, err);
	if (!r && (r = scale_rules(a, n)))
		error_sys(err, r, NULL, NULL);
	r = r ? r : compare_sides(a, n, err);
	if (!r && (buf_error(&a->ref) || buf_error(&a->why)))
		r = error_sys(err, -ENOMEM, NULL, NULL);
	a->report.ref = buf_str(&a->ref);
	a->report.why = a->why.len ? buf_str(&a->why) : NULL;
	return r;
}

void against_release(struct against *a)
{
	buf_release(&a->ref);
	buf_release(&a->why);
	free(a->report.undecided.item);
	diff_release(&a->diff);
	for (int i = 0; i < DIFF_SIDES; i++)
		values_release(&a->side[i]);
}
