/* SPDX-License-Identifier: MIT */
#include "render/chart/panel_bands.h"

#include "analyse/largest.h"
#include "analyse/used.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/str.h"
#include "base/text.h"
#include "render/chart/bar_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	uint32_t task;		/* of HOW_TASK */
	const struct curve *kb;	/* its memory */
	size_t n_parts;
	struct part *part;
	int64_t *value;
	int64_t total;
};

struct fill {
	const struct series *series;
	const struct recording *rec;
	const struct summary *sum;
	int64_t cores;
	size_t n;
	uint32_t *pick;		/* the samples that are points */
	int64_t *time_us;	/* of the points */
	int64_t *sampled_us;	/* of the tasks' memory that is shown at each point */
	double *used;		/* by the build until each point */
	enum used_source used_source;
	struct largest largest;
	size_t n_volumes;
	uint32_t volume[PANEL_BANDS_MAX];	/* columns, those that grew most first */
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

static void add_part(struct source *to, const struct series *s, uint32_t column,
		     const struct term *term)
{
	int64_t scale = column_unit_scale(s->column[column].unit);

	to->part[to->n_parts++] = (struct part){
		.column = column, .maybe = term->maybe, .scale = term->minus ? -scale : scale,
		.usual = (uint64_t)(PRODUCT_MAX / scale),
	};
}

/* The parts of a term; false: it must be there, and is not. */
static bool add_parts(struct source *to, const struct recording *rec, const char *series,
		      const struct term *term)
{
	struct column c;
	bool several = term->name[0] == '*';

	if (!column_find(&c, rec, series, term->name))
		return term->maybe;
	for (size_t i = 0; i < c.n_parts; i++)
		add_part(to, c.series, c.part[i],
			 &(struct term){ .minus = term->minus, .maybe = term->maybe || several });
	return true;
}

static bool find_source(struct fill *f, struct source *to, const char *series)
{
	const struct band_plan *plan = to->plan;
	bool there = true;
	size_t nth = 0;

	for (size_t i = 0; i < f->n_sources; i++)
		nth += f->source[i].plan->how == plan->how;
	switch (plan->how) {
	case HOW_BUILD_CPU:
	case HOW_BUILD_DISK:
		return true;
	case HOW_TASKS:
		to->kb = &f->sum->memory_kb;
		return to->kb->n;
	case HOW_TASK:
		if (nth >= f->largest.n)
			return false;
		to->task = f->largest.task[nth];
		to->kb = &f->largest.kb[nth];
		return true;
	case HOW_VOLUME:
		if (nth >= f->n_volumes)
			return false;
		add_part(to, f->series, f->volume[nth], &(struct term){ .maybe = true });
		return true;
	default:
		for (size_t i = 0; there && i < BAND_TERMS_MAX && plan->term[i].name; i++)
			there = add_parts(to, f->rec, series, &plan->term[i]);
		return there && to->n_parts;
	}
}

static int add_source(struct fill *f, const char *series, const struct band_plan *plan)
{
	struct source *to = &f->source[f->n_sources];
	bool own = f->used_source != USED_UNKNOWN;

	if ((plan->only == ONLY_OWN && !own) || (plan->only == ONLY_ALL && own))
		return 0;
	*to = (struct source){ .plan = plan, .task = NO_INDEX };
	to->part = array_new(f->series->n_columns + BAND_TERMS_MAX, sizeof *to->part);
	if (!to->part)
		return -ENOMEM;
	if (find_source(f, to, series))
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
	return MAX(sum, 0);
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
		value[i] = MIN(n, most);
	}
	to->total = total;
}

/* Of the sample of each point, or of one skipped since the previous point. */
static void fill_task(const struct fill *f, struct source *to)
{
	const struct curve *c = to->kb;
	size_t at = 0;

	for (size_t i = 0; i < f->n; i++) {
		while (at < c->n && c->time_us[at] <= f->sampled_us[i])
			at++;
		to->value[i] = sat_mul(at ? c->value[at - 1] : 0, 1024);
	}
}

/* All tasks but those that have bands of their own, which come before. */
static void fill_tasks(const struct fill *f, struct source *to)
{
	fill_task(f, to);
	for (const struct source *one = f->source; one < to; one++) {
		for (size_t i = 0; one->plan->how == HOW_TASK && i < f->n; i++)
			to->value[i] -= one->value[i];
	}
}

static double unit_of_us(const struct fill *f, size_t i)
{
	return 1e4 / (double)f->cores / (double)(f->time_us[i] - f->time_us[i - 1]);
}

/*
 * The build uses no more than all processes: what is above that is due to the times of samples and
 * counts in the next stretch that has room for it, otherwise in the last one.
 */
static void fill_build_cpu(const struct fill *f, struct source *to)
{
	int64_t *build = to->value, *rest = to[1].value;
	double over_us = 0, had_us, unit;

	build[0] = BAND_ABSENT;
	if (to + 1 == f->source + f->n_sources) {
		/* a column is missing: nobody knows what all processes used */
		for (size_t i = 1; i < f->n; i++)
			build[i] = BAND_ABSENT;
		return;
	}
	for (size_t i = 1; i < f->n; i++) {
		build[i] = rest[i];
		if (rest[i] == BAND_ABSENT)
			continue;
		unit = unit_of_us(f, i);
		had_us = f->used[i] + over_us;
		over_us = 0;
		if (had_us * unit < (double)rest[i])
			build[i] = whole(had_us * unit);
		else
			over_us = had_us - (double)rest[i] / unit;
		rest[i] -= build[i];
	}
	for (size_t i = f->n; i-- > 1 && over_us > 0; ) {
		unit = unit_of_us(f, i);
		had_us = rest[i] > 0 ? (double)rest[i] / unit : 0;
		had_us = MIN(had_us, over_us);
		if (had_us > 0) {
			int64_t n = whole(had_us * unit);

			build[i] += n;
			rest[i] -= n;
			over_us -= had_us;
		}
	}
}

static void fill_build_disk(const struct fill *f, struct source *to)
{
	to->value[0] = BAND_ABSENT;
	for (size_t i = 1; i < f->n; i++) {
		to->value[i] = whole(f->used[i] * 1e6 / (double)(f->time_us[i] - f->time_us[i - 1]));
		to->total = sat_add(to->total, whole(f->used[i]));
	}
}

static void fill_volume(const struct fill *f, struct source *to)
{
	int64_t least = INT64_MAX;

	fill_levels(f, to, 0, f->n);
	for (size_t i = 0; i < f->n; i++) {
		if (to->value[i] != BAND_ABSENT && to->value[i] < least)
			least = to->value[i];
	}
	for (size_t i = 0; i < f->n; i++)
		to->value[i] -= to->value[i] == BAND_ABSENT ? 0 : least;
}

static bool is_growth(enum how how)
{
	return how == HOW_RATE || how == HOW_SHARE || how == HOW_CORES || how == HOW_BUSIEST;
}

static void fill_block(const struct fill *f, struct source *to, size_t from, size_t until)
{
	if (to->plan->how == HOW_LEVEL)
		fill_levels(f, to, from, until);
	else if (is_growth(to->plan->how) && to->n_parts == 1)
		fill_growth(f, to, 1, from, until);	/* inlined: faster */
	else if (is_growth(to->plan->how))
		fill_growth(f, to, to->n_parts, from, until);
}

static void fill_values(struct fill *f)
{
	for (size_t from = 0; from < f->n; from += BLOCK) {
		size_t until = MIN(from + BLOCK, f->n);

		for (size_t i = from ? from : 1; i < until; i++)
			f->part_of_us[i - from] = 1 / (double)(f->time_us[i] - f->time_us[i - 1]);
		for (size_t k = 0; k < f->n_sources; k++)
			fill_block(f, &f->source[k], from, until);
	}
	for (size_t k = 0; k < f->n_sources; k++) {
		static void (*const fill[])(const struct fill *f, struct source *to) = {
			[HOW_BUILD_CPU] = fill_build_cpu, [HOW_BUILD_DISK] = fill_build_disk,
			[HOW_TASK] = fill_task, [HOW_TASKS] = fill_tasks,
			[HOW_VOLUME] = fill_volume, [HOW_EVENTS] = NULL,
		};
		struct source *to = &f->source[k];

		if (is_growth(to->plan->how))
			to->value[0] = BAND_ABSENT;
		else if (fill[to->plan->how])
			fill[to->plan->how](f, to);
	}
}

/* The panel of it */

static int make_points(struct panel *p, struct fill *f)
{
	p->time_us = array_new(f->n * (1 + PANEL_BANDS_MAX), sizeof *p->time_us);
	p->gap = array_new(f->n, sizeof *p->gap);
	if (!p->time_us || !p->gap)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		p->time_us[i] = f->series->time_ms[f->pick[i]] * 1000;
		p->gap[i] = f->series->gap[f->pick[i]];
	}
	p->n = f->n;
	f->time_us = p->time_us;
	return 0;
}

/* What the build used, where a panel shows it. */

static int find_used(struct fill *f, enum used_what what)
{
	f->used = array_new(f->n, sizeof *f->used);
	return f->used ? used_fill(f->used, &f->used_source, f->sum, what, f->time_us, f->n) :
	       -ENOMEM;
}

static int find_tasks(struct fill *f)
{
	int r;

	if (!f->sum->memory_kb.n)
		return 0;
	f->used_source = USED_TASKS;
	r = largest_make(&f->largest, f->sum);
	f->sampled_us = array_new(f->n, sizeof *f->sampled_us);
	if (r || !f->sampled_us)
		return -ENOMEM;
	memcpy(f->sampled_us, f->time_us, f->n * sizeof *f->sampled_us);
	curve_largest_samples(&f->sum->memory_kb, f->rec, f->sampled_us, f->n);
	return 0;
}

/* How much the most of a column is above its least. */
static int64_t range(const struct series *s, uint32_t column)
{
	int64_t least = INT64_MAX, most = -1;

	for (size_t i = 0; i < s->n; i++) {
		int64_t level = s->level[i * s->n_columns + column];

		if (level < 0)
			continue;
		least = MIN(level, least);
		most = MAX(level, most);
	}
	return most < 0 ? -1 : most - least;
}

static void find_volumes(struct fill *f)
{
	int64_t range_of[PANEL_BANDS_MAX];

	for (uint32_t i = 0; i < f->series->n_columns; i++) {
		int64_t n = range(f->series, i);
		size_t at = f->n_volumes;

		for (; at && range_of[at - 1] < n; at--) {
			if (at == PANEL_BANDS_MAX)
				continue;
			f->volume[at] = f->volume[at - 1];
			range_of[at] = range_of[at - 1];
		}
		if (at == PANEL_BANDS_MAX || n < 0)
			continue;
		f->volume[at] = i;
		range_of[at] = n;
		f->n_volumes += f->n_volumes < PANEL_BANDS_MAX;
	}
}

static int find_own(struct fill *f, enum panel_id id)
{
	switch (id) {
	case PANEL_CPU:
		return find_used(f, USED_CPU);
	case PANEL_DISK:
		return find_used(f, USED_STORAGE);
	case PANEL_MEMORY:
		return find_tasks(f);
	case PANEL_VOLUMES:
		find_volumes(f);
		return 0;
	default:
		return 0;
	}
}

/* The panel of it */

#define LABEL_WIDTH 150		/* pixels */
#define LABEL_SIZE 12
#define VOLUME_COLUMNS 24

static int make_label(struct panel *p, size_t band, const struct fill *f, const struct source *of)
{
	struct buf b = BUF_INIT, name = BUF_PART_OF(&b);
	int r;

	if (of->task != NO_INDEX) {
		bar_name_add_task(&b, f->rec, of->task, LABEL_WIDTH, LABEL_SIZE);
	} else {
		buf_adds(&name, f->series->column[of->part->column].name);
		if (str_ends(buf_str(&name), ".used"))
			buf_cut(&name, name.len - strlen(".used"));
		text_add_name(&b, buf_str(&name), VOLUME_COLUMNS);
	}
	buf_release(&name);
	r = buf_error(&b);
	p->label[band] = r ? NULL : strdup(buf_str(&b));
	p->band[band].label = p->label[band];
	buf_release(&b);
	return p->label[band] ? 0 : -ENOMEM;
}

static int make_bands(struct panel *p, const struct fill *f)
{
	int r = 0;

	p->n_bands = f->n_sources;
	for (size_t k = 0; !r && k < f->n_sources; k++) {
		const struct band_plan *plan = f->source[k].plan;

		p->band[k] = (struct band){
			.id = plan->id, .label = plan->label, .meaning = plan->meaning,
			.mark = plan->mark, .right = plan->right, .colour = plan->colour,
			.task = f->source[k].task,
			.value = f->source[k].value,
			.total = plan->how == HOW_RATE || plan->how == HOW_BUILD_DISK ?
				 f->source[k].total : -1,
		};
		if (!plan->label)
			r = make_label(p, k, f, &f->source[k]);
	}
	return r;
}

static const char *note(const struct fill *f, enum panel_id id)
{
	static const char *const cpu[] = {
		[USED_UNKNOWN] = "this build's part over time was not recorded",
		[USED_GROUP] = "this build: its control group; blank: idle",
		[USED_TASKS] = "this build: its tasks, as sampled; blank: idle",
	};

	return id == PANEL_CPU && f->sum->cpu_us > 0 ? cpu[f->used_source] : NULL;
}

static int fill_all(struct panel *p, struct fill *f, const struct panel_plan *plan)
{
	int error = 0;

	f->pick = array_new(f->series->n, sizeof *f->pick);
	if (!f->pick)
		return -ENOMEM;
	pick_samples(f, f->sum->wall_us);
	if (f->n < 2)
		return 0;
	error = make_points(p, f);
	error = error ? error : find_own(f, p->id);
	for (size_t k = 0; !error && k < PANEL_BANDS_MAX && plan->band[k].id; k++)
		error = add_source(f, plan->series, &plan->band[k]);
	if (error || !f->n_sources)
		return error;
	for (size_t k = 0; k < f->n_sources; k++)
		f->source[k].value = p->time_us + (1 + k) * f->n;
	fill_values(f);
	p->note = note(f, p->id);
	return make_bands(p, f);
}

/* The times at which tasks were sampled, without a value, for the memory of tasks alone. */
static int make_times(struct series *out, const struct summary *s)
{
	const struct recording *rec = s->rec;

	out->time_ms = array_new(rec->n_memory + 2, sizeof *out->time_ms);
	out->gap = calloc(rec->n_memory + 2, sizeof *out->gap);
	if (!out->time_ms || !out->gap)
		return -ENOMEM;
	out->time_ms[out->n++] = 0;
	for (size_t i = 0; i <= rec->n_memory; i++) {
		int64_t ms = i < rec->n_memory ? rec->memory[i].time_ms : s->wall_us / 1000;

		if (ms > out->time_ms[out->n - 1])
			out->time_ms[out->n++] = ms;
	}
	return 0;
}

int panel_fill(struct panel *p, const struct panel_plan *plan, const struct summary *s,
	       int64_t cores)
{
	struct series times = { 0 };
	struct fill f = {
		.series = recording_series(s->rec, plan->series),
		.rec = s->rec, .sum = s, .cores = cores,
	};
	int error = 0;

	if (!f.series && p->id == PANEL_MEMORY && s->memory_kb.n) {
		f.series = &times;
		error = make_times(&times, s);
	}
	if (!error && f.series && f.series->n)
		error = fill_all(p, &f, plan);
	for (size_t k = 0; k < f.n_sources; k++)
		free(f.source[k].part);
	largest_release(&f.largest);
	free_all(times.time_ms, times.gap, f.sampled_us, f.used, f.pick);
	return error;
}
