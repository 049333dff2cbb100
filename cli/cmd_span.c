/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "launch/notice.h"
#include "launch/recorder.h"
#include "launch/spanrun.h"
#include "recording/store_join.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define HANDLE '@'		/* what a printed handle begins with */

struct span_options {
	bool print_id;
};

#define OPTIONS struct span_options
static const struct option options[] = {
	{ OPT_FLAG(0, "print-id", print_id,
	  "with begin, print an id for 'buildbeat span end ID'") },
	{ 0 }
};

/* A script that is not recorded goes on in silence. */
static bool join(struct store *store)
{
	int r = store_join_env(store);

	if (r && r != -ENOENT)
		notice("the span is not recorded: %s", strerror(-r));
	return !r;
}

static void leave(struct store *store)
{
	if (store->error)
		notice("the recording is incomplete: %s: %s", store->path, strerror(-store->error));
	store_close(store);
}

static int run_around(const char *name, struct launch *l)
{
	struct carried carried;
	struct store store;
	int r;

	if (!join(&store))
		return launch_end(l, launch_run(l));
	recorder_carry(&carried, l);
	r = spanrun(&store, name, l);
	leave(&store);
	return launch_end(l, r);
}

static int begin_span(const char *name, bool print_id)
{
	struct store store;

	if (!join(&store))
		return EXIT_GOOD;
	spanrun_begin(&store, name);
	if (print_id)
		printf("%c%s\n", HANDLE, store.inst);
	leave(&store);
	return EXIT_GOOD;
}

static int end_span(const char *which)
{
	bool is_handle = which && *which == HANDLE;
	struct store store;

	if (!join(&store))
		return EXIT_GOOD;
	spanrun_end(&store, is_handle ? which + 1 : NULL, which ? which : "");
	leave(&store);
	return EXIT_GOOD;
}

static bool is_handle(const char *text)
{
	size_t len = strspn(text + 1, "0123456789abcdefghijklmnopqrstuvwxyz");

	return len && len < INSTANCE_ID_MAX && !text[1 + len];
}

/* An empty one is a variable that the script did not set. */
static bool is_end(const char *text)
{
	return *text && (*text != HANDLE || is_handle(text));
}

/* Options usually end at the first operand, but this one belongs to it. */
static bool is_print_id(const char *text)
{
	return !strcmp(text, "-p") || !strcmp(text, "--print-id");
}

static int misuse(struct error *err, const char *form)
{
	return error_say(err, -EINVAL, "span: expected: %s", form);
}

static int run_span(struct args *a, void *values, struct error *err)
{
	const struct span_options *o = values;
	const char *first = a->operand[0], *second = a->n > 1 ? a->operand[1] : NULL;
	bool dashes = second && !strcmp(second, "--");
	bool begins = !strcmp(first, "begin") && !dashes, ends = !strcmp(first, "end") && !dashes;
	struct launch l = { .argv = a->operand + 1 + dashes };

	if (o->print_id && !begins)
		return error_say(err, -EINVAL, "span: --print-id is for 'begin' only");
	if (begins && a->n == 3 && is_print_id(second))
		return begin_span(a->operand[2], true);
	if (begins)
		return a->n == 2 ? begin_span(second, o->print_id) : misuse(err, "begin [-p] NAME");
	if (ends && (a->n > 2 || (second && !is_end(second))))
		return misuse(err, "end [ID|NAME], with ID as 'begin --print-id' prints it");
	if (ends)
		return end_span(second);
	if (second && !dashes && *second == '-')
		return error_say(err, -EINVAL, "span: option '%s': options come before NAME; put "
				 "'--' before a command that begins with '-'", second);
	if (a->n < 2 + dashes)
		return misuse(err, "NAME [--] CMD...");
	return run_around(first, &l);
}

static const struct span_options defaults = { 0 };

COMMAND(span, "NAME [CMD...]",
	"Mark a part of a task: a command, or what is between begin and end",
	.runs = true, COMMAND_OPTIONS);
