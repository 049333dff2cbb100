/* SPDX-License-Identifier: MIT */
#include "live/job_plan.h"

#include "analyse/metric.h"
#include "base/array.h"
#include "convert/json_reader.h"
#include "inspect/rule.h"
#include "live/process_facts.h"
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MINUTE_US INT64_C(60000000)
#define PERIOD_MAX_MS 3600000
#define NOTE_TEXT_MAX 1000
#define FOLLOW_MAX 100
#define STACK_US (MINUTE_US / 2)
#define RENDER_US (30 * MINUTE_US)
#define DAY_US (24 * 60 * MINUTE_US)

const char *const job_kinds[] = {
	[JOB_INSPECT] = "inspect", [JOB_CHART] = "chart", [JOB_REPORT] = "report",
	[JOB_STACK] = "stack", [JOB_ACCEPT] = "accept", [JOB_ACK] = "ack", NULL
};

static const char *const heap_words[] = { "off", "sampled", "exact", NULL };
static const char *const chart_words[] = { "cpu", "disk", "memory", "bootchart", NULL };
static const char *const format_words[] = { "svg", "png", "pdf", NULL };

struct request_body {
	struct job_plan *plan;
	const struct catalogue *catalogue;
	const struct json_value *root;
	struct error *err;
};

/* Words: each a whole argument, whatever is in it */

static void add_word(struct job_plan *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(struct job_plan *p, const char *format, ...)
{
	size_t room = sizeof p->text - p->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(p->text + p->used, room, format, ap);
	va_end(ap);
	if (p->n >= JOB_WORDS_MAX || n < 0 || (size_t)n >= room) {
		p->n = JOB_WORDS_MAX + 1;	/* job_plan() reports it */
		return;
	}
	p->word[p->n++] = p->text + p->used;
	p->used += (size_t)n + 1;
}

/* Members of the body */

static int wrong(const struct request_body *b, const char *name, const char *expected)
{
	return error_say(b->err, -EINVAL, "the member \"%s\" must be %s", name, expected);
}

static int read_number(const struct request_body *b, const char *name, int decimals, int64_t min,
		       int64_t max, int64_t missing, int64_t *out)
{
	const struct json_value *v = json_member(b->root, name);
	char expected[80];

	*out = missing;
	if (!v || v->type == JSON_NULL)
		return 0;
	if (v->type == JSON_NUMBER && json_number(v, decimals, out) && *out >= min && *out <= max)
		return 0;
	snprintf(expected, sizeof expected, "a number from %" PRId64 " to %" PRId64 "%s", min, max,
		 decimals ? " thousandths" : "");
	return wrong(b, name, expected);
}

static int read_flag(const struct request_body *b, const char *name, bool *out)
{
	const struct json_value *v = json_member(b->root, name);

	*out = v && v->type == JSON_TRUE;
	return !v || v->type == JSON_TRUE || v->type == JSON_FALSE || v->type == JSON_NULL ? 0 :
	       wrong(b, name, "true or false");
}

static int read_word(const struct request_body *b, const char *name, const char *const *words,
		     unsigned *out)
{
	const struct json_value *v = json_member(b->root, name);
	char expected[80] = "one of";

	*out = 0;
	if (!v || v->type == JSON_NULL)
		return 0;
	for (unsigned i = 0; words[i]; i++) {
		size_t len = strlen(expected);

		if (v->type == JSON_TEXT && v->len == strlen(words[i]) && !strcmp(v->text, words[i])) {
			*out = i;
			return 0;
		}
		snprintf(expected + len, sizeof expected - len, "%s %s", i ? "," : "", words[i]);
	}
	return wrong(b, name, expected);
}

/* A text of one line; "" if it is not there. */
static int read_line(const struct request_body *b, const char *name, const char **out)
{
	const struct json_value *v = json_member(b->root, name);

	*out = "";
	if (!v || v->type == JSON_NULL)
		return 0;
	if (v->type != JSON_TEXT || v->len > NOTE_TEXT_MAX || v->len != strlen(v->text))
		return wrong(b, name, "a line of at most 1000 bytes");
	for (size_t i = 0; i < v->len; i++) {
		if ((unsigned char)v->text[i] < ' ' || v->text[i] == 127)
			return wrong(b, name, "a line of at most 1000 bytes");
	}
	*out = v->text;
	return 0;
}

/* The directory of the recording; -EINVAL also for a build of an archive. */
static int read_recording(const struct request_body *b, char path[PATH_MAX])
{
	const struct json_value *v = json_member(b->root, "rec");
	const char *id = v && v->type == JSON_TEXT && v->len && v->len == strlen(v->text) ? v->text : NULL;
	const struct catalogue_entry *e = catalogue_find(b->catalogue, id);

	if (v && v->type != JSON_NULL && v->type != JSON_TEXT)
		return wrong(b, "rec", "the id of a recording");
	if (!e)
		return error_say(b->err, -EINVAL, "there is no such recording");
	snprintf(b->plan->recording, sizeof b->plan->recording, "%s", e->id);
	if (!catalogue_directory(b->catalogue, e, path))
		return error_say(b->err, -EINVAL, "a build of an archive has no directory");
	return 0;
}

/* Processes */

/* The name of the process that started at that time. */
static int find_name(int32_t pid, int64_t start_ticks, char name[16], struct error *err)
{
	struct pid_stat s;
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (!process_facts_stat(AT_FDCWD, path, &s) || s.start_ticks != (uint64_t)start_ticks)
		return error_say(err, -ESTALE, "process %d has ended", (int)pid);
	memcpy(name, s.name, sizeof s.name);
	return 0;
}

static int read_process(const struct request_body *b, int32_t *pid, char name[16])
{
	int64_t n, start;
	int r = read_number(b, "pid", 0, 1, INT32_MAX, 0, &n);

	r = r ? r : read_number(b, "start", 0, 1, INT64_MAX, 0, &start);
	if (!r && !n)
		r = wrong(b, "pid", "the number of a process");
	if (!r && !start)
		r = wrong(b, "start", "when the process started, as in /api/v1/ps");
	*pid = (int32_t)n;
	return r ? r : find_name(*pid, start, name, b->err);
}

/* Kinds */

/* One process, or all with a name. */
static int read_inspected(const struct request_body *b, const char **follow, int32_t *pid, char name[16])
{
	int r = read_line(b, "follow", follow);

	if (r || !**follow)
		return r ? r : read_process(b, pid, name);
	return strlen(*follow) > FOLLOW_MAX || strpbrk(*follow, ",/") ?
	       wrong(b, "follow", "the file name of a program") : 0;
}

static int plan_inspect(const struct request_body *b)
{
	struct job_plan *p = b->plan;
	int64_t period_ms, count;
	const char *follow;
	unsigned heap;
	bool freeze, pages;
	char name[16];
	int32_t pid;
	int r = read_inspected(b, &follow, &pid, name);

	if (r || (r = read_number(b, "period_s", 3, RULE_INTERVAL_MIN_US / 1000, PERIOD_MAX_MS, 0,
				  &period_ms)) ||
	    (r = read_number(b, "count", 0, 1, 1000, 0, &count)) ||
	    (r = read_word(b, "heap", heap_words, &heap)) || (r = read_flag(b, "freeze", &freeze)) ||
	    (r = read_flag(b, "pages", &pages)) || (r = read_recording(b, p->cwd)))
		return r;
	add_word(p, "inspect");
	add_word(p, "run");
	add_word(p, "--progress");
	if (*follow)
		add_word(p, "--every=%s", follow);
	else
		add_word(p, "--pid=%d", (int)pid);
	if (period_ms)
		add_word(p, "--interval=%" PRId64 "ms", period_ms);
	if (count)
		add_word(p, "--count=%" PRId64, count);
	add_word(p, "--heap=%s", heap_words[heap]);
	if (freeze)
		add_word(p, "--freeze");
	if (pages)
		add_word(p, "--pages");
	if (*follow)
		snprintf(p->title, sizeof p->title, "inspect every %.150s", follow);
	else
		snprintf(p->title, sizeof p->title, "inspect %s (%d)", name, (int)pid);
	p->type = "text/plain; charset=utf-8";
	p->limit_us = DAY_US;
	return 0;
}

static int plan_chart(const struct request_body *b)
{
	static const char *const types[] = { "image/svg+xml", "image/png", "application/pdf" };
	struct job_plan *p = b->plan;
	char path[PATH_MAX];
	unsigned chart, format;
	int r = read_word(b, "chart", chart_words, &chart);

	if (r || (r = read_word(b, "format", format_words, &format)) || (r = read_recording(b, path)))
		return r;
	if (format && !strcmp(chart_words[chart], "bootchart"))
		return error_say(b->err, -EINVAL, "the bootchart is always SVG");
	snprintf(p->result, sizeof p->result, "%s.%s", chart_words[chart], format_words[format]);
	add_word(p, "chart");
	add_word(p, "--only=%s", chart_words[chart]);
	add_word(p, "--format=%s", format_words[format]);
	add_word(p, "--output=.");
	add_word(p, "--");
	add_word(p, "%s", path);
	snprintf(p->title, sizeof p->title, "chart %s of %.120s", p->result, p->recording);
	p->type = types[format];
	p->limit_us = RENDER_US;
	return 0;
}

static int plan_report(const struct request_body *b)
{
	struct job_plan *p = b->plan;

	if (b->catalogue->kind != CATALOGUE_ARCHIVE)
		return error_say(b->err, -EINVAL, "a report is made of an archive");
	add_word(p, "report");
	add_word(p, "--repo=%s", b->catalogue->path);
	add_word(p, "--output=.");
	snprintf(p->title, sizeof p->title, "report about the archive");
	snprintf(p->result, sizeof p->result, "index.html");
	/* its scripts are inline, which the server's pages must not have: it is for saving */
	p->type = "application/octet-stream";
	p->limit_us = RENDER_US;
	return 0;
}

/* Lines of sources are shown below the directory of the build only. */
static void add_sources(struct job_plan *p, const char *recording)
{
	struct recording rec = RECORDING_INIT;
	const char *cwd = recording_read_build(&rec, recording, NULL, NULL) ? NULL :
			  recording_build(&rec, "cwd");

	if (cwd && *cwd == '/') {
		add_word(p, "--sources");
		add_word(p, "%s", cwd);
	}
	recording_release(&rec);
}

static int plan_stack(const struct request_body *b)
{
	struct job_plan *p = b->plan;
	char path[PATH_MAX], name[16];
	int32_t pid;
	int r = read_process(b, &pid, name);

	if (r || (r = read_recording(b, path)))
		return r;
	p->pid = pid;
	add_sources(p, path);
	add_word(p, "--stack=%d", (int)pid);
	snprintf(p->title, sizeof p->title, "call stacks of %s (%d)", name, (int)pid);
	p->type = "application/json";
	p->limit_us = STACK_US;
	return 0;
}

/* Notes on changes in an archive */

/* A task is meant as it is, although the command takes a pattern; that task alone. */
static void add_exactly(struct job_plan *p, const char *task)
{
	char text[2 * NOTE_TEXT_MAX + 1];
	size_t n = 0;

	for (; *task; task++) {
		if (strchr("*?[\\", *task))
			text[n++] = '\\';
		text[n++] = *task;
	}
	text[n] = '\0';
	add_word(p, "%s", text);
}

static int plan_note(const struct request_body *b)
{
	struct job_plan *p = b->plan;
	const char *series, *task, *metric, *build, *reason;
	bool undo, total;
	int r = read_line(b, "series", &series);

	if (r || (r = read_line(b, "task", &task)) || (r = read_line(b, "metric", &metric)) ||
	    (r = read_line(b, "build", &build)) || (r = read_line(b, "reason", &reason)) ||
	    (r = read_flag(b, "undo", &undo)) || (r = read_flag(b, "total", &total)))
		return r;
	if (b->catalogue->kind != CATALOGUE_ARCHIVE)
		return error_say(b->err, -EINVAL, "only an archive has notes on changes");
	if (metric_find(metric) == METRICS)
		return wrong(b, "metric", "the name of a metric");
	if (!*build || strspn(build, "0123456789abcdef") != strlen(build))
		return wrong(b, "build", "the id of a build");
	if (!*reason && !undo)
		return wrong(b, "reason", "a line with the reason");
	if (!*task != total)
		return wrong(b, "task", "the name of a task, or \"total\" must be true");
	add_word(p, "accept");
	if (p->kind == JOB_ACK)
		add_word(p, "--known");
	add_word(p, "--repo=%s", b->catalogue->path);
	if (*series)
		add_word(p, "--ref=%s", series);
	add_word(p, "--metrics=%s", metric);
	add_word(p, "--build=%s", build);
	add_word(p, undo ? "--undo" : "--message=%s", reason);
	add_word(p, total ? "--total" : "--");
	if (!total)
		add_exactly(p, task);
	snprintf(p->title, sizeof p->title, "%s%s %s of %.120s", undo ? "undo " : "", job_kinds[p->kind], metric,
		 total ? "the build" : task);
	p->type = "text/plain; charset=utf-8";
	p->limit_us = 10 * MINUTE_US;
	return 0;
}

int job_plan(struct job_plan *p, const struct catalogue *c, const char *body, size_t len,
	     struct error *err)
{
	static int (*const plan_of[])(const struct request_body *b) = {
		[JOB_INSPECT] = plan_inspect, [JOB_CHART] = plan_chart, [JOB_REPORT] = plan_report,
		[JOB_STACK] = plan_stack, [JOB_ACCEPT] = plan_note, [JOB_ACK] = plan_note,
	};
	struct json_document doc;
	struct request_body b = { p, c, NULL, err };
	unsigned kind;
	int r = json_read_text(&doc, body, len, NULL, 1, err);

	*p = (struct job_plan){ .n = 0 };
	if (r)
		return -EINVAL;
	b.root = doc.root;
	r = doc.root->type == JSON_OBJECT && json_member(doc.root, "do") ? 0 :
	    error_say(err, -EINVAL, "expected an object with the member \"do\"");
	r = r ? r : read_word(&b, "do", job_kinds, &kind);
	if (!r) {
		p->kind = (enum job_kind)kind;
		r = plan_of[kind](&b);
	}
	if (!r && p->n > JOB_WORDS_MAX)
		r = error_say(err, -EINVAL, "a path is too long");
	json_document_release(&doc);
	return r;
}
