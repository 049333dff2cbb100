/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/zstd.h"
#include "report/build_page.h"
#include "report/idle_look.h"
#include "report/inspected_find.h"
#include "report/show_output.h"
#include "rerun/advise.h"

#include <errno.h>
#include <stddef.h>

#define TOP_MAX 1000000000
#define TOP_USUAL 10

struct show_arguments {
	const char *config;
	const char *output;
	int sort;
	int64_t top;
	const char *filter, *kind, *task;
	unsigned by;
	bool all, failed, tasks, json, markdown;
	const char *html;
};

#define OPTIONS struct show_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_CHOICE('s', "sort", sort, value_word, "KEY",
	  "print one list, sorted by " VALUE_WORDS "or name") },
	{ OPT_SET('b', "by", by, groups_by_word, "WHAT,...",
	  "print only the cost by directory, target, program, kind or host (build tool)") },
	{ OPT_FLAG('a', "all", all, "print all facts and lists, not only what fits on one screen") },
	{ OPT_NUMBER('t', "top", top, 1, TOP_MAX, "N", "print N lines of each list (default 10), and all lists") },
	{ OPT_TEXT('F', "filter", filter, "TEXT",
	  "show only tasks with TEXT, or a match of the pattern TEXT, in name or command") },
	{ OPT_TEXT('k', "kind", kind, "KIND", "show only tasks of kind KIND") },
	{ OPT_TEXT('T', "task", task, "TASK", "show only the task with this name or id") },
	{ OPT_FLAG(0, "failed", failed, "show only failed, killed and unfinished tasks") },
	{ OPT_FLAG(0, "tasks", tasks,
	  "print every task, one per line; with --json, add them to the output") },
	{ OPT_FLAG('j', "json", json, "print JSON, with the unit in every key") },
	{ OPT_FLAG('m', "markdown", markdown,
	  "print Markdown, for the summary of a job on GitHub or GitLab") },
	{ OPT_PATH(0, "html", html, "FILE",
	  "write one HTML file with errors, chart, tasks and output, which needs no server") },
	{ 0 }
};

static const struct show_arguments defaults = { .sort = VALUE_SORTS };

static int write_doc(struct buf *out, struct view *v, const struct show_options *o, bool markdown)
{
	struct style style = output_style();
	struct doc d;
	int r;

	doc_init_people(&d, out, &style, markdown);
	r = show_doc(&d, v, o);
	doc_release(&d);
	return r;
}

static int misuse(const struct show_arguments *s, struct error *err)
{
	if (s->markdown && (s->json || s->tasks))
		return error_say(err, -EINVAL, "show: --markdown and %s exclude each other",
				 s->json ? "--json" : "--tasks");
	if (s->html && (s->json || s->markdown || s->tasks || s->by || s->filter || s->kind || s->task || s->failed))
		return error_say(err, -EINVAL, "show: --html writes the whole build, and cannot be used with options "
				 "that select tasks or another format");
	return 0;
}

static int run_show(struct args *a, void *values, struct error *err)
{
	const struct show_arguments *s = values;
	struct chain chain = { 0 };
	struct answer answer = { 0 };
	struct idle idle;
	struct inspected_found inspected = INSPECTED_INIT;
	struct groups programs = { 0 }, groups[GROUPINGS] = { 0 };
	struct build_output output = { 0 };
	struct show_options o = {
		.sort = (enum value)s->sort, .top = s->top ? (size_t)s->top : TOP_USUAL, .tasks = s->tasks,
		.brief = !s->all && s->sort == VALUE_SORTS && !s->top,
		.chain = &chain, .answer = &answer, .inspected = &inspected.inspected,
		.groups = groups, .programs = &programs, .output = &output,
	};
	const struct selection selection = {
		.filter = s->filter, .kind = s->kind, .task = s->task, .unsuccessful = s->failed
	};
	const bool whole = !s->by || s->json || s->markdown;	/* tables of groups need nothing else */
	struct recording rec = RECORDING_INIT;
	struct summary summary = { 0 };
	struct view view = { 0 };
	struct buf out = BUF_INIT;
	int r = misuse(s, err);

	if (!r)
		r = openrec(&rec, s->html ? 0 : OPENREC_WAITS, s->output, a->operand[0], err);
	if (!r)
		r = inspected_find(&inspected, &rec, err);
	if (r)
		goto out;
	r = summary_make(&summary, &rec);
	if (!r && (whole || s->sort == VALUE_QUEUE)) {
		r = chain_make(&chain, &summary);
		if (!r)
			wait_add_queues(&summary, &chain.waits);
	}
	if (!r && whole) {
		idle_look(&idle, &rec);
		r = answer_make(&answer, &summary, &chain, &idle);
		r = r ? r : advise_answer(&answer, &summary, &chain);
	}
	if (!r)
		r = view_make(&view, &summary, &selection);
	if (!r && whole) {
		r = s->html ? build_output_read(&output, &summary, &zstd_codec, err) :
		    build_output_read_failure(&output, &summary, &zstd_codec, err);
		if (r)
			goto out;
	}
	if (!r && whole && rec.n_programs)
		r = groups_make(&programs, &summary, view.task, view.n_tasks, true,
				GROUPS_PROGRAM);
	for (unsigned by = 0; !r && by < GROUPINGS; by++) {
		if (s->by & 1u << by)
			r = groups_make(&groups[o.n_groups++], &summary, view.task, view.n_tasks,
					view.all, (enum groups_by)by);
	}
	if (!r && s->task && !view.n_tasks) {
		r = error_say(err, -ENOENT, "show: no task has the name or id '%.200s'", s->task);
		goto out;
	}
	if (s->html) {
		r = r ? r : build_page_write(&out, &view, &o);
		r = output_file(&out, r, s->html, err);
		if (!r)
			output_path(s->html);
		goto out;
	}
	if (!r)
		r = s->json ? show_json(&out, &view, &o) : write_doc(&out, &view, &o, s->markdown);
	r = output_end(&out, r, rec.path, err);
out:
	for (size_t i = 0; i < o.n_groups; i++)
		groups_release(&groups[i]);
	groups_release(&programs);
	build_output_release(&output);
	view_release(&view);
	answer_release(&answer);
	chain_release(&chain);
	summary_release(&summary);
	inspected_release(&inspected);
	recording_release(&rec);
	return r;
}

COMMAND(show, "[REC]", "Show where a build's time, memory and disk went", COMMAND_KEYS);
