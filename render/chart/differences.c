/* SPDX-License-Identifier: MIT */
#include "render/chart/differences.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/saturate.h"
#include "base/sort.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PARTS 200		/* of the longer build: less does not count ... */
#define LEAST_MOST_US 2000000	/* ... and this always does */

struct making {
	struct differences *d;
	const struct summary *s;
	const struct chart_other *other;
	uint32_t *there;	/* of each of our tasks in order: its place in the other order */
	uint32_t *here;		/* the reverse */
	int64_t *change_us;	/* of both: ours, then those that ran there only */
	uint32_t *all;		/* ours by place; s->n_ran + place: there only */
	size_t n_all;
};

static int64_t wall_us(const struct summary *s, size_t place)
{
	const struct task *t = &s->rec->task[s->order[place]];
	int64_t end_us = recording_task_end_us(s->rec, t);

	return end_us > t->start_us ? end_us - t->start_us : 0;
}

/* Places of the pairs in both orders. */
static int find_places(struct making *m)
{
	const struct summary *there = m->other->sum;
	uint32_t *place = array_new(there->rec->n_tasks, sizeof *place);

	m->there = array_new(m->s->n_ran, sizeof *m->there);
	m->here = array_new(there->n_ran, sizeof *m->here);
	if (!place || !m->there || !m->here) {
		free(place);
		return -ENOMEM;
	}
	memset(place, 0xff, there->rec->n_tasks * sizeof *place);
	memset(m->here, 0xff, there->n_ran * sizeof *m->here);
	for (size_t i = 0; i < there->n_ran; i++)
		place[there->order[i]] = (uint32_t)i;
	for (size_t i = 0; i < m->s->n_ran; i++) {
		uint32_t same = m->other->same[m->s->order[i]];

		m->there[i] = same == NO_INDEX ? NO_INDEX : place[same];
		if (m->there[i] != NO_INDEX)
			m->here[m->there[i]] = (uint32_t)i;
	}
	free(place);
	return 0;
}

static int find_changes(struct making *m)
{
	const struct summary *there = m->other->sum;
	size_t n = m->s->n_ran + there->n_ran;

	m->change_us = array_new(n, sizeof *m->change_us);
	m->all = array_new(n, sizeof *m->all);
	if (!m->change_us || !m->all)
		return -ENOMEM;
	for (size_t i = 0; i < m->s->n_ran; i++) {
		m->change_us[i] = wall_us(m->s, i);
		if (m->there[i] != NO_INDEX)
			m->change_us[i] -= wall_us(there, m->there[i]);
		m->all[m->n_all++] = (uint32_t)i;
	}
	for (size_t i = 0; i < there->n_ran; i++) {
		m->change_us[m->s->n_ran + i] = -wall_us(there, i);
		if (m->here[i] == NO_INDEX)
			m->all[m->n_all++] = (uint32_t)(m->s->n_ran + i);
	}
	return 0;
}

/* What differs in a pair; `much` must be known. */
static enum difference class_of(const struct making *m, uint32_t here)
{
	uint32_t there = m->there[here];
	int64_t change_us = m->change_us[here], ours_us = wall_us(m->s, here);
	double longer;

	if (there == NO_INDEX)
		return DIFFERENCE_ONLY;
	longer = (double)(change_us > 0 ? ours_us : ours_us - change_us);
	if (llabs(change_us) < m->d->least_us ||
	    fabs((double)change_us) < DIFFERENCES_SHARE * longer)
		return DIFFERENCE_NONE;
	return difference_of((double)change_us, m->d->much_us);
}

static void set_thresholds(struct making *m)
{
	int64_t longer_us = MAX(m->s->wall_us, m->other->sum->wall_us);
	int64_t most_us = 0;

	m->d->least_us = MIN(longer_us / LEAST_PARTS, LEAST_MOST_US);
	for (size_t i = 0; i < m->s->n_ran; i++) {
		if (m->there[i] != NO_INDEX && llabs(m->change_us[i]) > most_us)
			most_us = llabs(m->change_us[i]);
	}
	m->d->much_us = difference_much((double)most_us);
}

static int set_classes(struct making *m)
{
	struct differences *d = m->d;
	const struct summary *there = m->other->sum;

	d->here = malloc(m->s->n_ran + 1);
	d->there = malloc(there->n_ran + 1);
	if (!d->here || !d->there)
		return -ENOMEM;
	for (size_t i = 0; i < m->s->n_ran; i++)
		d->here[i] = (uint8_t)class_of(m, (uint32_t)i);
	for (size_t i = 0; i < there->n_ran; i++)
		d->there[i] = m->here[i] == NO_INDEX ? DIFFERENCE_ONLY : d->here[m->here[i]];
	return 0;
}

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct making *m = ctx;
	int64_t x = llabs(m->change_us[a]), y = llabs(m->change_us[b]);

	return x != y ? x > y : a < b;
}

static void rank(struct making *m)
{
	struct differences *d = m->d;
	size_t n = sort_top(m->all, m->n_all, DIFFERENCES_TOP, before, m);

	while (d->n_top < n && m->change_us[m->all[d->n_top]]) {
		uint32_t at = m->all[d->n_top];
		bool ours = at < m->s->n_ran;

		d->top[d->n_top++] = (struct differences_task){
			.here = ours ? at : NO_INDEX,
			.there = ours ? m->there[at] : at - (uint32_t)m->s->n_ran,
			.change_us = m->change_us[at],
		};
	}
}

/* Words of the legend */

void differences_add_words(struct buf *b, const struct differences *d, enum difference of)
{
	static const char *const words[DIFFERENCES] = {
		"faster by ", "faster", "differs by less than ", "slower", "slower by ",
		"in one build only",
	};

	buf_adds(b, words[of]);
	if (of == DIFFERENCE_NONE) {
		text_add_time(b, d->least_us);
		buf_addf(b, " or %.0f %%", 100 * DIFFERENCES_SHARE);
	} else if (of == DIFFERENCE_MUCH_LESS || of == DIFFERENCE_MUCH_MORE) {
		difference_add_time(b, d->much_us);
		buf_adds(b, " or more");
	}
}

/* Those that occur, in the order of the scale: the sums are of differences. */
static int make_shades(struct works *w, const struct differences *d, const uint8_t *of, size_t n,
		       const int64_t *change_us)
{
	uint8_t place[DIFFERENCES] = { 0 };
	struct buf text = BUF_INIT;
	bool used[DIFFERENCES] = { false };

	*w = (struct works){ .of = array_new_zero(n, 1), .names = arena_new() };
	if (!w->of || !w->names)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		used[of[i]] = true;
	for (enum difference i = 0; i < DIFFERENCES; i++) {
		if (!used[i])
			continue;
		buf_clear(&text);
		differences_add_words(&text, d, i);
		place[i] = (uint8_t)w->n;
		w->work[w->n++] = (struct work){
			.name = arena_text(w->names, buf_str(&text), text.len),
			.colour = difference_colour[i],
		};
		if (buf_error(&text) || !w->work[w->n - 1].name) {
			buf_release(&text);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct work *work = &w->work[w->of[i] = place[of[i]]];

		work->n_tasks++;
		work->wall_us = sat_add(work->wall_us, llabs(change_us[i]));
	}
	w->n_coloured = w->n;
	buf_release(&text);
	return 0;
}

int differences_make(struct differences *d, const struct summary *s, const struct chart_other *other)
{
	struct making m = { .d = d, .s = s, .other = other };
	int r;

	*d = (struct differences){ 0 };
	r = find_places(&m);
	r = r ? r : find_changes(&m);
	if (!r)
		set_thresholds(&m);
	r = r ? r : set_classes(&m);
	r = r ? r : make_shades(&d->shades, d, d->here, s->n_ran, m.change_us);
	r = r ? r : make_shades(&d->other_shades, d, d->there, other->sum->n_ran,
				m.change_us + s->n_ran);
	if (!r)
		rank(&m);
	free_all(m.there, m.here, m.change_us, m.all);
	return r;
}

void differences_release(struct differences *d)
{
	free_all(d->here, d->there);
	works_release(&d->shades);
	works_release(&d->other_shades);
}
