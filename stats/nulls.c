/* SPDX-License-Identifier: MIT */
#include "stats/nulls.h"

#include <math.h>

#define FEWEST 1000		/* values that say more than the bound */
#define TAIL 0.01		/* the part of the values that is modelled, more if they are few */
#define TAIL_MOST 0.05
#define TAIL_COUNT 100
#define PRIOR 20		/* values with an excess of 1, as the bound says */
#define LEAST_EXCESS 0.8
#define SURE 1			/* standard errors that are added to the excess */
#define ALIKE 5			/* values in the tail that are one event, about */

void nulls_fade(struct nulls *t)
{
	t->n *= 0.5;
	for (size_t i = 0; i < NULLS_BINS; i++)
		t->bin[i] *= 0.5;
}

void nulls_finish(struct nulls *t)
{
	size_t from = NULLS_BINS - 1;
	double above = 0, sum = 0, tail = fmax(TAIL * t->n, fmin(TAIL_MOST * t->n, TAIL_COUNT));

	for (size_t i = NULLS_BINS; i-- > 0; )
		t->above[i] = above += t->bin[i];
	while (from > 0 && t->above[from - 1] <= tail)
		from--;
	for (size_t i = from; i < NULLS_BINS; i++) {
		sum += t->above[i] * NULLS_STEP;
		if (t->bin[i] > 0)
			t->most = (double)(i + 1) * NULLS_STEP;
	}
	t->from = (double)from * NULLS_STEP;
	t->share = t->n > 0 ? t->above[from] / t->n : 1;
	t->excess = (sum + PRIOR) / (t->above[from] + PRIOR);
	t->excess *= 1 + SURE / sqrt((PRIOR + t->above[from]) / ALIKE);
	t->excess = fmax(t->excess, LEAST_EXCESS);
}

double nulls_p(const struct nulls *t, double v)
{
	size_t bin = !(v > 0) ? 0 : v < (NULLS_BINS - 1) * NULLS_STEP ? (size_t)(v / NULLS_STEP) :
		NULLS_BINS - 1;
	double n = t->n, p;

	if (!(v > 0))
		return 1;
	if (t->n < FEWEST)
		return fmin(1, fmax(exp(-v), t->above[bin] / (n + FEWEST)));
	if (v <= t->from)
		return t->above[bin] / n;
	p = t->share * exp(-(v - t->from) / t->excess);
	if (t->above[bin] > 0)
		return fmax(p, t->above[bin] / n);
	return fmax(p, exp(-(v - t->most) / t->excess) / n);
}
