/* SPDX-License-Identifier: MIT */
#include "analyse/facts.h"

#include "analyse/cache_counts.h"
#include "analyse/names.h"
#include "analyse/words.h"
#include "base/array.h"
#include "base/saturate.h"
#include "recording/layout.h"
#include "recording/results.h"

#include <string.h>
#include <time.h>

#define REVISION_DIGITS 12

void facts_begin(struct facts *f, struct buf *out,
		 void (*write)(void *to, const char *label, enum tone tone, const struct buf *parts), void *to)
{
	*f = (struct facts){ .part = BUF_PART_OF(out), .write = write, .to = to };
}

void facts_release(struct facts *f)
{
	buf_release(&f->part);
}

void fact_part(struct facts *f)
{
	if (f->part.len && f->part.data[f->part.len - 1])
		buf_addc(&f->part, '\0');
}

void fact_end(struct facts *f, const char *label, enum tone tone)
{
	fact_part(f);
	if (f->part.len)
		f->write(f->to, label, tone, &f->part);
	buf_clear(&f->part);
}

void fact_add_count(struct facts *f, uint64_t n, const char *after)
{
	buf_addu(&f->part, n);
	buf_adds(&f->part, after);
	fact_part(f);
}

static void add_time(struct facts *f, int64_t us, const char *after)
{
	text_add_time(&f->part, us);
	buf_adds(&f->part, after);
	fact_part(f);
}

static void add_bytes(struct facts *f, const char *before, int64_t bytes, const char *after)
{
	buf_adds(&f->part, before);
	text_add_bytes(&f->part, bytes);
	buf_adds(&f->part, after);
	fact_part(f);
}

void fact_add_name(struct facts *f, const char *before, const char *name)
{
	if (!name || !*name)
		return;
	buf_adds(&f->part, before);
	text_add_name(&f->part, name, 0);
	fact_part(f);
}

static void add_share(struct facts *f, const char *before, double share)
{
	buf_adds(&f->part, before);
	text_add_percent(&f->part, share);
	fact_part(f);
}

/* What was built, when, where, and from which sources */

void fact_when(struct facts *f, const struct recording *rec)
{
	time_t seconds = (time_t)(rec->start_wall_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (rec->start_wall_ns <= 0 || !localtime_r(&seconds, &tm))
		return;
	buf_add(&f->part, text, strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &tm));
	fact_end(f, f->brief ? "started" : "when", TONE_PLAIN);
}

void fact_host(struct facts *f, const struct summary *s)
{
	int64_t kb = recording_build_number(s->rec, "memory_kb");

	fact_add_name(f, "", recording_build(s->rec, "host"));
	if (s->cores > 0)
		fact_add_count(f, (uint64_t)s->cores, s->cores == 1 ? " core" : " cores");
	if (kb > 0)
		add_bytes(f, "", sat_mul(kb, 1024), "");
	fact_add_name(f, "Linux ", recording_build(s->rec, "kernel"));
	fact_end(f, f->brief ? "host" : "where", TONE_PLAIN);
}

void fact_directory(struct facts *f, const struct recording *rec)
{
	fact_add_name(f, "", recording_build(rec, "cwd"));
	fact_end(f, "directory", TONE_PLAIN);
}

/* The lines of a source tree come in the order source, branch, revision ... Each tree is a
 * fact of its own, but all of them are one in a chart. */
void fact_sources(struct facts *f, const struct recording *rec)
{
	const char *label = f->brief ? "revision" : "source";

	for (size_t i = 0; i < rec->n_build; i++) {
		const char *key = rec->build[i].key, *value = rec->build[i].value;
		char digits[REVISION_DIGITS + 1];

		if (!strcmp(key, "branch") || !strcmp(key, "describe")) {
			fact_add_name(f, "", value);
		} else if (!strcmp(key, "revision")) {
			*stpncpy(digits, value, REVISION_DIGITS) = '\0';
			fact_add_name(f, "", digits);
		} else if (!strcmp(key, "dirty")) {
			buf_adds(&f->part, strcmp(value, "yes") ? "" : "modified");
			fact_part(f);
		} else if (!strcmp(key, "git_error") && !f->brief) {
			fact_add_name(f, "git: ", value);
		} else if (!strcmp(key, "source")) {
			if (!f->brief)
				fact_end(f, label, TONE_PLAIN);
			if (strcmp(name_relative(rec, value), "."))
				fact_add_name(f, "", name_relative(rec, value));
		}
	}
	fact_end(f, label, TONE_PLAIN);
}

/* How it went, and what it used */

#define REASON_COLUMNS 200

void fact_result(struct facts *f, const struct summary *s)
{
	bool good = build_is_good(s->result) || f->running;

	if (f->running)
		buf_adds(&f->part, "running");
	else
		words_add_result(&f->part, s->result, s->status);
	if (s->reason && !f->running) {
		buf_adds(&f->part, ": ");
		text_add_name(&f->part, s->reason, REASON_COLUMNS);
	}
	buf_adds(&f->part, f->running ? " for " :
		 s->result == BUILD_UNFINISHED ? ", seen for " : f->brief ? " after " : ", after ");
	text_add_time(&f->part, s->wall_us);
	if (f->brief)
		fact_part(f);
	/* a warning says what was lost */
	if (s->rec->lost.reason)
		buf_adds(&f->part, f->brief ? "incomplete" : "; incomplete");
	fact_end(f, "result", !good || s->rec->lost.reason ? TONE_ALARM : TONE_TITLE);
}

void fact_warnings(struct facts *f, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_warnings; i++) {
		fact_add_name(f, "", rec->warning[i].text);
		if (f->brief && rec->n_warnings > 1)
			fact_add_count(f, rec->n_warnings - 1, " more");
		fact_end(f, "warning", TONE_ALARM);
		if (f->brief)
			break;
	}
}

#define AT_LEAST "at least "

static void add_instructions(struct facts *f, const struct recording *rec)
{
	int64_t n = recording_build_number(rec, LAYOUT_INSTRUCTIONS);
	const char *counted = recording_build(rec, LAYOUT_COUNTED);

	if (n < 0)
		return;
	text_add_count(&f->part, n);
	buf_adds(&f->part, " user instructions");
	if (counted && strcmp(counted, LAYOUT_INSTRUCTIONS))
		buf_addf(&f->part, " (stands for %s)", counted);
	fact_part(f);
}

void fact_cpu(struct facts *f, const struct summary *s)
{
	double share = summary_cpu_share(s);

	if (s->cpu_us < 0)
		return;
	if (f->brief) {
		buf_adds(&f->part, s->cpu_exact ? "the build " : "");
		buf_adds(&f->part, s->at_least ? AT_LEAST : "");
		add_time(f, s->cpu_us, s->cpu_exact ? "" : " in tasks");
	} else {
		buf_adds(&f->part, s->at_least ? AT_LEAST : "");
		text_add_time(&f->part, s->cpu_us);
		buf_adds(&f->part, " of CPU");
		if (s->user_us >= 0) {
			buf_adds(&f->part, ": ");
			add_time(f, s->user_us, " user");
			add_time(f, s->system_us, " system");
		} else {
			fact_part(f);
		}
	}
	if (share >= 0) {
		text_add_percent(&f->part, share);
		buf_adds(&f->part, " of ");
		fact_add_count(f, (uint64_t)s->cores, s->cores == 1 ? " core" : " cores");
	}
	if (!s->cpu_exact && !f->brief)
		buf_adds(&f->part, "of the tasks alone");
	fact_part(f);
	if (!f->brief)
		add_instructions(f, s->rec);
	if (f->brief && summary_others_us(s) >= 0)
		add_share(f, "other processes ", summary_host_share(s, summary_others_us(s)));
	fact_end(f, f->brief ? "CPU time" : "build", TONE_PLAIN);
}

void fact_machine(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;

	if (summary_host_share(s, h->user_us) < 0)
		return;
	add_share(f, "CPU busy ", summary_host_share(s, sat_add(h->user_us, h->system_us > 0 ?
								h->system_us : 0)));
	if (summary_others_us(s) >= 0)
		add_share(f, "other processes ", summary_host_share(s, summary_others_us(s)));
	add_share(f, "waiting for I/O ", summary_host_share(s, h->iowait_us));
	if (h->steal_us >= 0)
		add_share(f, "stolen ", summary_host_share(s, h->steal_us));
	fact_end(f, "machine", TONE_PLAIN);
}

static void add_calibration(struct facts *f, const char *before,
			    const struct host_calibration *c, const char *after)
{
	if (c->least_ns < 0)
		return;
	buf_addf(&f->part, "%s%.2f us", before, (double)c->least_ns / 1e3);
	if (c->mhz >= 0)
		buf_addf(&f->part, " at %.2f GHz", (double)c->mhz / 1e3);
	buf_adds(&f->part, after);
	fact_part(f);
}

void fact_speed(struct facts *f, const struct host *h)
{
	add_calibration(f, "calibration loop ", &h->start, "");
	add_calibration(f, h->start.least_ns < 0 ? "calibration loop " : "", &h->end,
			" at the end");
	fact_end(f, "speed", TONE_PLAIN);
}

void fact_setup(struct facts *f, const struct summary *s)
{
	struct cost sum = { 0 };

	for (size_t i = 0; i < s->rec->n_tasks; i++)
		cost_add(&sum, &s->nest[i].cost);
	if (!sum.setup_us)
		return;
	add_time(f, sum.setup_us, " in all before the tasks started");
	add_time(f, sum.setup_cpu_us, " of CPU, in no task's values");
	fact_end(f, "setup", TONE_PLAIN);
}

void fact_tasks(struct facts *f, const struct summary *s)
{
	bool ok = s->result == BUILD_OK;
	const struct {
		enum task_state state;
		const char *after;
	} states[] = {
		/* make ignores what a recipe with "-" or "|| true" around a make ends with */
		{ TASK_FAILED, ok ? " failed and ignored" : " failed" },
		{ TASK_KILLED, ok ? " killed and ignored" : " killed" },
		{ TASK_UNFINISHED, f->running ? " running" : " unfinished" },
		{ TASK_QUEUED, f->running ? " queued" : " never started" },
	};
	bool alarm = !ok && (s->n_state[TASK_FAILED] || s->n_state[TASK_KILLED]);

	buf_addu(&f->part, s->n_tasks);
	if (s->n_targets != s->n_tasks && (s->n_targets || !f->brief)) {
		buf_adds(&f->part, " for ");
		buf_addu(&f->part, s->n_targets);
		buf_adds(&f->part, s->n_targets == 1 ? " target" : " targets");
	}
	fact_part(f);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++) {
		if (s->n_state[states[i].state])
			fact_add_count(f, s->n_state[states[i].state], states[i].after);
	}
	if (s->n_said_no)
		fact_add_count(f, s->n_said_no, s->n_said_no == 1 ? " probe said no" : " probes said no");
	if (s->n_hosting && !f->brief)
		fact_add_count(f, s->n_hosting, s->n_hosting == 1 ? " ran a build of its own" :
			       " ran builds of their own");
	fact_end(f, "tasks", f->brief && alarm ? TONE_ALARM : TONE_PLAIN);
	if (!s->running_sum_us || !s->wall_us)
		return;
	buf_addf(&f->part, f->brief ? "%.1f on average" : "%.1f tasks on average",
		 (double)s->running_sum_us / (double)s->wall_us);
	fact_part(f);
	fact_add_count(f, (uint64_t)s->running_max, " at most");
	fact_end(f, f->brief ? "tasks at once" : "at once", TONE_PLAIN);
}

/* "no task failed", "no task of kind 'link'": what was looked for is a better answer than zeros. */
static void fact_none(struct facts *f, const struct view *v)
{
	const struct selection *sel = &v->selection;

	buf_adds(&f->part, "no task");
	if (sel->kind) {
		buf_adds(&f->part, " of kind '");
		text_add_name(&f->part, sel->kind, 0);
		buf_addc(&f->part, '\'');
	}
	if (sel->filter) {
		buf_adds(&f->part, " with '");
		text_add_name(&f->part, sel->filter, 0);
		buf_adds(&f->part, "' in its name or command");
	}
	if (sel->unsuccessful)
		buf_adds(&f->part, " failed");
	else if (!sel->kind && !sel->filter)
		buf_adds(&f->part, " was found");
	buf_addf(&f->part, " (of %zu)", v->sum->n_tasks);
	fact_part(f);
}

void fact_selected(struct facts *f, const struct view *v)
{
	if (v->n_tasks) {
		buf_addf(&f->part, "%zu of %zu tasks", v->n_tasks, v->sum->n_tasks);
		fact_part(f);
		add_time(f, v->cost.wall_us, " wall");
		if (v->cost.measured && v->cost.at_least)
			buf_adds(&f->part, AT_LEAST);
		if (v->cost.measured)
			add_time(f, v->cost.cpu_us, " CPU");
		if (cost_knows(&v->cost, VALUE_IO))
			add_bytes(f, "", value_get(VALUE_IO, &v->cost), " of disk I/O");
		if (v->cost.setup_us)
			add_time(f, v->cost.setup_us, " setup before");
		if (v->cost.setup_cpu_us)
			add_time(f, v->cost.setup_cpu_us, " CPU of setup");
	} else {
		fact_none(f, v);
	}
	fact_end(f, "selected", TONE_TITLE);
}

void fact_bound(struct facts *f, const struct chain *c)
{
	if (!c->n_path)
		return;
	if (c->waits.has_dependencies) {
		text_add_time(&f->part, c->dependency_us);
		buf_addf(&f->part, " %s", chain_bound_words(c));
		fact_part(f);
		fact_add_count(f, c->n_dependency, c->n_dependency == 1 ? " task" : " tasks");
	} else {
		buf_adds(&f->part, "unknown: no dependencies were recorded");
	}
	fact_end(f, "at least", TONE_PLAIN);
}

/* What the end of the build waited for, and how long it takes at least. */
void fact_path(struct facts *f, const struct summary *s, const struct chain *c)
{
	if (!c->n_path)
		return;
	fact_add_count(f, c->n_path, c->n_path == 1 ? " task" : " tasks");
	add_time(f, c->path_us, "");
	if (s->wall_us > 0) {
		text_add_percent(&f->part, (double)c->path_us / (double)s->wall_us);
		buf_adds(&f->part, " of the build");
		fact_part(f);
	}
	chain_add_links(&f->part, c);
	fact_part(f);
	fact_end(f, "path", TONE_PLAIN);
	fact_bound(f, c);
}

static void add_moment(struct facts *f, const char *before, int64_t bytes, int64_t time_us)
{
	if (bytes < 0)
		return;
	buf_adds(&f->part, before);
	text_add_bytes(&f->part, bytes);
	if (!f->brief) {
		buf_adds(&f->part, " at ");
		text_add_time(&f->part, time_us);
	}
	fact_part(f);
}

void fact_memory(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;
	int64_t kb = s->memory_peak_kb.value;
	int64_t largest_kb = recording_build_number(s->rec, "max_rss_kb");
	bool swapped = h->swapped_out_bytes > 0 || (h->swapped_in_bytes > 0 && !f->brief);

	add_moment(f, "the tasks ", kb > 0 ? sat_mul(kb, 1024) : -1, s->memory_peak_kb.time_us);
	if (largest_kb > kb && !f->brief)	/* the build tool, which is no task, or a task between two samples */
		add_bytes(f, "the largest process ", sat_mul(largest_kb, 1024), "");
	if (!f->brief)
		add_moment(f, "cgroup ", h->cgroup_memory_bytes.value,
			   h->cgroup_memory_bytes.time_us);
	add_moment(f, "the machine ", h->memory_used_bytes.value, h->memory_used_bytes.time_us);
	if (f->part.len && h->memory_total_bytes > 0) {
		if (f->brief)
			f->part.data[f->part.len - 1] = ' ';
		add_bytes(f, "of ", h->memory_total_bytes, "");
	}
	if (!f->brief)
		fact_end(f, "memory", TONE_PLAIN);
	if (swapped && f->brief)
		add_bytes(f, "", h->swapped_out_bytes, " swapped out");
	if (swapped && !f->brief) {
		add_bytes(f, "", h->swapped_in_bytes, " in");
		add_bytes(f, "", h->swapped_out_bytes, " out");
		add_moment(f, "most used ", h->swap_used_bytes.value, h->swap_used_bytes.time_us);
		fact_end(f, "swap", TONE_ALARM);
	}
	if (h->oom_kills > 0) {
		buf_addu(&f->part, (uint64_t)h->oom_kills);
		if (f->brief)
			buf_adds(&f->part, h->oom_kills == 1 ? " process" : " processes");
		buf_adds(&f->part, " killed because memory ran out");
		fact_part(f);
		if (!f->brief)
			fact_end(f, "processes", TONE_ALARM);
	}
	fact_end(f, "peak memory", swapped || h->oom_kills > 0 ? TONE_ALARM : TONE_PLAIN);
}

static void add_disk(struct facts *f, const char *whose, int64_t read_bytes,
		     int64_t written_bytes)
{
	if (read_bytes >= 0)
		add_bytes(f, whose, read_bytes, " read");
	if (written_bytes >= 0)
		add_bytes(f, read_bytes >= 0 ? "" : whose, written_bytes, " written");
}

void fact_disk(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;

	add_disk(f, s->at_least ? "the build " AT_LEAST : "the build ", s->read_bytes,
		 s->written_bytes);
	add_disk(f, "the machine ", h->disk_read_bytes, h->disk_written_bytes);
	if (f->part.len && h->disk_busiest_bytes.value > 0 && !f->brief)
		add_moment(f, "busiest second ", h->disk_busiest_bytes.value,
			   h->disk_busiest_bytes.time_us);
	fact_end(f, "disk", TONE_PLAIN);
}

void fact_network(struct facts *f, const struct host *h)
{
	if (h->net_received_bytes <= 0 && h->net_sent_bytes <= 0)
		return;
	add_bytes(f, "", h->net_received_bytes, " received");
	add_bytes(f, "", h->net_sent_bytes, " sent");
	fact_end(f, "network", TONE_PLAIN);
}

/* The share of the time in which at least one task of the machine waited. */
void fact_pressure(struct facts *f, const struct host *h)
{
	static const struct {
		const char *what;
		enum host_pressure of;
	} parts[] = {
		{ "for CPU ", PRESSURE_CPU_SOME }, { "I/O ", PRESSURE_IO_SOME },
		{ "memory ", PRESSURE_MEMORY_SOME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts) && h->pressure_span_us > 0; i++) {
		if (h->stalled_us[parts[i].of] >= 0)
			add_share(f, parts[i].what, (double)h->stalled_us[parts[i].of] /
				  (double)h->pressure_span_us);
	}
	if (f->part.len)
		buf_adds(&f->part, "of the time");
	fact_end(f, "waiting", TONE_PLAIN);
}

void fact_samples(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;
	int64_t interval_ms = s->rec->interval_ms;

	if (!h->samples) {
		buf_adds(&f->part, "none");
		if (f->brief)
			buf_adds(&f->part, ": ");
		else
			fact_part(f);
		buf_adds(&f->part, "nothing is known of the machine");
		fact_end(f, "samples", f->brief ? TONE_ALARM : TONE_PLAIN);
		return;
	}
	fact_add_count(f, h->samples, "");
	if (interval_ms > 0 && f->brief && interval_ms % 1000 == 0) {
		buf_addf(&f->part, "one every %lld s", (long long)interval_ms / 1000);
		fact_part(f);
	} else if (interval_ms > 0) {
		buf_adds(&f->part, "one every ");
		add_time(f, sat_mul(interval_ms, 1000), "");
	}
	if (h->gaps)
		fact_add_count(f, h->gaps, h->gaps == 1 ? " gap" : " gaps");
	fact_end(f, "samples", h->gaps ? TONE_ALARM : TONE_PLAIN);
}

/* What the reader repaired in the spans. */
void fact_trace_errors(struct facts *f, const struct recording *rec)
{
	uint64_t n = recording_trace_errors(rec);

	if (!n)
		return;
	fact_add_count(f, n, n == 1 ? " trace error" : " trace errors");
	for (int i = 0; i < SPAN_FAULTS; i++) {
		if (!rec->span_faults[i])
			continue;
		buf_addu(&f->part, rec->span_faults[i]);
		buf_addc(&f->part, ' ');
		for (const char *p = recording_span_faults[i]; *p; p++)
			buf_addc(&f->part, *p == '_' ? ' ' : *p);
		fact_part(f);
	}
	fact_end(f, "spans", TONE_ALARM);
}

void fact_output(struct facts *f, const struct recording *rec)
{
	int64_t bytes = recording_build_number(rec, "output_bytes");

	if (!recording_build(rec, "output"))
		return;
	if (bytes >= 0)
		add_bytes(f, "", bytes, "");
	else
		buf_adds(&f->part, "kept");
	if (bytes < 0)
		fact_part(f);
	buf_adds(&f->part, "see: buildbeat log");
	fact_part(f);
	fact_end(f, "output", TONE_PLAIN);
}

/* How many of the compilations that can come from a cache did. */
void fact_cache(struct facts *f, const struct recording *rec)
{
	struct cache_counts c;

	for (int i = 0; i < CACHES; i++) {
		if (!cache_counts_get(&c, rec, i))
			continue;
		if (c.hits + c.misses) {
			buf_addf(&f->part, "%lld of %lld compilations from the cache",
				 (long long)c.hits, (long long)(c.hits + c.misses));
			fact_part(f);
			add_share(f, "", cache_counts_share(&c));
		}
		if (c.uncacheable)
			fact_add_count(f, (uint64_t)c.uncacheable, c.uncacheable == 1 ?
				       " call that cannot be cached" : " calls that cannot be cached");
		if (!f->part.len)
			buf_adds(&f->part, "not called, or disabled");
		fact_end(f, cache_counts_name[i], TONE_PLAIN);
	}
}

void fact_caches(struct facts *f, const struct view *v)
{
	size_t n[TASK_CACHES] = { 0 };

	for (size_t i = 0; i < v->n_tasks; i++)
		n[v->sum->rec->task[v->task[i]].cache]++;
	for (int c = 1; c < TASK_CACHES; c++) {
		if (!n[c])
			continue;
		if (v->n_tasks > 1)
			buf_addf(&f->part, "%zu ", n[c]);
		buf_adds(&f->part, results_cache_title((enum task_cache)c));
		fact_part(f);
	}
	fact_end(f, "cache", TONE_PLAIN);
}

/* How they were recorded, and what is missing. */
#define INSPECTED_NAMED 3

void fact_inspected(struct facts *f, const struct inspected *x)
{
	for (size_t i = 0; x && i < x->n && i < INSPECTED_NAMED; i++) {
		text_add_name(&f->part, x->process[i].program, 24);
		buf_addf(&f->part, " %d", (int)x->process[i].pid);
		fact_part(f);
	}
	if (x && x->n > INSPECTED_NAMED)
		fact_add_count(f, x->n - INSPECTED_NAMED, " other processes");
	fact_end(f, "inspected", TONE_PLAIN);
}

void fact_processes(struct facts *f, const struct recording *rec)
{
	int64_t look_us = recording_build_number(rec, "processes_look_us");
	bool lost = rec->process_events_lost > 0;

	if (!rec->n_processes && !recording_build(rec, "processes"))
		return;
	fact_add_count(f, rec->n_processes, "");
	fact_add_name(f, "from: ", recording_build(rec, "processes"));
	fact_add_name(f, "", recording_build(rec, "processes_why"));
	if (look_us > 0) {
		buf_adds(&f->part, "shorter than ");
		add_time(f, look_us, " may be missing");
	}
	if (lost)
		fact_add_count(f, (uint64_t)rec->process_events_lost,
			       " events lost, some are missing");
	fact_end(f, "processes", lost ? TONE_ALARM : TONE_PLAIN);
}
