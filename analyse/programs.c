/* SPDX-License-Identifier: MIT */
#include "analyse/programs.h"

#include "base/saturate.h"
#include "base/sort.h"

#include <stdlib.h>

static bool uses_more(const void *ctx, uint32_t a, uint32_t b)
{
	const struct program *p = ctx, *x = &p[a], *y = &p[b];

	if (x->cpu_us != y->cpu_us)
		return x->cpu_us > y->cpu_us;
	if (x->wall_us != y->wall_us)
		return x->wall_us > y->wall_us;
	return a < b;
}

uint32_t *programs_top(const struct recording *rec, size_t top, size_t *n)
{
	uint32_t *index = malloc((rec->n_programs + 1) * sizeof *index);

	if (!index)
		return NULL;
	for (uint32_t i = 0; i < rec->n_programs; i++)
		index[i] = i;
	*n = sort_top(index, rec->n_programs, top, uses_more, rec->program);
	return index;
}

int64_t programs_unseen_us(const struct summary *s)
{
	int64_t seen_us = 0;
	bool any = false;

	for (size_t i = 0; i < s->rec->n_programs; i++) {
		seen_us = sat_add(seen_us, s->rec->program[i].cpu_us);
		any = any || s->rec->program[i].n_measured;
	}
	if (!any || !s->cpu_exact)
		return -1;
	return s->cpu_us > seen_us ? s->cpu_us - seen_us : 0;
}
