/* SPDX-License-Identifier: MIT */
#include "base/heap.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output.h"
#include "convert/convert.h"
#include "launch/hold.h"
#include "launch/notice.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NO_FORMAT (-1)

struct export_arguments {
	const char *config;
	int to;			/* index of converter_written_word */
	const char *into;
};

#define OPTIONS struct export_arguments
static const struct option options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_CHOICE('t', "to", to, converter_written_word, "FORMAT",
	  "output format: chrome or oe") },
	{ OPT_TEXT('o', "output", into, "PATH",
	  "file or directory to write (default: REC.FORMAT in the working directory)") },
	{ 0 }
};

/* The last part of the recording's path, and the format. */
static int default_path(struct buf *out, const char *recording, const char *format,
			struct error *err)
{
	char real[PATH_MAX];
	const char *slash = realpath(recording, real) ? strrchr(real, '/') : NULL;

	if (!slash)
		return error_sys(err, -errno, recording, NULL);
	buf_addf(out, "%s.%s", slash[1] ? slash + 1 : "build", format);
	return buf_error(out) ? error_sys(err, buf_error(out), recording, NULL) : 0;
}

static int write_new(const struct converter *c, const struct recording *rec, const char *path,
		     struct error *err)
{
	struct stat st;
	struct hold before;
	int r;

	if (!lstat(path, &st))
		return error_sys(err, -EEXIST, path, NULL);
	hold_begin(&before);
	r = c->write(rec, path, err);
	if (!r)
		output_path(path);
	hold_end(&before);
	return r;
}

static int export(const struct export_arguments *e, const char *base, const char *what,
		  struct error *err)
{
	const char *format = converter_written_word[e->to];
	struct recording rec = RECORDING_INIT;
	struct buf path = BUF_INIT, into = BUF_INIT;
	int r;

	heap_expect_much();
	r = openrec(&rec, &path, OPENREC_ALL, base, what, err);
	if (!r)
		r = recording_whole(&rec, err);
	if (!r && !e->into)
		r = default_path(&into, path.data, format, err);
	if (!r)
		r = write_new(converter_named(format), &rec, e->into ? e->into : into.data,
			      err);
	buf_release(&into);
	buf_release(&path);
	recording_release(&rec);
	return r;
}

static const struct export_arguments defaults = { .to = NO_FORMAT };

static int run(struct args *a, void *values, struct error *err)
{
	struct export_arguments *e = values;
	struct args base_args = { 0 };
	const char *base = NULL;
	int r;

	if (e->to == NO_FORMAT)
		return error_set(err, -EINVAL, NULL, 0, 0, "export: the option '--to' is required");
	r = openrec_base(&base_args, &base, e->config, err);
	if (!r)
		r = export(e, base, a->n ? a->operand[0] : NULL, err);
	options_release(&base_args);
	return r;
}

const struct command cmd_export = {
	.name = "export",
	.summary = "Write a recording in the format of another tool",
	.operands = "[REC]",
	.max_operands = 1,
	.options = options,
	.defaults = &defaults,
	.size = sizeof defaults,
	.run = run,
};
