/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "base/heap.h"
#include "base/trust.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/openrec.h"
#include "cli/output.h"
#include "command/redact.h"
#include "convert/convert.h"
#include "convert/gunzip.h"
#include "launch/hold.h"
#include "launch/notice.h"
#include "recording/layout.h"
#include "recording/recording_write.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "report/amount_read.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#define NO_FORMAT (-1)

struct import_arguments {
	const char *config;
	const char *output;
	const char *name;
	int access;
	struct word_list redact;
	struct amount limit;
	int from;		/* index of converter_list, NO_FORMAT: detected */
	const char *into;
};

#define OPTIONS struct import_arguments
static const struct option options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_PATH('o', "output", output, "DIR",
	  "directory of recordings (default: " LAYOUT_BASE ")"), .config = true },
	{ OPT_TEXT('n', "name", name, "NAME",
	  "name of the recording (default: date and time of the build)") },
	{ OPT_CHOICE(0, "access", access, store_access_words, "WHO",
	  "readers of the recording: user, group or all (default: user)"), .config = true },
	{ OPT(OPTION_SECRETS, struct word_list, 0, "redact", redact, "PATTERN",
	  "also replace secrets that match PATTERN; may be repeated"), .config = true },
	{ OPT_CHOICE('f', "from", from, converter_word, "FORMAT",
	  "input format (default: detect it)") },
	{ OPT(OPTION_AMOUNT, struct amount, 0, "import-limit", limit, "SIZE",
	  "limit on unpacked data (default: 64MiB, or 32 times the packed size up to 1GiB)"),
	  .config = true },
	{ OPT_TEXT(0, "into", into, "REC",
	  "add the data in PATH to the tasks of an existing recording") },
	{ 0 }
};

static const struct converter *find_converter(const struct import_arguments *i,
					      const char *path, struct error *err)
{
	if (i->from != NO_FORMAT)
		return &converter_list[i->from];
	if (recording_is_here(path, NULL)) {
		error_set(err, -EINVAL, path, 0, 0, "this is already a recording");
		return NULL;
	}
	return converter_of(path, err);
}

/* A new recording */

static int write_recording(const struct recording *rec, const struct import_arguments *i,
			   struct error *err)
{
	char path[PATH_MAX];
	struct hold before;
	int r;

	redact_set(i->redact.item, i->redact.n);
	hold_begin(&before);
	r = recording_write_for(rec, (enum store_access)i->access, i->output, i->name, path, err);
	if (!r)
		output_path(path);
	hold_end(&before);
	return r;
}

static int import(const struct import_arguments *i, const char *const *path, size_t n,
		  struct error *err)
{
	const struct converter *c = find_converter(i, path[0], err);
	struct recording rec = RECORDING_INIT;
	int r;

	if (!c)
		return -EINVAL;
	heap_expect_much();
	r = converter_read(c, &rec, path, n, err);
	if (!r)
		r = write_recording(&rec, i, err);
	recording_release(&rec);
	return r;
}

/* Into one there is */

static int read_into(const struct import_arguments *i, const struct converter *c,
		     const char *const *path, size_t n, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct buf dir = BUF_INIT;
	int r = openrec(&rec, &dir, OPENREC_ALL, i->output, i->into, err);
	struct hold before;

	redact_set(i->redact.item, i->redact.n);
	if (!r && !recording_is_here(dir.data, NULL))
		r = error_set(err, -EINVAL, dir.data, 0, 0, "not a recording in buildbeat's format: "
			      "import it first");
	if (!r)
		r = trust_path(dir.data, err);
	if (!r) {
		hold_begin(&before);
		r = c->read_into(&rec, dir.data, path, n, err);
		hold_end(&before);
	}
	if (r >= 0)
		printf("%s: %d of its tasks\n", dir.data, r);
	recording_release(&rec);
	buf_release(&dir);
	return r;
}

static int import_into(const struct import_arguments *i, const char *const *path, size_t n,
		       struct error *err)
{
	const struct converter *c = find_converter(i, path[0], err);

	if (!c)
		return -EINVAL;
	if (!c->read_into)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "import: %s cannot be added to an existing recording", c->name);
	if (i->name)
		return error_set(err, -EINVAL, NULL, 0, 0,
				 "import: use either --into or --name");
	return read_into(i, c, path, n, err);
}

static int set_limit(const struct amount *limit, struct error *err)
{
	double bytes;

	if (!amount_in(&bytes, limit, UNIT_BYTES))
		return error_set(err, -EINVAL, NULL, 0, 0, "import: option '--import-limit': "
				 "expected a size such as 500MiB");
	if (bytes > 0)
		gunzip_set_limit(bytes < 1e18 ? (uint64_t)bytes : UINT64_C(1000000000000000000));
	return 0;
}

static const struct import_arguments defaults = { .from = NO_FORMAT };

static int run(struct args *a, void *values, struct error *err)
{
	const char *const *path = (const char *const *)a->operand;
	struct import_arguments *i = values;
	int r = configfile_apply(a, options, i, i->config, err);

	if (!r)
		r = set_limit(&i->limit, err);
	if (!r)
		r = i->into ? import_into(i, path, (size_t)a->n, err)
			    : import(i, path, (size_t)a->n, err);
	return r < 0 ? r : EXIT_GOOD;
}

const struct command cmd_import = {
	.name = "import",
	.summary = "Convert data of another tool to a recording",
	.operands = "PATH...",
	.min_operands = 1,
	.max_operands = -1,
	.options = options,
	.defaults = &defaults,
	.size = sizeof defaults,
	.run = run,
};
