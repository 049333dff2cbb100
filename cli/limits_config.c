/* SPDX-License-Identifier: MIT */
#include "cli/limits_config.h"

#include "base/array.h"
#include "report/amount.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The limits of some tasks. The value of a missing key is NaN. */
struct limits_config_item {
	const char *pattern;	/* the first member: OPTION_NAMED */
	struct amount most[METRICS];
};

#define OPTIONS struct limits_config_item
#define LIMIT(metric, word) { OPT_KEY(OPTION_AMOUNT, struct amount, word, most[metric]) }

static const struct option limit_keys[] = {
	LIMIT(METRIC_WALL, "wall"),
	LIMIT(METRIC_CPU, "cpu"),
	LIMIT(METRIC_MEMORY, "memory"),
	LIMIT(METRIC_PEAK, "peak"),
	LIMIT(METRIC_IO, "io"),
	LIMIT(METRIC_READ, "read"),
	LIMIT(METRIC_WRITTEN, "written"),
	LIMIT(METRIC_INSTRUCTIONS, "instructions"),
	{ 0 }
};

_Static_assert(ARRAY_SIZE(limit_keys) == METRICS + 1, "a key for each metric");

static void *add(void *list)
{
	struct limits_config *c = list;
	struct limits_config_item *item = array_add(&c->item, &c->n, sizeof *item);

	if (!item)
		return NULL;
	*item = (struct limits_config_item){ 0 };
	for (enum metric m = 0; m < METRICS; m++)
		item->most[m].value = NAN;
	return item;
}

static int check(void *values, struct error *err)
{
	const struct limits_config_item *item = values;
	size_t limits = 0;
	double most;

	for (enum metric m = 0; m < METRICS; m++) {
		if (isnan(item->most[m].value))
			continue;
		if (!amount_in(&most, &item->most[m], metric_info[m].unit))
			return error_say(err, -EINVAL, "%s: expected an amount with a unit, such "
					 "as %s", metric_word[m], metric_info[m].unit == UNIT_US ?
					 "90s or 30min" : metric_info[m].unit == UNIT_COUNT ?
					 "20000000000, which has none" : "512MiB or 4GiB");
		limits++;
	}
	if (!*item->pattern)
		return error_say(err, -EINVAL, "expected 'build' or a pattern of task names, not "
				 "an empty text");
	return limits ? 0 : error_say(err, -EINVAL, "expected the limit of a metric, such as "
				      "memory: 4GiB");
}

const struct option_map limits_config_map = { limit_keys, add, check };

int limits_config_done(struct limits_config *c)
{
	c->made = calloc(c->n * METRICS + 1, sizeof *c->made);
	if (!c->made)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		const struct limits_config_item *item = &c->item[i];

		for (enum metric m = 0; m < METRICS; m++) {
			struct limit *l = &c->made[c->limits.n];

			if (isnan(item->most[m].value))
				continue;
			l->pattern = strcmp(item->pattern, "build") ? item->pattern : "";
			l->metric = m;
			c->limits.n += amount_in(&l->most, &item->most[m], metric_info[m].unit);
		}
	}
	c->limits.limit = c->made;
	return 0;
}

void limits_config_release(struct limits_config *c)
{
	free_all(c->item, c->made);
	*c = (struct limits_config){ 0 };
}
