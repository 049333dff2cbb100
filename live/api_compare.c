/* SPDX-License-Identifier: MIT */
#include "live/comparison.h"
#include "live/parameters.h"
#include "live/route.h"
#include "report/diff_output.h"

#define TOP_MAX 100000

/* /api/v1/compare: two recordings, as buildbeat diff --json prints them. */
static int compare_reply(struct reply *out, const struct request *q, struct error *err)
{
	const char *a, *b;
	struct comparison c;
	int64_t top = 0;
	int sort = 0, r = query_number(q->query, "top", 1, TOP_MAX, 20, &top, err);

	if (!r)
		r = parameter_word(q->query, "sort", diff_sort_word, DIFF_SORT_CHANGE, &sort, err);
	if (!r)
		r = parameter_needed(q->query, "a", &a, err);
	if (!r)
		r = parameter_needed(q->query, "b", &b, err);
	if (r)
		return r;
	r = comparison_make(&c, q->source->catalogue, a, b, query_text(q->query, "filter"), err);
	c.view.top = (size_t)top;
	c.view.sort = (enum diff_sort)sort;
	c.view.all = query_flag(q->query, "all");
	c.view.reverse = query_flag(q->query, "reverse");
	c.view.brief = !query_flag(q->query, "tasks");
	out->keep = !c.source[DIFF_BASE].running && !c.source[DIFF_NOW].running;
	if (!r)
		r = diff_json(&out->body, &c.view);
	comparison_release(&c);
	return r;
}

const struct route api_compare_routes[] = {
	{ "/api/v1/compare", "a, b, filter, sort, reverse, all, top, tasks",
	  "What differs between two recordings, as buildbeat diff --json prints it.", compare_reply },
	{ 0 }
};
