/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/text_show.h"

#include "analyse/names.h"
#include "analyse/words.h"
#include "base/saturate.h"
#include "render/facts.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* What was built where, and how the build went: the head of `show`. */

#define REVISION_DIGITS 12

static void add_at(struct buf *b, int64_t time_us)
{
	buf_adds(b, " at ");
	text_add_time(b, time_us);
}

static void add_share(struct buf *b, const char *what, double share)
{
	buf_adds(b, what);
	text_add_percent(b, share);
}

static void add_count(struct buf *b, size_t n, const char *what)
{
	buf_addu(b, n);
	buf_adds(b, what);
}

/* A value of `build` as a part of a fact. */
static void build_part(struct facts *f, const struct recording *rec, const char *key,
		       const char *before)
{
	const char *value = recording_build(rec, key);

	if (!value)
		return;
	buf_adds(&f->part, before);
	text_add_name(&f->part, value, 0);
	fact_part(f);
}

/* Head */

static void say_when(struct facts *f, const struct recording *rec)
{
	time_t seconds = (time_t)(rec->start_wall_ns / 1000000000);
	char text[64];
	struct tm tm;

	if (rec->start_wall_ns < 0 || !localtime_r(&seconds, &tm))
		return;
	buf_add(&f->part, text, strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &tm));
	fact_end(f, "when", TONE_PLAIN);
}

static void say_where(struct facts *f, const struct summary *s)
{
	int64_t kb = recording_build_number(s->rec, "memory_kb");

	build_part(f, s->rec, "host", "");
	if (s->cores > 0) {
		add_count(&f->part, (size_t)s->cores, s->cores == 1 ? " core" : " cores");
		fact_part(f);
	}
	if (kb > 0) {
		text_add_bytes(&f->part, sat_mul(kb, 1024));
		fact_part(f);
	}
	build_part(f, s->rec, "kernel", "Linux ");
	fact_end(f, "where", TONE_PLAIN);
	build_part(f, s->rec, "cwd", "");
	fact_end(f, "directory", TONE_PLAIN);
}

/* One line of a source tree; they come in the order source, branch, revision ... */
static void add_source(struct facts *f, const struct recording *rec, const struct build_line *l)
{
	char digits[REVISION_DIGITS + 1];

	if (!strcmp(l->key, "branch")) {
		text_add_name(&f->part, l->value, 0);
	} else if (!strcmp(l->key, "revision")) {
		snprintf(digits, sizeof digits, "%s", l->value);
		text_add_name(&f->part, digits, 0);
	} else if (!strcmp(l->key, "describe")) {
		text_add_name(&f->part, l->value, 0);
	} else if (!strcmp(l->key, "dirty")) {
		buf_adds(&f->part, strcmp(l->value, "yes") ? "" : "modified");
	} else if (!strcmp(l->key, "git_error")) {
		buf_adds(&f->part, "git: ");
		text_add_name(&f->part, l->value, 0);
	} else if (!strcmp(l->key, "source")) {
		fact_end(f, "source", TONE_PLAIN);
		if (strcmp(name_relative(rec, l->value), "."))
			text_add_name(&f->part, name_relative(rec, l->value), 0);
	}
	fact_part(f);
}

static void say_source(struct facts *f, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_build; i++)
		add_source(f, rec, &rec->build[i]);
	fact_end(f, "source", TONE_PLAIN);
}

static void say_result(struct facts *f, const struct summary *s)
{
	words_add_result(&f->part, s->result, s->status);
	buf_adds(&f->part, s->result == BUILD_UNFINISHED ? ", seen for " : ", after ");
	text_add_time(&f->part, s->wall_us);
	/* a warning says what was lost */
	if (s->rec->lost.reason)
		buf_adds(&f->part, "; incomplete");
	fact_end(f, "result", !s->rec->lost.reason &&
		 (s->result == BUILD_OK || s->result == BUILD_ENDED) ? TONE_TITLE : TONE_ALARM);
}

static void say_warnings(struct facts *f, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_warnings; i++) {
		text_add_name(&f->part, rec->warning[i].text, 0);
		fact_end(f, "warning", TONE_ALARM);
	}
}

void text_head(struct buf *out, const struct summary *s, const struct style *style)
{
	const char *command = recording_build(s->rec, "command");
	struct facts f;

	facts_begin(&f, out, style);
	text_tone(out, style, TONE_TITLE);
	text_add_name(out, command ? command : "a build whose command was not recorded",
		      style->width);
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
	say_when(&f, s->rec);
	say_where(&f, s);
	say_source(&f, s->rec);
	say_result(&f, s);
	say_warnings(&f, s->rec);
	facts_release(&f);
}

/* Totals */

static void say_cpu(struct facts *f, const struct summary *s)
{
	double share = summary_cpu_share(s);

	if (!s->cpu_exact && !s->cpu_us)
		return;
	text_add_time(&f->part, s->cpu_us);
	buf_adds(&f->part, " of CPU: ");
	text_add_time(&f->part, s->user_us);
	buf_adds(&f->part, " user");
	fact_part(f);
	text_add_time(&f->part, s->system_us);
	buf_adds(&f->part, " system");
	fact_part(f);
	if (share >= 0) {
		text_add_percent(&f->part, share);
		buf_addf(&f->part, " of %lld %s", (long long)s->cores,
			 s->cores == 1 ? "core" : "cores");
		fact_part(f);
	}
	if (!s->cpu_exact) {
		buf_adds(&f->part, "of the tasks alone");
		fact_part(f);
	}
	fact_end(f, "build", TONE_PLAIN);
}

static void say_host(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;

	if (summary_host_share(s, h->user_us) < 0)
		return;
	add_share(&f->part, "CPU busy ", summary_host_share(s, sat_add(h->user_us,
				h->system_us > 0 ? h->system_us : 0)));
	fact_part(f);
	add_share(&f->part, "waiting for I/O ", summary_host_share(s, h->iowait_us));
	fact_part(f);
	if (h->steal_us >= 0) {
		add_share(&f->part, "stolen ", summary_host_share(s, h->steal_us));
		fact_part(f);
	}
	fact_end(f, "machine", TONE_PLAIN);
}

static void state_part(struct facts *f, const struct summary *s, enum task_state state,
		       const char *what)
{
	if (!s->n_state[state])
		return;
	add_count(&f->part, s->n_state[state], what);
	fact_part(f);
}

static void say_tasks(struct facts *f, const struct summary *s)
{
	add_count(&f->part, s->rec->n_tasks, " for ");
	add_count(&f->part, s->n_targets, s->n_targets == 1 ? " target" : " targets");
	fact_part(f);
	state_part(f, s, TASK_FAILED, " failed");
	state_part(f, s, TASK_KILLED, " killed");
	state_part(f, s, TASK_UNFINISHED, " unfinished");
	state_part(f, s, TASK_QUEUED, " never started");
	if (s->n_hosting) {
		add_count(&f->part, s->n_hosting, s->n_hosting == 1 ? " ran a build of its own" :
			  " ran builds of their own");
		fact_part(f);
	}
	fact_end(f, "tasks", TONE_PLAIN);
	if (!s->running_sum_us || !s->wall_us)
		return;
	buf_addf(&f->part, "%.1f tasks on average", (double)s->running_sum_us /
		 (double)s->wall_us);
	fact_part(f);
	add_count(&f->part, (size_t)s->running_max, " at most");
	fact_end(f, "at once", TONE_PLAIN);
}

static void memory_part(struct facts *f, const char *what, int64_t bytes, int64_t time_us)
{
	if (bytes < 0)
		return;
	buf_adds(&f->part, what);
	text_add_bytes(&f->part, bytes);
	add_at(&f->part, time_us);
	fact_part(f);
}

static void say_memory(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;
	int64_t kb = s->memory_peak_kb.value;

	memory_part(f, "tasks ", kb > 0 ? sat_mul(kb, 1024) : -1, s->memory_peak_kb.time_us);
	memory_part(f, "cgroup ", h->cgroup_memory_bytes.value, h->cgroup_memory_bytes.time_us);
	memory_part(f, "machine ", h->memory_used_bytes.value, h->memory_used_bytes.time_us);
	if (f->part.len && h->memory_total_bytes > 0) {
		buf_adds(&f->part, "of ");
		text_add_bytes(&f->part, h->memory_total_bytes);
	}
	fact_end(f, "memory", TONE_PLAIN);
	if (h->swapped_in_bytes > 0 || h->swapped_out_bytes > 0) {
		text_add_bytes(&f->part, h->swapped_in_bytes);
		buf_adds(&f->part, " in");
		fact_part(f);
		text_add_bytes(&f->part, h->swapped_out_bytes);
		buf_adds(&f->part, " out");
		fact_part(f);
		memory_part(f, "most used ", h->swap_used_bytes.value,
			    h->swap_used_bytes.time_us);
		fact_end(f, "swap", TONE_ALARM);
	}
	if (h->oom_kills > 0) {
		add_count(&f->part, (size_t)h->oom_kills, " killed for want of memory");
		fact_end(f, "processes", TONE_ALARM);
	}
}

static void say_traffic(struct facts *f, const struct host *h)
{
	if (h->disk_read_bytes >= 0 || h->disk_written_bytes >= 0) {
		text_add_bytes(&f->part, h->disk_read_bytes);
		buf_adds(&f->part, " read");
		fact_part(f);
		text_add_bytes(&f->part, h->disk_written_bytes);
		buf_adds(&f->part, " written");
		fact_part(f);
		if (h->disk_busiest_bytes.value > 0)
			memory_part(f, "busiest second ", h->disk_busiest_bytes.value,
				    h->disk_busiest_bytes.time_us);
		fact_end(f, "disk", TONE_PLAIN);
	}
	if (h->net_received_bytes > 0 || h->net_sent_bytes > 0) {
		text_add_bytes(&f->part, h->net_received_bytes);
		buf_adds(&f->part, " received");
		fact_part(f);
		text_add_bytes(&f->part, h->net_sent_bytes);
		buf_adds(&f->part, " sent");
		fact_end(f, "network", TONE_PLAIN);
	}
}

/* Share of the time that something, or (full) everything, waited. */
static void say_pressure(struct facts *f, const struct host *h)
{
	static const struct {
		const char *what;
		enum host_pressure of;
	} parts[] = {
		{ "for CPU ", PRESSURE_CPU_SOME }, { "I/O ", PRESSURE_IO_SOME },
		{ "memory ", PRESSURE_MEMORY_SOME },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts) && h->pressure_span_us > 0; i++) {
		if (h->stalled_us[parts[i].of] < 0)
			continue;
		add_share(&f->part, parts[i].what, (double)h->stalled_us[parts[i].of] /
			  (double)h->pressure_span_us);
		fact_part(f);
	}
	if (f->part.len)
		buf_adds(&f->part, "of the time");
	fact_end(f, "waiting", TONE_PLAIN);
}

static void say_samples(struct facts *f, const struct summary *s)
{
	const struct host *h = &s->host;

	if (!h->samples) {
		buf_adds(&f->part, "none");
		fact_part(f);
		buf_adds(&f->part, "nothing is known of the machine");
		fact_end(f, "samples", TONE_PLAIN);
		return;
	}
	add_count(&f->part, h->samples, "");
	fact_part(f);
	if (s->rec->interval_ms > 0) {
		buf_adds(&f->part, "one every ");
		text_add_time(&f->part, s->rec->interval_ms * 1000);
		fact_part(f);
	}
	if (h->gaps)
		add_count(&f->part, h->gaps, h->gaps == 1 ? " gap" : " gaps");
	fact_end(f, "samples", h->gaps ? TONE_ALARM : TONE_PLAIN);
}

/* From where they are known, and what is missing. */
static void say_processes(struct facts *f, const struct recording *rec)
{
	int64_t look_us = recording_build_number(rec, "processes_look_us");
	bool lost = rec->process_events_lost > 0;

	if (!rec->n_processes && !recording_build(rec, "processes"))
		return;
	add_count(&f->part, rec->n_processes, "");
	fact_part(f);
	build_part(f, rec, "processes", "from: ");
	build_part(f, rec, "processes_why", "");
	if (look_us > 0) {
		buf_adds(&f->part, "shorter than ");
		text_add_time(&f->part, look_us);
		buf_adds(&f->part, " may be missing");
		fact_part(f);
	}
	if (lost)
		add_count(&f->part, (size_t)rec->process_events_lost, " events lost, some are missing");
	fact_end(f, "processes", lost ? TONE_ALARM : TONE_PLAIN);
}

void text_totals(struct buf *out, const struct summary *s, const struct style *style)
{
	struct facts f;

	facts_begin(&f, out, style);
	buf_addc(out, '\n');
	say_cpu(&f, s);
	say_host(&f, s);
	say_tasks(&f, s);
	say_memory(&f, s);
	say_traffic(&f, &s->host);
	say_pressure(&f, &s->host);
	say_samples(&f, s);
	say_processes(&f, s->rec);
	facts_release(&f);
}
