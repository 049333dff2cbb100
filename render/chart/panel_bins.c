/* SPDX-License-Identifier: MIT */
#include "render/chart/panel.h"

#include "base/saturate.h"

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

/* What is gathered of a bin. */
struct gathered {
	int64_t min, max;
	double sum, time;
};

static inline void gather(struct gathered *g, int64_t value, int64_t span_us)
{
	if (value == BAND_ABSENT)
		return;
	g->min = value < g->min ? value : g->min;
	g->max = value > g->max ? value : g->max;
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
			at = p->time_us[i - 1] < end ? p->time_us[i - 1] : end;
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
