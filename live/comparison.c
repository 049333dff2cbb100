/* SPDX-License-Identifier: MIT */
#include "live/comparison.h"

#include <errno.h>

static int open_side(struct comparison *c, struct catalogue *catalogue, enum diff_side side,
		     const char *id, struct error *err)
{
	struct source *s = &c->source[side];
	int r;

	if (!catalogue_find(catalogue, id))
		return error_say(err, -ENOENT, "no recording '%.200s'; /api/v1/recordings lists all",
				 id);
	r = source_init(s, catalogue, id);
	if (r)
		return error_sys(err, r, id, NULL);
	r = source_update(s, err);
	if (!r)
		r = source_need(s, SOURCE_SUMMARY, err);
	if (!r)
		r = recording_whole(&s->recording, err);
	if (!r && (r = values_make(&c->values[side], &s->recording)))
		error_sys(err, r, id, NULL);
	return r;
}

int comparison_make(struct comparison *c, struct catalogue *catalogue, const char *a, const char *b,
		  const char *filter, struct error *err)
{
	struct diff_options o = { &c->rules, filter };
	int r;

	*c = (struct comparison){ .values = { VALUES_INIT, VALUES_INIT } };
	rules_init(&c->rules);
	c->rules.metrics |= METRIC_BIT(METRIC_PEAK);
	r = open_side(c, catalogue, DIFF_BASE, a, err);
	if (!r)
		r = open_side(c, catalogue, DIFF_NOW, b, err);
	for (int side = 0; !r && side < DIFF_SIDES; side++)
		rules_add_counted(&c->rules, c->values[side].total);
	if (!r && (r = diff_make(&c->diff, &c->values[DIFF_BASE], 1, &c->values[DIFF_NOW], 1, &o)))
		error_sys(err, r, NULL, NULL);
	c->view = (struct diff_view){
		.diff = &c->diff, .sort = DIFF_SORT_CHANGE, .top = 20,
		.sum = { &c->source[DIFF_BASE].summary, &c->source[DIFF_NOW].summary },
	};
	return r;
}

void comparison_release(struct comparison *c)
{
	diff_release(&c->diff);
	for (int i = 0; i < DIFF_SIDES; i++) {
		values_release(&c->values[i]);
		source_release(&c->source[i]);
	}
}
