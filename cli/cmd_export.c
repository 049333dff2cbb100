/* SPDX-License-Identifier: MIT */
#include "base/outfile.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/export_path.h"
#include "cli/export_send.h"
#include "cli/follow_export.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/converters.h"
#include "launch/hold.h"
#include "trace/trace_formats.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NO_FORMAT (-1)

struct export_arguments {
	const char *config;
	const char *base;
	int to;			/* index of trace_format_word */
	const char *into;
	bool follow;
};

#define OPTIONS struct export_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, base),
	{ OPT_CHOICE(0, "to", to, trace_format_word, "FORMAT",
	  "format: chrome, oe, otlp, otlp-logs, otlp-metrics, perfetto or prometheus") },
	{ OPT_TEXT('o', "output", into, "PATH",
	  "path, '-' for standard output, or URL of a collector (default: REC and a suffix)") },
	{ OPT_FLAG('f', "follow", follow,
	  "write a trace while the build runs, until it ends") },
	{ 0 }
};

/* Only a file of prometheus is replaced, if it was named: it is written again and again. */
static int check_output(const struct trace_format *f, const char *path, bool named,
			struct error *err)
{
	struct stat st;

	if (!strcmp(path, OUTFILE_STDOUT))
		return f->write != oe_write ? 0 :
		       error_say(err, -EINVAL, "export: option '--output': %s is a directory and "
				 "cannot be written to standard output", f->name);
	return (named && f->write == prometheus_write) || lstat(path, &st) ? 0 :
	       export_exists(path, err);
}

static int write_to(const struct trace_format *f, const struct recording *rec, size_t n,
		    const char *path, bool named, struct error *err)
{
	struct hold before;
	int r = check_output(f, path, named, err);

	if (r)
		return r;
	hold_begin(&before);
	r = n > 1 ? f->merge(rec, n, path, err) : f->write(rec, path, err);
	if (!r && !str_starts(path, "/dev/"))	/* which may be standard output itself */
		output_path(path);
	hold_end(&before);
	return r;
}

static int send_to(const char *url, const struct trace_format *f, const struct recording *rec,
		   struct error *err)
{
	unsigned signals = f->write == otlp_write ? EXPORT_SEND_ALL :
			   f->write == otlp_write_metrics ? 1u << ENDPOINT_METRICS :
			   f->write == otlp_write_logs ? 1u << ENDPOINT_LOGS : 0;

	if (!signals)
		return error_say(err, -EINVAL, "export: option '--output': only otlp, otlp-metrics "
				 "and otlp-logs can be sent to a URL, not %s", f->name);
	return export_send(rec, signals, url, false, err);
}

/* Several recordings in one file. */
static int merge(const struct export_arguments *e, char *const *what, size_t n, struct error *err)
{
	const struct trace_format *f = &trace_formats[e->to];
	struct recording *rec;
	int r = 0;

	if (!f->merge)
		return error_say(err, -EINVAL, "export: --to %s: at most one recording", f->name);
	if (!e->into)
		return error_say(err, -EINVAL, "export: option '--output' is missing: several "
				 "recordings need a file name");
	rec = calloc(n, sizeof *rec);
	if (!rec)
		return error_sys(err, -ENOMEM, NULL, NULL);
	for (size_t i = 0; i < n && !r; i++)
		r = openrec(&rec[i], OPENREC_WHOLE, e->base, what[i], err);
	if (!r)
		r = write_to(f, rec, n, e->into, true, err);
	for (size_t i = 0; i < n; i++)
		recording_release(&rec[i]);
	free(rec);
	return r;
}

static const struct export_arguments defaults = { .to = NO_FORMAT };

static int run_export(struct args *a, void *values, struct error *err)
{
	const struct export_arguments *e = values;
	struct recording rec = RECORDING_INIT;
	struct buf path = BUF_INIT;
	const struct trace_format *format;
	int r;

	if (e->to == NO_FORMAT)
		return error_say(err, -EINVAL, "export: option '--to' is missing; name a format: "
				 "buildbeat export --to chrome; for a list of all: buildbeat help "
				 "export");
	format = &trace_formats[e->to];
	if (a->n > 1 && e->follow)
		return error_say(err, -EINVAL, "export: --follow: at most one recording");
	if (a->n > 1)
		return merge(e, a->operand, (size_t)a->n, err);
	if (e->follow)
		return follow_export(e->base, a->operand[0], format->name, format->suffix, e->into,
				     err);
	r = openrec(&rec, OPENREC_WHOLE, e->base, a->operand[0], err);
	if (!r && !e->into)
		r = export_default_path(&path, rec.path, format->suffix, err);
	if (!r && e->into && endpoint_is_url(e->into))
		r = send_to(e->into, format, &rec, err);
	else if (!r)
		r = write_to(format, &rec, 1, e->into ? e->into : path.data, e->into, err);
	buf_release(&path);
	recording_release(&rec);
	return r;
}

COMMAND(export, "[REC...]", "Write a recording in the format of another tool", COMMAND_KEYS);
