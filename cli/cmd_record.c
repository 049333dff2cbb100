/* SPDX-License-Identifier: MIT */
#include "analyse/runs.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/doctor.h"
#include "cli/export_send.h"
#include "cli/follow_export.h"
#include "cli/inspect_config.h"
#include "cli/messages_config.h"
#include "cli/record_summary.h"
#include "cli/settings_options.h"
#include "convert/convert.h"
#include "inspect/archive_files.h"
#include "inspect/rule.h"
#include "launch/find_plugin.h"
#include "launch/inspector.h"
#include "launch/notice.h"
#include "launch/recorder.h"
#include "launch/repetition.h"
#include "launch/serving.h"
#include "launch/taskrun.h"
#include "live/listener.h"
#include "recording/store_join.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_alone(struct launch *l)
{
	return launch_end(l, launch_run(l));
}

/* Inside a recorded build, whose sampler and plugin record this process too. */
static int run_inside(struct store *outer, const struct args *a, const struct settings *settings,
		      struct launch *l)
{
	const char *slash = strrchr(l->argv[0], '/');
	struct carried carried;
	struct event_task task = {
		.name = settings->name ? settings->name : slash ? slash + 1 : l->argv[0],
	};
	int r;

	if (settings->inspect.n)
		notice("no process is inspected: only the outermost record does that");
	if (settings->serve)
		notice("no live pages are served: only the outermost record does that");
	if (settings->repeat)
		notice("the build runs once: only the outermost record repeats it");
	if (settings->summary && options_given(a, "summary"))
		notice("no summary is printed: only the outermost record does that");
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

	if (!find_program(unused, FIND_SENDER, &err))
		notice("the recording will not be sent: %s: %s", err.path, err.message);
}

#define RULES_MAX 16

/* What is inspected; the build is not refused if that fails. */
struct inspections {
	struct inspect_rule rule[RULES_MAX];
	size_t n;
	char base[PATH_MAX];
	struct inspector inspector;
	struct inspect_config config;
};

/* What buildbeat.yaml has for a program: the interval of a rule that has none. */
static void set_interval(struct inspect_rule *rule, const struct inspect_config *config)
{
	struct inspect_choice choice;

	inspect_config_choose(&choice, config, NULL, rule->names);
	if (!rule->interval_us)
		rule->interval_us = choice.interval_us;
}

/* The rules of the command line or, without any, of buildbeat.yaml. */
static int read_rules(struct inspections *x, const struct settings *settings, struct error *err)
{
	const struct word_list *texts = &settings->inspect;
	struct inspect_choice choice;
	struct error why;

	x->n = 0;
	inspect_config_choose(&choice, &x->config, NULL, NULL);
	if (!texts->n)
		texts = choice.rules;
	if (texts->n > RULES_MAX)
		return error_say(err, -E2BIG, "record: option '--inspect': more than %d rules",
				 RULES_MAX);
	for (size_t i = 0; i < texts->n; i++) {
		if (rule_parse(&x->rule[x->n++], texts->item[i], &why))
			return error_say(err, -EINVAL, "record: option '--inspect': %s",
					 why.message);
		set_interval(&x->rule[i], &x->config);
	}
	return 0;
}

/* Tools of OpenEmbedded take each directory in a recording in their layout for a recipe. */
static int find_base(struct inspections *x, const struct settings *settings,
		     const struct recorder *rec)
{
	if (settings->layout == LAYOUT_IS_OE)
		return file_absolute(x->base, INSPECT_ARCHIVES);
	return snprintf(x->base, sizeof x->base, "%s/" INSPECT_ARCHIVES, rec->store.path) < PATH_MAX ?
	       0 : -ENAMETOOLONG;
}

static void begin_inspections(struct inspections *x, const struct settings *settings,
			      const struct recorder *rec)
{
	struct watch_settings s = {
		.rule = x->rule, .n_rules = x->n, .base = x->base,
		.access = (enum store_access)settings->access,
	};
	struct inspect_choice choice;
	struct error err;
	int r;

	x->inspector = (struct inspector){ .end_fd = -1 };
	if (!x->n)
		return;
	inspect_config_choose(&choice, &x->config, NULL, NULL);
	s.symbols.dirs = choice.symbols->item;
	s.symbols.n_dirs = choice.symbols->n;
	r = find_base(x, settings, rec);
	if (r)
		error_sys(&err, r, NULL, NULL);
	else
		r = inspector_begin(&x->inspector, &s, &rec->hold.old_mask, &err);
	if (r)
		notice("no process is inspected: %s", err.message);
}

static void end_inspections(struct inspections *x, bool at_once)
{
	struct watch_result result = { .n = 0 };
	struct error err;

	inspector_end(&x->inspector, at_once, &result);
	if (result.failed)
		notice("not inspected: %s%s%s", result.err.path, *result.err.path ? ": " : "",
		       result.err.message);
	if (result.n && isatty(STDERR_FILENO))
		notice("inspected: %s%s", result.path, result.n > 1 ? " and others; see: buildbeat "
		       "inspect list" : "");
	if (result.n && inspect_config_retain(&x->config, x->base, NULL, &err))
		notice_error(&err);
}

#define ADDRESS_MAX 100

/* ADDRESS of --serve: that of a socket, a path or a port alone, which is put into local. */
static const char *serve_address(const char *text, char local[ADDRESS_MAX])
{
	if (strchr(text, '/') || text[strspn(text, "0123456789")])
		return text;
	snprintf(local, ADDRESS_MAX, "127.0.0.1:%s", text);
	return local;
}

/* The build is not refused if that fails. Returns the server's process, or a negative errno. */
static pid_t begin_serving(const struct settings *settings, const struct recorder *rec, struct buf *url)
{
	const char *address = settings->serve, *options[7] = { NULL }, *messages = messages_config_lines();
	char local[ADDRESS_MAX], stay_ms[24];
	struct error err;
	size_t n = 0;
	pid_t pid;

	if (*address) {
		options[n++] = strchr(address, '/') ? "-u" : "-l";
		options[n++] = serve_address(address, local);
	}
	if (settings->stay_us >= 0) {
		options[n++] = "-s";
		options[n++] = stay_ms;
	}
	if (*messages) {
		options[n++] = "-m";
		options[n++] = messages;
	}
	snprintf(stay_ms, sizeof stay_ms, "%lld", (long long)MIN(settings->stay_us / 1000, INT_MAX));
	pid = serving_begin(options, rec->store.path, getpid(), &rec->hold.old_mask, url, &err);
	if (pid < 0)
		notice("no live pages are served: %s%s%s", err.path, *err.path ? ": " : "", err.message);
	else
		/* notice() would replace the token */
		fprintf(stderr, "buildbeat: live pages: %s\n", buf_str(url));
	return pid;
}

/* The process that began the recording does not wait for the server, which has a session of its own. */
static void announce_stay(const struct settings *settings, pid_t server, const char *url,
			  const char *path, bool good)
{
	int64_t us = settings->stay_us < 0 ? SERVING_STAY_US(good) : settings->stay_us;

	if (server > 0 && us && !waitpid(server, NULL, WNOHANG))
		record_summary_stay(us, url, path);
}

/* False: the build did not run. */
static bool record_one(const struct args *a, const struct settings *settings,
		       struct inspections *x, struct launch *l, const char *base, const char *name,
		       int *result)
{
	struct buf url = BUF_INIT;
	struct recorder rec;
	struct error err;
	pid_t server = 0;

	if (recorder_create(&rec, settings, base, name, l->argv, &err)) {
		notice("nothing is recorded: %s%s%s", err.path, *err.path ? ": " : "",
		       err.message);
		return false;
	}
	rec.explain = doctor_explain;
	if (settings->otlp)
		check_sender();
	if (trace_file(settings))
		recorder_trace(&rec, trace_file(settings), follow_trace);
	begin_inspections(x, settings, &rec);
	if (settings->serve)
		server = begin_serving(settings, &rec, &url);
	recorder_prepare(&rec, l);
	l->arm = x->inspector.pid ? &x->inspector.arm : NULL;
	*result = launch_run(l);
	if (l->not_run)
		end_inspections(x, true);
	recorder_finish(&rec, l);
	/* rec ends here: launch_end() may still run the command, without it */
	l->mask = NULL;
	l->traceparent = NULL;
	l->preload = NULL;
	end_inspections(x, false);
	if (settings->otlp && rec.created)
		export_send_later(rec.store.path, settings->otlp);
	/* of a set only of a run that ends it */
	if (rec.created && (!settings->repeat || l->status) && record_summary_wanted(a, settings)) {
		record_summary_print(a, settings, rec.store.path);
		announce_stay(settings, server, buf_str(&url), rec.store.path, !l->status);
	}
	buf_release(&url);
	return true;
}

/* The wall times of the set, where a summary is printed. */
static void announce_set(const char *path)
{
	struct runs runs;
	struct buf b = BUF_INIT;
	struct error err;

	if (!runs_read(&runs, path, &convert_formats, &err)) {
		runs_add_count(&b, &runs);
		buf_addf(&b, " recorded in %s", path);
		if (runs.n_good) {
			buf_adds(&b, ": wall time ");
			text_add_time(&b, runs.median_us);
			buf_adds(&b, " (median), ");
			text_add_time(&b, runs.least_us);
			buf_adds(&b, " to ");
			text_add_time(&b, runs.most_us);
		}
		if (runs.deviation_us >= 0) {
			buf_adds(&b, ", standard deviation ");
			text_add_time(&b, runs.deviation_us);
		}
		notice("%s", buf_str(&b));
		if (runs.first_slower > 0)
			notice("the first run was %.0f %% slower than the others, perhaps because "
			       "caches were cold: build once before, or let --prepare fill or empty "
			       "them", runs.first_slower * 100);
		runs_release(&runs);
	}
	buf_release(&b);
}

/* The result of the last run is that of the set: a run that fails, or does not run, ends it. */
static int record_set(const struct args *a, const struct settings *settings,
		      struct inspections *x, struct launch *l)
{
	struct repetition repetition;
	struct launch run = *l;
	struct error err;
	bool good = true;
	int result = 0;

	if (repetition_begin(&repetition, settings, l->argv, &err)) {
		notice("nothing is recorded, and the build runs once: %s%s%s", err.path,
		       *err.path ? ": " : "", err.message);
		return run_alone(l);
	}
	for (int64_t i = 1; good && i <= settings->repeat; i++) {
		char name[32];

		if (!repetition_prepare(&repetition, &run)) {
			run.status = run.status ? run.status : 2 << 8;
			break;
		}
		run = *l;
		snprintf(name, sizeof name, "%lld", (long long)i);
		good = record_one(a, settings, x, &run, repetition.path, name, &result);
		if (!good && i == 1)
			result = launch_run(&run);
		else if (!good)
			notice("the repetition ends: run %lld cannot be recorded", (long long)i);
		good = good && !result && !run.not_run && !run.status;
		if (good)
			repetition_count(&repetition);
	}
	repetition_end(&repetition);
	if (repetition.done && record_summary_wanted(a, settings))
		announce_set(repetition.path);
	return launch_end(&run, result);
}

static int record(const struct args *a, const struct settings *settings, struct inspections *x,
		  struct launch *l)
{
	struct store outer;
	int r;

	if (!store_join_env(&outer))
		return run_inside(&outer, a, settings, l);
	if (settings->repeat)
		return record_set(a, settings, x, l);
	return record_one(a, settings, x, l, settings->output, settings->name, &r) ?
	       launch_end(l, r) : run_alone(l);
}

/* The name is that of one directory in the directory of recordings. */
static int check_name(const char *name, struct error *err)
{
	if (!name || (!strchr(name, '/') && *name != '.'))
		return 0;
	return error_say(err, -EINVAL, "record: option '--name': expected a name without '/' that "
			 "does not begin with '.', not '%s'", name);
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

static int check_serve(const char *text, struct error *err)
{
	char local[ADDRESS_MAX];
	const char *address;
	struct error why = { 0 };
	int r;

	if (!text || !*text)
		return 0;
	address = serve_address(text, local);
	r = listener_check(address, strchr(address, '/') ? address : NULL, false, &why);
	return r ? error_set(err, r, NULL, 0, 0, "record: option '--serve': %s", why.message) : 0;
}

/* What shows one build, as a file or as pages, has no room for several. */
static int check_repeat(const struct settings *settings, struct error *err)
{
	const char *other = settings->serve ? "--serve" : trace_file(settings) ? "--trace" : NULL;

	if (settings->prepare && !settings->repeat)
		return error_say(err, -EINVAL, "record: option '--prepare' requires --repeat");
	if (settings->repeat && other)
		return error_say(err, -EINVAL, "record: %s shows one build and excludes --repeat",
				 other);
	return 0;
}

static const struct settings defaults = SETTINGS_INIT;

static int run_record(struct args *a, void *values, struct error *err)
{
	struct launch l = { .host = true, .argv = a->operand };
	struct settings *settings = values;
	struct inspections x;
	int r;

	inspect_config_init(&x.config);
	r = configfile_apply_both(a, settings_options, values, &x.config, settings->config, err);
	messages_config_use(settings->config);
	if (r == -EPERM) {
		notice("nothing is recorded: %s: %s", err->path, err->message);
		inspect_config_release(&x.config);
		return run_alone(&l);
	}
	/* pages without output cannot say why something failed */
	if (settings->serve && !options_chosen(a, "log"))
		settings->log = true;
	r = r ? r : check_name(settings->name, err);
	r = r ? r : check_collector(settings->otlp, err);
	r = r ? r : check_serve(settings->serve, err);
	r = r ? r : check_repeat(settings, err);
	if (!r && !settings->serve && options_given(a, "stay"))
		r = error_say(err, -EINVAL, "record: option '--stay' requires --serve");
	r = r ? r : read_rules(&x, settings, err);
	if (!r)
		r = record(a, settings, &x, &l);
	inspect_config_release(&x.config);
	return r;
}

COMMAND(record, "[--] CMD...", "Run a build and record it",
	.runs = true, .options = settings_options, COMMAND_DEFAULTS(defaults));
