/* SPDX-License-Identifier: MIT */
#include "render/chart/chart_facts.h"

#include "analyse/names.h"
#include "analyse/words.h"
#include "base/saturate.h"
#include "base/text.h"
#include "render/chart/label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REVISION_DIGITS 12
#define FACT_COLUMNS 4
#define FACT_GAP 20
#define FACT_PITCH 38

/* The facts being made: parts with a separator between them. */
struct maker {
	struct chart *chart;
	struct buf text;
	size_t part;		/* where the part being made begins */
	int error;
};

static void end_part(struct maker *m)
{
	m->part = m->text.len;
}

/* Begin a part: a separator where there is one before it. */
static struct buf *begin_part(struct maker *m)
{
	if (m->text.len && m->part == m->text.len)
		buf_adds(&m->text, " \xc2\xb7 ");
	return &m->text;
}

static void part(struct maker *m, const char *text)
{
	if (text && *text) {
		buf_adds(begin_part(m), text);
		end_part(m);
	}
}

static void time_part(struct maker *m, int64_t us, const char *what)
{
	struct buf *b = begin_part(m);

	text_add_time(b, us);
	buf_adds(b, what);
	end_part(m);
}

static void bytes_part(struct maker *m, const char *before, int64_t bytes, const char *after)
{
	struct buf *b;

	if (bytes < 0)
		return;
	b = begin_part(m);
	buf_adds(b, before);
	text_add_bytes(b, bytes);
	buf_adds(b, after);
	end_part(m);
}

static void count_part(struct maker *m, uint64_t n, const char *one, const char *many)
{
	struct buf *b = begin_part(m);

	buf_addu(b, n);
	buf_adds(b, n == 1 ? one : many);
	end_part(m);
}

/* The parts made so far are a fact; nothing when there are none. */
static void fact(struct maker *m, const char *label, bool alarm)
{
	struct chart *c = m->chart;
	char *text;

	if (buf_error(&m->text))
		m->error = buf_error(&m->text);
	if (m->text.len && c->n_facts < CHART_FACTS_MAX) {
		text = strdup(buf_str(&m->text));
		if (!text)
			m->error = -ENOMEM;
		c->fact[c->n_facts++] = (struct fact){ .label = label, .text = text,
						       .alarm = alarm };
	}
	buf_clear(&m->text);
	m->part = 0;
}

/* What was built where */

static void say_host(struct maker *m)
{
	const struct summary *s = m->chart->sum;
	const char *kernel = recording_build(s->rec, "kernel");
	int64_t kb = recording_build_number(s->rec, "memory_kb");

	part(m, recording_build(s->rec, "host"));
	if (s->cores > 0)
		count_part(m, (uint64_t)s->cores, " core", " cores");
	if (kb > 0)
		bytes_part(m, "", sat_mul(kb, 1024), "");
	if (kernel) {
		buf_adds(begin_part(m), "Linux ");
		buf_adds(&m->text, kernel);
		end_part(m);
	}
	fact(m, "host", false);
}

static void say_when(struct maker *m)
{
	int64_t ns = m->chart->sum->rec->start_wall_ns;
	time_t seconds = (time_t)(ns / 1000000000);
	char text[64];
	struct tm tm;

	if (ns > 0 && localtime_r(&seconds, &tm) &&
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %Z", &tm))
		part(m, text);
	fact(m, "started", false);
}

/* One line of a source tree; they come in the order source, branch, revision ... */
static void source_part(struct maker *m, const struct build_line *l)
{
	const char *path;

	if (!strcmp(l->key, "revision")) {
		buf_add(begin_part(m), l->value, strnlen(l->value, REVISION_DIGITS));
		end_part(m);
	} else if (!strcmp(l->key, "branch") || !strcmp(l->key, "describe")) {
		part(m, l->value);
	} else if (!strcmp(l->key, "dirty")) {
		part(m, strcmp(l->value, "yes") ? "" : "modified");
	} else if (!strcmp(l->key, "source")) {
		path = name_relative(m->chart->sum->rec, l->value);
		part(m, strcmp(path, ".") ? path : "");
	}
}

static void say_source(struct maker *m)
{
	const struct recording *rec = m->chart->sum->rec;

	part(m, recording_build(rec, "cwd"));
	fact(m, "directory", false);
	for (size_t i = 0; i < rec->n_build; i++)
		source_part(m, &rec->build[i]);
	fact(m, "revision", false);
}

/* How it went */

static void say_result(struct maker *m)
{
	const struct summary *s = m->chart->sum;
	struct buf *b = begin_part(m);

	words_add_result(b, s->result, s->status);
	buf_adds(b, s->result == BUILD_UNFINISHED ? ", seen for " : " after ");
	text_add_time(b, s->wall_us);
	end_part(m);
	/* a warning says what was lost */
	if (s->rec->lost.reason)
		part(m, "incomplete");
	fact(m, "result", s->rec->lost.reason ||
	     (s->result != BUILD_OK && s->result != BUILD_ENDED));
}

static void say_cpu(struct maker *m)
{
	const struct summary *s = m->chart->sum;
	double share = summary_cpu_share(s);

	if (!s->cpu_exact && !s->cpu_us)
		return;
	time_part(m, s->cpu_us, s->cpu_exact ? "" : " in tasks");
	if (share >= 0) {
		text_add_percent(begin_part(m), share);
		buf_addf(&m->text, " of %lld %s", (long long)s->cores,
			 s->cores == 1 ? "core" : "cores");
		end_part(m);
	}
	fact(m, "CPU time", false);
}

static void say_tasks(struct maker *m)
{
	const struct summary *s = m->chart->sum;

	buf_addu(begin_part(m), s->rec->n_tasks);
	if (s->n_targets) {
		buf_adds(&m->text, " for ");
		buf_addu(&m->text, s->n_targets);
		buf_adds(&m->text, s->n_targets == 1 ? " target" : " targets");
	}
	end_part(m);
	if (s->n_state[TASK_FAILED])
		count_part(m, s->n_state[TASK_FAILED], " failed", " failed");
	if (s->n_state[TASK_KILLED])
		count_part(m, s->n_state[TASK_KILLED], " killed", " killed");
	if (s->n_state[TASK_UNFINISHED])
		count_part(m, s->n_state[TASK_UNFINISHED], " unfinished", " unfinished");
	if (s->n_state[TASK_QUEUED])
		count_part(m, s->n_state[TASK_QUEUED], " never started", " never started");
	fact(m, "tasks", s->n_state[TASK_FAILED] || s->n_state[TASK_KILLED]);
	if (!s->running_sum_us || !s->wall_us)
		return;
	buf_addf(begin_part(m), "%.1f on average",
		 (double)s->running_sum_us / (double)s->wall_us);
	end_part(m);
	count_part(m, (uint64_t)s->running_max, " at most", " at most");
	fact(m, "tasks at once", false);
}

static void say_path(struct maker *m)
{
	const struct chart *c = m->chart;

	if (!c->chain.n_path)
		return;
	count_part(m, c->chain.n_path, " task", " tasks");
	time_part(m, c->chain.path_us, "");
	if (c->sum->wall_us > 0) {
		text_add_percent(begin_part(m), (double)c->chain.path_us /
				 (double)c->sum->wall_us);
		buf_adds(&m->text, " of the build");
		end_part(m);
	}
	fact(m, "critical path", false);
}

static void say_memory(struct maker *m)
{
	const struct summary *s = m->chart->sum;
	const struct host *h = &s->host;
	int64_t kb = s->memory_peak_kb.value;

	bytes_part(m, "tasks ", kb > 0 ? sat_mul(kb, 1024) : -1, "");
	bytes_part(m, "machine ", h->memory_used_bytes.value, "");
	if (m->text.len && h->memory_total_bytes > 0) {
		buf_adds(&m->text, " of ");
		text_add_bytes(&m->text, h->memory_total_bytes);
		end_part(m);
	}
	if (h->swapped_out_bytes > 0)
		bytes_part(m, "", h->swapped_out_bytes, " swapped out");
	if (h->oom_kills > 0)
		count_part(m, (uint64_t)h->oom_kills, " process killed for want of it",
			   " processes killed for want of it");
	fact(m, "peak memory", h->swapped_out_bytes > 0 || h->oom_kills > 0);
}

static void say_disk(struct maker *m)
{
	const struct host *h = &m->chart->sum->host;

	bytes_part(m, "", h->disk_read_bytes, " read");
	bytes_part(m, "", h->disk_written_bytes, " written");
	fact(m, "disk", false);
}

/* How far to trust it */

static void say_samples(struct maker *m)
{
	const struct summary *s = m->chart->sum;

	if (!s->host.samples) {
		part(m, "none: nothing is known of the machine");
		fact(m, "samples", true);
		return;
	}
	count_part(m, s->host.samples, "", "");
	if (s->rec->interval_ms > 0) {
		buf_adds(begin_part(m), "one every ");
		if (s->rec->interval_ms % 1000)
			text_add_time(&m->text, sat_mul(s->rec->interval_ms, 1000));
		else
			buf_addf(&m->text, "%lld s", (long long)s->rec->interval_ms / 1000);
		end_part(m);
	}
	if (s->host.gaps)
		count_part(m, s->host.gaps, " gap", " gaps");
	fact(m, "samples", s->host.gaps > 0);
}

static void say_other_build(struct maker *m)
{
	const struct chart *c = m->chart;
	const char *command;

	if (!c->ghost)
		return;
	command = recording_build(c->ghost->rec, "command");
	part(m, command ? command : "its command was not recorded");
	time_part(m, c->ghost->wall_us, " there, ");
	text_add_time(&m->text, c->sum->wall_us);
	buf_adds(&m->text, " here");
	if (c->ghost->wall_us > 0)
		buf_addf(&m->text, " (%+.1f %%)", 100 * ((double)c->sum->wall_us /
			 (double)c->ghost->wall_us - 1));
	end_part(m);
	count_part(m, c->match.n_common, " task in both", " tasks in both");
	count_part(m, c->match.n_only_a, " only here", " only here");
	count_part(m, c->match.n_only_b, " only there", " only there");
	fact(m, "compared with", false);
}

static void say_warnings(struct maker *m)
{
	const struct recording *rec = m->chart->sum->rec;

	if (!rec->n_warnings)
		return;
	part(m, rec->warning[0].text);
	if (rec->n_warnings > 1)
		count_part(m, rec->n_warnings - 1, " more", " more");
	fact(m, "warning", true);
}

static void say_what(struct maker *m)
{
	const struct recording *rec = m->chart->sum->rec;
	const char *command = recording_build(rec, "command");
	const char *name = rec->path ? strrchr(rec->path, '/') : NULL;

	if (command) {
		part(m, command);
	} else if (rec->source.system) {
		part(m, rec->source.system);
		buf_adds(&m->text, " build");
		buf_addc(&m->text, ' ');
		buf_adds(&m->text, name && name[1] ? name + 1 : "");
		end_part(m);
	} else {
		part(m, "A build whose command was not recorded");
	}
	fact(m, NULL, false);
}

int chart_facts(struct chart *c)
{
	struct maker m = { .chart = c, .text = BUF_INIT };

	say_what(&m);
	say_result(&m);
	say_cpu(&m);
	say_tasks(&m);
	say_path(&m);
	say_samples(&m);
	say_memory(&m);
	say_disk(&m);
	say_host(&m);
	say_when(&m);
	say_source(&m);
	say_other_build(&m);
	say_warnings(&m);
	buf_release(&m.text);
	return m.error;
}

/* Places */

/* Each in the first line that has room for it. */
int chart_place_facts(struct chart *c, int top_y)
{
	int cell = (CHART_WIDTH - 2 * CHART_MARGIN + FACT_GAP) / FACT_COLUMNS;
	int taken[CHART_FACTS_MAX] = { 0 }, lines = 0;

	for (size_t i = 1; i < c->n_facts; i++) {
		struct fact *f = &c->fact[i];
		double width = label_width(f->text, FACT_SIZE) * (f->alarm ? LABEL_BOLD : 1) +
			FACT_GAP;
		int cells = width <= cell ? 1 : width <= 2 * cell ? 2 : FACT_COLUMNS;
		int line = 0;

		while (taken[line] + cells > FACT_COLUMNS)
			line++;
		f->x = CHART_MARGIN + taken[line] * cell;
		f->y = top_y + 2 * FACT_LABEL_RISE + 8 + line * FACT_PITCH;
		f->width = cells * cell - FACT_GAP;
		taken[line] += cells;
		lines = line >= lines ? line + 1 : lines;
	}
	return top_y + 2 * FACT_LABEL_RISE + lines * FACT_PITCH - FACT_PITCH / 2 + 8;
}
