/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/convert.h"
#include "report/list_output.h"

#include <stddef.h>

struct list_arguments {
	const char *config;
	const char *output;
	bool json;
};

#define OPTIONS struct list_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_FLAG('j', "json", json, "print JSON, with the unit in every key") },
	{ 0 }
};

static const struct list_arguments defaults;

static int run_list(struct args *a, void *values, struct error *err)
{
	const struct list_arguments *o = values;
	struct style style = output_style();
	struct listing l = LISTING_INIT;
	struct buf path = BUF_INIT, out = BUF_INIT;
	struct doc d;
	int r = listing_base(&path, a->n ? a->operand[0] : o->output, err);

	if (!r)
		r = listing_read(&l, buf_str(&path), &convert_formats, err);
	if (!r) {
		doc_init_terminal(&d, &out, &style);
		r = o->json ? list_json(&out, &l) : list_doc(&d, &l);
		doc_release(&d);
		r = output_end(&out, r, NULL, err);
	}
	listing_release(&l);
	buf_release(&path);
	return r;
}

COMMAND(list, "[DIR]", "List the recordings in a directory", COMMAND_KEYS);
