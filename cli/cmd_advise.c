/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/openrerun.h"
#include "cli/output_file.h"
#include "report/advise_output.h"

#include <stddef.h>

struct advise_arguments {
	const char *config;
	const char *output;
	bool json;
};

#define OPTIONS struct advise_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_FLAG('j', "json", json, "print JSON, with the unit in every key") },
	{ 0 }
};

static const struct advise_arguments defaults = { .json = false };

static int print(struct buf *out, const struct rerun *replay, bool json, struct error *err)
{
	struct style style = output_style();
	struct advise_tools tools;
	struct advise a;
	struct doc d;
	int r;

	advise_find_tools(&tools, replay->s->rec);
	r = advise_make(&a, replay, &tools, err);

	if (!r && json) {
		r = advise_json(out, &a, replay);
	} else if (!r) {
		doc_init_terminal(&d, out, &style);
		r = advise_doc(&d, &a, replay);
		doc_release(&d);
	}
	advise_release(&a);
	return r;
}

static int run_advise(struct args *a, void *values, struct error *err)
{
	const struct advise_arguments *o = values;
	struct openrerun opened;
	struct buf out = BUF_INIT;
	int r = openrerun(&opened, OPENREC_WAITS, o->output, a->operand[0], err);

	if (!r)
		r = print(&out, &opened.rerun, o->json, err);
	if (!r)
		r = output_end(&out, r, opened.recording.path, err);
	buf_release(&out);
	openrerun_release(&opened);
	return r;
}

COMMAND(advise, "[REC]", "Say what would make a build faster, and by how much", COMMAND_KEYS);
