/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "base/heap.h"
#include "base/trust.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "command/redact.h"
#include "convert/convert.h"
#include "convert/gunzip.h"
#include "launch/hold.h"
#include "recording/layout.h"
#include "recording/recording_write.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "report/amount.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#define NO_FORMAT (-1)

struct import_arguments {
	const char *config;
	const char *output, *name;
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
	{ OPT_CHOICE(0, "from", from, converter_word, "FORMAT",
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

static int write_recording(void *context, struct recording *rec,
			   const struct recording_parts *parts, struct error *err)
{
	const struct import_arguments *i = context;
	char path[PATH_MAX];
	struct hold before;
	int r;

	hold_begin(&before);
	r = recording_write_parts(rec, parts, (enum store_access)i->access, i->output, i->name,
				  path, err);
	if (!r)
		output_path(path);
	hold_end(&before);
	return r;
}

static int import(struct import_arguments *i, const struct converter *c,
		  const char *const *path, size_t n, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	int r;

	heap_expect_much();
	if (c->pass)
		return converter_pass(c, path, n, write_recording, i, err);
	r = converter_read(c, &rec, path, n, err);
	if (!r)
		r = write_recording(i, &rec, NULL, err);
	recording_release(&rec);
	return r;
}

static int import_into(const struct import_arguments *i, const struct converter *c,
		       const char *const *path, size_t n, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct hold before;
	int r;

	if (!c->read_into)
		return error_say(err, -EINVAL, "import: %s cannot be added to an existing "
				 "recording", c->name);
	if (i->name)
		return error_say(err, -EINVAL, "import: use either --into or --name");
	r = openrec(&rec, 0, i->output, i->into, err);
	if (!r && !recording_is_here(rec.path, NULL))
		r = error_set(err, -EINVAL, rec.path, 0, 0, "not a recording in buildbeat's format: "
			      "import it first");
	if (!r)
		r = trust_path(rec.path, err);
	if (!r) {
		hold_begin(&before);
		r = c->read_into(&rec, rec.path, path, n, err);
		hold_end(&before);
	}
	if (r >= 0)
		printf("%s: %d of its tasks\n", rec.path, r);
	recording_release(&rec);
	return r;
}

static const struct import_arguments defaults = { .from = NO_FORMAT };

static int run_import(struct args *a, void *values, struct error *err)
{
	const char *const *path = (const char *const *)a->operand;
	struct import_arguments *i = values;
	const struct converter *c;
	double bytes;
	int r;

	if (!amount_in(&bytes, &i->limit, UNIT_BYTES))
		return error_say(err, -EINVAL, "import: option '--import-limit': expected a size "
				 "such as 500MiB");
	if (bytes > 0)
		gunzip_set_limit(bytes < 1e18 ? (uint64_t)bytes : UINT64_C(1000000000000000000));
	redact_set(i->redact.item, i->redact.n);
	c = find_converter(i, path[0], err);
	if (!c)
		return -EINVAL;
	r = i->into ? import_into(i, c, path, (size_t)a->n, err)
		    : import(i, c, path, (size_t)a->n, err);
	return r < 0 ? r : EXIT_GOOD;
}

COMMAND(import, "PATH...", "Convert data of another tool to a recording", COMMAND_KEYS);
