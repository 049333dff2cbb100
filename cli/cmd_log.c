/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"
#include "analyse/build_output.h"
#include "analyse/words.h"
#include "base/array.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/convert.h"
#include "convert/zstd.h"
#include "launch/notice.h"
#include "report/error_text.h"
#include "report/log_text.h"
#include "report/command_line.h"
#include "report/log_page.h"

#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FLUSH_AT 65536
#define FOLLOW_NS 200000000
#define LOGS_MAX 10
#define COMMAND_COLUMNS 800

struct log_arguments {
	const char *config;
	const char *base;
	const char *task;
	bool failed;
	int64_t since_us, until_us;
	const char *grep;
	int64_t context;
	bool times, follow, json, annotations;
	const char *html;
};

#define OPTIONS struct log_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, base),
	{ OPT_TEXT('T', "task", task, "TASK",
	  "print only lines of tasks with this name, key or id, or matching this pattern") },
	{ OPT_FLAG(0, "failed", failed, "print only lines of failed, killed and unfinished tasks") },
	{ OPT(OPTION_TIME, int64_t, 0, "since", since_us, "TIME",
	  "print only lines written later than TIME after the start, such as 90s") },
	{ OPT(OPTION_TIME, int64_t, 0, "until", until_us, "TIME",
	  "print only lines written before TIME after the start") },
	{ OPT_TEXT('g', "grep", grep, "REGEX",
	  "print only lines that match the extended regular expression") },
	{ OPT_NUMBER('C', "context", context, 0, 100000, "N",
	  "print N lines before and after each selected line (default 0)") },
	{ OPT_FLAG(0, "times", times, "begin each line with its time and the ids of its tasks") },
	{ OPT_FLAG('f', "follow", follow, "print new lines until the build ends") },
	{ OPT_FLAG('j', "json", json, "print JSON, one object per line") },
	{ OPT_FLAG(0, "annotations", annotations,
	  "print the first errors of failed tasks as annotations of a GitHub workflow") },
	{ OPT_PATH(0, "html", html, "FILE", "write an HTML page with links to the chart") },
	{ 0 }
};

/* One run of the command. */
struct job {
	const struct log_arguments *args;
	struct recording rec;
	struct identity id;
	struct build_output known;	/* errors and nearby lines only with the options that need them */
	struct summary sum;
	bool *wanted;		/* of each task; NULL: all lines */
	bool has_regex;
	regex_t regex;
	enum log_escapes escapes;
	struct buf out, plain;
	/* context */
	struct log_page *page;	/* NULL: text */
	struct buf *before;	/* the last lines, as they are printed: a ring */
	uint64_t n_before;	/* in the ring since the last printed line */
	int64_t after;		/* lines still to print */
	bool printed, apart;
	size_t at;		/* of output_task_of() */
	bool selected;		/* the line, of which parts follow */
};

/* Selecting */

static bool is_named(const struct job *j, uint32_t task)
{
	const struct task *t = &j->rec.task[task];
	const char *pattern = j->args->task;
	char hex[IDENTITY_HEX_SIZE];
	struct buf name = BUF_INIT;
	size_t len = strlen(pattern);
	bool named;

	name_add_task(&name, &j->rec, t);
	identity_hex(hex, identity_task(&j->id, &j->rec, task));
	named = !fnmatch(pattern, t->name, 0) || !fnmatch(pattern, t->key, 0) ||
		!fnmatch(pattern, buf_str(&name), 0) ||
		(len >= IDENTITY_SHORT && !strncmp(pattern, hex, len));
	buf_release(&name);
	return named;
}

static bool is_unsuccessful(const struct task *t)
{
	return task_has_failed(t) || (t->state == TASK_UNFINISHED && t->end_us < 0);
}

static int select_tasks(struct job *j, struct error *err)
{
	const struct log_arguments *a = j->args;
	size_t n = 0;

	if (!a->task && !a->failed)
		return 0;
	j->wanted = calloc(j->rec.n_tasks + 1, sizeof *j->wanted);
	if (!j->wanted)
		return error_sys(err, -ENOMEM, j->rec.path, NULL);
	for (uint32_t i = 0; i < j->rec.n_tasks; i++) {
		j->wanted[i] = (!a->failed || is_unsuccessful(&j->rec.task[i])) &&
			(!a->task || is_named(j, i));
		n += j->wanted[i];
	}
	if (n || !a->task)
		return 0;
	return error_set(err, -ENOENT, j->rec.path, 0, 0, "no %stask is named '%s'",
			 a->failed ? "failed " : "", a->task);
}

static int check_options(struct job *j, struct error *err)
{
	const struct log_arguments *a = j->args;
	char why[128];
	int r;

	if (a->html && (a->json || a->follow))
		return error_say(err, -EINVAL, "log: --html cannot be used with --json or "
				 "--follow");
	if (a->follow && (a->task || a->failed))
		return error_say(err, -EINVAL, "log: --follow prints all lines: their tasks are "
				 "known when the build has ended");
	if (a->annotations && (a->task || a->failed || a->grep || a->json || a->follow || a->html))
		return error_say(err, -EINVAL, "log: --annotations cannot be used with options that select or "
				 "print lines");
	if (!a->grep)
		return 0;
	r = regcomp(&j->regex, a->grep, REG_EXTENDED | REG_NOSUB);
	j->has_regex = !r;
	if (!r)
		return 0;
	regerror(r, &j->regex, why, sizeof why);
	return error_say(err, -EINVAL, "log: option '--grep': '%s': %s", a->grep, why);
}

/* The regular expression sees the text without its colours. */
static bool matches(struct job *j, struct slice text)
{
	regmatch_t where = { 0 };

	if (memchr(text.p, '\033', text.len)) {
		buf_clear(&j->plain);
		log_add_text(&j->plain, text, LOG_STRIP);
		text = (struct slice){ buf_str(&j->plain), j->plain.len };
	}
	where.rm_eo = (regoff_t)text.len;
	return !regexec(&j->regex, text.p, 1, &where, REG_STARTEND);
}

static bool is_nearby(const struct job *j, uint64_t line)
{
	for (size_t i = 0; i < j->known.nearby.n; i++) {
		const struct output_nearby *near = &j->known.nearby.of[i];

		if (j->wanted[near->task] && output_nearby_has(near, line))
			return true;
	}
	return false;
}

static bool is_selected(struct job *j, const struct output_line *line, uint32_t task)
{
	if (j->wanted && (task == NO_INDEX ? !j->args->json || !is_nearby(j, line->number) :
			  !j->wanted[task]))
		return false;
	if (line->first_us >= 0 && (line->first_us < j->args->since_us ||
				    line->from_us > j->args->until_us))
		return false;
	return !j->has_regex || matches(j, line->text);
}

/* Printing */

static int flush(struct job *j, size_t at)
{
	if (j->out.len < at)
		return buf_error(&j->out);
	fwrite(j->out.data, 1, j->out.len, stdout);
	buf_clear(&j->out);
	return 0;
}

static void add_line(struct job *j, struct buf *b, const struct output_line *line, uint32_t task)
{
	if (j->args->json) {
		log_add_json(b, &j->rec, &j->id, line, task, &j->known.nearby);
		return;
	}
	if (j->args->times && line->begins)
		log_add_place(b, &j->rec, &j->id, line, task);
	log_add_text(b, line->text, j->escapes);
	if (line->ends && (line->newline || j->escapes != LOG_STRIP || j->args->times))
		buf_addc(b, '\n');
}

static void print(struct job *j, const struct output_line *line, uint32_t task)
{
	if (j->page)
		log_page_add(j->page, line, task);
	else
		add_line(j, &j->out, line, task);
}

static void keep_before(struct job *j, const struct output_line *line, uint32_t task)
{
	uint64_t n = (uint64_t)j->args->context;
	struct buf *b;

	if (!n || j->page)
		return;
	j->apart |= j->n_before >= n;
	b = &j->before[j->n_before % n];
	if (line->begins)
		buf_clear(b);
	if (b->len < FLUSH_AT)
		add_line(j, b, line, task);
	j->n_before += line->ends;
}

/* Lines before, after "--" if some are left out. */
static void print_before(struct job *j)
{
	uint64_t n = (uint64_t)j->args->context, from = j->n_before > n ? j->n_before - n : 0;

	if (n && j->printed && j->apart && !j->args->json)
		buf_adds(&j->out, "--\n");
	for (; from < j->n_before; from++)
		buf_add(&j->out, j->before[from % n].data, j->before[from % n].len);
	j->n_before = 0;
	j->apart = false;
}

static void handle(struct job *j, const struct output_line *line)
{
	uint32_t task = output_task_of(&j->known.tasks, line->number, &j->at);

	if (line->begins)
		j->selected = is_selected(j, line, task);
	if (j->selected) {
		if (line->begins)
			print_before(j);
		print(j, line, task);
		j->printed = true;
		j->after = j->args->context;
	} else if (j->after > 0) {
		print(j, line, task);
		j->after -= line->ends;
	} else {
		keep_before(j, line, task);
	}
}

static int print_lines(struct job *j, bool last)
{
	struct output_line line;
	int r;

	while ((r = output_next(j->known.output, &line, last)) > 0) {
		handle(j, &line);
		r = flush(j, FLUSH_AT);
		if (r)
			return r;
	}
	return r ? r : flush(j, 0);
}

/* Has the build ended? If it was killed, the user ends us. */
static bool has_ended(const char *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	bool ended = recording_read_build(&rec, path, &convert_formats, &err) || rec.end_us >= 0;

	recording_release(&rec);
	return ended;
}

static int follow(struct job *j)
{
	int r;

	for (;;) {
		bool ended = has_ended(j->rec.path);

		r = print_lines(j, ended);
		fflush(stdout);
		if (r || ended || ferror(stdout))
			return r;
		nanosleep(&(struct timespec){ 0, FOLLOW_NS }, NULL);
	}
}

/* Is it certain that the task wrote nothing? */
static bool is_silent(const struct output_tasks *t, const struct recording *rec, uint32_t task)
{
	return t->whole[task] && !(task_has_failed(&rec->task[task]) ? t->said[task] : t->lines[task] > 0);
}

/* Tasks without a line that is known to be theirs. */
static void report_silent(const struct job *j)
{
	for (uint32_t i = 0; i < j->rec.n_tasks; i++) {
		const struct task *t = &j->rec.task[i];
		const struct output_nearby *near = output_nearby_of(&j->known.nearby, i);
		struct buf name = BUF_INIT, status = BUF_INIT, command = BUF_INIT;
		bool silent = is_silent(&j->known.tasks, &j->rec, i);
		char since[32], until[32];

		if (!j->wanted[i] || (!silent && j->known.tasks.lines[i] && (!near || near->n)) || t->start_us < 0)
			continue;
		name_add_task(&name, &j->rec, t);
		words_add_status(&status, words_task_status(t));
		snprintf(since, sizeof since, "%.6fs", (double)t->start_us / 1e6);
		snprintf(until, sizeof until, "%.6fs",
			 (double)recording_task_end_us(&j->rec, t) / 1e6 + 0.001);
		command_line_begin(&command, "log", NULL);
		command_line_option(&command, "since", since);
		command_line_option(&command, "until", until);
		command_line_operand(&command, j->rec.path);
		if (silent)
			notice("%s (%s) wrote nothing", buf_str(&name), buf_str(&status));
		else
			notice("no line is known to come from %s (%s); the lines written while it ran: %s",
			       buf_str(&name), buf_str(&status), buf_str(&command));
		buf_release(&name);
		buf_release(&status);
		buf_release(&command);
	}
}

/* What was written while failed tasks ran of which no line is known. */
static int print_nearby(struct job *j)
{
	struct buf name = BUF_INIT;

	for (size_t i = 0; i < j->known.nearby.n; i++) {
		const struct output_nearby *near = &j->known.nearby.of[i];
		const struct task *t = &j->rec.task[near->task];

		if (!j->wanted[near->task] || !near->n)
			continue;
		buf_clear(&name);
		name_add_task(&name, &j->rec, t);
		buf_adds(&name, " (");
		words_add_status(&name, words_task_status(t));
		buf_addf(&j->out, "%sNo message is known to come from %s). " NEARBY_TEXT "\n",
			 j->printed ? "\n" : "", buf_str(&name));
		for (size_t k = 0; k < near->n; k++) {
			log_add_text(&j->out, (struct slice){ near->line[k].text.data,
							      near->line[k].text.len }, j->escapes);
			buf_addc(&j->out, '\n');
		}
		j->printed = true;
	}
	buf_release(&name);
	return flush(j, 0);
}

/* Do all lines of these tasks fit a screen, with the message among them? */
static bool is_short(const struct job *j, const struct first_error *e)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < j->rec.n_tasks; i++)
		n += j->wanted[i] ? j->known.tasks.lines[i] : 0;
	return e->task != NO_INDEX && !e->while_ran && n <= FIRST_ERROR_LINES;
}

/* What the build failed of comes first, however much its tasks wrote. */
static int print_first_error(struct job *j)
{
	const struct first_error *e = first_error_of_build(&j->known.errors);
	const struct task *t = e && e->task != NO_INDEX ? &j->rec.task[e->task] : NULL;

	if (!e || is_short(j, e) || j->args->grep || j->args->since_us || j->args->until_us != INT64_MAX ||
	    (j->args->task && (!t || !j->wanted[e->task])))
		return 0;
	error_add_title(&j->out, &j->rec, e);
	buf_addf(&j->out, ", line %llu of the output:\n", (unsigned long long)e->line + 1);
	error_add_lines(&j->out, e, "  ");
	if (t && *t->name && *recording_command(&j->rec, t)) {
		buf_adds(&j->out, "  $ ");
		text_add_name(&j->out, recording_command(&j->rec, t), COMMAND_COLUMNS);
		buf_addc(&j->out, '\n');
	}
	buf_adds(&j->out, "\n");
	return flush(j, 0);
}

/* GitHub shows ten of a step. */
static int print_annotations(struct job *j)
{
	const char *root = getenv("GITHUB_WORKSPACE");

	for (size_t i = 0; i < j->known.errors.n; i++) {
		const struct first_error *e = &j->known.errors.of[i];

		if (e->how != FIRST_ERROR_NONE && j->sum.result != BUILD_OK)
			error_add_annotation(&j->out, &j->rec, e, root ? root : "");
	}
	return flush(j, 0);
}

/* What the build tool itself kept of the tasks that were asked for. */
static void report_logs(const struct job *j)
{
	size_t n = 0;

	for (uint32_t i = 0; i < j->rec.n_tasks; i++) {
		const struct task *t = &j->rec.task[i];
		struct buf name = BUF_INIT, path = BUF_INIT;

		if (j->wanted[i] && output_task_log(&path, &j->rec, i) && ++n <= LOGS_MAX) {
			name_add_task(&name, &j->rec, t);
			notice("the log of %s is %s", buf_str(&name), buf_str(&path));
		}
		buf_release(&name);
		buf_release(&path);
	}
	if (n > LOGS_MAX)
		notice("%zu more tasks have a log", n - LOGS_MAX);
}

static int write_page(struct job *j, struct error *err)
{
	struct summary sum = { 0 };
	struct log_page page = { 0 };
	int r = summary_make(&sum, &j->rec);

	if (!r)
		r = log_page_begin(&page, &sum, &j->known.tasks, j->known.output);
	j->page = &page;
	if (!r)
		r = print_lines(j, true);
	if (!r)
		r = log_page_end(&page, &j->out);
	log_page_release(&page);
	summary_release(&sum);
	j->page = NULL;
	r = output_file(&j->out, r, j->args->html, err);
	if (!r)
		output_path(j->args->html);
	return r;
}

static int open_output(struct job *j, struct error *err)
{
	int r = output_open(&j->known.output, j->rec.path, &zstd_codec, err);

	if (r == -ENOENT)
		return error_set(err, r, j->rec.path, 0, 0, "the recording has no output of the "
				 "build: record it with buildbeat record --log");
	return r;
}

static int run_job(struct job *j, struct error *err)
{
	int r = open_output(j, err);

	if (!r)
		r = select_tasks(j, err);
	if (r)
		return r;
	if (j->args->context) {
		j->before = calloc((size_t)j->args->context, sizeof *j->before);
		if (!j->before)
			return error_sys(err, -ENOMEM, j->rec.path, NULL);
	}
	r = output_find_tasks(&j->known.tasks, j->known.output, &j->rec);
	if (!r && (j->args->failed || j->args->annotations)) {
		r = summary_make(&j->sum, &j->rec);
		if (!r)
			r = first_errors_find(&j->known.errors, j->known.output, &j->known.tasks, &j->sum);
		if (!r && j->args->failed)
			r = output_nearby_find(&j->known.nearby, j->known.output, &j->known.tasks, &j->rec);
	}
	if (!r && j->args->annotations)
		return print_annotations(j);
	if (!r && j->args->html)
		return write_page(j, err);
	if (!r && j->args->failed && !j->args->json)
		r = print_first_error(j);
	if (!r)
		r = j->args->follow ? follow(j) : print_lines(j, true);
	if (!r && j->args->failed && !j->args->json)
		r = print_nearby(j);
	if (r)
		return error_sys(err, r, j->rec.path, NULL);
	fflush(stdout);
	if (j->args->failed && !j->args->json)
		report_silent(j);
	if (j->wanted && !j->args->json)
		report_logs(j);
	if (output_damaged(j->known.output))
		notice("%llu damaged lines of the index were skipped",
		       (unsigned long long)output_damaged(j->known.output));
	return 0;
}

static void release_job(struct job *j)
{
	for (int64_t i = 0; j->before && i < j->args->context; i++)
		buf_release(&j->before[i]);
	free_all(j->before, j->wanted);
	buf_release(&j->out);
	buf_release(&j->plain);
	build_output_release(&j->known);
	summary_release(&j->sum);
	if (j->has_regex)
		regfree(&j->regex);
	recording_release(&j->rec);
}

static const struct log_arguments defaults = { .until_us = INT64_MAX };

static int run_log(struct args *a, void *values, struct error *err)
{
	struct style style = output_style();
	struct job j = { .args = values, .rec = RECORDING_INIT };
	int r = check_options(&j, err);

	j.escapes = style.colour ? LOG_COLOURS : isatty(STDOUT_FILENO) ? LOG_PLAIN : LOG_STRIP;
	if (!r)
		r = openrec(&j.rec, OPENREC_SUMS, j.args->base, a->operand[0], err);
	if (!r) {
		identity_of(&j.id, &j.rec);
		r = run_job(&j, err);
	}
	release_job(&j);
	return r;
}

COMMAND(log, "[REC]", "Print the output of a build, with the task of each line", COMMAND_KEYS);
