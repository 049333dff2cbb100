/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "convert/convert.h"
#include "launch/find_plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct top_arguments {
	const char *config;
	const char *output, *ca_file;
	bool once, control;
};

#define OPTIONS struct top_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_FLAG('1', "once", once, "print one screen as text (default: if the output is no terminal)") },
	{ OPT_FLAG(0, "allow-control", control, "let the key F9 send SIGTERM to processes of the build") },
	{ OPT_PATH(0, "ca-file", ca_file, "FILE", "trust servers with certificates of FILE, in PEM") },
	{ 0 }
};

static const struct top_arguments defaults = { 0 };

static bool is_url(const char *what)
{
	return what && (str_starts(what, "http://") || str_starts(what, "https://") || str_starts(what, "unix:"));
}

/* Does not return, but with an error. */
static int run_program(const char *program, const char **argv, struct error *err)
{
	execv(program, (char **)argv);
	return error_sys(err, -errno, program, NULL);
}

/* buildbeat-top, with the program that asks the server. */
static int watch_server(const char *url, const struct top_arguments *o, struct error *err)
{
	char program[PATH_MAX], server[PATH_MAX];
	const char *argv[8] = { "buildbeat-top", "-s", server };
	size_t n = 3;

	if (o->control)
		return error_say(err, -EINVAL, "top: --allow-control is for builds on this machine");
	if (!find_program(program, FIND_TOP, err) || !find_program(server, FIND_SERVER, err))
		return -ENOENT;
	if (o->once)
		argv[n++] = "-1";
	if (o->ca_file) {
		argv[n++] = "-C";
		argv[n] = o->ca_file;
	}
	/* a command line, which has the token, can be read by all users */
	if (setenv("BUILDBEAT_ATTACH", url, 1))
		return error_sys(err, -ENOMEM, NULL, NULL);
	return run_program(program, argv, err);
}

static int run_top(struct args *a, void *values, struct error *err)
{
	const struct top_arguments *o = values;
	const char *argv[6] = { "buildbeat-top" };
	struct buf path = { 0 };
	char program[PATH_MAX];
	size_t n = 1;
	int r;

	if (is_url(a->operand[0]))
		return watch_server(a->operand[0], o, err);
	r = listing_find(&path, o->output, a->operand[0], &convert_formats, err);

	if (!r && !find_program(program, FIND_TOP, err))
		r = -ENOENT;
	if (!r) {
		if (o->once)
			argv[n++] = "-1";
		if (o->control)
			argv[n++] = "-a";
		argv[n++] = "--";
		argv[n] = path.data;
		r = run_program(program, argv, err);
	}
	buf_release(&path);
	return r;
}

COMMAND(top, "[REC|URL]", "Show a running build in the terminal", COMMAND_KEYS);
