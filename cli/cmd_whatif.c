/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/openrerun.h"
#include "cli/output_file.h"
#include "report/amount.h"
#include "report/whatif_output.h"

#include <errno.h>
#include <stddef.h>

struct whatif_arguments {
	const char *config;
	const char *output;
	int64_t jobs, cores;
	struct amount memory;
	struct word_list speedup, without, split, first;
	double cache_hit;
	int64_t seed;
	bool quiet, curve, json;
};

#define CORES_MOST 4096
#define CURVE_TIMES 2		/* as many workers as cores */
#define CURVE_LEAST 8

#define OPTIONS struct whatif_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_NUMBER('j', "jobs", jobs, 1, RERUN_JOBS_MAX, "N", "run N tasks at once at most, as make -jN (default: as recorded)") },
	{ OPT_NUMBER(0, "cores", cores, 1, CORES_MOST, "N", "use a machine with N cores (default: as recorded)") },
	{ OPT(OPTION_AMOUNT, struct amount, 0, "memory", memory, "SIZE",
	  "say whether the tasks fit into SIZE of memory, such as 8GiB") },
	{ OPT_FLAG(0, "quiet-machine", quiet, "run while no other process uses a core") },
	{ OPT_LIST(0, "speedup", speedup, "PATTERN=FACTOR",
	  "make these tasks faster, such as link:=2") },
	{ OPT_LIST(0, "without", without, "PATTERN", "leave these tasks out") },
	{ OPT_LIST(0, "split", split, "PATTERN=N", "split each of these tasks into N equal parts") },
	{ OPT_LIST(0, "first", first, "PATTERN",
	  "start these tasks, and what they wait for, before others") },
	{ OPT(OPTION_SHARE, double, 0, "cache-hit", cache_hit, "SHARE",
	  "find SHARE of the compiles in a compiler cache, such as 80%"), .max = 1 },
	{ OPT_NUMBER(0, "seed", seed, 0, INT32_MAX, "N", "choose the compiles of --cache-hit by N (default 1)") },
	{ OPT_FLAG(0, "curve", curve, "print wall time and memory with 1, 2 ... tasks at once, up to --jobs") },
	{ OPT_FLAG(0, "json", json, "print JSON, with the unit in every key") },
	{ 0 }
};

static const struct whatif_arguments defaults = { .cache_hit = -1, .seed = 1 };

static int read_memory(int64_t *kb, const struct amount *memory, struct error *err)
{
	double bytes = 0;

	if (memory->value > 0 && (memory->unit == UNIT_COUNT || !amount_in(&bytes, memory, UNIT_BYTES)))
		return error_say(err, -EINVAL, "whatif: option '--memory': expected a size such as 8GiB");
	*kb = (int64_t)(bytes / 1024);
	return 0;
}

static int print_forecast(struct buf *out, const struct rerun *r, const struct rerun_wish *w, int64_t memory_kb,
			  bool json, struct error *err)
{
	struct style style = output_style();
	struct forecast f;
	struct doc d;
	int e = forecast_make(&f, r, w, true, err);

	if (!e && json) {
		e = whatif_json(out, &f, r, memory_kb);
	} else if (!e) {
		doc_init_terminal(&d, out, &style);
		e = whatif_doc(&d, &f, r, memory_kb);
		doc_release(&d);
	}
	forecast_release(&f);
	return e;
}

static int print_curve(struct buf *out, const struct rerun *r, const struct rerun_wish *w, int64_t memory_kb,
		       bool json, struct error *err)
{
	struct style style = output_style();
	int64_t cores = w->cores ? w->cores : r->s->cores;
	int64_t most = w->jobs ? w->jobs : MAX(MAX(cores, r->jobs == INT64_MAX ? 0 : r->jobs) * CURVE_TIMES, CURVE_LEAST);
	struct rerun_curve c;
	struct doc d;
	int e = rerun_curve_make(&c, r, w, 1, MIN(most, RERUN_JOBS_MAX), RERUN_KNEE, err);

	if (!e && json) {
		e = whatif_curve_json(out, &c, r, memory_kb);
	} else if (!e) {
		doc_init_terminal(&d, out, &style);
		e = whatif_curve_doc(&d, &c, r, memory_kb);
		doc_release(&d);
	}
	rerun_curve_release(&c);
	return e;
}

static int run_whatif(struct args *a, void *values, struct error *err)
{
	const struct whatif_arguments *o = values;
	const struct rerun_wish wish = {
		.change = { .speedup = o->speedup, .without = o->without, .split = o->split, .first = o->first,
			    .cache_hit = o->cache_hit, .seed = (uint64_t)o->seed },
		.jobs = o->jobs, .cores = o->cores, .quiet = o->quiet,
	};
	struct openrerun opened = { .recording = RECORDING_INIT };
	struct buf out = BUF_INIT;
	int64_t memory_kb = 0;
	int r = read_memory(&memory_kb, &o->memory, err);

	if (!r)
		r = openrerun(&opened, 0, o->output, a->operand[0], err);
	if (!r)
		r = o->curve ? print_curve(&out, &opened.rerun, &wish, memory_kb, o->json, err) :
		    print_forecast(&out, &opened.rerun, &wish, memory_kb, o->json, err);
	if (!r)
		r = output_end(&out, r, opened.recording.path, err);
	buf_release(&out);
	openrerun_release(&opened);
	return r;
}

COMMAND(whatif, "[REC]", "Predict how long a build takes under other conditions", COMMAND_KEYS);
