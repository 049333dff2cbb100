/* SPDX-License-Identifier: MIT */
#include "tests/labelled.h"

#include "stats/changepoints.h"
#include "stats/stats.h"
#include "tests/paths.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA TOP_SRCDIR "/../shared/data/changepoints/semi-tuning.jsonl"
#define SERIES_MOST 1000
#define LINE_MOST 8192
#define MARGIN 3
#define CLEAR 4			/* sigmas */
#define APART 13		/* builds between steps */
#define EDGE 8			/* before the first and after the last */

/* The numbers of the list with this key; those of nested lists follow each other. */
static size_t numbers(double *to, size_t most, const char *line, const char *key)
{
	const char *p = strstr(line, key);
	size_t n = 0, depth = 0;

	p = p ? strchr(p, ':') + 1 : "";
	do {
		char *end;
		double v = strtod(p, &end);

		if (end != p && n < most)
			to[n++] = v;
		p = end != p ? end : p + (*p != '\0');
		depth += *p == '[';
		depth -= *p == ']';
	} while (*p && (depth || !n) && *p != '}');
	return n;
}

static struct labelled parse(const char *line)
{
	struct labelled s = { 0 };
	double steps[3 * LABELLED_STEPS];

	s.n = numbers(s.v, LABELLED_LONGEST, line, "\"values\"");
	s.n_steps = numbers(steps, 3 * LABELLED_STEPS, line, "\"steps\"") / 3;
	for (size_t i = 0; i < s.n_steps; i++) {
		s.at[i] = (uint32_t)steps[3 * i];
		s.sigmas[i] = steps[3 * i + 2];
	}
	numbers(&s.sigma, 1, line, "\"sigma\"");
	return s;
}

bool labelled_read(struct labelled_set *set)
{
	static char line[LINE_MOST];
	FILE *f = fopen(DATA, "r");

	*set = (struct labelled_set){ .series = calloc(SERIES_MOST, sizeof *set->series) };
	while (f && set->series && set->n < SERIES_MOST && fgets(line, sizeof line, f))
		set->series[set->n++] = parse(line);
	if (f)
		fclose(f);
	return set->n > 0;
}

void labelled_release(struct labelled_set *set)
{
	free(set->series);
	*set = (struct labelled_set){ 0 };
}

static double median_of(const double *v, size_t n)
{
	double copy[LABELLED_LONGEST];

	memcpy(copy, v, n * sizeof *v);
	return stats_median(copy, n);
}

/* Divides each level by its median. False if a step is too small to know it. */
static bool flatten(double *to, const struct labelled *s)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		if (fabs(s->sigmas[i]) < CLEAR)
			return false;
	}
	for (size_t k = 0; k <= s->n_steps; k++) {
		size_t from = k ? s->at[k - 1] : 0, until = k < s->n_steps ? s->at[k] : s->n;
		double level = median_of(s->v + from, until - from);

		for (size_t i = from; i < until; i++)
			to[i] = s->v[i] / level * 100;
	}
	return true;
}

static void mix_blocks(struct noise *noise, double *to, const double *v, size_t n)
{
	static const size_t sizes[] = { 3, 5, 10 };
	size_t size = sizes[(size_t)(3 * noise_uniform(noise))], blocks = (n + size - 1) / size;
	size_t order[LABELLED_LONGEST], at = 0;

	for (size_t i = 0; i < blocks; i++)
		order[i] = i;
	for (size_t i = blocks; i-- > 1;) {
		size_t k = (size_t)((double)(i + 1) * noise_uniform(noise)), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	for (size_t i = 0; i < blocks; i++) {
		for (size_t k = order[i] * size; k < (order[i] + 1) * size && k < n; k++)
			to[at++] = v[k];
	}
}

static bool choose_places(struct noise *noise, struct labelled *s)
{
	for (size_t i = 0; i < s->n_steps; i++) {
		s->at[i] = EDGE + (uint32_t)((double)(s->n - 2 * EDGE) * noise_uniform(noise));
		if (i && s->at[i] < s->at[i - 1] + APART)
			return false;
	}
	return true;
}

static void plant(struct noise *noise, struct labelled *s)
{
	static const double size[] = { 0.02, 0.05, 0.1, 0.2, 0.5 };
	static const size_t counts[] = { 0, 0, 0, 1, 1, 2, 2, 3 };

	s->n_steps = counts[(size_t)(8 * noise_uniform(noise))];
	while (!choose_places(noise, s))
		;
	for (size_t k = 0; k < s->n_steps; k++) {
		double by = 1 + size[(size_t)(5 * noise_uniform(noise))];

		s->sigmas[k] = log(by) / s->sigma;
		by = noise_uniform(noise) < 0.5 ? by : 1 / by;
		for (size_t i = s->at[k]; i < s->n; i++)
			s->v[i] *= by;
	}
}

void labelled_draw(struct labelled_set *set, const struct labelled_set *from, size_t n,
		   uint64_t seed)
{
	struct noise noise = { seed };

	*set = (struct labelled_set){ .series = calloc(n, sizeof *set->series) };
	while (set->series && set->n < n) {
		size_t which = (size_t)((double)from->n * noise_uniform(&noise));
		const struct labelled *base = &from->series[which];
		struct labelled *s = &set->series[set->n];
		double flat[LABELLED_LONGEST];

		if (!flatten(flat, base))
			continue;
		*s = (struct labelled){ .n = base->n, .sigma = base->sigma };
		mix_blocks(&noise, s->v, flat, s->n);
		plant(&noise, s);
		set->n++;
	}
}

static enum labelled_class class_of(double sigmas)
{
	return sigmas < 1 ? BELOW_1 : sigmas < 3 ? FROM_1 : sigmas < 6 ? FROM_3 : FROM_6;
}

/* The nearest change point that is within the margin and free, or NULL. */
static const struct change *nearest(const struct change *list, size_t n, bool *taken, uint32_t at)
{
	size_t best = n;
	int least = MARGIN + 1;

	for (size_t i = 0; i < n; i++) {
		int away = abs((int)list[i].at - (int)at);

		if (!taken[i] && away < least) {
			least = away;
			best = i;
		}
	}
	if (best == n)
		return NULL;
	taken[best] = true;
	return &list[best];
}

static void add(struct labelled_score *s, const struct labelled *series, const struct change *list,
		size_t n)
{
	bool taken[LABELLED_LONGEST] = { false };
	size_t right = 0;

	for (size_t i = 0; i < series->n_steps; i++) {
		const struct change *c = nearest(list, n, taken, series->at[i]);
		enum labelled_class class = class_of(fabs(series->sigmas[i]));

		s->steps[class]++;
		s->found[class] += c != NULL;
		s->covered += c && c->first <= series->at[i] && series->at[i] <= c->last;
		right += c != NULL;
	}
	s->right += right;
	s->wrong += n - right;
	s->missed += series->n_steps - right;
	s->quiet += !series->n_steps;
	s->wrong_in_quiet += series->n_steps ? 0 : n;
}

int labelled_score(struct labelled_score *s, const struct labelled_set *set)
{
	struct changepoints *points = changepoints_new();
	int r = points ? 0 : -ENOMEM;

	*s = (struct labelled_score){ 0 };
	for (size_t i = 0; !r && i < set->n; i++) {
		const struct change *list;
		size_t n;

		r = changepoints_find(points, &list, &n, set->series[i].v, set->series[i].n, 0.01);
		if (!r)
			add(s, &set->series[i], list, n);
	}
	changepoints_free(points);
	return r;
}

double labelled_f1(const struct labelled_score *s)
{
	return 2.0 * (double)s->right / (double)(2 * s->right + s->wrong + s->missed);
}
