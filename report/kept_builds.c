/* SPDX-License-Identifier: MIT */
#include "report/kept_builds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int load(const struct builds *builds, enum metric m, float *values, struct error *err)
{
	struct kept_builds *k = builds->context;
	size_t size = builds->n_tasks * builds->n * sizeof *values;
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

static int load_row(const struct builds *builds, uint32_t build, enum metric m, float *values,
		    struct error *err)
{
	const struct kept_builds *k = builds->context;

	if (!k->values[m])
		return k->from->row(k->from, build, m, values, err);
	for (size_t task = 0; task < builds->n_tasks; task++)
		values[task] = k->values[m][task * builds->n + build];
	return 0;
}

static int spread(const struct builds *builds, uint32_t build, enum metric m, float *values,
		  struct error *err)
{
	const struct kept_builds *k = builds->context;

	return k->from->spread(k->from, build, m, values, err);
}

void kept_builds_init(struct kept_builds *k, const struct builds *from)
{
	*k = (struct kept_builds){ .builds = *from, .from = from };
	k->builds.load = load;
	k->builds.row = load_row;
	k->builds.spread = from->spread ? spread : NULL;
	k->builds.ran = NULL;
	k->builds.packages = NULL;
	k->builds.join = NULL;
	k->builds.end = NULL;
	k->builds.context = k;
}

void kept_builds_release(struct kept_builds *k)
{
	for (int m = 0; m < METRICS; m++)
		free(k->values[m]);
}
