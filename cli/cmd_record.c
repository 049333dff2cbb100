/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/export_send.h"
#include "cli/follow.h"
#include "cli/settings_options.h"
#include "launch/find_plugin.h"
#include "launch/notice.h"
#include "launch/recorder.h"
#include "launch/taskrun.h"
#include "recording/store_join.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int run_alone(struct launch *l)
{
	return launch_end(l, launch_run(l));
}

/* Inside a recorded build, whose sampler and plugin record this process too. */
static int run_inside(struct store *outer, const struct settings *settings,
		      struct launch *l)
{
	const char *slash = strrchr(l->argv[0], '/');
	struct carried carried;
	struct event_task task = {
		.name = settings->name ? settings->name : slash ? slash + 1 : l->argv[0],
	};
	int r;

	recorder_carry(&carried, l);
	r = taskrun(outer, &task, l);
	store_close(outer);
	return launch_end(l, r);
}

/* The option, the key or the environment. */
static const char *trace_file(const struct settings *settings)
{
	const char *env = getenv("BUILDBEAT_TRACE");

	return settings->trace ? settings->trace : env && *env ? env : NULL;
}

/* Before the build: afterwards nobody would see the message. The build is not refused. */
static void check_sender(void)
{
	char unused[PATH_MAX];
	struct error err;

	if (!find_sender(unused, &err))
		notice("the recording will not be sent: %s: %s", err.path, err.message);
}

static int record(const struct settings *settings, struct launch *l)
{
	struct recorder rec;
	struct store outer;
	struct error err;
	int r;

	if (!store_join_env(&outer))
		return run_inside(&outer, settings, l);
	if (recorder_create(&rec, settings, settings->output, settings->name, l->argv, &err)) {
		notice("nothing is recorded: %s%s%s", err.path, *err.path ? ": " : "",
		       err.message);
		return run_alone(l);
	}
	rec.explain = doctor_explain;
	if (settings->otlp)
		check_sender();
	if (trace_file(settings))
		recorder_trace(&rec, trace_file(settings), follow_trace);
	recorder_prepare(&rec, l);
	r = launch_run(l);
	recorder_finish(&rec, l);
	if (settings->otlp && rec.created)
		export_send_later(rec.store.path, settings->otlp);
	return launch_end(l, r);
}

/* The name is that of one directory in the directory of recordings. */
static int check_name(const char *name, struct error *err)
{
	if (!name || (!strchr(name, '/') && *name != '.'))
		return 0;
	return error_set(err, -EINVAL, NULL, 0, 0,
			 "record: option '--name': expected a name without '/' that does not "
			 "begin with '.', not '%s'", name);
}

/* Before the build: afterwards nobody would see the message. */
static int check_collector(const char *url, struct error *err)
{
	struct buf whole = BUF_INIT;
	struct error why = { 0 };
	int r = url ? endpoint_url(&whole, url, ENDPOINT_TRACES, &why) : 0;

	buf_release(&whole);
	return r ? error_set(err, r, NULL, 0, 0, "record: option '--otlp': %s", why.message) : 0;
}

static const struct settings defaults = SETTINGS_INIT;

static int run(struct args *a, void *values, struct error *err)
{
	struct launch l = { .host = true, .argv = a->operand };
	const struct settings *settings = values;
	int r = check_name(settings->name, err);

	r = r ? r : check_collector(settings->otlp, err);
	return r ? r : record(settings, &l);
}

const struct command cmd_record = {
	.name = "record", .operands = "[--] CMD...", .runs = true, .run = run,
	.options = settings_options, .keys = settings_options, COMMAND_DEFAULTS(defaults),
	.summary = "Run a build and record it",
};
