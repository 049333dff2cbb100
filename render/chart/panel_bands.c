/* SPDX-License-Identifier: MIT */
#include "render/chart/panel_bands.h"

#include "base/saturate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct panel_plan cpu = {
	.word = "cpu", .title = "CPU", .series = "proc_stat", .unit = AXIS_SHARE,
	.band = {
		{ "user", "user", "programs computing, of all cores",
		  MARK_STACK, false, COLOUR_BLUE, HOW_CORES,
		  .term = { { .name = "user" }, { .name = "nice", .maybe = true } } },
		{ "system", "system", "the kernel at work for them, interrupts included",
		  MARK_STACK, false, COLOUR_ORANGE, HOW_CORES,
		  .term = { { .name = "system" }, { .name = "irq", .maybe = true } } },
		{ "iowait", "I/O wait", "idle, while programs waited for disks",
		  MARK_STACK, false, COLOUR_YELLOW, HOW_CORES, .term = { { .name = "iowait" } } },
		{ "steal", "steal", "taken away by other virtual machines",
		  MARK_STACK, false, COLOUR_RED, HOW_CORES, .term = { { .name = "steal" } } },
	},
};

static const struct panel_plan running = {
	.word = "running", .title = "Running tasks", .unit = AXIS_COUNT,
	.band = {
		{ "tasks", "running tasks", "tasks at once, without those that wait for a build "
		  "of their own", MARK_AREA, false, COLOUR_BLUE, HOW_TASKS,
		  .term = { { .name = NULL } } },
	},
};

static const struct panel_plan memory = {
	.word = "memory", .title = "Memory", .series = "proc_meminfo",
	.unit = AXIS_BYTES, .right_unit = AXIS_BYTES,
	.band = {
		{ "used", "used", "held by programs and the kernel; shared memory and tmpfs "
		  "included", MARK_STACK, false, COLOUR_BLUE, HOW_LEVEL,
		  .term = { { .name = "total" }, { .name = "free", .minus = true },
		      { .name = "cached", .minus = true },
		    { .name = "buffers", .minus = true, .maybe = true },
		    { .name = "slab", .minus = true, .maybe = true },
		      { .name = "shmem", .maybe = true } } },
		{ "cached", "cached files", "contents of files, given up when memory is needed",
		  MARK_STACK, false, COLOUR_SKY, HOW_LEVEL,
		  .term = { { .name = "cached" },
		      { .name = "shmem", .minus = true, .maybe = true } } },
		{ "buffers", "buffers, slab", "the kernel's own caches: blocks of disks, names, "
		  "inodes", MARK_STACK, false, COLOUR_GREY, HOW_LEVEL,
		  .term = { { .name = "buffers", .maybe = true },
		      { .name = "slab", .maybe = true } } },
		{ "available", "available", "what programs could still get without swapping",
		  MARK_LINE, false, COLOUR_GREEN, HOW_LEVEL, .term = { { .name = "available" } } },
		{ "swap", "swap used", "memory moved out to disk",
		  MARK_LINE, false, COLOUR_RED, HOW_LEVEL,
		  .term = { { .name = "swap" } }, .quiet = true },
		{ "tasks", "tasks", "all processes of the running tasks together",
		  MARK_LINE, false, COLOUR_ORANGE, HOW_TASKS, .term = { { .name = NULL } } },
	},
};

static const struct panel_plan disk = {
	.word = "disk", .title = "Disk", .series = "proc_diskstats",
	.unit = AXIS_BYTES_A_SECOND, .right_unit = AXIS_SHARE,
	.band = {
		{ "read", "read", "from all disks", MARK_STACK, false, COLOUR_BLUE, HOW_RATE,
		  .term = { { .name = "*.read" } } },
		{ "written", "written", "to all disks", MARK_STACK, false, COLOUR_ORANGE, HOW_RATE,
		  .term = { { .name = "*.written" } } },
		{ "busy", "busy", "time with requests under way, of the busiest disk at each "
		  "moment", MARK_LINE, true, COLOUR_PURPLE, HOW_BUSIEST,
		  .term = { { .name = "*.busy" } } },
	},
};

static const struct panel_plan net = {
	.word = "net", .title = "Network", .series = "proc_net", .unit = AXIS_BYTES_A_SECOND,
	.band = {
		{ "rx", "received", "through all interfaces", MARK_STACK, false, COLOUR_BLUE,
		  HOW_RATE, .term = { { .name = "*.rx" } }, .quiet = true },
		{ "tx", "sent", "through all interfaces", MARK_STACK, false, COLOUR_ORANGE,
		  HOW_RATE, .term = { { .name = "*.tx" } }, .quiet = true },
	},
};

static const struct panel_plan pressure = {
	.word = "pressure", .title = "Pressure", .series = "proc_pressure", .unit = AXIS_SHARE,
	.band = {
		{ "io_full", "I/O, all", "time in which nothing ran as everything waited for disks",
		  MARK_AREA, false, COLOUR_ORANGE, HOW_SHARE,
		  .term = { { .name = "io.full" } }, .quiet = true },
		{ "memory_full", "memory, all", "time in which nothing ran as everything waited "
		  "for memory", MARK_AREA, false, COLOUR_PURPLE, HOW_SHARE,
		  .term = { { .name = "memory.full" } }, .quiet = true },
		{ "cpu_some", "CPU", "time in which something waited for a core",
		  MARK_LINE, false, COLOUR_BLUE, HOW_SHARE,
		  .term = { { .name = "cpu.some" } }, .quiet = true },
		{ "io_some", "I/O", "time in which something waited for disks",
		  MARK_LINE, false, COLOUR_RED, HOW_SHARE,
		  .term = { { .name = "io.some" } }, .quiet = true },
		{ "memory_some", "memory", "time in which something waited for memory",
		  MARK_LINE, false, COLOUR_GREEN, HOW_SHARE,
		  .term = { { .name = "memory.some" } }, .quiet = true },
	},
};

static const struct panel_plan cgroup = {
	.word = "cgroup", .title = "The build's control group", .series = "proc_cgroup",
	.unit = AXIS_BYTES, .right_unit = AXIS_SHARE,
	.band = {
		{ "memory", "memory", "memory charged to the group, including cached files",
		  MARK_AREA, false, COLOUR_SKY, HOW_LEVEL, .term = { { .name = "memory" } } },
		{ "cpu", "CPU", "time its programs and the kernel computed for it, of all cores",
		  MARK_LINE, true, COLOUR_BLUE, HOW_CORES,
		  .term = { { .name = "user" }, { .name = "system" } } },
		{ "throttled", "throttled", "time its programs were held back by a limit, of all "
		  "cores", MARK_LINE, true, COLOUR_RED, HOW_CORES,
		  .term = { { .name = "throttled" } }, .quiet = true },
	},
};

const struct panel_plan *const panel_plan[PANELS] = {
	[PANEL_CPU] = &cpu, [PANEL_RUNNING] = &running, [PANEL_MEMORY] = &memory,
	[PANEL_DISK] = &disk, [PANEL_NET] = &net, [PANEL_PRESSURE] = &pressure,
	[PANEL_CGROUP] = &cgroup,
};

/* Samples at a time, so that their rows are read from memory once for all bands. */
#define BLOCK 512

/* One column of a band. Sums of values below usual cannot overflow. */
#define PRODUCT_MAX ((int64_t)1 << 50)

struct part {
	uint32_t column;
	bool maybe;
	int64_t scale;		/* base units in one of the recording's; less than 0: taken away */
	uint64_t usual;
};

/* What a band is made from. */
struct source {
	const struct band_plan *plan;
	size_t n_parts;
	struct part *part;
	int64_t *value;
	int64_t total;
};

struct fill {
	const struct series *series;
	const struct recording *rec;
	const struct curve *tasks;
	int64_t cores;
	size_t n;
	uint32_t *pick;		/* the samples that are points */
	int64_t *time_us;	/* of the points */
	double part_of_us[BLOCK];	/* 1 / the time before each of those now filled in */
	size_t n_sources;
	struct source source[PANEL_BANDS_MAX];
};

/* The points */

static bool is_short(const struct series *s, size_t from, size_t to, int64_t least_ms)
{
	return !s->gap[to] && s->time_ms[to] - s->time_ms[from] < least_ms;
}

/*
 * Samples taken out of turn, as the build's last, are too near to another for
 * rates: a tick of 10 ms in 5 ms. The stretch before them is theirs as well.
 * Nothing is left of samples after the first behind the end of the build.
 */
static void pick_samples(struct fill *f, int64_t end_us)
{
	const struct series *s = f->series;
	int64_t least_ms = s->interval_ms / 4;

	for (size_t i = 0; i < s->n; i++) {
		bool last = i + 1 == s->n || s->gap[i + 1] || s->time_ms[i] * 1000 >= end_us;

		if (f->n > 1 && is_short(s, f->pick[f->n - 1], i, least_ms)) {
			if (!last)
				continue;
			if (!s->gap[f->pick[f->n - 1]])
				f->n--;
		}
		f->pick[f->n++] = (uint32_t)i;
		if (s->time_ms[i] * 1000 >= end_us)
			break;
	}
}

/* The parts of a term; false: it must be there, and is not. */
static bool add_parts(struct source *to, const struct recording *rec, const char *series,
		      const struct term *term)
{
	struct column c;
	bool several = term->name[0] == '*';

	if (!column_find(&c, rec, series, term->name))
		return term->maybe;
	for (size_t i = 0; i < c.n_parts; i++) {
		int64_t scale = column_unit_scale(c.series->column[c.part[i]].unit);

		to->part[to->n_parts++] = (struct part){
			.column = c.part[i], .maybe = term->maybe || several,
			.scale = term->minus ? -scale : scale,
			.usual = (uint64_t)(PRODUCT_MAX / scale),
		};
	}
	return true;
}

static int add_source(struct fill *f, const struct recording *rec, const char *series,
		      const struct band_plan *plan)
{
	struct source *to = &f->source[f->n_sources];
	bool there = true;

	*to = (struct source){ .plan = plan };
	to->part = malloc((f->series->n_columns + BAND_TERMS_MAX) * sizeof *to->part);
	if (!to->part)
		return -ENOMEM;
	for (size_t i = 0; there && i < BAND_TERMS_MAX && plan->term[i].name; i++)
		there = add_parts(to, rec, series, &plan->term[i]);
	if (plan->how == HOW_TASKS)
		there = f->tasks->n;
	else
		there = there && to->n_parts;
	if (there)
		f->n_sources++;
	else
		free(to->part);
	return 0;
}

/* The values */

static const int64_t *row(const struct fill *f, size_t point)
{
	return f->series->level + f->pick[point] * f->series->n_columns;
}

/* The same as level(), of columns that may be absent, or as large as numbers can be. */
static int64_t unusual_level(const struct source *of, const int64_t *row)
{
	int64_t plus = 0, minus = 0;
	bool known = false;

	for (size_t k = 0; k < of->n_parts; k++) {
		const struct part *p = &of->part[k];
		int64_t n = row[p->column];

		if (n < 0 && !p->maybe)
			return BAND_ABSENT;
		if (n < 0)
			continue;
		known = true;
		if (p->scale < 0)
			minus = sat_add(minus, sat_mul(n, -p->scale));
		else
			plus = sat_add(plus, sat_mul(n, p->scale));
	}
	return !known ? BAND_ABSENT : plus > minus ? plus - minus : 0;
}

static int64_t level(const struct source *of, const int64_t *row)
{
	int64_t sum = 0;

	for (size_t k = 0; k < of->n_parts; k++) {
		const struct part *p = &of->part[k];

		if ((uint64_t)row[p->column] > p->usual)
			return unusual_level(of, row);
		sum += row[p->column] * p->scale;
	}
	return sum > 0 ? sum : 0;
}

static void fill_levels(const struct fill *f, struct source *to, size_t from, size_t until)
{
	for (size_t i = from; i < until; i++)
		to->value[i] = level(to, row(f, i));
}

/* As growth(), see unusual_level(). */
static int64_t unusual_growth(const struct source *of, const int64_t *a, const int64_t *b)
{
	int64_t sum = -1;

	for (size_t k = 0; k < of->n_parts; k++) {
		const struct part *p = &of->part[k];
		int64_t from = a[p->column], to = b[p->column], n;

		if ((from < 0 || to < 0) && !p->maybe)
			return -1;
		if (from < 0 || to < 0)
			continue;
		n = to > from ? sat_mul(to - from, p->scale) : 0;
		if (sum < 0)
			sum = n;
		else if (of->plan->how != HOW_BUSIEST)
			sum = sat_add(sum, n);
		else if (n > sum)
			sum = n;
	}
	return sum;
}

/* How much the parts grew from one row to the next: together, or the one that grew
 * most. -1: not known. */
static inline int64_t growth(const struct source *of, size_t n_parts, const int64_t *a,
			     const int64_t *b)
{
	int64_t sum = 0;

	for (size_t k = 0; k < n_parts; k++) {
		const struct part *p = &of->part[k];
		int64_t from = a[p->column], to = b[p->column], n;

		if ((from | to) < 0 || (uint64_t)(to - from) > p->usual)
			return unusual_growth(of, a, b);
		n = (to - from) * p->scale;
		if (of->plan->how != HOW_BUSIEST)
			sum += n;
		else if (n > sum)
			sum = n;
	}
	return sum;
}

static int64_t whole(double n)
{
	return n < 9.2e18 ? (int64_t)(n + 0.5) : INT64_MAX;
}

static inline void fill_growth(const struct fill *f, struct source *to, size_t n_parts,
			       size_t from, size_t until)
{
	enum how how = to->plan->how;
	int64_t most = how == HOW_RATE ? INT64_MAX : 10000, total = to->total;
	double all = how == HOW_RATE ? 1e6 : how == HOW_CORES ? 1e4 / (double)f->cores : 1e4;
	const int64_t *before = row(f, from ? from - 1 : 0), *now;
	int64_t *value = to->value;

	for (size_t i = from ? from : 1; i < until; i++, before = now) {
		int64_t n;

		now = row(f, i);
		n = growth(to, n_parts, before, now);
		value[i] = BAND_ABSENT;
		if (n < 0)
			continue;
		total = sat_add(total, n);
		n = whole((double)n * all * f->part_of_us[i - from]);
		value[i] = n < most ? n : most;
	}
	to->total = total;
}

/* The sample of this point, or one skipped since the previous point. */
static void fill_tasks(const struct fill *f, struct source *to)
{
	const struct curve *c = f->tasks;
	size_t at = 0;

	memcpy(to->value, f->time_us, f->n * sizeof *to->value);
	curve_largest_samples(c, f->rec, to->value, f->n);
	for (size_t i = 0; i < f->n; i++) {
		while (at < c->n && c->time_us[at] <= to->value[i])
			at++;
		to->value[i] = sat_mul(at ? c->value[at - 1] : 0, 1024);
	}
}

static void fill_block(const struct fill *f, struct source *to, size_t from, size_t until)
{
	if (to->plan->how == HOW_LEVEL)
		fill_levels(f, to, from, until);
	else if (to->plan->how != HOW_TASKS && to->n_parts == 1)
		fill_growth(f, to, 1, from, until);	/* inlined: faster */
	else if (to->plan->how != HOW_TASKS)
		fill_growth(f, to, to->n_parts, from, until);
}

static void fill_values(struct fill *f)
{
	for (size_t from = 0; from < f->n; from += BLOCK) {
		size_t until = from + BLOCK < f->n ? from + BLOCK : f->n;

		for (size_t i = from ? from : 1; i < until; i++)
			f->part_of_us[i - from] = 1 / (double)(f->time_us[i] - f->time_us[i - 1]);
		for (size_t k = 0; k < f->n_sources; k++)
			fill_block(f, &f->source[k], from, until);
	}
	for (size_t k = 0; k < f->n_sources; k++) {
		if (f->source[k].plan->how == HOW_TASKS)
			fill_tasks(f, &f->source[k]);
		else if (f->source[k].plan->how != HOW_LEVEL)
			f->source[k].value[0] = BAND_ABSENT;
	}
}

/* The panel of it */

static int make_points(struct panel *p, struct fill *f)
{
	p->time_us = malloc(f->n * (1 + f->n_sources) * sizeof *p->time_us);
	p->gap = malloc(f->n * sizeof *p->gap);
	if (!p->time_us || !p->gap)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		p->time_us[i] = f->series->time_ms[f->pick[i]] * 1000;
		p->gap[i] = f->series->gap[f->pick[i]];
	}
	p->n = f->n;
	f->time_us = p->time_us;
	for (size_t k = 0; k < f->n_sources; k++)
		f->source[k].value = p->time_us + (1 + k) * f->n;
	return 0;
}

static void make_bands(struct panel *p, const struct fill *f)
{
	p->n_bands = f->n_sources;
	for (size_t k = 0; k < f->n_sources; k++) {
		const struct band_plan *plan = f->source[k].plan;

		p->band[k] = (struct band){
			.id = plan->id, .label = plan->label, .meaning = plan->meaning,
			.mark = plan->mark, .right = plan->right, .colour = plan->colour,
			.held = plan->how == HOW_TASKS,
			.value = f->source[k].value,
			.total = plan->how == HOW_RATE ? f->source[k].total : -1,
		};
	}
}

static int fill_all(struct panel *p, struct fill *f, const struct panel_plan *plan,
		    const struct summary *s)
{
	int error = 0;

	f->pick = malloc(f->series->n * sizeof *f->pick);
	if (!f->pick)
		return -ENOMEM;
	pick_samples(f, s->wall_us);
	for (size_t k = 0; !error && k < PANEL_BANDS_MAX && plan->band[k].id; k++)
		error = add_source(f, s->rec, plan->series, &plan->band[k]);
	if (error || f->n < 2 || !f->n_sources)
		return error;
	error = make_points(p, f);
	if (error)
		return error;
	fill_values(f);
	make_bands(p, f);
	return 0;
}

int panel_fill(struct panel *p, const struct panel_plan *plan, const struct summary *s,
	       int64_t cores)
{
	struct fill f = {
		.series = recording_series(s->rec, plan->series),
		.rec = s->rec, .tasks = &s->memory_kb, .cores = cores,
	};
	int error;

	if (!f.series || !f.series->n)
		return 0;
	error = fill_all(p, &f, plan, s);
	for (size_t k = 0; k < f.n_sources; k++)
		free(f.source[k].part);
	free(f.pick);
	return error;
}
