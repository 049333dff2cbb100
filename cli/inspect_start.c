/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/str.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/inspect_config.h"
#include "cli/inspect_target.h"
#include "cli/output_file.h"
#include "inspect/archive_files.h"
#include "inspect/background.h"
#include "inspect/run.h"
#include "inspect/watch.h"
#include "launch/arm.h"
#include "launch/find_plugin.h"
#include "launch/inspector.h"
#include "launch/launch.h"
#include "launch/notice.h"
#include "plugin/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Ending: the first signal ends the inspection in order, a second one at once. */

static volatile sig_atomic_t cancelled;
static int stop_pipe[2] = { -1, -1 };

static void on_signal(int sig)
{
	int error = errno;
	char byte = 1;

	if (sig != SIGINT)
		cancelled = 1;
	if (write(stop_pipe[1], &byte, 1) != 1)
		cancelled = 1;
	errno = error;
}

static int catch_signals(struct error *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESETHAND }, old;

	if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK))
		return error_sys(err, -errno, NULL, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		sigaction(signals[i], NULL, &old);
		if (old.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

/* What is inspected, and how */

static void set_rule(struct inspect_rule *rule, const struct inspect_arguments *o, const char *names)
{
	*rule = (struct inspect_rule){
		.heap = (enum heap_mode)o->heap, .interval_us = o->interval_us, .count = o->count,
		.freeze = o->freeze, .pages = o->pages,
	};
	snprintf(rule->names, sizeof rule->names, "%s", names);
}

/* What buildbeat.yaml has for a program, and no option: the interval, and where symbols are. */
static void apply_settings(struct inspect_rule *rule, struct symbolize_settings *symbols,
			   const struct inspect_arguments *o, const char *program)
{
	struct inspect_choice choice;

	inspect_config_choose(&choice, o->settings, NULL, program);
	if (!rule->interval_us)
		rule->interval_us = choice.interval_us;
	symbols->dirs = choice.symbols->item;
	symbols->n_dirs = choice.symbols->n;
}

static void set_symbols(struct symbolize_settings *symbols, char path[PATH_MAX])
{
	struct error err;

	*symbols = (struct symbolize_settings){ .stop = &cancelled };
	if (find_program(path, FIND_SYMBOLS, &err))
		symbols->program = path;
	else
		notice("addresses are not named: %s: %s", err.path, err.message);
}

/* Where --output is, or where archives of this process belong. */
struct place {
	char base[PATH_MAX], path[PATH_MAX];
	bool named;
};

static int find_place(struct place *p, const struct inspect_arguments *o, const char *recording,
		      struct error *err)
{
	int r;

	*p = (struct place){ .named = o->output };
	if (o->output)
		r = file_absolute(p->path, o->output);
	else
		r = file_absolute(p->base, recording ? recording : INSPECT_ARCHIVES);
	if (!r && o->output) {
		/* of the path, base is the directory */
		const char *slash = strrchr(p->path, '/');

		snprintf(p->base, sizeof p->base, "%.*s", (int)(slash - p->path), p->path);
	} else if (!r && recording && strlen(p->base) + sizeof "/" INSPECT_ARCHIVES <= PATH_MAX) {
		strcat(p->base, "/" INSPECT_ARCHIVES);
	}
	return r ? error_sys(err, r, o->output ? o->output : recording, NULL) : 0;
}

/* Remove archives that the settings do not keep; a directory of the user's choice is left alone. */
static void retain(const struct inspect_arguments *o, const struct place *place)
{
	struct error err;

	if (!place->named && inspect_config_retain(o->settings, place->base, NULL, &err))
		notice_error(&err);
}

/* One process */

struct reporter {
	struct background task;
	const struct run_result *result;
	bool quiet;
	int ready_fd;		/* of a task in the background: it runs now, -1: not such */
};

static void report(void *context, unsigned percent, const char *message)
{
	struct reporter *t = context;

	background_set_archive(&t->task, t->result->path);
	background_tell(&t->task, percent, message);
	if (!t->quiet)
		fprintf(stderr, "%3u %%  %s\n", percent, message);
	if (t->ready_fd >= 0 && percent < 100) {
		if (write(t->ready_fd, &t->task.id, sizeof t->task.id) < 0)
			t->quiet = true;
		close(t->ready_fd);
		t->ready_fd = -1;
	}
}

static int exit_status(const struct run_result *result)
{
	return result->end == RUN_COMPLETE ? EXIT_GOOD : EXIT_FOUND;
}

static int inspect_one(const struct inspect_arguments *o, const struct inspect_target *target,
		       struct reporter *reporter, struct run_result *result, struct error *err)
{
	struct symbolize_settings symbols;
	char program[PATH_MAX];
	struct inspect_rule rule;
	struct place place;
	struct run_settings s = {
		.rule = &rule, .access = STORE_ACCESS_USER, .task = target->task, .why = target->why,
		.heap_dir = -1, .symbols = &symbols, .told = report, .context = reporter,
	};
	int r = find_place(&place, o, *target->recording ? target->recording : NULL, err);

	if (!r)
		r = catch_signals(err);
	if (r)
		return r;
	set_rule(&rule, o, "");
	set_symbols(&symbols, program);
	apply_settings(&rule, &symbols, o, target->name);
	symbols.pid = target->pid;
	s.base = place.base;
	s.path = place.named ? place.path : NULL;
	s.stop_fd = stop_pipe[0];
	if (*target->heap_dir)
		s.heap_dir = open(target->heap_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = run_inspection(result, target->pid, target->start_ticks, &s, err);
	file_close(s.heap_dir);
	retain(o, &place);
	return r;
}

static int in_foreground(const struct inspect_arguments *o, const struct inspect_target *target,
			 struct error *err)
{
	struct run_result result = { .path = "" };
	struct reporter reporter = {
		.task = { .dir_fd = -1, .progress_fd = -1 }, .ready_fd = -1,
		.quiet = !o->progress && !isatty(STDERR_FILENO), .result = &result,
	};
	int r = inspect_one(o, target, &reporter, &result, err);

	if (*result.path)
		output_path(result.path);
	return r ? r : exit_status(&result);
}

static _Noreturn void be_task(const struct inspect_arguments *o, const struct inspect_target *target,
			      int ready_fd)
{
	struct run_result result = { .path = "" };
	struct reporter reporter = { .quiet = true, .ready_fd = ready_fd, .result = &result };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct error err = { 0 };
	char what[64];
	int r;

	setsid();
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	snprintf(what, sizeof what, "%s %d", target->name, (int)target->pid);
	r = background_begin(&reporter.task, what, &err);
	if (!r)
		r = inspect_one(o, target, &reporter, &result, &err);
	background_end(&reporter.task, r ? EXIT_MISUSE : exit_status(&result));
	if (r && reporter.ready_fd >= 0 && write(reporter.ready_fd, &err, sizeof err) < 0)
		_exit(EXIT_MISUSE);
	_exit(r ? EXIT_MISUSE : exit_status(&result));
}

/* The id when the inspection has begun; otherwise why it has not. */
static int in_background(const struct inspect_arguments *o, const struct inspect_target *target,
			 struct error *err)
{
	unsigned id;
	int pair[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return error_sys(err, -errno, NULL, NULL);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(pair[0]);
		be_task(o, target, pair[1]);
	}
	close(pair[1]);
	do
		n = pid < 0 ? -1 : read(pair[0], err, sizeof *err);
	while (n < 0 && pid > 0 && errno == EINTR);
	close(pair[0]);
	if (n == sizeof id) {
		memcpy(&id, err, sizeof id);
		printf("%u\n", id);
		return EXIT_GOOD;
	}
	if (n != sizeof *err)
		return error_say(err, -EIO, "inspect: no task could be started");
	return -EINVAL;
}

/* Several processes, or a command */

static int report_watch(const struct watch_result *result, const struct inspect_arguments *o,
			bool said, struct error *err)
{
	if (result->n)
		output_path(result->path);
	if (result->n > 1)
		notice("%u archives; see: buildbeat inspect list%s%s", result->n,
		       o->output ? " " : "", o->output ? o->output : "");
	if (!result->failed)
		return result->n || said ? EXIT_GOOD : EXIT_FOUND;
	*err = result->err;
	return -EIO;
}

static void set_watch(struct watch_settings *s, struct inspect_rule *rule, struct place *place,
		      const struct inspect_arguments *o, const char *command)
{
	const char *names = o->follow ? o->follow : o->match;
	bool all = !names;

	/* the shim is loaded by name */
	if (!names && o->heap)
		names = strrchr(command, '/') ? strrchr(command, '/') + 1 : command;
	set_rule(rule, o, names ? names : "");
	*s = (struct watch_settings){
		.rule = rule, .n_rules = !!names, .heaviest = all, .access = STORE_ACCESS_USER,
		.base = place->named ? place->path : place->base, .end_fd = -1,
	};
	apply_settings(rule, &s->symbols, o, rule->names);
	s->how = *rule;
	s->how.heap = HEAP_OFF;
}

static int follow(const struct inspect_arguments *o, struct error *err)
{
	struct watch_settings s;
	struct watch_result result;
	struct inspect_rule rule;
	struct place place;
	char program[PATH_MAX];
	int r = find_place(&place, o, NULL, err);

	if (!r)
		r = catch_signals(err);
	if (r)
		return r;
	set_watch(&s, &rule, &place, o, "");
	set_symbols(&s.symbols, program);
	apply_settings(&rule, &s.symbols, o, rule.names);
	s.end_fd = stop_pipe[0];
	r = watch_run(&result, &s);
	retain(o, &place);
	if (r < 0) {
		*err = result.err;
		return r;
	}
	return report_watch(&result, o, false, err);
}

/* Only the command itself is known before it runs. */
static void say_obstacle(const struct inspect_rule *rule, const char *command)
{
	char path[PATH_MAX];
	const char *obstacle;

	if (rule->heap == HEAP_OFF || !file_find_program(path, command))
		return;
	obstacle = arm_obstacle(path);
	if (obstacle && rule_has_name(rule, carry_name(path)))
		notice("the allocations of %s are not counted: %s", path, obstacle);
}

/* The exit status is that of the command. */
static int run_command(struct args *a, const struct inspect_arguments *o, struct error *err)
{
	struct launch l = { .argv = a->operand };
	struct inspector inspector;
	struct watch_settings s;
	struct watch_result result = { .n = 0 };
	struct inspect_rule rule;
	struct error why = { 0 };
	struct place place;
	sigset_t mask;
	int r = find_place(&place, o, NULL, err);

	if (r)
		return r;
	set_watch(&s, &rule, &place, o, a->operand[0]);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	r = inspector_begin(&inspector, &s, &mask, err);
	if (r)
		return r;
	l.arm = &inspector.arm;
	say_obstacle(&rule, a->operand[0]);
	r = launch_run(&l);
	inspector_end(&inspector, l.not_run, &result);
	if (!l.not_run && report_watch(&result, o, true, &why) < 0)
		notice_error(&why);
	retain(o, &place);
	return launch_end(&l, r);
}

static int refuse(struct error *err, const char *message)
{
	return error_say(err, -EINVAL, "inspect run: %s", message);
}

static int inspect(struct args *a, struct inspect_arguments *o, struct error *err)
{
	int chosen = !!o->pid + !!o->match + !!o->task + !!o->follow + o->heaviest;
	struct inspect_target target;
	int r;

	if (chosen > 1)
		return refuse(err, "--pid, --match, --task, --every and --heaviest exclude each other");
	if (a->n && (o->pid || o->task || o->background))
		return refuse(err, "--pid, --task and --background cannot be combined with a command");
	if (!a->n && !chosen)
		return refuse(err, "expected --pid PID, --match NAME, --task TASK, --heaviest, "
			      "--every NAME or a command");
	if (options_given(a, "interval") && (o->interval_us < RULE_INTERVAL_MIN_US ||
					     o->interval_us > RULE_INTERVAL_MAX_US))
		return refuse(err, "option '--interval': expected a time from 10ms to 24h");
	if (o->follow && o->background)
		return refuse(err, "--every and --background exclude each other");
	if (a->n)
		return run_command(a, o, err);
	if (o->follow)
		return follow(o, err);
	r = inspect_find_target(&target, o, err);
	if (r)
		return r;
	if (o->heap && !*target.heap_dir)
		return error_say(err, -EINVAL, "inspect run: the allocations of process %d are not "
				 "counted; start it with 'buildbeat inspect run --heap -- CMD'",
				 (int)target.pid);
	return o->background ? in_background(o, &target, err) : in_foreground(o, &target, err);
}

int inspect_run_start(struct args *a, void *values, struct error *err)
{
	struct inspect_arguments *o = values;
	struct inspect_config config;
	int r = inspect_config_read(&config, o->config, err);

	o->settings = &config;
	if (!r)
		r = inspect(a, o, err);
	inspect_config_release(&config);
	return r;
}
