/* SPDX-License-Identifier: MIT */
#include "analyse/listing.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "cli/repeat.h"
#include "convert/convert.h"
#include "inspect/live_build.h"
#include "report/inspect/processes_doc.h"

#include <errno.h>
#include <regex.h>
#include <stddef.h>
#include <time.h>

#define CPU_US 300000		/* how long CPU use is measured for the first output */

struct ps_arguments {
	const char *config;
	const char *output;
	const char *match;
	bool all, pss, json;
	int sort;
	int64_t interval_us, count;
};

#define OPTIONS struct ps_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_FLAG('a', "all", all, "every process of the machine, not only those of the build") },
	{ OPT_TEXT(0, "match", match, "REGEX", "only processes whose program's name matches") },
	{ OPT_FLAG(0, "pss", pss, "read proportional memory too, which costs 10 ms a GiB") },
	{ OPT_CHOICE('s', "sort", sort, processes_keys, "KEY",
	  "sort by rss, cpu, pss, threads, age, pid, program or task (default rss)") },
	REPEAT_OPTIONS(interval_us, count, "repeat the output every TIME (default 2s)",
		       "number of outputs (default 1, or without end with --interval)"),
	{ OPT_FLAG('j', "json", json, "print JSON, an object a line if it is repeated") },
	{ 0 }
};

static const struct ps_arguments defaults = { .interval_us = 2000000 };

struct ps {
	const struct ps_arguments *o;
	bool has_pattern;
	regex_t pattern;
	struct buf path;		/* of the recording */
	struct live_build *build;	/* NULL: none is known */
	struct process_table rows;
	struct processes table;
};

static int compile(struct ps *ps, struct error *err)
{
	char why[128];
	int code;

	if (!ps->o->match)
		return 0;
	code = regcomp(&ps->pattern, ps->o->match, REG_EXTENDED | REG_NOSUB);
	ps->has_pattern = !code;
	if (!code)
		return 0;
	regerror(code, &ps->pattern, why, sizeof why);
	return error_say(err, -EINVAL, "ps: option '--match': '%s' is not a regular expression: %s",
			 ps->o->match, why);
}

/* 1, or 0 if no build is running. */
static int read_build(struct ps *ps, struct error *err)
{
	int r = live_build_read(ps->build, err);

	if (!r) {
		live_build_close(ps->build);
		ps->build = NULL;
	}
	return r;
}

/* With --all, a recording is not needed. */
static int open_build(struct ps *ps, const char *what, struct error *err)
{
	bool optional = ps->o->all && !what && !ps->o->output;
	int r = listing_find(&ps->path, ps->o->output, what, &convert_formats, err);

	if (!r)
		r = live_build_open(&ps->build, ps->path.data, err);
	if (!r)
		r = read_build(ps, err);
	if (r < 0 && optional)
		return 0;
	if (r < 0)
		return r;
	return r || ps->o->all ? 0 :
	       error_set(err, -ESRCH, ps->path.data, 0, 0, "the build has ended; --all shows every "
			 "process of the machine");
}

static bool is_shown(void *context, const struct listed *p, bool of_build)
{
	const struct ps *ps = context;

	if (!(ps->o->all || of_build))
		return false;
	return !ps->has_pattern || !regexec(&ps->pattern, p->name, 0, NULL, 0);
}

static int read_table(struct ps *ps)
{
	int r = process_table_read(&ps->rows, ps->build, is_shown, ps);

	if (!r && ps->o->pss)
		process_list_read_pss(&ps->rows.list);
	ps->table = (struct processes){
		.recording = ps->build ? ps->path.data : NULL,
		.tool = ps->build ? live_build_tool(ps->build) : "",
		.wall_ns = clock_wall_ns(), .pss = ps->o->pss, .tasks = ps->build != NULL,
		.n = ps->rows.n, .row = ps->rows.row,
	};
	return r;
}

/* CPU use is known of two readings. */
static int wait_for_cpu(struct ps *ps)
{
	int64_t us = ps->o->interval_us < CPU_US ? ps->o->interval_us : CPU_US;
	struct timespec time = { 0, us * 1000 };
	int r = process_list_read(&ps->rows.list);

	if (!r)
		nanosleep(&time, NULL);
	return r;
}

static int show(struct ps *ps, struct repeat *repeat, struct error *err)
{
	struct style style = output_style();
	int r = wait_for_cpu(ps);

	if (r)
		return error_sys(err, r, "/proc", "cannot read");
	do {
		struct buf out = BUF_INIT;

		if (ps->build && read_build(ps, err) < 0)
			return -EINVAL;
		if (!ps->build && !ps->o->all)
			return 0;	/* it has ended */
		r = read_table(ps);
		if (r)
			return error_sys(err, r, "/proc", "cannot read");
		processes_sort(&ps->table, (enum processes_key)ps->o->sort);
		if (!ps->o->json && repeat->done)
			buf_addc(&out, '\n');
		r = ps->o->json ? processes_json(&out, &ps->table, repeat->count != 1) :
		    processes_text(&out, &ps->table, &style);
		r = repeat_output(repeat, &out, r, err);
	} while (r > 0);
	return r;
}

static int run_ps(struct args *a, void *values, struct error *err)
{
	const struct ps_arguments *o = values;
	struct ps ps = { .o = o, .rows.list = { .proc_fd = -1, .list_fd = -1 } };
	int64_t count = o->count ? o->count : !options_given(a, "interval");
	struct repeat repeat;
	int r = repeat_init(&repeat, "ps", o->interval_us, count, err);

	if (!r)
		r = compile(&ps, err);
	if (!r)
		r = open_build(&ps, a->n ? a->operand[0] : NULL, err);
	if (!r) {
		r = process_table_init(&ps.rows);
		r = r ? error_sys(err, r, "/proc", "cannot read") : show(&ps, &repeat, err);
	}
	if (ps.has_pattern)
		regfree(&ps.pattern);
	buf_release(&ps.path);
	live_build_close(ps.build);
	process_table_release(&ps.rows);
	return r;
}

COMMAND(ps, "[REC]", "List the processes of a running build", COMMAND_KEYS);
