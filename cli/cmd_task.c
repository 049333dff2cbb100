/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/settings_options.h"
#include "convert/convert.h"
#include "launch/notice.h"
#include "launch/recorder.h"
#include "launch/taskrun.h"
#include "recording/recording.h"
#include "recording/store_join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct task_options {
	struct settings settings;	/* first, for settings_options */
	const char *recording;
	const char *kind;
	const char *key;
};

#define OPTIONS struct task_options
static const struct option options[] = {
	{ OPT_CONFIG(settings.config) },
	{ OPT_TEXT(0, "recording", recording, "DIR",
	  "recording to add the task to, created if it does not exist") },
	{ OPT_TEXT('k', "kind", kind, "KIND",
	  "kind of the task, such as compile (default: detected from the command)") },
	{ OPT_TEXT(0, "key", key, "TEXT",
	  "additional identification, such as a rule or a variant") },
	{ 0 }
};

/* Splits path into the directory of recordings and the name in it. */
static void split(char *path, const char **base, const char **name)
{
	size_t n = strlen(path);
	char *slash;

	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	slash = strrchr(path, '/');
	*base = !slash ? "." : slash == path ? "/" : path;
	*name = slash ? slash + 1 : path;
	if (slash)
		*slash = '\0';
}

static int open_recording(struct recorder *rec, const struct settings *settings,
			const char *dir, char *const *argv, struct error *err)
{
	const char *base, *name;
	char *copy;
	int r;

	if (recording_is_here(dir, &convert_formats))
		return recorder_join(rec, settings, dir, err);
	copy = strdup(dir);
	if (!copy)
		return error_sys(err, -ENOMEM, dir, NULL);
	split(copy, &base, &name);
	r = recorder_create(rec, settings, base, name, argv, err);
	free(copy);
	return r;
}

static int run_in(const char *dir, const struct settings *settings,
		  const struct event_task *task, struct launch *l)
{
	struct recorder rec;
	struct error err;
	int r;

	if (open_recording(&rec, settings, dir, l->argv, &err)) {
		notice("nothing is recorded: %s%s%s", err.path, *err.path ? ": " : "",
		       err.message);
		return launch_end(l, launch_run(l));
	}
	rec.explain = doctor_explain;
	rec.wrote_task = true;
	recorder_prepare(&rec, l);
	r = taskrun(&rec.store, task, l);
	recorder_finish(&rec, l);
	if (rec.created && !rec.complained && isatty(STDERR_FILENO))
		notice("recorded in %s; see: buildbeat show", rec.store.path);
	return launch_end(l, r);
}

static int run_here(const struct event_task *task, struct launch *l)
{
	struct carried carried;
	struct store outer;
	int r = store_join_env(&outer);

	if (r) {
		notice("nothing is recorded: %s", r == -ENOENT
		       ? "not in a recorded build, and no --recording given"
		       : strerror(-r));
		return launch_end(l, launch_run(l));
	}
	recorder_carry(&carried, l);
	r = taskrun(&outer, task, l);
	if (outer.error)
		notice("the recording is incomplete: %s: %s", outer.path,
		       strerror(-outer.error));
	store_close(&outer);
	return launch_end(l, r);
}

static const struct task_options defaults = { .settings = SETTINGS_INIT };

static int run_task(struct args *a, void *values, struct error *err)
{
	const struct task_options *o = values;
	bool dashes = !strcmp(a->operand[1], "--");
	struct launch l = { .argv = a->operand + 1 + dashes };
	struct event_task task = { .name = a->operand[0], .kind = o->kind, .key = o->key };

	if (!dashes && *a->operand[1] == '-')
		return error_say(err, -EINVAL, "task: option '%s': options come before NAME; put "
				 "'--' before a command that begins with '-'", a->operand[1]);
	if (a->n < 2 + dashes)
		return error_say(err, -EINVAL, "task: too few operands; expected: %s",
				 a->command->operands);
	return o->recording ? run_in(o->recording, &o->settings, &task, &l) : run_here(&task, &l);
}

COMMAND(task, "NAME [--] CMD...", "Run a command as one task of a recorded build",
	.runs = true, .options = options, .keys = settings_options, COMMAND_DEFAULTS(defaults));
