/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/buildset.h"
#include "cli/output_file.h"

#include <errno.h>
#include <stddef.h>

#define DAY_S 86400
#define NOT_GIVEN (-1)

struct prune_arguments {
	struct buildset_options buildset;
	int64_t keep, older;
	bool dry_run;
};

#define OPTIONS struct prune_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	{ OPT_TEXT(0, "ref", buildset.ref, "NAME",
	  "prune only the series HOST/BRANCH/MACHINE, or a part of it (default: all)") },
	{ OPT_NUMBER(0, "keep", keep, 1, 1000000, "N",
	  "keep the newest N builds of each series (default 1)") },
	{ OPT_NUMBER(0, "older", older, 0, 100000, "DAYS",
	  "keep builds that began at most DAYS days ago") },
	{ OPT_FLAG(0, "dry-run", dry_run, "print what would be removed, and remove nothing") },
	{ 0 }
};

static int prune_one(struct archive *archive, const char *ref, const struct prune_arguments *p,
		     struct buf *out, struct error *err)
{
	struct archive_prune what = { .before_s = -1, .keep = 1, .pretend = p->dry_run };
	struct archive_pruned done;
	int r;

	if (p->keep != NOT_GIVEN)
		what.keep = (size_t)p->keep;
	if (p->older != NOT_GIVEN)
		what.before_s = clock_wall_ns() / 1000000000 - p->older * DAY_S;
	r = archive_prune(archive, ref, &what, &done, err);
	if (r)
		return r;
	text_add_name(out, ref, 0);
	buf_addf(out, ": %zu build%s %s, %zu kept\n", done.gone, done.gone == 1 ? "" : "s",
		 p->dry_run ? "would be removed" : "removed", done.kept);
	return 0;
}

static int prune_all(struct archive *archive, const struct prune_arguments *p, struct buf *out,
		     struct error *err)
{
	struct arena *texts = arena_new();
	const char **ref;
	size_t n;
	int r = texts ? archive_refs(archive, texts, &ref, &n, err) :
		error_sys(err, -ENOMEM, NULL, NULL);

	for (size_t i = 0; !r && i < n; i++)
		r = prune_one(archive, ref[i], p, out, err);
	arena_free(texts);
	return r;
}

/* Prints what was removed, also if a later series could not be pruned. */
static int prune(struct buildset *n, const struct prune_arguments *p, struct error *err)
{
	struct buf out = BUF_INIT;
	int r, printed;

	if (p->buildset.ref) {
		r = buildset_series(n, err);
		if (!r)
			r = prune_one(n->archive, n->ref.data, p, &out, err);
	} else {
		r = prune_all(n->archive, p, &out, err);
	}
	printed = output_end(&out, 0, NULL, r ? NULL : err);
	return r ? r : printed;
}

static const struct prune_arguments defaults = { .keep = NOT_GIVEN, .older = NOT_GIVEN };

static int run_prune(struct args *a, void *values, struct error *err)
{
	struct prune_arguments *p = values;
	struct buildset n = BUILDSET_INIT;
	int r = buildset_settings(&n, a, &p->buildset, err);

	if (!r && p->keep == NOT_GIVEN && p->older == NOT_GIVEN)
		r = error_say(err, -EINVAL, "prune: --keep or --older is missing");
	if (!r)
		r = buildset_archive(&n, ARCHIVE_READ, err);
	if (!r)
		r = prune(&n, p, err);
	buildset_release(&n);
	return r;
}

COMMAND(prune, "", "Remove old builds from an archive", COMMAND_OPTIONS);
