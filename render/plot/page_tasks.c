/* SPDX-License-Identifier: MIT */
#include "render/plot/page.h"

#include "analyse/names.h"
#include "base/saturate.h"
#include "base/text.h"
#include "render/chart/axis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which tasks made up the largest memory, and what they had before and after. */

#define APART 7			/* tasks; what the others had is one layer more */
#define NAME_COLUMNS 62

/* The peak has a pane of its own if it would be a line in the whole build. */
#define CLOSE_PART 10
#define CLOSE_TIMES 3		/* of the life of the largest task */

/*
 * As in the plot of the machine above, a sample holds from the previous one on. Where tasks
 * were sampled more often, the one with the largest sum is used.
 */
struct held {
	size_t n;
	const struct series *sample;
	int64_t *at_us;			/* of each sample: when that level was */
};

struct apart {
	struct held held;
	size_t n;
	uint32_t task[APART];	/* the largest first */
	int64_t kb[APART];	/* at the peak */
	struct curve curve[APART];
};

static const enum colour task_colour[APART] = {
	COLOUR_BLUE, COLOUR_ORANGE, COLOUR_GREEN, COLOUR_YELLOW, COLOUR_SKY, COLOUR_RED,
	COLOUR_PURPLE,
};

static void insert(struct apart *a, uint32_t task, int64_t kb)
{
	size_t at = a->n;

	for (; at && a->kb[at - 1] < kb; at--) {
		if (at == APART)
			continue;
		a->task[at] = a->task[at - 1];
		a->kb[at] = a->kb[at - 1];
	}
	if (at == APART)
		return;
	a->task[at] = task;
	a->kb[at] = kb;
	a->n += a->n < APART;
}

static int find_largest(struct apart *a, const struct summary *s)
{
	uint32_t *kb = curve_task_memory_at(s->rec, s->memory_peak_kb.time_us);

	if (!kb)
		return -ENOMEM;
	for (size_t i = 0; i < s->rec->n_tasks; i++) {
		if (kb[i])
			insert(a, (uint32_t)i, kb[i]);
	}
	free(kb);
	return 0;
}

/* Which of those apart it is; a->n: none. */
static size_t which(const struct apart *a, uint32_t task)
{
	size_t i = 0;

	while (i < a->n && a->task[i] != task)
		i++;
	return i;
}

static int fill_curves(struct apart *a, const struct recording *rec)
{
	size_t changes[APART + 1] = { 0 };

	for (size_t i = 0; i < rec->n_memory; i++)
		changes[which(a, rec->memory[i].task)]++;
	for (size_t i = 0; i < a->n; i++) {
		struct curve *c = &a->curve[i];

		c->time_us = malloc((changes[i] + 1) * sizeof *c->time_us);
		c->value = malloc((changes[i] + 1) * sizeof *c->value);
		if (!c->time_us || !c->value)
			return -ENOMEM;
	}
	for (size_t i = 0; i < rec->n_memory; i++) {
		const struct memory_change *m = &rec->memory[i];
		size_t at = which(a, m->task);
		struct curve *c = at < a->n ? &a->curve[at] : NULL;

		if (!c)
			continue;
		c->time_us[c->n] = m->time_ms * 1000;
		c->value[c->n++] = m->kb;
	}
	for (size_t i = 0; i < a->n; i++) {
		struct curve *c = &a->curve[i];
		int64_t end_us = recording_task_end_us(rec, &rec->task[a->task[i]]);

		if (c->n && end_us <= c->time_us[c->n - 1])
			end_us = c->time_us[c->n - 1] + 1;
		c->time_us[c->n] = end_us;
		c->value[c->n++] = 0;
	}
	return 0;
}

static int64_t sample_us(const struct held *h, size_t i)
{
	return h->sample->time_ms[i] * 1000;
}

static int held_make(struct held *h, const struct summary *s)
{
	*h = (struct held){ .sample = recording_series(s->rec, "proc_meminfo") };
	if (!h->sample || !h->sample->n)
		return 0;
	h->n = h->sample->n;
	h->at_us = malloc(h->n * sizeof *h->at_us);
	if (!h->at_us)
		return -ENOMEM;
	for (size_t i = 0; i < h->n; i++)
		h->at_us[i] = sample_us(h, i);
	curve_largest_samples(&s->memory_kb, s->rec, h->at_us, h->n);
	return 0;
}

/* The first sample at or after a time, n when there is none. */
static size_t held_find(const struct held *h, int64_t time_us)
{
	size_t low = 0, high = h->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sample_us(h, middle) < time_us)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t held_level(const struct held *h, const struct curve *c, int64_t time_us)
{
	size_t i = held_find(h, time_us);

	return curve_at(c, i < h->n && !h->sample->gap[i] ? h->at_us[i] : time_us);
}

struct levels {
	int64_t least, mean, most;
};

/* The samples in a stretch; in one without samples, the levels in its middle. */
static struct levels levels_within(const struct held *h, const struct curve *c, int64_t from_us,
				   int64_t until_us)
{
	struct levels l = { INT64_MAX, 0, 0 };
	int64_t n = 0;

	for (size_t i = held_find(h, from_us + 1); i < h->n && sample_us(h, i) <= until_us; i++) {
		int64_t kb = curve_at(c, h->at_us[i]);

		l.least = kb < l.least ? kb : l.least;
		l.most = kb > l.most ? kb : l.most;
		l.mean = sat_add(l.mean, kb);
		n++;
	}
	l.mean = n ? l.mean / n : held_level(h, c, from_us + (until_us - from_us) / 2);
	return n ? l : (struct levels){ l.mean, l.mean, l.mean };
}

static int64_t bytes_within(const struct pane *p, const struct curve *c, const struct held *h,
			    size_t stretch)
{
	int64_t from_us = page_time_us(p, stretch), until_us = page_time_us(p, stretch + 1);

	return sat_mul(p->low ? levels_within(h, c, from_us, until_us).mean :
		       held_level(h, c, from_us + (until_us - from_us) / 2), 1024);
}

static void name_layer(struct layer *l, const struct summary *s, const struct apart *a, size_t i)
{
	const struct recording *rec = s->rec;
	int64_t kb = s->memory_peak_kb.value;
	struct buf name = BUF_INIT, b;

	for (size_t j = 0; j < a->n && i == a->n; j++)
		kb -= a->kb[j];
	if (i < a->n)
		name_add_task(&name, rec, &rec->task[a->task[i]]);
	else
		buf_adds(&name, a->n ? "others" : "all tasks at once");
	buf_init_fixed(&b, l->label, sizeof l->label);
	text_add_name(&b, buf_str(&name), NAME_COLUMNS);
	buf_init_fixed(&b, l->values, sizeof l->values);
	axis_add_value(&b, AXIS_BYTES, sat_mul(i < a->n ? a->kb[i] : kb > 0 ? kb : 0, 1024));
	buf_release(&name);
}

/* The largest task is at the bottom of the stack; all other tasks together are on top. */
static int fill_layers(struct pane *p, const struct summary *s, const struct apart *a,
		       const struct held *h)
{
	for (size_t i = 0; i <= a->n; i++) {
		const struct curve *c = i < a->n ? &a->curve[i] : &s->memory_kb;
		struct layer *l = page_add_layer(p);

		if (!l)
			return -ENOMEM;
		l->mark = MARK_STACK;
		l->rgb = palette_light.colour[i < a->n || !a->n ? task_colour[i] : COLOUR_GREY];
		name_layer(l, s, a, i);
		for (size_t j = 0; j < p->n; j++)
			l->value[j] = bytes_within(p, c, h, j);
	}
	for (size_t j = 0; j < p->n; j++) {
		int64_t *others = &p->layer[a->n].value[j];

		for (size_t i = 0; i < a->n; i++)
			*others -= p->layer[i].value[j];
		*others = *others > 0 ? *others : 0;
	}
	/* before its start a task had nothing */
	for (size_t i = 0; i < a->n; i++) {
		int64_t start_us = s->rec->task[a->task[i]].start_us;

		for (size_t j = 0; j < p->n && page_time_us(p, j + 1) <= start_us; j++)
			p->layer[i].value[j] = 0;
	}
	return 0;
}

/* Where a stretch is longer than the time from sample to sample. */
static int fill_band(struct pane *p, const struct summary *s, const struct held *h)
{
	int64_t stretch_us = (p->until_us - p->from_us) / (int64_t)p->n;
	struct buf b;

	if (s->rec->interval_ms <= 0 || stretch_us <= s->rec->interval_ms * 1000)
		return 0;
	if (page_add_band(p))
		return -ENOMEM;
	for (size_t i = 0; i < p->n; i++) {
		struct levels l = levels_within(h, &s->memory_kb, page_time_us(p, i),
						page_time_us(p, i + 1));

		p->low[i] = sat_mul(l.least, 1024);
		p->high[i] = sat_mul(l.most, 1024);
	}
	buf_init_fixed(&b, p->band_label, sizeof p->band_label);
	buf_adds(&b, "all: least to most within ");
	text_add_time(&b, stretch_us);
	return 0;
}

static int add_pane(struct plot_page *page, const struct summary *s, const struct apart *a,
		    size_t n, const char *title, int64_t from_us, int64_t until_us)
{
	struct pane *p = page_add_pane(page, n, from_us, until_us);
	int64_t peak = sat_mul(s->memory_peak_kb.value, 1024);
	struct buf b;

	p->unit = AXIS_BYTES;
	p->ceiling = axis_ceiling(peak, AXIS_BYTES);
	p->mark_us = s->memory_peak_kb.time_us;
	p->legend_columns = 2;
	buf_init_fixed(&b, p->mark_label, sizeof p->mark_label);
	axis_add_value(&b, AXIS_BYTES, peak);
	buf_adds(&b, " at ");
	text_add_time(&b, p->mark_us);
	buf_init_fixed(&b, p->title, sizeof p->title);
	buf_adds(&b, title);
	return fill_band(p, s, &a->held) || fill_layers(p, s, a, &a->held) ? -ENOMEM : 0;
}

/* False: the whole build shows the peak well. Otherwise [from, until), within the build, is
 * the stretch around it to show. */
static bool close_look(const struct summary *s, const struct apart *a, int64_t *from_us,
		       int64_t *until_us)
{
	const struct task *t = &s->rec->task[a->task[0]];
	int64_t start_us = t->start_us, end_us = recording_task_end_us(s->rec, t);
	int64_t margin_us = (end_us - start_us) * (CLOSE_TIMES - 1) / 2;

	start_us = start_us > margin_us ? start_us - margin_us : 0;
	end_us = s->wall_us - end_us > margin_us ? end_us + margin_us : s->wall_us;
	if (start_us >= end_us || end_us - start_us >= s->wall_us / CLOSE_PART)
		return false;
	*from_us = start_us;
	*until_us = end_us;
	return true;
}

static int add_panes(struct plot_page *page, const struct summary *s, struct apart *a, size_t n)
{
	int64_t from_us = 0, until_us = s->wall_us > 1000 ? s->wall_us : 1000;
	const struct apart none = { .held = a->held };
	size_t before = page->n_panes;

	if (find_largest(a, s) || fill_curves(a, s->rec))
		return -ENOMEM;
	if (a->n && close_look(s, a, &from_us, &until_us) &&
	    add_pane(page, s, &none, n, "Memory of tasks as sampled", 0, s->wall_us))
		return -ENOMEM;
	return add_pane(page, s, a, n, page->n_panes > before ?
			"Around the peak: the tasks of which it was made, and what they had then" :
			"Memory of tasks as sampled: those of the peak, and what they had then",
			from_us, until_us);
}

int page_add_tasks(struct plot_page *page, const struct summary *s, size_t n)
{
	struct apart a = { 0 };
	struct buf b;
	int r;

	if (s->memory_peak_kb.value <= 0) {
		buf_init_fixed(&b, page->note, sizeof page->note);
		buf_adds(&b, "Which tasks made up the peak is not known: their memory over time "
			 "was not recorded.");
		return 0;
	}
	r = held_make(&a.held, s);
	r = r ? r : add_panes(page, s, &a, n);
	for (size_t i = 0; i < APART; i++)
		curve_release(&a.curve[i]);
	free(a.held.at_us);
	return r;
}
