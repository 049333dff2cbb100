/* SPDX-License-Identifier: MIT */
#include "analyse/values.h"
#include "archive/commit_count.h"
#include "base/heap.h"
#include "cli/archive_import.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/buildset.h"
#include "cli/openrec.h"
#include "cli/output.h"
#include "launch/notice.h"

#include <errno.h>
#include <stddef.h>

#define ID_SHOWN 12

struct archive_arguments {
	struct buildset_options buildset;
	const char *output;
	const char *host, *branch, *machine;
	bool import;
};

#define OPTIONS struct archive_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	{ OPT_PATH('o', "output", output, "DIR",
	  "directory of recordings (default: the nearest buildstats)"), .config = true },
	{ OPT_TEXT(0, "host", host, "NAME",
	  "host name of the series (default: where it was recorded)") },
	{ OPT_TEXT(0, "branch", branch, "NAME",
	  "branch of the series (default: of the first source tree)") },
	{ OPT_TEXT(0, "machine", machine, "NAME",
	  "machine type of the series (default: of the host)") },
	{ OPT_FLAG(0, "import-oe", import,
	  "import archives of oe-build-perf-test and directories of recordings") },
	{ 0 }
};

static const char *either(const char *given, const struct values *f, const char *key)
{
	return given ? given : values_fact(f, key);
}

/* What is not over yet has other figures tomorrow. */
static int check_end(const struct values *f, struct error *err)
{
	if (f->total[TOTAL_STATUS] != STATUS_UNFINISHED)
		return 0;
	return error_set(err, -EINVAL, f->path, 0, 0, "no end was recorded: the "
			 "build still runs, or was killed with its launcher");
}

static int print(const char *ref, const char *id, bool added)
{
	struct buf out = BUF_INIT;
	int r;

	buf_addf(&out, "%s %.*s%s\n", ref, ID_SHOWN, id, added ? "" : " (already archived)");
	r = buf_error(&out);
	if (!r)
		output_write(&out);
	buf_release(&out);
	return r;
}

static int add(struct archive *archive, const struct recording *rec, const struct values *f,
	       const struct archive_arguments *o, struct error *err)
{
	struct archive_build build = { .figures = f, .rec = rec };
	struct buf ref = BUF_INIT;
	char id[ARCHIVE_ID_SIZE];
	bool added;
	int r;

	archive_ref(&ref, either(o->host, f, "host"), either(o->branch, f, "branch"),
		    either(o->machine, f, "machine"));
	r = buf_error(&ref) ? error_sys(err, buf_error(&ref), NULL, NULL) :
	    archive_add(archive, ref.data, &build, id, &added, err);
	if (!r && (r = print(ref.data, id, added)))
		error_sys(err, r, NULL, NULL);
	buf_release(&ref);
	return r;
}

struct job {
	struct buildset *n;
	const struct archive_arguments *o;
};

static int archive_one(void *context, const char *what, struct error *err)
{
	struct job *job = context;
	struct recording rec = RECORDING_INIT;
	struct values f = VALUES_INIT;
	struct buf path = BUF_INIT;
	int r = openrec(&rec, &path, OPENREC_SUMS, job->o->output, what, err);

	if (!r)
		r = recording_whole(&rec, err);
	if (!r && (r = values_make(&f, &rec)))
		error_sys(err, r, rec.path, NULL);
	if (!r)
		r = check_end(&f, err);
	if (!r && (r = commit_count_add(&f)))
		error_sys(err, r, rec.path, NULL);
	if (!r && !job->n->archive)
		r = buildset_archive(job->n, ARCHIVE_WRITE, err);
	if (!r)
		r = add(job->n->archive, &rec, &f, job->o, err);
	values_release(&f);
	recording_release(&rec);
	buf_release(&path);
	return r;
}

static int import(struct job *job, const struct args *a, struct error *err)
{
	struct archive_import i = {
		.host = job->o->host, .branch = job->o->branch, .machine = job->o->machine,
		.add = archive_one, .print = print, .context = job,
	};
	int r;

	if (!a->n)
		return error_set(err, -EINVAL, NULL, 0, 0, "archive: --import-oe requires a path");
	r = buildset_archive(job->n, ARCHIVE_WRITE, err);
	i.to = job->n->archive;
	return r ? r : archive_import(&i, (const char *const *)a->operand, (size_t)a->n, err);
}

static int archive(struct job *job, const struct args *a, struct error *err)
{
	if (job->o->import)
		return import(job, a, err);
	if (a->n > 1)
		return error_set(err, -EINVAL, NULL, 0, 0, "archive: expected one recording");
	return archive_one(job, a->n ? a->operand[0] : NULL, err);
}

static const struct archive_arguments defaults;

static int run(struct args *a, void *values, struct error *err)
{
	struct archive_arguments *o = values;
	struct buildset n = BUILDSET_INIT;
	struct job job = { &n, o };
	int r;

	heap_expect_much();
	r = buildset_settings(&n, a, &o->buildset, err);
	if (!r)
		r = configfile_apply(a, options, o, o->buildset.config, err);
	if (!r)
		r = archive(&job, a, err);
	buildset_release(&n);
	return r;
}

const struct command cmd_archive = {
	.name = "archive",
	.summary = "Add a recording to an archive of builds",
	.operands = "[REC...]",
	.max_operands = -1,
	.options = options,
	.defaults = &defaults,
	.size = sizeof defaults,
	.run = run,
};
