/* SPDX-License-Identifier: MIT */
#include "report/kept_nights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int load(const struct nights *nights, enum metric m, float *values, struct error *err)
{
	struct kept_nights *k = nights->context;
	size_t size = nights->n_tasks * nights->n * sizeof *values;
	int r;

	if (!k->values[m]) {
		k->values[m] = malloc(size + 1);
		if (!k->values[m])
			return error_sys(err, -ENOMEM, NULL, NULL);
		r = k->from->load(k->from, m, k->values[m], err);
		if (r) {
			free(k->values[m]);
			k->values[m] = NULL;
			return r;
		}
	}
	memcpy(values, k->values[m], size);
	return 0;
}

void kept_nights_init(struct kept_nights *k, const struct nights *from)
{
	*k = (struct kept_nights){ .nights = *from, .from = from };
	k->nights.load = load;
	k->nights.end = NULL;
	k->nights.context = k;
}

void kept_nights_release(struct kept_nights *k)
{
	for (int m = 0; m < METRICS; m++)
		free(k->values[m]);
}
