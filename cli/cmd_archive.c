/* SPDX-License-Identifier: MIT */
#include "analyse/build_output.h"
#include "analyse/listing.h"
#include "analyse/runs.h"
#include "analyse/values.h"
#include "archive/commit_count.h"
#include "archive/import_oe.h"
#include "base/text.h"
#include "cli/buildset.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/convert.h"
#include "launch/notice.h"
#include "report/error_text.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ID_SHOWN 12

struct archive_arguments {
	struct buildset_options buildset;
	const char *output;
	const char *host, *branch, *machine;
	bool import, fsck, repair;
};

#define OPTIONS struct archive_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	OPENREC_OPTION(output),
	{ OPT_TEXT(0, "host", host, "NAME",
	  "host name of the series (default: where it was recorded)") },
	{ OPT_TEXT(0, "branch", branch, "NAME",
	  "branch of the series (default: of the first source tree)") },
	{ OPT_TEXT(0, "machine", machine, "NAME",
	  "machine type of the series (default: of the host)") },
	{ OPT_FLAG(0, "import-oe", import,
	  "import archives of oe-build-perf-test and directories of recordings") },
	{ OPT_FLAG(0, "fsck", fsck,
	  "check the archive for damage and leftovers of killed processes") },
	{ OPT_FLAG(0, "repair", repair, "with --fsck: repair what can be repaired") },
	{ 0 }
};

/* One run of the command. */
struct job {
	struct buildset n;
	const struct archive_arguments *o;
};

static int print(void *context, const char *ref, const char *id, bool added)
{
	struct buf out = BUF_INIT;

	(void)context;
	text_add_name(&out, ref, 0);
	buf_addf(&out, " %.*s%s\n", ID_SHOWN, id, added ? "" : " (already archived)");
	return output_end(&out, 0, NULL, NULL);
}

static int add(struct job *job, const struct recording *rec, const struct values *v,
	       struct error *err)
{
	const struct archive_arguments *o = job->o;
	struct archive_build build = { .values = v, .rec = rec };
	struct buf ref = BUF_INIT;
	char id[ARCHIVE_ID_SIZE];
	bool added;
	int r;

	archive_ref(&ref, o->host ? o->host : values_fact(v, "host"),
		    o->branch ? o->branch : values_fact(v, "branch"),
		    o->machine ? o->machine : values_fact(v, "machine"));
	r = buf_error(&ref) ? error_sys(err, buf_error(&ref), NULL, NULL) :
	    archive_add(job->n.archive, ref.data, &build, id, &added, err);
	if (!r && archive_server(job->n.archive))
		notice("%s: the server has the build", archive_server(job->n.archive));
	if (!r && (r = print(NULL, ref.data, id, added)))
		error_sys(err, r, NULL, NULL);
	buf_release(&ref);
	return r;
}

/* The archive keeps no output, but what the build failed of. */
static int add_error(struct values *v, const struct recording *rec, struct error *err)
{
	struct build_output output = { 0 };
	struct buf text = BUF_INIT;
	struct summary sum = { 0 };
	const struct first_error *e;
	int r = summary_make(&sum, rec);

	if (r)
		error_sys(err, r, rec->path, NULL);
	else
		r = build_output_read_failure(&output, &sum, convert_formats.codec, err);
	e = first_error_of_build(&output.errors);
	if (!r && e) {
		error_add_message(&text, e);
		r = buf_error(&text) ? buf_error(&text) : values_add_fact(v, VALUES_ERROR, buf_str(&text));
		if (r)
			error_sys(err, r, rec->path, NULL);
	}
	buf_release(&text);
	build_output_release(&output);
	summary_release(&sum);
	return r;
}

static int read_one(struct recording *rec, struct values *v, const char *base, const char *what,
		    struct error *err)
{
	int r = openrec(rec, OPENREC_SUMS | OPENREC_WHOLE, base, what, err);

	if (!r && (r = values_make(v, rec)))
		error_sys(err, r, rec->path, NULL);
	if (!r)
		r = add_error(v, rec, err);
	if (!r && v->total[TOTAL_STATUS] == STATUS_UNFINISHED)
		r = error_set(err, -EINVAL, v->path, 0, 0, "no end was recorded: the "
			      "build still runs, or was killed with its launcher");
	return r;
}

static int add_one(struct job *job, const struct recording *rec, struct values *v,
		   struct error *err)
{
	int r = commit_count_add(v);

	if (r)
		error_sys(err, r, rec->path, NULL);
	if (!r && !job->n.archive)
		r = buildset_archive(&job->n, ARCHIVE_WRITE, err);
	return r ? r : add(job, rec, v, err);
}

/* The medians of all good runs, with the samples of the run that stands for all. */
static int archive_set(struct job *job, const char *path, const struct runs *runs,
		       struct error *err)
{
	struct values *v = calloc(runs->n_good + 1, sizeof *v);
	struct recording shown = RECORDING_INIT;
	struct buf run = BUF_INIT, count = BUF_INIT;
	size_t n = 0, kept = 0;
	int r = v ? 0 : error_sys(err, -ENOMEM, NULL, NULL);

	if (runs->n && runs->run[runs->n - 1].running)
		r = error_set(err, -EINVAL, path, 0, 0, "a run of this set still runs");
	else if (!runs->n_good)
		r = error_set(err, -EINVAL, path, 0, 0, "no run of this set succeeded");
	else if (runs->asked > (int64_t)runs->n_good) {
		runs_add_count(&count, runs);
		notice("%s: a set of %s: the others do not count", path, buf_str(&count));
	}
	for (size_t i = 0; !r && i < runs->n; i++) {
		struct recording rec = RECORDING_INIT;

		if (!runs->run[i].good)
			continue;
		buf_clear(&run);
		runs_add_path(&run, path, &runs->run[i]);
		r = buf_error(&run) ? error_sys(err, -ENOMEM, NULL, NULL) :
		    read_one(&rec, &v[n], NULL, run.data, err);
		n++;
		if (i == runs->shown) {
			kept = n - 1;
			shown = rec;
		} else {
			recording_release(&rec);
		}
	}
	if (!r && (r = values_join_runs(v, n, kept)))
		error_sys(err, r, path, NULL);
	r = r ? r : add_one(job, &shown, &v[kept], err);
	for (size_t i = 0; i < n; i++)
		values_release(&v[i]);
	free(v);
	recording_release(&shown);
	buf_release(&run);
	buf_release(&count);
	return r;
}

static int archive_one(struct job *job, const char *what, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct values v = VALUES_INIT;
	struct runs runs = RUNS_INIT;
	struct buf path = BUF_INIT;
	struct error unused;
	int r;

	if (!listing_find_set(&path, job->o->output, what, &convert_formats, &unused) &&
	    runs_are_here(buf_str(&path))) {
		r = runs_read(&runs, path.data, &convert_formats, err);
		r = r ? r : archive_set(job, path.data, &runs, err);
	} else {
		r = read_one(&rec, &v, job->o->output, what, err);
		r = r ? r : add_one(job, &rec, &v, err);
	}
	values_release(&v);
	recording_release(&rec);
	runs_release(&runs);
	buf_release(&path);
	return r;
}

/* --import-oe */

static void skipped(void *context, const struct error *why)
{
	(void)context;
	notice_error(why);
}

/* The recordings in a directory. Those that cannot be read are reported and skipped. */
static int import_directory(struct job *job, const char *dir, struct error *err)
{
	struct listing l = LISTING_INIT;
	struct buf path = BUF_INIT;
	int r = listing_read(&l, dir, &convert_formats, err);

	if (!r && !l.n)
		r = error_set(err, -EINVAL, dir, 0, 0, "not an archive of "
			      "oe-build-perf-test or a directory of recordings");
	for (size_t i = 0; !r && i < l.n; i++) {
		if (l.entry[i].damaged) {
			notice_error(&l.entry[i].error);
			continue;
		}
		buf_clear(&path);
		buf_addf(&path, "%s/%s", dir, l.entry[i].name);
		r = buf_error(&path) ? error_sys(err, buf_error(&path), dir, NULL) :
		    archive_one(job, path.data, err);
		if (r == -EINVAL) {
			notice_error(err);
			r = 0;
		}
	}
	buf_release(&path);
	listing_release(&l);
	return r;
}

/* An archive of oe-build-perf-test, a directory of recordings, or a recording. */
static int import(struct job *job, const char *path, struct error *err)
{
	const struct import_oe oe = {
		.to = job->n.archive, .host = job->o->host, .branch = job->o->branch,
		.machine = job->o->machine, .added = print, .skipped = skipped,
	};
	struct stat st;

	if (import_oe_is(path))
		return import_oe(&oe, path, err);
	if (!stat(path, &st) && S_ISDIR(st.st_mode) && !runs_are_here(path) &&
	    !recording_is_here(path, &convert_formats))
		return import_directory(job, path, err);
	return archive_one(job, path, err);
}

/* --fsck */

static void found(void *context, const char *what)
{
	text_add_name(context, what, 0);
	buf_addc(context, '\n');
}

static void add_result(struct buf *out, const struct archive_fsck *fsck)
{
	buf_addf(out, "%zu problem%s%s", fsck->n, fsck->n == 1 ? "" : "s",
		 fsck->n && fsck->repair ? ", repaired" : "");
	if (fsck->left)
		buf_addf(out, "; %zu lock%s remain%s", fsck->left, fsck->left == 1 ? "" : "s",
			 fsck->left == 1 ? "s" : "");
	buf_addc(out, '\n');
}

static int check(struct job *job, struct error *err)
{
	struct buf out = BUF_INIT;
	struct archive_fsck fsck = { .repair = job->o->repair, .found = found, .context = &out };
	int r = buildset_archive(&job->n, ARCHIVE_FSCK, err), printed;

	if (!r)
		r = archive_fsck(job->n.archive, &fsck, err);
	if (!r)
		add_result(&out, &fsck);
	printed = output_end(&out, 0, NULL, r ? NULL : err);
	if (r || printed)
		return r ? r : printed;
	return fsck.left || (fsck.n && !fsck.repair) ? EXIT_FOUND : EXIT_GOOD;
}

static const struct archive_arguments defaults;

static int run_archive(struct args *a, void *values, struct error *err)
{
	struct archive_arguments *o = values;
	struct job job = { .o = o };
	int r = buildset_settings(&job.n, a, &o->buildset, err);

	if (!r && (o->fsck || o->repair)) {
		r = !o->fsck ? error_say(err, -EINVAL, "archive: --repair requires --fsck") :
		    a->n || o->import ? error_say(err, -EINVAL, "archive: --fsck does not archive "
						  "anything") :
		    check(&job, err);
	} else if (!r && !o->import) {
		r = a->n < 2 ? archive_one(&job, a->operand[0], err) :
		    error_say(err, -EINVAL, "archive: expected one recording");
	} else if (!r) {
		r = a->n ? buildset_archive(&job.n, ARCHIVE_WRITE, err) :
		    error_say(err, -EINVAL, "archive: --import-oe requires a path");
		for (int i = 0; !r && i < a->n; i++)
			r = import(&job, a->operand[i], err);
	}
	buildset_release(&job.n);
	return r;
}

COMMAND(archive, "[REC...]", "Add a recording to an archive of builds", COMMAND_KEYS);
