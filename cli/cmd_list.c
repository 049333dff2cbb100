/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/output.h"
#include "convert/convert.h"
#include "launch/notice.h"
#include "render/list.h"

#include <stddef.h>

struct list_arguments {
	const char *config;
	const char *output;
	bool json;
};

#define OPTIONS struct list_arguments
static const struct option options[] = {
	{ OPT_CONFIG(config) },
	{ OPT_PATH('o', "output", output, "DIR",
	  "directory of recordings (default: the nearest buildstats)"), .config = true },
	{ OPT_FLAG('j', "json", json, "print JSON, with the unit in every key") },
	{ 0 }
};

static int print(const struct listing *l, bool json)
{
	struct style style = output_style();
	struct buf out = BUF_INIT;
	int r = json ? list_json(&out, l) : list_text(&out, l, &style);

	if (!r)
		output_write(&out);
	buf_release(&out);
	return r;
}

static int list(const char *base, bool json, struct error *err)
{
	struct buf path = BUF_INIT;
	struct listing l = LISTING_INIT;
	int r = listing_base(&path, base, err);

	if (!r)
		r = listing_read(&l, buf_str(&path), &convert_formats, err);
	if (!r && (r = print(&l, json)))
		r = error_sys(err, r, NULL, NULL);
	listing_release(&l);
	buf_release(&path);
	return r;
}

static const struct list_arguments defaults;

static int run(struct args *a, void *values, struct error *err)
{
	struct list_arguments *l = values;
	int r = configfile_apply(a, options, l, l->config, err);

	return r ? r : list(a->n ? a->operand[0] : l->output, l->json, err);
}

const struct command cmd_list = {
	.name = "list",
	.summary = "List the recordings in a directory",
	.operands = "[DIR]",
	.max_operands = 1,
	.options = options,
	.defaults = &defaults,
	.size = sizeof defaults,
	.run = run,
};
