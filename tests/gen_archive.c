/* SPDX-License-Identifier: MIT */
/*
 * Writes an archive of made-up builds: the same arguments give the same repository.
 *	gen_archive [--tasks N] [--builds N] [--first N] [--seed N] [--noise SHARE]
 *		    [--spikes SHARE] [--host SHARE] [--series HOST/BRANCH/MACHINE]
 *		    [--step TASKS/BUILD/SHARE[/METRIC]]... [--new TASKS/BUILD]...
 *		    [--gone TASKS/BUILD]... [--repeats N] [--cores N] REPO
 * Tasks and builds count from 0; TASKS is one or a range, 3-9. A step stays; it is of wall
 * and CPU time unless it names a metric; SHARE may be negative. --host: how much the
 * machine as a whole differs from build to build; --spikes: how many of the values are
 * of a build a task took a third longer. --first: the builds before are there already.
 * --repeats: so many builds are of one revision and day.
 */
#include "archive/archive.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "report/amount.h"
#include "tests/noise.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLANS_MAX 256
#define FIRST_BUILD_S 1767232800	/* 2026-01-01 02:00 UTC */
#define BUILD_S 86400
#define SLOTS 16

enum plan_kind { PLAN_STEP, PLAN_NEW, PLAN_GONE };

struct plan {
	enum plan_kind kind;
	uint64_t first, last, build;
	double share;
	enum metric metric;	/* METRICS: wall and CPU time */
};

struct made {
	uint64_t tasks, builds, first, seed, repeats;
	const char *cores;
	double noise, spikes, host;
	const char *series;
	size_t n_plans;
	struct plan plan[PLANS_MAX];
	uint32_t *order;	/* tasks by name */
	char (*name)[40];
};

/* Arguments */

static _Noreturn void fail(const char *what, const char *why)
{
	fprintf(stderr, "gen_archive: %s: %s\n", what, why);
	exit(2);
}

static uint64_t number(const char *text)
{
	uint64_t n;

	if (!cursor_slice_u64(slice_of(text), &n))
		fail(text, "is no number");
	return n;
}

static double share(const char *text)
{
	bool negative = *text == '-';
	double value;

	if (!amount_read_share(&value, text + negative))
		fail(text, "is no share");
	return negative ? -value : value;
}

static const char *next_part(struct cursor *c, char text[64])
{
	struct slice part;

	if (!cursor_until(c, '/', &part) || part.len > 63)
		return NULL;
	memcpy(text, part.p, part.len);
	text[part.len] = '\0';
	return text;
}

static void add_plan(struct made *made, enum plan_kind kind, const char *text)
{
	struct plan p = { .kind = kind, .metric = METRICS };
	char part[64], *dash;
	struct cursor c;

	cursor_init(&c, text, strlen(text));
	if (made->n_plans == PLANS_MAX || !next_part(&c, part))
		fail(text, "is too much, or nothing");
	dash = strchr(part, '-');
	if (dash)
		*dash = '\0';
	p.first = number(part);
	p.last = dash ? number(dash + 1) : p.first;
	if (!next_part(&c, part))
		fail(text, "names no build");
	p.build = number(part);
	if (kind == PLAN_STEP) {
		if (!next_part(&c, part))
			fail(text, "says not how much");
		p.share = share(part);
		if (next_part(&c, part) && (p.metric = metric_find(part)) == METRICS)
			fail(part, "is no metric");
	}
	made->plan[made->n_plans++] = p;
}

static const char *arguments(struct made *made, int argc, char **argv)
{
	static const struct option options[] = {
		{ "tasks", required_argument, NULL, 't' }, { "builds", required_argument, NULL, 'n' },
		{ "first", required_argument, NULL, 'f' }, { "seed", required_argument, NULL, 's' },
		{ "noise", required_argument, NULL, 'x' }, { "spikes", required_argument, NULL, 'p' },
		{ "host", required_argument, NULL, 'h' }, { "series", required_argument, NULL, 'r' },
		{ "step", required_argument, NULL, 'S' }, { "new", required_argument, NULL, 'N' },
		{ "gone", required_argument, NULL, 'G' }, { "repeats", required_argument, NULL, 'R' },
		{ "cores", required_argument, NULL, 'C' },
		{ 0 }
	};
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (o) {
		case 't': made->tasks = number(optarg); break;
		case 'n': made->builds = number(optarg); break;
		case 'f': made->first = number(optarg); break;
		case 's': made->seed = number(optarg); break;
		case 'x': made->noise = share(optarg); break;
		case 'p': made->spikes = share(optarg); break;
		case 'h': made->host = share(optarg); break;
		case 'r': made->series = optarg; break;
		case 'S': add_plan(made, PLAN_STEP, optarg); break;
		case 'N': add_plan(made, PLAN_NEW, optarg); break;
		case 'G': add_plan(made, PLAN_GONE, optarg); break;
		case 'C': made->cores = optarg; break;
		case 'R': made->repeats = number(optarg); break;
		default: exit(2);
		}
	}
	if (optind + 1 != argc)
		fail("usage", "gen_archive [OPTIONS] REPO");
	return argv[optind];
}

/* Properties of tasks */

static const char *const steps[] = { "fetch", "unpack", "patch", "configure", "compile", "install",
	"package", "populate_sysroot", "package_write", "package_qa" };

#define STEPS ARRAY_SIZE(steps)

static int by_name(const void *a, const void *b, void *names)
{
	char (*name)[40] = names;

	return strcmp(name[*(const uint32_t *)a], name[*(const uint32_t *)b]);
}

static void name_tasks(struct made *made)
{
	made->order = malloc((made->tasks + 1) * sizeof *made->order);
	made->name = malloc((made->tasks + 1) * sizeof *made->name);
	if (!made->order || !made->name)
		fail("tasks", "out of memory");
	for (uint32_t i = 0; i < made->tasks; i++) {
		snprintf(made->name[i], sizeof *made->name, "recipe-%05u: do_%s",
			 (unsigned)(i / STEPS), steps[i % STEPS]);
		made->order[i] = i;
	}
	qsort_r(made->order, made->tasks, sizeof *made->order, by_name, made->name);
}

/* A task does not depend on the number of other tasks. */
static struct noise noise_of(const struct made *made, uint64_t a, uint64_t b)
{
	struct noise n = { made->seed * UINT64_C(0x9e3779b97f4a7c15) + a };

	n.state ^= (uint64_t)(noise_uniform(&n) * 1e18) + b * UINT64_C(0xd1342543de82ef95);
	return n;
}

static bool is_there(const struct made *made, uint64_t task, uint64_t build)
{
	for (size_t i = 0; i < made->n_plans; i++) {
		const struct plan *p = &made->plan[i];
		bool meant = task >= p->first && task <= p->last;

		if (meant && ((p->kind == PLAN_NEW && build < p->build) ||
			      (p->kind == PLAN_GONE && build >= p->build)))
			return false;
	}
	return true;
}

static bool is_of(enum metric m, enum value_column c)
{
	if (m == METRICS)
		return is_of(METRIC_WALL, c) || is_of(METRIC_CPU, c);
	return metric_info[m].column[0] == c || metric_info[m].column[1] == c;
}

static double stepped(const struct made *made, uint64_t task, uint64_t build,
		      enum value_column c)
{
	double factor = 1;

	for (size_t i = 0; i < made->n_plans; i++) {
		const struct plan *p = &made->plan[i];

		if (p->kind == PLAN_STEP && task >= p->first && task <= p->last &&
		    build >= p->build && is_of(p->metric, c))
			factor *= 1 + p->share;
	}
	return factor;
}

static bool is_time(enum value_column c)
{
	return c == COLUMN_WALL_US || c == COLUMN_USER_US || c == COLUMN_SYSTEM_US;
}

/* The usual value of a task: from a tenth of a second to ten minutes, most a few seconds. */
static void usual(double level[COLUMNS], const struct made *made, uint64_t task)
{
	struct noise n = noise_of(made, task, 0);
	double wall_s = exp(log(4) + 1.4 * noise_normal(&n));

	level[COLUMN_WALL_US] = wall_s * 1e6;
	level[COLUMN_USER_US] = wall_s * 1e6 * (0.3 + noise_uniform(&n));
	level[COLUMN_SYSTEM_US] = wall_s * 1e6 * (0.02 + 0.2 * noise_uniform(&n));
	level[COLUMN_MAX_RSS_KB] = 20e3 * exp(1.2 * fabs(noise_normal(&n)));
	level[COLUMN_READ_BYTES] = 4096 * floor(wall_s * 300 * noise_uniform(&n));
	level[COLUMN_WRITTEN_BYTES] = 4096 * floor(wall_s * 200 * noise_uniform(&n));
	level[COLUMN_RCHAR] = level[COLUMN_READ_BYTES] * 3 + 1e5;
	level[COLUMN_WCHAR] = level[COLUMN_WRITTEN_BYTES] * 1.1 + 1e4;
	level[COLUMN_MINOR_FAULTS] = wall_s * 5e3 * (0.5 + noise_uniform(&n));
	level[COLUMN_MAJOR_FAULTS] = 0;
	level[COLUMN_VOLUNTARY_SWITCHES] = wall_s * 400 * (0.5 + noise_uniform(&n));
	level[COLUMN_INVOLUNTARY_SWITCHES] = wall_s * 60 * (0.5 + noise_uniform(&n));
}

/* Bytes come in blocks. */
static int64_t rounded(double value, enum value_column c)
{
	if (c == COLUMN_READ_BYTES || c == COLUMN_WRITTEN_BYTES)
		return (int64_t)(value / 4096 + 0.5) * 4096;
	return (int64_t)(value + 0.5);
}

static void measure(struct values *f, size_t row, const struct made *made, uint64_t task,
		    uint64_t build, double host)
{
	struct noise n = noise_of(made, task, build + 1);
	double level[COLUMNS] = { 0 };
	double spike = noise_uniform(&n) < made->spikes ? 1.33 : 1;

	usual(level, made, task);
	f->column[COLUMN_START_US][row] = (int64_t)(task * 250000);
	f->column[COLUMN_RUNS][row] = 1;
	f->column[COLUMN_STATUS][row] = 0;
	for (int c = COLUMN_WALL_US; c < COLUMN_RUNS; c++) {
		double value = level[c] * exp(made->noise * noise_normal(&n)) *
			       stepped(made, task, build, c);

		if (f->column[c])
			f->column[c][row] = rounded(is_time(c) ? value * host * spike : value, c);
	}
}

/* A build */

static const char *keep(struct values *f, const char *text)
{
	const char *kept = arena_text(f->texts, text, strlen(text));

	if (!kept)
		fail("build", "out of memory");
	return kept;
}

static void set_facts(struct values *f, const struct made *made, uint64_t build)
{
	uint64_t revision = build / made->repeats;
	struct noise n = noise_of(made, UINT64_MAX, revision);
	char commit[41], count[24];

	snprintf(count, sizeof count, "%llu", (unsigned long long)(70000 + 11 * revision));
	for (int i = 0; i < 40; i++)
		commit[i] = "0123456789abcdef"[(int)(noise_uniform(&n) * 16)];
	commit[40] = '\0';
	struct values_fact fact[] = {
		{ "host", "nightly-1" }, { "machine", "x86_64" }, { "kernel", "6.1.0-18-amd64" },
		{ "cores", made->cores }, { "memory_kb", "65791232" },
		{ "command", "bitbake core-image-minimal" }, { "cwd", "/srv/build" },
		{ "tool", "bitbake" }, { "version", "2.8.0" }, { "source", "/srv/poky" },
		{ "revision", keep(f, commit) }, { "branch", "master" }, { "dirty", "no" },
		{ "commit_count", keep(f, count) },
	};
	f->n_facts = ARRAY_SIZE(fact);
	f->fact = malloc(sizeof fact);
	if (!f->fact)
		fail("build", "out of memory");
	memcpy(f->fact, fact, sizeof fact);
}

static void set_packages(struct values *f, const struct made *made)
{
	char text[40];

	f->package = malloc((made->tasks / STEPS + 1) * sizeof *f->package);
	if (!f->package)
		fail("build", "out of memory");
	for (size_t i = 0; i < made->tasks; i++) {
		uint32_t task = made->order[i];

		if (task % STEPS)
			continue;
		snprintf(text, sizeof text, "%.*s", (int)strcspn(made->name[task], ":"),
			 made->name[task]);
		f->package[f->n_packages].name = keep(f, text);
		snprintf(text, sizeof text, "1.%u-r0", (unsigned)(task / STEPS % 7));
		f->package[f->n_packages++].version = keep(f, text);
	}
}

static void set_totals(struct values *f)
{
	static const struct { enum total total; enum value_column column; } sums[] = {
		{ TOTAL_WALL_US, COLUMN_WALL_US }, { TOTAL_USER_US, COLUMN_USER_US },
		{ TOTAL_SYSTEM_US, COLUMN_SYSTEM_US }, { TOTAL_READ_BYTES, COLUMN_READ_BYTES },
		{ TOTAL_WRITTEN_BYTES, COLUMN_WRITTEN_BYTES },
	};

	for (int i = 0; i < TOTALS; i++)
		f->total[i] = -1;
	for (size_t s = 0; s < ARRAY_SIZE(sums); s++) {
		f->total[sums[s].total] = 0;
		for (size_t i = 0; i < f->n_tasks; i++)
			f->total[sums[s].total] += f->column[sums[s].column][i];
	}
	f->total[TOTAL_WALL_US] /= SLOTS;
	f->total[TOTAL_MAX_RSS_KB] = 0;
	for (size_t i = 0; i < f->n_tasks; i++) {
		if (f->column[COLUMN_MAX_RSS_KB][i] > f->total[TOTAL_MAX_RSS_KB])
			f->total[TOTAL_MAX_RSS_KB] = f->column[COLUMN_MAX_RSS_KB][i];
	}
	f->total[TOTAL_TASKS] = (int64_t)f->n_tasks;
	f->total[TOTAL_FAILED] = 0;
	f->total[TOTAL_RUNNING_MAX] = SLOTS;
	f->total[TOTAL_STATUS] = 0;
}

static void make_build(struct values *f, const struct made *made, uint64_t build)
{
	struct noise n = noise_of(made, UINT64_MAX - 1, build);
	double host = exp(made->host * noise_normal(&n));

	*f = (struct values){
		.texts = arena_new(), .path = "",
		.start_s = FIRST_BUILD_S + (int64_t)(build / made->repeats) * BUILD_S +
			   (int64_t)(build % made->repeats) * 600,
	};
	f->task = malloc((made->tasks + 1) * sizeof *f->task);
	if (!f->texts || !f->task)
		fail("build", "out of memory");
	for (int c = 0; c < COLUMNS; c++) {
		if (c != COLUMN_PEAK_KB && c != COLUMN_MAJOR_FAULTS && c != COLUMN_INSTRUCTIONS &&
		    !(f->column[c] = malloc((made->tasks + 1) * sizeof **f->column)))
			fail("build", "out of memory");
	}
	for (size_t i = 0; i < made->tasks; i++) {
		uint32_t task = made->order[i];

		if (!is_there(made, task, build))
			continue;
		f->task[f->n_tasks] = (struct values_task){ made->name[task],
							     steps[task % STEPS] };
		measure(f, f->n_tasks++, made, task, build, host);
	}
	set_facts(f, made, build);
	set_packages(f, made);
	set_totals(f);
}

static int add(struct archive *a, const struct made *made, uint64_t build, struct error *err)
{
	char run[32], id[ARCHIVE_ID_SIZE];
	struct values f;
	bool added;
	int r;

	snprintf(run, sizeof run, "made-%llu", (unsigned long long)build);
	make_build(&f, made, build);
	r = archive_add(a, made->series, &(struct archive_build){ .values = &f, .run = run },
			id, &added, err);
	values_release(&f);
	return r;
}

int main(int argc, char **argv)
{
	struct made made = { .tasks = 1000, .builds = 30, .noise = 0.03, .repeats = 1, .cores = "16",
			     .series = "nightly-1/master/x86_64" };
	const char *repo = arguments(&made, argc, argv);
	struct error err = { 0 };
	struct archive *a;
	int r = archive_open(&a, repo, ARCHIVE_WRITE_FAST, &err);

	name_tasks(&made);
	for (uint64_t build = made.first; !r && build < made.builds; build++)
		r = add(a, &made, build, &err);
	archive_close(a);
	free(made.order);
	free(made.name);
	if (r)
		fail(err.path, err.message);
	return 0;
}
