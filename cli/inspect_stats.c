/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/output_file.h"
#include "cli/repeat.h"
#include "inspect/look.h"
#include "inspect/whole_machine.h"
#include "inspect/recent.h"
#include "launch/notice.h"
#include "report/inspect/inspect_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define FIRST_US 500000		/* how long the first output is measured */

struct stats_arguments {
	int64_t pid, interval_us, count;
	bool json;
};

#define OPTIONS struct stats_arguments
static const struct option options[] = {
	{ OPT_NUMBER('p', "pid", pid, 1, INT32_MAX, "PID", "the last 120 samples of a process") },
	REPEAT_OPTIONS(interval_us, count, "repeat the output every TIME (default 1s)",
		       "number of outputs (default: without end)"),
	{ OPT_FLAG('j', "json", json, "print JSON, an object a line") },
	{ 0 }
};

static const struct stats_arguments defaults = { .interval_us = 1000000 };

static int64_t now_us(void)
{
	return clock_mono_ns() / 1000;
}

static void wait_first(int64_t interval_us)
{
	int64_t us = interval_us < FIRST_US ? interval_us : FIRST_US;
	struct timespec time = { 0, us * 1000 };

	nanosleep(&time, NULL);
}

static int show_machine(struct repeat *repeat, const struct stats_arguments *o, struct error *err)
{
	struct style style = output_style();
	struct whole_machine m;
	int r = whole_machine_init(&m, NULL);

	if (!r)
		r = whole_machine_read(&m, now_us());
	if (!r)
		wait_first(FIRST_US);
	do {
		struct buf out = BUF_INIT;

		if (!r)
			r = whole_machine_read(&m, now_us());
		if (r) {
			error_sys(err, r, "/proc", "cannot read");
			break;
		}
		if (!o->json && repeat->done)
			buf_addc(&out, '\n');
		r = o->json ? stats_machine_json(&out, &m, clock_wall_ns(), o->count != 1) :
		    stats_machine_text(&out, &m, &style);
		r = repeat_output(repeat, &out, r, err);
		if (r <= 0)
			break;
		r = 0;
	} while (true);
	whole_machine_release(&m);
	return r;
}

static int show_process(struct repeat *repeat, const struct stats_arguments *o, struct look *l,
			struct error *err)
{
	struct recent *recent = calloc(1, sizeof *recent);
	struct style style = output_style();
	struct process_values v;
	int r = recent ? look_read_values(l, &v, err) : error_sys(err, -ENOMEM, NULL, NULL);

	if (!r) {
		recent_add(recent, now_us(), &v);
		wait_first(o->interval_us);
	}
	while (!r) {
		struct buf out = BUF_INIT;

		r = look_read_values(l, &v, err);
		if (r == -ESRCH) {	/* an orderly end */
			notice_error(err);
			r = 0;
			break;
		}
		if (r)
			break;
		recent_add(recent, now_us(), &v);
		if (!o->json && repeat->done)
			buf_addc(&out, '\n');
		r = o->json ? stats_process_json(&out, l, recent, clock_wall_ns(), o->count != 1) :
		    stats_process_text(&out, l, recent, &style);
		r = repeat_output(repeat, &out, r, err);
		if (r <= 0)
			break;
		r = 0;
	}
	free(recent);
	return r;
}

static int run_stats(struct args *a, void *values, struct error *err)
{
	const struct stats_arguments *o = values;
	struct name_table names = NAME_TABLE_INIT;
	struct repeat repeat;
	struct look l;
	int r = repeat_init(&repeat, "inspect stats", o->interval_us, o->count, err);

	(void)a;
	if (r || !o->pid)
		return r ? r : show_machine(&repeat, o, err);
	r = look_open(&l, (int32_t)o->pid, 0, &names, err);
	if (!r)
		r = show_process(&repeat, o, &l, err);
	look_close(&l);
	name_table_release(&names);
	return r;
}

const struct command inspect_stats = {
	.name = "inspect stats", .operands = "", .run = run_stats,
	.options = options, COMMAND_DEFAULTS(defaults),
	.summary = "Show what the machine or a process uses, repeatedly",
};
