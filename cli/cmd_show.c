/* SPDX-License-Identifier: MIT */
#include "base/heap.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/openrec.h"
#include "cli/output.h"
#include "launch/notice.h"
#include "render/show.h"

#include <errno.h>
#include <stddef.h>

#define TOP_MAX 1000000000

struct show_arguments {
	const char *config;
	const char *output;
	int sort;
	int64_t top;
	const char *filter, *kind;
	bool failed, tasks, json;
};

static const struct option options[] = {
	CONFIG_OPTION(struct show_arguments, config),
	{ .name = "output", .letter = 'o', .kind = OPTION_PATH, .argument = "DIR",
	  .help = "directory of recordings (default: the nearest buildstats)",
	  .offset = offsetof(struct show_arguments, output), .config = true },
	{ .name = "sort", .letter = 's', .kind = OPTION_CHOICE, .argument = "KEY",
	  .help = "print one list, sorted by wall, cpu, memory, io, start or name",
	  .offset = offsetof(struct show_arguments, sort), .choices = view_sort_word },
	{ .name = "top", .letter = 't', .kind = OPTION_NUMBER, .argument = "N",
	  .help = "print N lines of each list (default 10)",
	  .offset = offsetof(struct show_arguments, top), .min = 1, .max = TOP_MAX },
	{ .name = "filter", .letter = 'f', .kind = OPTION_TEXT, .argument = "TEXT",
	  .help = "show only tasks with TEXT, or a match of the pattern TEXT, in name or command",
	  .offset = offsetof(struct show_arguments, filter) },
	{ .name = "kind", .letter = 'k', .kind = OPTION_TEXT, .argument = "KIND",
	  .help = "show only tasks of kind KIND",
	  .offset = offsetof(struct show_arguments, kind) },
	{ .name = "failed", .kind = OPTION_FLAG,
	  .help = "show only failed, killed and unfinished tasks",
	  .offset = offsetof(struct show_arguments, failed) },
	{ .name = "tasks", .kind = OPTION_FLAG,
	  .help = "print every task, one per line; with --json, add them to the output",
	  .offset = offsetof(struct show_arguments, tasks) },
	{ .name = "json", .letter = 'j', .kind = OPTION_FLAG,
	  .help = "print JSON, with the unit in every key",
	  .offset = offsetof(struct show_arguments, json) },
	{ 0 }
};

static int print(const struct recording *rec, const struct show_arguments *s, struct error *err)
{
	struct selection selection = {
		.filter = s->filter, .kind = s->kind, .unsuccessful = s->failed
	};
	struct show_options o = {
		.sort = (enum sort_key)s->sort, .top = (size_t)s->top, .tasks = s->tasks
	};
	struct style style = output_style();
	struct summary summary;
	struct view view = { 0 };
	struct buf out = BUF_INIT;
	int r = summary_make(&summary, rec);

	if (!r)
		r = view_make(&view, &summary, &selection);
	if (!r)
		r = s->json ? json_show(&out, &view, &o) : text_show(&out, &view, &o, &style);
	if (!r)
		output_write(&out);
	buf_release(&out);
	view_release(&view);
	summary_release(&summary);
	return r ? error_sys(err, r, rec->path, NULL) : 0;
}

static int show(const char *what, const struct show_arguments *s, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct buf path = BUF_INIT;
	int r;

	heap_expect_much();
	r = openrec(&rec, &path, OPENREC_SUMS, s->output, what, err);
	if (!r)
		r = print(&rec, s, err);
	recording_release(&rec);
	buf_release(&path);
	return r;
}

static const struct show_arguments defaults = { .sort = SORT_KEYS, .top = 10 };

static int run(struct args *a, void *values, struct error *err)
{
	struct show_arguments *s = values;
	int r = configfile_apply(a, options, s, s->config, err);

	return r ? r : show(a->n ? a->operand[0] : NULL, s, err);
}

const struct command cmd_show = {
	.name = "show",
	.summary = "Show where a build's time, memory and disk went",
	.operands = "[REC]",
	.max_operands = 1,
	.options = options,
	.defaults = &defaults,
	.size = sizeof defaults,
	.run = run,
};
