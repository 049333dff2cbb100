/* SPDX-License-Identifier: MIT */
#include "cli/record_summary.h"

#include "analyse/answer.h"
#include "analyse/build_output.h"
#include "analyse/facts.h"
#include "analyse/listing.h"
#include "base/array.h"
#include "base/file.h"
#include "base/minmax.h"
#include "cli/fit_sentence.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "command/shell.h"
#include "convert/convert.h"
#include "convert/zstd.h"
#include "launch/notice.h"
#include "recording/layout.h"
#include "report/error_text.h"
#include "rerun/advise.h"
#include "write/doc.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define WIDTH_MIN 60
#define WIDTH_MAX 80
#define LINES_MAX 8
#define LABEL_COLUMNS 13	/* of brief facts */
#define VERDICT_LINES 3		/* if the other lines leave room for them */
#define ADVICE_LINES 2
#define TASKS_MAX 50000		/* that are read at the end of a build: 0.1 s */

/* As the tools that read it have it: any value but a false one. */
static bool is_in_ci(void)
{
	static const char *const false_words[] = { "", "0", "false", "no", "off" };
	const char *ci = getenv("CI");

	for (size_t i = 0; ci && i < ARRAY_SIZE(false_words); i++) {
		if (!strcasecmp(ci, false_words[i]))
			return false;
	}
	return ci;
}

/* The command line comes before the configuration, --quiet before --summary. */
bool record_summary_wanted(const struct args *a, const struct settings *settings)
{
	if (settings->quiet && (options_given(a, "quiet") || !options_given(a, "summary")))
		return false;
	if (settings->summary || options_given(a, "summary"))
		return settings->summary;
	return isatty(STDERR_FILENO) || is_in_ci();
}

/* The path as seen from here. */
static const char *relative(const char *path)
{
	char here[PATH_MAX];
	size_t n;

	if (!getcwd(here, sizeof here))
		return path;
	n = strlen(here);
	return !strncmp(path, here, n) && path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

/* Is this the recording that commands read if none is named? */
static bool is_found(const struct args *a, const struct settings *settings, const char *path)
{
	bool is_default = !strcmp(settings->output, LAYOUT_BASE);
	char found[PATH_MAX], own[PATH_MAX];
	struct buf newest = BUF_INIT;
	struct error err;
	bool same = false;

	if (!options_given(a, "output") && !options_given(a, "config") &&
	    !listing_find(&newest, is_default ? NULL : settings->output, NULL, &convert_formats, &err))
		same = realpath(newest.data, found) && realpath(path, own) && !strcmp(found, own);
	buf_release(&newest);
	return same;
}

static bool has_many_tasks(const struct recording *rec)
{
	return recording_build_number(rec, "tasks") > TASKS_MAX;
}

static void add_next(struct facts *f, const struct args *a, const struct settings *settings,
		     const char *path, const struct summary *s)
{
	bool has_log = recording_build(s->rec, "output");
	bool failed = s->result != BUILD_OK && (s->n_state[TASK_FAILED] || s->n_state[TASK_KILLED] ||
						has_many_tasks(s->rec) || has_log);
	bool found = is_found(a, settings, path);

	buf_adds(&f->part, !failed ? "buildbeat show" :
		 has_log ? "buildbeat log --failed" : "buildbeat show --failed");
	if (!found) {
		buf_addc(&f->part, ' ');
		shell_add_shown(&f->part, relative(path));
	} else if (!failed) {
		buf_adds(&f->part, "; for a picture: buildbeat chart");
	}
	fact_end(f, "next", TONE_PLAIN);
}

/* How much of text a line of n columns takes: whole words, and the beginning of a long one, so that
 * less than a quarter of the line stays empty. */
static size_t fitting(const char *text, size_t n)
{
	size_t end = 0, next = 0;

	while (text[end]) {
		next = end + (text[end] == ' ');
		next += strcspn(text + next, " ");
		if (text_columns(text, next) > n)
			break;
		end = next;
	}
	if (!text[end] || text_columns(text + end, next - end) <= n / 4)
		return end;
	while (text_columns(text, next) > n)
		while ((text[--next] & 0xc0) == 0x80)
			;
	return next;
}

static int count_lines(const struct buf *b)
{
	int n = 0;

	for (size_t i = 0; i < b->len; i++)
		n += b->data[i] == '\n';
	return n;
}

static const struct answer_sentence *advice_of(const struct answer *a)
{
	return a->n && a->sentence[a->n - 1].about == ANSWER_ADVICE ? &a->sentence[a->n - 1] : NULL;
}

/* Over as many lines as there are for it; words that are not broken leave a part of a line empty. */
static void add_sentence(struct facts *f, const char *label, const struct answer_sentence *s, int lines)
{
	const struct doc *d = f->to;
	size_t columns = d->style->width - d->labels;
	struct buf text = BUF_PART_OF(d->out);
	const char *p;

	fit_sentence(&text, s->text, lines == 1 ? columns : (size_t)lines * columns - columns / 4);
	p = buf_str(&text);
	for (int line = 0; *p; line++) {
		size_t n = line + 1 < lines ? fitting(p, columns) : strlen(p);

		buf_add(&f->part, p, n);
		fact_end(f, line ? "" : label, s->about == ANSWER_FAILED ? TONE_ALARM : TONE_PLAIN);
		p += n;
		p += *p == ' ';
	}
	buf_release(&text);
}

/* In front of the last line; the error of a build that failed, and the advice need a line each. */
static int lines_left(const struct facts *f)
{
	const struct doc *d = f->to;

	return LINES_MAX - 1 - count_lines(d->out);
}

static void add_verdict(struct facts *f, const struct answer *a)
{
	int lines = lines_left(f) - (a->n && (a->sentence[0].about == ANSWER_FAILED || advice_of(a)));

	if (a->n && a->sentence[0].about != ANSWER_ADVICE && lines > 0)
		add_sentence(f, "verdict", &a->sentence[0], MIN(lines, VERDICT_LINES));
}

static void add_advice(struct facts *f, const struct answer *a)
{
	if (advice_of(a) && lines_left(f) > 0)
		add_sentence(f, "advice", advice_of(a), MIN(lines_left(f), ADVICE_LINES));
}

/* What the build failed of, in one line. */
static int add_error(struct facts *f, const struct summary *s, struct error *err)
{
	const struct doc *d = f->to;
	struct build_output output;
	struct buf text = BUF_PART_OF(&f->part);
	const struct first_error *e;
	int r = build_output_read_failure(&output, s, &zstd_codec, err);

	e = first_error_of_build(&output.errors);
	if (!r && e) {
		if (e->while_ran)
			buf_adds(&text, "perhaps: ");
		error_add_message(&text, e);
		text_add_name(&f->part, buf_str(&text), d->style->width - d->labels);
		fact_end(f, "error", TONE_ALARM);
	}
	buf_release(&text);
	build_output_release(&output);
	return r;
}

static int add_values(struct facts *f, struct recording *rec, const struct args *a,
		      const struct settings *settings, const char *path, struct error *err)
{
	struct summary summary = { 0 };
	struct chain chain = { 0 };
	struct answer answer = { 0 };
	struct idle idle;
	int r = summary_make(&summary, rec);

	r = r ? r : chain_make(&chain, &summary);
	idle_find(&idle, rec);
	r = r ? r : answer_make(&answer, &summary, &chain, &idle);
	if (!r && !has_many_tasks(rec))
		r = advise_answer(&answer, &summary, &chain);
	if (!r) {
		fact_result(f, &summary);
		fact_cpu(f, &summary);
		fact_memory(f, &summary);
		if (!has_many_tasks(rec)) {
			add_verdict(f, &answer);
			r = add_error(f, &summary, err);
			add_advice(f, &answer);
		}
		add_next(f, a, settings, path, &summary);
		r = r ? r : buf_error(&f->part);
	}
	answer_release(&answer);
	chain_release(&chain);
	summary_release(&summary);
	return r;
}

/* Nobody shall wait at the end of a large build: only what the launcher wrote is read then. */
static int read_enough(struct recording *rec, const char *path, struct error *err)
{
	int r = recording_read_build(rec, path, &convert_formats, err);

	if (!r && has_many_tasks(rec))
		return 0;
	recording_release(rec);
	*rec = (struct recording)RECORDING_INIT;
	return openrec(rec, OPENREC_WAITS, NULL, path, err);
}

/* Not by notice(), which would replace the token. */
void record_summary_stay(int64_t us, const char *url, const char *path)
{
	struct buf out = BUF_INIT;

	buf_adds(&out, "buildbeat: the page stays for ");
	text_add_time(&out, us);
	buf_addf(&out, ", and while it is open: %s\nbuildbeat: to show it again: buildbeat serve ", url);
	shell_add_shown(&out, relative(path));
	buf_addc(&out, '\n');
	if (!buf_error(&out))
		file_write_all(STDERR_FILENO, out.data, out.len);
	buf_release(&out);
}

void record_summary_print(const struct args *a, const struct settings *settings, const char *path)
{
	struct style style = output_error_style();
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	struct buf out = BUF_INIT;
	struct facts facts;
	struct doc d;
	int r;

	if (!style.width || style.width > WIDTH_MAX)
		style.width = WIDTH_MAX;
	if (style.width < WIDTH_MIN)
		style.width = WIDTH_MIN;
	doc_init_terminal(&d, &out, &style);
	d.labels = LABEL_COLUMNS;
	facts_begin(&facts, &out, doc_fact, &d);
	facts.brief = true;
	buf_adds(&out, "buildbeat: recorded in ");
	text_add_name(&out, relative(path), 0);
	buf_addc(&out, '\n');
	r = read_enough(&rec, path, &err);
	if (!r) {
		r = add_values(&facts, &rec, a, settings, path, &err);
		if (r && !*err.message)
			error_sys(&err, r, path, NULL);
	}
	if (!buf_error(&out))
		file_write_all(STDERR_FILENO, out.data, out.len);
	if (r)
		notice_error(&err);
	facts_release(&facts);
	doc_release(&d);
	recording_release(&rec);
	buf_release(&out);
}
