/* SPDX-License-Identifier: MIT */
#include "launch/recorder.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/trust.h"
#include "command/redact.h"
#include "command/shell.h"
#include "convert/ninja/join.h"
#include "convert/zstd.h"
#include "launch/find_plugin.h"
#include "launch/instructions.h"
#include "launch/make_words.h"
#include "launch/notice.h"
#include "launch/oelayout.h"
#include "launch/progress.h"
#include "launch/results_write.h"
#include "launch/tasklog.h"
#include "recording/layout.h"
#include "recording/store_create.h"
#include "recording/store_join.h"
#include "sampler/buildinfo.h"
#include "sampler/calibration.h"
#include "sampler/peak.h"
#include "sampler/sampler.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ASLEEP_LEAST_NS 100000000

static int64_t asleep_ns(void)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (int64_t)boot.tv_sec * 1000000000 + boot.tv_nsec - clock_mono_ns();
}

/* Beginning */

static void complain(struct recorder *rec, const char *what, const struct error *err)
{
	rec->complained = true;
	notice("%s%s%s: %s", what, *err->path ? ": " : "", err->path, err->message);
}

/* Instances in other PID namespaces ask the process that began the recording. */
static void begin_answers(struct recorder *rec)
{
	struct slice own = slice_of(rec->ticket.path), outer = { NULL, 0 };
	struct sockaddr_un address, target;

	if (rec->created) {
		pidserver_open(&rec->pidserver, own, &rec->store);
		return;
	}
	outer.p = store_ticket_path(getenv("MAKEFILES"), &outer.len);
	if (outer.p && pidspace_address(&address, own) && pidspace_address(&target, outer))
		(void)!symlink(target.sun_path, address.sun_path);
}

/* Without the plugin the ticket still leads other buildbeats to the recording. */
static void begin_tickets(struct recorder *rec)
{
	struct error plugin_err, err;
	char plugin[PATH_MAX];
	int bad = -ENOENT, r = 0;

	ticket_clean();
	if (find_plugin(plugin, rec->settings->plugin, &plugin_err)) {
		bad = ticket_write(&rec->ticket, &rec->store, plugin);
		error_sys(&plugin_err, bad, plugin, "the plugin cannot be used");
	}
	if (bad)
		r = ticket_write(&rec->ticket, &rec->store, NULL);
	if (r) {
		error_sys(&err, r, LAYOUT_TICKET, "no private directory in XDG_RUNTIME_DIR, "
			  "TMPDIR or /tmp");
		complain(rec, "no tasks will be recorded", &err);
		return;
	}
	if (bad)
		complain(rec, "no make's tasks will be recorded", &plugin_err);
	rec->has_ticket = true;
	begin_answers(rec);
	carry_from_ticket(&rec->carried, rec->ticket.path, strlen(rec->ticket.path));
	ticket_add_makefiles(&rec->makefiles, &rec->ticket, getenv("MAKEFILES"));
	if (!buf_error(&rec->makefiles))
		return;
	error_sys(&err, buf_error(&rec->makefiles), "MAKEFILES", NULL);
	complain(rec, "no tasks will be recorded", &err);
}

static void begin_sampling(struct recorder *rec)
{
	struct sampler_options options = {
		.interval_ms = rec->settings->interval_ms,
		.per_core = rec->settings->per_core,
		.all_interfaces = rec->settings->all_interfaces,
		.tasks = rec->settings->task_memory,
		.own = own_open,
	};
	struct error err = { 0 };
	int r = sampler_new(&rec->sampler, rec->store.dir_fd, rec->store.start_ns, &options, &err);

	if (r) {
		rec->sampler = NULL;
		/* the limit of descriptors is reported only once */
		if (r != -EMFILE || !rec->complained)
			complain(rec, "the machine is not sampled", &err);
		return;
	}
	sampler_take(rec->sampler, true);
}

static void begin_capture(struct recorder *rec)
{
	struct error err = { 0 };

	if (rec->settings->processes && capture_begin(&rec->capture, &rec->store, &err))
		complain(rec, "no processes are recorded", &err);
}

static void begin_relay(struct recorder *rec)
{
	struct error err = { 0 };
	struct buf b = BUF_INIT;

	if (!rec->created || !rec->settings->log)
		return;
	if (relay_begin(&rec->relay, &rec->store, rec->ticket.path, &err)) {
		complain(rec, "the build's output is not kept", &err);
		return;
	}
	store_add_build(&b, "output", OUTPUT_LOG);
	store_append_build(&rec->store, &b);
	buf_release(&b);
}

static int append_info(struct recorder *rec, char *const *argv, struct error *err)
{
	struct buf lines = BUF_INIT, command = BUF_INIT;
	struct buildinfo info = { 0 };
	int r;

	shell_quote_words(&command, argv);
	info.command = buf_str(&command);
	info.interval_ms = rec->settings->interval_ms;
	info.sampler_pid = getpid();
	buildinfo_add(&lines, &info);
	r = store_append_build(&rec->store, &lines);
	buf_release(&lines);
	buf_release(&command);
	return r ? error_sys(err, r, rec->store.path, "cannot write the recording") : 0;
}

/* What the command runs in is the build. */
static void set_traceparent(struct recorder *rec)
{
	struct identity id;

	if (!identity_of_path(&id, rec->store.path))
		return;
	identity_traceparent(rec->traceparent, &id, identity_build(&id));
	rec->store.flags |= STORE_TRACEPARENT;
}

static void calibrate(struct recorder *rec, const char *when)
{
	struct calibration c;
	struct buf b = BUF_INIT;

	calibration_run(&c);
	calibration_add(&b, when, &c);
	store_append_build(&rec->store, &b);
	buf_release(&b);
}

/* A tree without a repository is normal; a missing one is a mistake. */
static void check_trees(const struct word_list *trees)
{
	for (size_t i = 0; i < trees->n; i++) {
		if (access(trees->item[i], F_OK))
			notice("no revision is recorded of %s: %s", trees->item[i],
			       strerror(errno));
	}
}

int recorder_create(struct recorder *rec, const struct settings *settings,
		   const char *base, const char *name, char *const *argv,
		   struct error *err)
{
	int r;

	*rec = (struct recorder){ .settings = settings, .created = true,
				  .pidserver = PIDSERVER_CLOSED };
	rec->asleep_ns = asleep_ns();
	hold_begin(&rec->hold);
	redact_set(settings->redact.item, settings->redact.n);
	whereabouts_remember(&rec->where, base);
	r = store_create_for(&rec->store, (enum store_access)settings->access, base, name, err);
	if (r) {
		hold_end(&rec->hold);
		return r;
	}
	if (settings->task_io)
		rec->store.flags |= STORE_TASK_IO;
	if (settings->log)
		rec->store.flags |= STORE_PIPES;
	r = append_info(rec, argv, err);
	if (r) {
		store_abandon(&rec->store);
		hold_end(&rec->hold);
		return r;
	}
	if (settings->traceparent)
		set_traceparent(rec);
	if (settings->instructions)
		instructions_begin(&rec->store, true);
	store_begun(&rec->store);
	if (settings->git) {
		check_trees(&settings->source);
		gitstamp_begin(&rec->stamp, &rec->store, &settings->source);
	}
	begin_tickets(rec);
	begin_sampling(rec);
	begin_capture(rec);
	compiler_cache_begin(&rec->cache, settings->task_cache, rec->store.path);
	/* while the revision is looked up, so that the build waits no longer */
	calibrate(rec, "start");
	gitstamp_head_start(&rec->stamp);
	return 0;
}

/* The recording may be another user's; the ticket is our own. */
int recorder_join(struct recorder *rec, const struct settings *settings, const char *path,
		 struct error *err)
{
	int r;

	*rec = (struct recorder){ .settings = settings, .pidserver = PIDSERVER_CLOSED };
	r = trust_path(path, err);
	if (!r)
		r = store_join_dir(&rec->store, path, err);
	if (r)
		return r;
	if (settings->task_io)
		rec->store.flags |= STORE_TASK_IO;
	if (settings->instructions)
		instructions_begin(&rec->store, false);
	hold_begin(&rec->hold);
	begin_tickets(rec);
	return 0;
}

void recorder_trace(struct recorder *rec, const char *file, tracer_function *function)
{
	struct error err = { 0 };

	if (tracer_begin(&rec->tracer, file, rec->store.path, function, &rec->hold.old_mask, &err))
		notice("no trace is written: %s%s%s", err.path, *err.path ? ": " : "", err.message);
}

static void end_trace(struct recorder *rec)
{
	struct error err = { 0 };

	if (tracer_end(&rec->tracer, &err))
		notice("the trace is incomplete: %s%s%s", err.path, *err.path ? ": " : "",
		       err.message);
}

/* A make is not preloaded, because it has the plugin. Nor is a program whose loader would fail, or
 * one with a sanitizer, whose runtime must be loaded first. */
static bool may_preload(const struct carried *c, const char *program)
{
	char path[PATH_MAX];

	return c->ticket[0] && !carry_reads_ticket(carry_name(program)) &&
	       !access(c->preload, R_OK) && !carry_env_forbids(environ) &&
	       file_find_program(path, program) && carry_fit_of(path) == CARRY_FITS;
}

void recorder_carry(struct carried *c, struct launch *l)
{
	if (carry_from_env(c, environ) && may_preload(c, l->argv[0]))
		l->preload = c;
}

void recorder_prepare(struct recorder *rec, struct launch *l)
{
	if (rec->makefiles.len && !buf_error(&rec->makefiles))
		l->makefiles = buf_str(&rec->makefiles);
	l->preload = may_preload(&rec->carried, l->argv[0]) ? &rec->carried : NULL;
	l->traceparent = *rec->traceparent ? rec->traceparent : NULL;
	l->stats_log = compiler_cache_variable(&rec->cache);
	l->sampler = rec->sampler;
	l->count = rec->created ? counter_event_of(rec->store.flags) : COUNTER_OFF;
	l->store = rec->created ? &rec->store : NULL;
	l->pidserver = &rec->pidserver;
	begin_relay(rec);
	l->relay = rec->relay.n ? &rec->relay : NULL;
	l->mask = &rec->hold.old_mask;
	capture_prepare(&rec->capture, l);
}

/* Ending */

static void add_number(struct buf *b, const char *key, int64_t n)
{
	buf_addf(b, "%s: %lld\n", key, (long long)n);
}

static int64_t timeval_us(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

static int append_end(struct recorder *rec, const struct launch *l)
{
	const struct rusage *u = &l->usage;
	struct peak peak = PEAK_INIT;
	struct buf b = BUF_INIT;
	int r;

	buildinfo_add_end(&b, store_now_us(&rec->store), l->status);
	add_number(&b, "end_wall_ns", clock_wall_ns());
	if (asleep_ns() - rec->asleep_ns > ASLEEP_LEAST_NS)
		add_number(&b, LAYOUT_ASLEEP, (asleep_ns() - rec->asleep_ns) / 1000);
	add_number(&b, "user_us", timeval_us(u->ru_utime));
	add_number(&b, "system_us", timeval_us(u->ru_stime));
	add_number(&b, peak_is_exceeded(&peak, u->ru_maxrss) ? "max_rss_kb" :
		   "max_rss_at_most_kb", u->ru_maxrss);
	add_number(&b, "minor_faults", u->ru_minflt);
	add_number(&b, "major_faults", u->ru_majflt);
	add_number(&b, "in_blocks", u->ru_inblock);
	add_number(&b, "out_blocks", u->ru_oublock);
	add_number(&b, "voluntary_switches", u->ru_nvcsw);
	add_number(&b, "involuntary_switches", u->ru_nivcsw);
	instructions_add_end(&b, l);
	r = store_append_build(&rec->store, &b);
	buf_release(&b);
	return r;
}

/* `buildbeat list` does not read tasks.log. */
static void append_tasks(struct recorder *rec, const struct tasklog *t)
{
	struct buf b = BUF_INIT;

	add_number(&b, "tasks", (int64_t)t->tasks);
	store_append_build(&rec->store, &b);
	buf_release(&b);
}

/* A make that could not write does not report this. What the plugin could not record, it left
 * as a note. */
static void report_log(struct recorder *rec, const struct tasklog *t)
{
	struct error err;

	if (rec->complained)
		return;
	if (t->torn) {
		error_set(&err, -EIO, rec->store.path, 0, 0, "a process could not write on");
		complain(rec, "the recording is incomplete", &err);
	} else if (t->note[0]) {
		rec->complained = true;
		notice("the recording is incomplete: %s", t->note);
	}
}

/* Nothing failed, but not everything was recorded. `buildbeat list` does not prove it again. */
static void report_unproved(struct recorder *rec, const struct tasklog *t)
{
	struct buf b = BUF_INIT, line = BUF_INIT;

	if (!rec->complained && !tasklog_prove(&b, t, rec->store.path) && b.len) {
		rec->complained = true;
		notice("%s: %s", rec->store.path, buf_str(&b));
		buf_addf(&line, LAYOUT_UNACCOUNTED ": %s\n", buf_str(&b));
		store_append_build(&rec->store, &line);
	}
	buf_release(&line);
	buf_release(&b);
}

static const char *why_not_preloaded(const struct recorder *rec, const char *program, char *why,
				     size_t size)
{
	char path[PATH_MAX];
	enum carry_fit fit = file_find_program(path, program) ? carry_fit_of(path) : CARRY_FITS;

	if (fit == CARRY_MUST_NOT || carry_env_forbids(environ))
		snprintf(why, size, "%s needs the runtime of a sanitizer as its first shared object, "
			 "so buildbeat loads nothing into it", program);
	else if (fit == CARRY_CANNOT)
		snprintf(why, size, "%s is statically linked, of another kind of machine, or "
			 "changes its user, and starts nothing that can be followed", program);
	else if (carry_reads_ticket(carry_name(program)))
		snprintf(why, size, "%s recorded none", program);
	else
		snprintf(why, size, "%s is not there", *rec->carried.preload ? rec->carried.preload
			 : CARRY_PRELOAD);
	return why;
}

/* Report it unless the reason has been reported, as a shell does for a command that cannot be
 * run. */
static void explain_no_tasks(struct recorder *rec, const struct launch *l,
			     const struct tasklog *t)
{
	bool make = carry_is_make(carry_name(l->argv[0]));
	char why[400];

	/* a host of the preload may start nothing */
	if (t->instances || rec->complained || l->preload)
		return;
	rec->complained = true;
	if (WIFEXITED(l->status) &&
	    (WEXITSTATUS(l->status) == 126 || WEXITSTATUS(l->status) == 127))
		return;
	if ((make || carry_is_bitbake(carry_name(l->argv[0]))) && make_words_only_print(l->argv))
		return;
	if (carry_is_bitbake(carry_name(l->argv[0]))) {
		notice("no tasks were recorded: none ran, or no INHERIT += \"buildbeat\" is in "
		       "bitbake's configuration; see buildbeat-bitbake(7)");
		return;
	}
	if (!make)
		notice("no tasks were recorded: %s; for it as one task: buildbeat task NAME -- CMD",
		       why_not_preloaded(rec, l->argv[0], why, sizeof why));
	else if (rec->explain && rec->explain(rec->settings, l->argv[0], why, sizeof why))
		notice("no tasks were recorded: %s; see: buildbeat doctor", why);
	else
		notice("no tasks were recorded: %s can load the plugin and did not; it read no "
		       "makefile, or MAKEFILES was changed on the way to it", l->argv[0]);
}

static void on_packed(void *context, unsigned percent)
{
	progress_at(context, percent);
}

/* A log to which a process still appends is left alone. */
static bool is_finished_log(const char *name, const struct tasklog *t)
{
	size_t n = strlen(name);

	if (n < 5 || strcmp(name + n - 4, ".log"))
		return false;
	if (!strcmp(name, LAYOUT_LOST))
		return false;
	return !t->alive || strncmp(name, LAYOUT_TASKS_PREFIX, strlen(LAYOUT_TASKS_PREFIX));
}

static int pack_logs(struct recorder *rec, const struct tasklog *t, struct error *err)
{
	DIR *dir = file_open_dir_at(rec->store.dir_fd, ".");
	struct progress progress;
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return error_sys(err, -errno, rec->store.path, "cannot compress");
	progress_begin(&progress, "compressing");
	while (!r && (entry = readdir(dir))) {
		if (is_finished_log(entry->d_name, t))
			r = zstd_pack(rec->store.dir_fd, entry->d_name, on_packed, &progress,
				      err);
	}
	progress_end(&progress);
	closedir(dir);
	return r;
}

/* Errors while the build ran. */
static void report_incomplete(struct recorder *rec, int r)
{
	struct error err;

	if (!r)
		r = store_error(&rec->store);
	if (!r && rec->sampler)
		r = sampler_error(rec->sampler);
	if (!r || rec->complained)
		return;
	error_sys(&err, r, rec->store.path, NULL);
	complain(rec, "the recording is incomplete", &err);
}

/* Lost lines are counted in a file that has room left. */
static void report_lost(struct recorder *rec)
{
	struct buf b = BUF_INIT;
	struct lost lost;
	struct error err;

	store_tell_lost(&rec->store);
	if (lost_read(&lost, rec->store.dir_fd) || !lost.reason || rec->complained)
		return;
	lost_add_text(&b, &lost);
	error_set(&err, lost.reason, rec->store.path, 0, 0, "%s", buf_str(&b));
	complain(rec, "the recording is incomplete", &err);
	buf_release(&b);
}

static void record_lost_part(struct recorder *rec, const char *part, int error)
{
	if (error)
		lost_append_part(rec->store.dir_fd, store_now_us(&rec->store), part, error);
}

/* The names of ninja's tasks are in its own files. */
static void name_edges(struct recorder *rec, const struct tasklog *t)
{
	struct error err;
	int r = t->ninjas ? ninja_join(&rec->store) : 0;

	record_lost_part(rec, "names", lost_is_full(r) ? r : 0);
	if (!r || lost_is_full(r))
		return;
	error_sys(&err, r, rec->store.path, NULL);
	complain(rec, "what ninja ran is not named", &err);
}

/* What is found out about the tasks afterwards. */
static void find_results(struct recorder *rec)
{
	struct error err = { 0 };
	int r = 0;

	if (rec->settings->task_files || compiler_cache_has_log(&rec->cache))
		r = results_write(&rec->store, rec->settings->task_files, &rec->cache, &err);
	record_lost_part(rec, "results", lost_is_full(r) ? r : 0);
	if (r && !lost_is_full(r))
		complain(rec, "files and caches of the tasks are not recorded", &err);
}

/* True: it has been replaced by another layout, which is not done while a process of the build
 * still writes it. */
static bool lay_out(struct recorder *rec, const struct tasklog *t)
{
	bool instead = rec->settings->layout == LAYOUT_IS_OE && !t->alive;
	struct error err;
	int r;

	if (rec->settings->layout == LAYOUT_IS_OURS)
		return false;
	r = instead ? oelayout_instead(rec->store.path, &err) :
	    oelayout_beside(rec->store.path, &err);
	if (r)
		complain(rec, "not in OpenEmbedded's layout", &err);
	return instead && !r;
}

static void end_capture(struct recorder *rec)
{
	struct error err = { 0 };
	int r = capture_end(&rec->capture, &err);

	record_lost_part(rec, "processes", r);
	if (r && !lost_is_full(r))
		complain(rec, "the recording is incomplete", &err);
}

/* After this, the log has all that was written before the command's end. */
static void end_relay(struct recorder *rec)
{
	struct relay_result result;
	struct buf b = BUF_INIT;
	struct error err;

	if (!rec->relay.n)
		return;
	relay_end(&rec->relay, &result);
	add_number(&b, "output_bytes", (int64_t)result.bytes);
	store_append_build(&rec->store, &b);
	buf_release(&b);
	record_lost_part(rec, "output", result.log_error);
	if (result.log_error && !lost_is_full(result.log_error) && result.log_error != RELAY_KILLED) {
		error_sys(&err, result.log_error, OUTPUT_LOG, NULL);
		complain(rec, "a part of the build's output is not kept", &err);
	}
	relay_print(&result);
}

static void finish_created(struct recorder *rec, const struct launch *l)
{
	struct tasklog log = { 0 };
	struct error err;
	bool scanned;
	int r;

	if (rec->sampler)
		sampler_take(rec->sampler, true);
	end_capture(rec);
	r = append_end(rec, l);
	end_relay(rec);
	gitstamp_end(&rec->stamp);
	record_lost_part(rec, "samples", rec->sampler ? sampler_error(rec->sampler) : 0);
	scanned = !tasklog_scan(rec->store.dir_fd, &log);
	if (scanned) {
		append_tasks(rec, &log);
		name_edges(rec, &log);
		find_results(rec);
	}
	compiler_cache_end(&rec->cache);
	calibrate(rec, "end");
	report_lost(rec);
	report_incomplete(rec, r);
	sampler_free(rec->sampler);
	rec->sampler = NULL;
	if (scanned) {
		report_log(rec, &log);
		report_unproved(rec, &log);
		explain_no_tasks(rec, l, &log);
	}
	lost_end(rec->store.dir_fd);
	end_trace(rec);
	if (!lay_out(rec, &log) && rec->settings->compress == COMPRESS_ZSTD &&
	    pack_logs(rec, &log, &err))
		complain(rec, "not compressed", &err);
}

/* Nothing ran, and no other process recorded anything. */
static bool is_empty(struct recorder *rec, const struct launch *l)
{
	struct tasklog log;

	return l->not_run && rec->where.base_len && !tasklog_scan(rec->store.dir_fd, &log) &&
	       log.instances <= rec->wrote_task;
}

static void drop_created(struct recorder *rec)
{
	struct relay_result result;

	relay_end(&rec->relay, &result);
	capture_drop(&rec->capture);
	tracer_kill(&rec->tracer);
	gitstamp_kill(&rec->stamp);
	sampler_free(rec->sampler);
	rec->sampler = NULL;
	rec->created = false;
	whereabouts_remove(&rec->where, rec->store.path);
}

void recorder_finish(struct recorder *rec, const struct launch *l)
{
	/* before anything that takes time: after this a signal may end the process */
	pidserver_stop(&rec->pidserver);
	if (rec->has_ticket)
		ticket_remove(&rec->ticket);
	hold_end(&rec->hold);
	if (rec->created && is_empty(rec, l))
		drop_created(rec);
	else if (rec->created)
		finish_created(rec, l);
	else if (!lost_is_full(store_error(&rec->store)))
		report_incomplete(rec, 0);	/* a full disk is reported by the process that began it */
	buf_release(&rec->makefiles);
	store_close(&rec->store);
}
