/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "convert/convert.h"
#include "launch/find_plugin.h"

#include <errno.h>
#include <unistd.h>

struct top_arguments {
	const char *config;
	const char *output;
	bool once, control;
};

#define OPTIONS struct top_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_FLAG('1', "once", once, "print one screen as text (default: if the output is no terminal)") },
	{ OPT_FLAG(0, "allow-control", control, "let the key F9 send SIGTERM to processes of the build") },
	{ 0 }
};

static const struct top_arguments defaults = { 0 };

static int run_top(struct args *a, void *values, struct error *err)
{
	const struct top_arguments *o = values;
	const char *argv[6] = { "buildbeat-top" };
	struct buf path = { 0 };
	char program[PATH_MAX];
	size_t n = 1;
	int r = listing_find(&path, o->output, a->operand[0], &convert_formats, err);

	if (!r && !find_program(program, FIND_TOP, err))
		r = -ENOENT;
	if (!r) {
		if (o->once)
			argv[n++] = "-1";
		if (o->control)
			argv[n++] = "-a";
		argv[n++] = "--";
		argv[n] = path.data;
		execv(program, (char **)argv);
		r = error_sys(err, -errno, program, NULL);
	}
	buf_release(&path);
	return r;
}

COMMAND(top, "[REC]", "Show a running build in the terminal", COMMAND_KEYS);
