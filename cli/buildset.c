/* SPDX-License-Identifier: MIT */
#include "cli/buildset.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/heap.h"
#include "cli/configfile.h"
#include "compare/follow_renames.h"
#include "compare/repeats.h"
#include "launch/notice.h"
#include "report/fix_look.h"

#include <errno.h>
#include <stdlib.h>

#define OPTIONS struct buildset_config
const struct option buildset_keys[] = {
	{ OPT_KEY(OPTION_REPO, const char *, "repo", repo) },
	{ OPT_KEY(OPTION_AMOUNT, struct amount, "import-limit", import_limit) },
	{ OPT_KEY(OPTION_MAP, struct rules_config, "compare", compare), .map = &rules_config_map },
	{ OPT_KEY(OPTION_NAMED, struct limits_config, "limits", limits),
	  .map = &limits_config_map },
	{ 0 }
};

int buildset_settings(struct buildset *n, struct args *args, struct buildset_options *options,
		      struct error *err)
{
	struct buildset_config config = { .repo = options->repo };
	int r;

	rules_config_init(&config.compare);
	r = configfile_apply(args, buildset_keys, &config, options->config, err);
	if (!r && ((r = rules_config_done(&config.compare)) ||
		   (r = limits_config_done(&config.limits))))
		error_sys(err, r, NULL, NULL);
	options->repo = config.repo;
	*n = (struct buildset){ .options = options, .config = config.compare,
				.limits = config.limits };
	n->rules = n->config.rules;
	if (options->metrics)
		n->rules.metrics = options->metrics;
	return r;
}

/* A local copy of an archive may lack the newest build, so that check must not use it. */
static int open_archive(struct buildset *n, enum archive_use use, enum buildset_span span,
			struct error *err)
{
	struct error why;
	int r;

	if (!n->options->repo)
		return error_say(err, -EINVAL, "no archive: use --repo, or the key 'repo' in "
				 "buildbeat.yaml");
	r = archive_open(&n->archive, n->options->repo, use, err);
	if (r || use == ARCHIVE_WRITE || !archive_is_stale(n->archive, &why))
		return r;
	if (span == BUILDSET_FRESH) {
		*err = why;
		return -ENOTCONN;
	}
	notice_error(&why);
	notice("using the local copy, as fetched last");
	return 0;
}

int buildset_archive(struct buildset *n, enum archive_use use, struct error *err)
{
	return open_archive(n, use, BUILDSET_ALL, err);
}

int buildset_fresh_archive(struct buildset *n, struct error *err)
{
	return open_archive(n, ARCHIVE_READ, BUILDSET_FRESH, err);
}

int buildset_series(struct buildset *n, struct error *err)
{
	int r = archive_choose(n->archive, n->options->ref, &n->ref, err);
	struct error why;

	if (archive_has_skipped(n->archive, &why))
		notice_error(&why);
	return r;
}

/* All recordings, and what was accepted or acknowledged. */
static int load(struct buildset *n, enum buildset_span span, struct error *err)
{
	int r = archive_builds(n->archive, buf_str(&n->ref), 0, &n->builds, err);

	if (!r)
		r = archive_known(n->archive, &n->builds, &n->known, err);
	if (r > 0)
		notice_error(err);
	if (r < 0)
		return r;
	if (n->config.usual && !n->options->metrics)
		builds_add_counted(&n->builds, &n->rules);
	r = span == BUILDSET_RECORDINGS ? 0 : repeats_join(&n->builds, &n->known, err);
	if (!r && (r = fix_look(&n->known, &n->builds, &n->rules)))
		error_sys(err, r, NULL, NULL);
	r = r ? r : follow_renames(&n->builds, err);
	return r ? r : builds_scale(&n->builds, &n->rules, err);
}

int buildset_open(struct buildset *n, struct args *args, struct buildset_options *options,
		  enum buildset_span span, struct error *err)
{
	int r = buildset_settings(n, args, options, err);

	heap_expect_much();
	if (!r)
		r = open_archive(n, ARCHIVE_READ, span, err);
	if (!r)
		r = buildset_series(n, err);
	if (!r)
		r = load(n, span, err);
	return r;
}

static int open_each(struct buildset **sets, size_t *n, struct buildset *first, const char **ref,
		     size_t n_refs, enum buildset_span span, struct error *err)
{
	const char *what = first->options->ref;
	int r = 0;

	for (size_t i = 0; !r && i < n_refs; i++) {
		struct buildset *set;

		if (what && *what && !archive_ref_fits(ref[i], what))
			continue;
		set = &(*sets)[(*n)++];
		*set = *first;
		set->shares = *n > 1;
		set->is_one_of_many = true;
		buf_adds(&set->ref, ref[i]);
		r = load(set, span, err);
	}
	return r || *n ? r : error_set(err, -ENOENT, first->options->repo, 0, 0, what ?
				       "has no series '%.100s'" : "has no builds", what);
}

int buildset_open_every(struct buildset **sets, size_t *n, struct args *args,
			struct buildset_options *options, enum buildset_span span, struct error *err)
{
	struct buildset first = BUILDSET_INIT;
	struct arena *texts = arena_new();
	const char **ref = NULL;
	size_t n_refs = 0;
	int r = texts ? buildset_settings(&first, args, options, err) : error_sys(err, -ENOMEM, NULL, NULL);

	*sets = NULL;
	*n = 0;
	heap_expect_much();
	if (!r)
		r = open_archive(&first, ARCHIVE_READ, span, err);
	if (!r)
		r = archive_refs(first.archive, texts, &ref, &n_refs, err);
	if (!r && !(*sets = array_new_zero(n_refs + 1, sizeof **sets)))
		r = error_sys(err, -ENOMEM, NULL, NULL);
	if (!r)
		r = open_each(sets, n, &first, ref, n_refs, span, err);
	if (!*n)
		buildset_release(&first);
	arena_free(texts);
	return r;
}

void buildset_release_every(struct buildset *sets, size_t n)
{
	while (n-- > 0)
		buildset_release(&sets[n]);
	free(sets);
}

struct command_line_archive buildset_command_line(const struct buildset *n)
{
	return (struct command_line_archive){
		.repo = n->options->repo, .config = n->options->config,
		.ref = n->options->ref || n->is_one_of_many ? n->builds.ref : NULL,
	};
}

void buildset_release(struct buildset *n)
{
	free(n->known.known);
	builds_release(&n->builds);
	buf_release(&n->ref);
	if (n->shares)
		return;
	archive_close(n->archive);
	rules_config_release(&n->config);
	limits_config_release(&n->limits);
}
