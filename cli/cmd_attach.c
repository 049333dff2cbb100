/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "launch/find_plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct attach_arguments {
	const char *output, *ca_file;
	int format;
	bool history;
};

enum { AS_CHROME, AS_EVENTS };
static const char *const formats[] = { "chrome", "events", NULL };

#define OPTIONS struct attach_arguments
static const struct option options[] = {
	{ OPT_PATH('o', "output", output, "FILE", "write to FILE, which is replaced (default: standard output)") },
	{ OPT_CHOICE(0, "format", format, formats, "FORMAT",
	  "a trace in Chrome's format, or messages as lines of JSON (default: chrome)") },
	{ OPT_FLAG(0, "history", history,
	  "begin with what happened before (default); --no-history: with what happens now") },
	{ OPT_PATH(0, "ca-file", ca_file, "FILE", "trust servers with certificates of FILE, in PEM") },
	{ 0 }
};

static const struct attach_arguments defaults = { .format = AS_CHROME, .history = true };

/* Standard output becomes the file. */
static int open_output(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0666), r = 0;

	if (fd < 0)
		return error_sys(err, -errno, path, "cannot write");
	if (dup2(fd, STDOUT_FILENO) < 0)
		r = error_sys(err, -errno, path, "cannot write");
	close(fd);
	return r;
}

/* The first line of standard input. The server program does not read that. */
static int read_url(char *url, size_t size, struct error *err)
{
	size_t n;

	if (!fgets(url, (int)size, stdin))
		return error_say(err, -EINVAL, "attach: expected a URL on standard input");
	n = strcspn(url, "\n");
	if (n == size - 1)
		return error_say(err, -EINVAL, "attach: the URL on standard input is longer than "
				 "%zu bytes", size - 2);
	url[n] = '\0';
	return 0;
}

static int run_attach(struct args *a, void *values, struct error *err)
{
	const struct attach_arguments *o = values;
	const char *argv[8] = { "buildbeat-serve", "-A" };
	char program[PATH_MAX], url[4096];
	const char *from = a->operand[0];
	size_t n = 2;
	int r;

	if (!find_program(program, FIND_SERVER, err))
		return -ENOENT;
	if (o->format == AS_EVENTS)
		argv[n++] = "-e";
	if (!o->history)
		argv[n++] = "-h";
	if (o->ca_file) {
		argv[n++] = "-C";
		argv[n] = o->ca_file;
	}
	if (!strcmp(from, "-")) {
		r = read_url(url, sizeof url, err);
		if (r)
			return r;
		from = url;
	}
	r = o->output ? open_output(o->output, err) : 0;
	/* a command line, which has the token, can be read by all users */
	if (!r && setenv("BUILDBEAT_ATTACH", from, 1))
		r = error_sys(err, -ENOMEM, NULL, NULL);
	if (r)
		return r;
	execv(program, (char **)argv);
	return error_sys(err, -errno, program, NULL);
}

COMMAND(attach, "URL", "Stream a running build from a live server to a file", COMMAND_OPTIONS);
