/* SPDX-License-Identifier: MIT */
#include "render/chart/panels.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "render/chart/panel_bands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MAX 4000		/* of the running tasks, two points each */
#define STACK_BLOCK 512
#define WHOLE 100		/* of AXIS_COUNT */
/* An axis does not make more of less. */
#define LEAST_PRESSURE 1000	/* 10 % */
#define LEAST_RATE 1024
#define FAR_MORE 4

static const char note_cores[] = "the number of cores was not recorded: shares of those that "
	"were seen busy at once";

/* Running and waiting tasks: steps, not samples */

struct steps {
	const struct curve *curve;
	size_t at;		/* the next step */
	int64_t value;		/* before it */
};

/* The end of the stretch of one value from now on, `until_us` at most. */
static int64_t stretch_end(const struct steps *s, int64_t until_us)
{
	return s->at < s->curve->n && s->curve->time_us[s->at] < until_us ?
	       s->curve->time_us[s->at] : until_us;
}

static void pass_steps(struct steps *s, int64_t time_us)
{
	for (; s->at < s->curve->n && s->curve->time_us[s->at] <= time_us; s->at++)
		s->value = s->curve->value[s->at];
}

static void add_point(struct panel *p, int64_t until_us, int64_t running, int64_t waiting)
{
	int64_t *r = p->band[0].value, *w = p->band[1].value;

	if (p->n > 1 && r[p->n - 1] == running && w[p->n - 1] == waiting)
		p->n--;
	p->time_us[p->n] = until_us;
	r[p->n] = running;
	w[p->n++] = waiting;
}

/* The sum of value and time until then. */
static int64_t pass_slot(struct steps *s, int64_t from_us, int64_t until_us, int64_t *most,
			 int64_t *most_us)
{
	int64_t sum = 0;

	*most = *most_us = 0;
	for (int64_t from = from_us; from < until_us; ) {
		int64_t until = stretch_end(s, until_us);

		if (s->value > *most) {
			*most = s->value;
			*most_us = 0;
		}
		*most_us += s->value == *most ? until - from : 0;
		sum = sat_add(sum, sat_mul(s->value, until - from));
		pass_steps(s, until);
		from = until;
	}
	return sum;
}

/* A slot as two stretches: the largest number of running tasks for as long as that lasted, then the
 * mean of the rest. */
static void add_slot(struct panel *p, struct steps *s, struct steps *w, int64_t from_us,
		     int64_t until_us)
{
	int64_t most, most_us, unused, sum = pass_slot(s, from_us, until_us, &most, &most_us);
	int64_t waiting = sat_mul(pass_slot(w, from_us, until_us, &unused, &unused), WHOLE) /
			  (until_us - from_us);
	int64_t rest_us = until_us - from_us - most_us;

	add_point(p, from_us + most_us, sat_mul(most, WHOLE), waiting);
	if (rest_us)
		add_point(p, until_us, sat_mul(sum - most * most_us, WHOLE) / rest_us, waiting);
}

static int fill_running(struct panel *p, const struct summary *s, const struct curve *waiting)
{
	const struct band_plan *plan = panel_plan[PANEL_RUNNING]->band;
	struct steps running = { .curve = &s->running }, wait = { .curve = waiting };
	size_t n = s->running.n + waiting->n + 2;
	bool exact = n <= 2 * SLOTS_MAX + 1;

	n = exact ? n : 2 * SLOTS_MAX + 1;
	p->time_us = calloc(3 * n, sizeof *p->time_us);
	p->gap = calloc(n, sizeof *p->gap);
	if (!p->time_us || !p->gap)
		return -ENOMEM;
	for (; p->n_bands < 2; p->n_bands++)
		p->band[p->n_bands] = (struct band){
			.id = plan[p->n_bands].id, .label = plan[p->n_bands].label,
			.meaning = plan[p->n_bands].meaning, .mark = plan[p->n_bands].mark,
			.colour = plan[p->n_bands].colour, .task = NO_INDEX, .held = true,
			.value = p->time_us + (1 + p->n_bands) * n, .total = -1,
		};
	pass_steps(&running, 0);
	pass_steps(&wait, 0);
	p->n = 1;
	for (int64_t from = 0, until; from < s->wall_us; from = until) {
		if (exact) {
			until = stretch_end(&wait, stretch_end(&running, s->wall_us));
			add_point(p, until, sat_mul(running.value, WHOLE), sat_mul(wait.value, WHOLE));
			pass_steps(&running, until);
			pass_steps(&wait, until);
		} else {
			until = from + s->wall_us / SLOTS_MAX + 1;
			until = MIN(until, s->wall_us);
			add_slot(p, &running, &wait, from, until);
		}
	}
	return 0;
}

static int make_running(struct panel *p, const struct summary *s, const struct waits *q)
{
	struct curve waiting = CURVE_INIT;
	int r;

	if (!s->n_ran || s->wall_us <= 0)
		return 0;
	r = wait_curve(&waiting, s, q);
	r = r ? r : fill_running(p, s, &waiting);
	curve_release(&waiting);
	return r;
}

/* Cores */

/* The largest number of cores that were busy at once. */
static int64_t cores_seen(const struct recording *rec)
{
	static const char *const names[] = { "user", "nice", "system", "irq", "iowait", "steal" };
	enum { N = ARRAY_SIZE(names) };
	struct column c[N];
	size_t n = 0;
	int64_t most = 1;

	for (size_t i = 0; i < N; i++)
		n += column_find(&c[n], rec, "proc_stat", names[i]);
	for (size_t i = 1; n && i < c[0].series->n; i++) {
		int64_t span_us = (c[0].series->time_ms[i] - c[0].series->time_ms[i - 1]) * 1000;
		int64_t sum = 0;

		if (span_us < 500000)
			continue;
		for (size_t k = 0; k < n; k++)
			sum = sat_add(sum, column_between(&c[k], i - 1, i));
		most = MAX((sum - 1) / span_us + 1, most);
	}
	return most;
}

/* Values of a band */

static void measure(struct band *b, const struct panel *p, bool gauge)
{
	const int64_t *value = b->value, *time = p->time_us;
	int64_t max = value[0], known_us = 0;
	double sum = 0;
	size_t at = 0;

	for (size_t i = 1; i < p->n; i++) {
		int64_t v = value[i], span_us = time[i] - time[i - 1];

		if (v > max && (gauge || !p->gap[i])) {
			max = v;
			at = i;
		}
		if (v == BAND_ABSENT || p->gap[i])
			continue;
		sum += (double)v * (double)span_us;
		known_us += span_us;
	}
	sum /= (double)known_us;
	b->max = max;
	b->max_us = time[gauge || !at ? at : at - 1];
	b->mean = !known_us ? -1 : sum < 9.2e18 ? (int64_t)(sum + 0.5) : INT64_MAX;
}

static void blank_gaps(struct panel *p)
{
	for (size_t i = 1; i < p->n; i++) {
		for (size_t k = 0; p->gap[i] && k < p->n_bands; k++)
			p->band[k].value[i] = BAND_ABSENT;
	}
}

static bool is_left_out(const struct panel_plan *plan, const struct band *b)
{
	const struct band_plan *of = plan->band;

	while (strcmp(of->id, b->id))
		of++;
	return b->mean < 0 || (of->quiet && b->max <= 0);
}

static void measure_all(struct panel *p, const struct panel_plan *plan)
{
	size_t n = 0;

	for (size_t k = 0; k < p->n_bands; k++) {
		struct band *b = &p->band[k];

		measure(b, p, (b->right ? plan->right_unit : plan->unit) == AXIS_BYTES);
		if (!is_left_out(plan, b))
			p->band[n++] = *b;
	}
	p->n_bands = n;
	blank_gaps(p);
}

/* Band by band, as memory is fastest. */
static int64_t stack_max(const struct panel *p)
{
	int64_t sum[STACK_BLOCK], max = 0;

	for (size_t from = 1; from < p->n; from += STACK_BLOCK) {
		size_t n = MIN(p->n - from, STACK_BLOCK);

		memset(sum, 0, sizeof sum);
		for (size_t k = 0; k < p->n_bands; k++) {
			const int64_t *value = p->band[k].value + from;

			for (size_t i = 0; p->band[k].mark == MARK_STACK && i < n; i++)
				sum[i] = sat_add(sum[i], MAX(value[i], 0));
		}
		for (size_t i = 0; i < n; i++)
			max = MAX(sum[i], max);
	}
	return max;
}

/* Ticks are coarse, and together may come to more than there is. */
static void limit_shares(struct panel *p)
{
	if (stack_max(p) <= 10000)
		return;
	for (size_t i = 1; i < p->n; i++) {
		int64_t sum = 0;

		for (size_t k = 0; k < p->n_bands; k++)
			sum += MAX(p->band[k].value[i], 0);
		for (size_t k = 0; sum > 10000 && k < p->n_bands; k++) {
			if (p->band[k].value[i] > 0)
				p->band[k].value[i] = p->band[k].value[i] * 10000 / sum;
		}
	}
}

/* What a side's bands reach. */
static int64_t highest(const struct panel *p, bool right)
{
	int64_t max = right ? -1 : stack_max(p);

	for (size_t k = 0; k < p->n_bands; k++) {
		if (p->band[k].right == right)
			max = MAX(max, p->band[k].max);
	}
	return max;
}

static struct band *find_band(struct panel *p, const char *id)
{
	for (size_t k = 0; k < p->n_bands; k++) {
		if (!strcmp(p->band[k].id, id))
			return &p->band[k];
	}
	return NULL;
}

/*
 * What is far more than the rest has an axis of its own, up to `most` at least: otherwise the rest
 * would be too small to see.
 */
static void part_axes(struct panel *p, const char *id, int64_t most)
{
	struct band *b = find_band(p, id);
	int64_t left;

	if (!b)
		return;
	b->right = true;
	left = highest(p, false);
	left = MAX(left, p->id == PANEL_RUNNING ? p->limit : 0);
	if (!left || MAX(b->max, most) / FAR_MORE < left)
		b->right = false;
}

static void set_axes(struct panel *p)
{
	int64_t left, right;

	if (p->id == PANEL_MEMORY)
		part_axes(p, "used", p->limit);
	else if (p->id == PANEL_MACHINE)
		part_axes(p, "available", p->limit);
	else if (p->id == PANEL_RUNNING)
		part_axes(p, "waiting", 0);
	left = highest(p, false);
	right = highest(p, true);
	if (p->id == PANEL_RUNNING || p->limit / FAR_MORE < left)
		left = MAX(left, p->limit);
	else
		right = right < 0 ? right : MAX(right, p->limit);
	if (p->id == PANEL_PRESSURE)
		left = MAX(left, LEAST_PRESSURE);
	if (p->unit == AXIS_BYTES_A_SECOND)
		left = MAX(left, LEAST_RATE);
	p->ceiling = p->id == PANEL_CPU ? 10000 : axis_ceiling(left, p->unit);
	if (right >= 0)
		p->right_ceiling = p->right_unit == AXIS_SHARE ? 10000 :
				   axis_ceiling(right, p->right_unit);
}

static int make_panel(struct panel *p, enum panel_id id, const struct summary *s,
		      const struct waits *q, int64_t cores)
{
	const struct panel_plan *plan = panel_plan[id];
	int error;

	*p = (struct panel){
		.id = id, .word = plan->word, .title = plan->title,
		.unit = plan->unit, .right_unit = plan->right_unit,
	};
	error = plan->series ? panel_fill(p, plan, s, cores) : make_running(p, s, q);
	if (error)
		return error;
	if (id == PANEL_CPU)
		limit_shares(p);
	measure_all(p, plan);
	p->limit = -1;
	if (id == PANEL_RUNNING && s->cores > 0) {
		p->limit = sat_mul(s->cores, WHOLE);
		p->limit_label = "cores";
	} else if ((id == PANEL_MEMORY || id == PANEL_MACHINE) && s->host.memory_total_bytes > 0) {
		p->limit = s->host.memory_total_bytes;
		p->limit_label = "all memory";
	} else if (id == PANEL_DISK) {
		p->note = s->rec->source.disk_note;
	}
	if ((id == PANEL_CPU || id == PANEL_CGROUP) && !s->rec->source.one_core && s->cores < 1)
		p->note = note_cores;
	set_axes(p);
	return 0;
}

static void release_panel(struct panel *p)
{
	for (size_t k = 0; k < PANEL_BANDS_MAX; k++)
		free(p->label[k]);
	free(p->time_us);
	free(p->gap);
}

int panels_make(struct panels *p, const struct summary *s)
{
	int64_t cores = s->rec->source.one_core ? 1 : s->cores > 0 ? s->cores : cores_seen(s->rec);
	int r;

	p->n = 0;
	r = chain_make(&p->chain, s);
	for (unsigned id = 0; !r && id < PANELS; id++) {
		r = make_panel(&p->panel[p->n], (enum panel_id)id, s, &p->chain.waits, cores);
		if (r || !p->panel[p->n].n_bands)
			release_panel(&p->panel[p->n]);
		else
			p->n++;
	}
	return r;
}

void panels_release(struct panels *p)
{
	for (size_t i = 0; i < p->n; i++)
		release_panel(&p->panel[i]);
	p->n = 0;
	chain_release(&p->chain);
}

const struct panel *panels_find(const struct panels *p, enum panel_id id)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->panel[i].id == id)
			return &p->panel[i];
	}
	return NULL;
}

/* Bands that are added up. */
struct sum {
	size_t n;
	const int64_t *value[PANEL_BANDS_MAX];
};

static inline int64_t sum_at(const struct sum *s, size_t point)
{
	int64_t sum = s->value[0][point];

	for (size_t k = 1; k < s->n; k++) {
		int64_t n = s->value[k][point];

		if (n != BAND_ABSENT)
			sum = sum == BAND_ABSENT ? n : sat_add(sum, n);
	}
	return sum;
}

/* The sums of a bin. */
struct gathered {
	int64_t min, max;
	double sum, time;
};

static inline void gather(struct gathered *g, int64_t value, int64_t span_us)
{
	if (value == BAND_ABSENT)
		return;
	g->min = MIN(value, g->min);
	g->max = MAX(value, g->max);
	g->sum += (double)value * (double)span_us;
	g->time += (double)span_us;
}

static struct bin bin_of(const struct gathered *g)
{
	double mean = g->time > 0 ? g->sum / g->time : 0;

	if (g->max == BAND_ABSENT)
		return (struct bin){ BAND_ABSENT, BAND_ABSENT, BAND_ABSENT };
	if (g->time <= 0)
		return (struct bin){ g->min, g->min, g->max };
	return (struct bin){ g->min, mean < 9.2e18 ? (int64_t)(mean + 0.5) : INT64_MAX, g->max };
}

/* The end of a bin; a bin may be empty where there are fewer microseconds than bins. */
static int64_t bin_end(int64_t from_us, int64_t span_us, size_t i, size_t n)
{
	return from_us + (int64_t)((__int128)span_us * (int64_t)(i + 1) / (int64_t)n);
}

static inline void walk(const struct panel *p, const struct sum *s, int64_t from_us,
			int64_t until_us, struct bin *bin, size_t n)
{
	int64_t span_us = until_us > from_us ? until_us - from_us : 0, at = from_us;
	size_t i = curve_first_after(p->time_us, 1, p->n, from_us);

	for (size_t k = 0; k < n; k++) {
		struct gathered g = { INT64_MAX, BAND_ABSENT, 0, 0 };
		int64_t end = bin_end(from_us, span_us, k, n);
		bool empty = at == end;

		if (i < p->n && at < p->time_us[i - 1])
			at = MIN(p->time_us[i - 1], end);
		for (; i < p->n && p->time_us[i] <= end; i++) {
			gather(&g, sum_at(s, i), p->time_us[i] - at);
			at = p->time_us[i];
		}
		if (i < p->n && p->time_us[i - 1] <= at && (at < end || empty))
			gather(&g, sum_at(s, i), end - at);
		at = end;
		bin[k] = bin_of(&g);
	}
}

void panel_bins(const struct panel *p, size_t band, int64_t from_us, int64_t until_us,
		struct bin *bin, size_t n)
{
	struct sum s = { 1, { p->band[band].value } };

	walk(p, &s, from_us, until_us, bin, n);
}

void panel_stack_bins(const struct panel *p, int64_t from_us, int64_t until_us,
		      struct bin *bin, size_t n)
{
	struct sum s = { 0 };

	for (size_t k = 0; k < p->n_bands; k++) {
		if (p->band[k].mark == MARK_STACK)
			s.value[s.n++] = p->band[k].value;
	}
	for (size_t i = 0; !s.n && i < n; i++)
		bin[i] = (struct bin){ BAND_ABSENT, BAND_ABSENT, BAND_ABSENT };
	if (s.n)
		walk(p, &s, from_us, until_us, bin, n);
}
