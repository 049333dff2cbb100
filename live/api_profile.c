/* SPDX-License-Identifier: MIT */
#include "analyse/profile_view.h"
#include "convert/convert.h"
#include "live/api_parts.h"
#include "live/route.h"
#include "live/source.h"
#include "report/profile_output.h"

#include <errno.h>
#include <stdlib.h>

/* /api/v1/profile: where time went and what waited, as buildbeat profile --json prints it. */

static void release(void *value)
{
	profile_release(value);
	free(value);
}

int api_profile_of(struct source *s, struct profile **profile, struct error *err)
{
	struct source_kept *to = &s->kept[SOURCE_KEEPS_PROFILE];
	struct profile *p;
	int r = source_need(s, SOURCE_CHAIN, err);

	*profile = to->value;
	if (r || *profile)
		return r;
	p = calloc(1, sizeof *p);
	if (!p)
		return error_sys(err, -ENOMEM, s->id, NULL);
	r = profile_make(p, &s->summary, &s->chain.waits, &s->chain, -1, INT64_MAX, &convert_formats, err);
	if (r) {
		release(p);
		return r;
	}
	*to = (struct source_kept){ p, release };
	*profile = p;
	return 0;
}

static int read_list(struct profile_list *l, const struct query *q, const char *key, bool keys_only,
		     struct error *err)
{
	const char *text = query_text(q, key);
	struct error why = { .message = "" };
	int r = text ? profile_list_parse(l, text, keys_only, &why) : 0;

	return r ? error_set(err, r, NULL, 0, 0, "parameter '%s': %s", key, why.message) : 0;
}

static int read_wish(struct profile_wish *w, const struct query *q, struct error *err)
{
	struct profile_list merged = { .n = 0 };
	int r = read_list(&w->sort, q, "sort", false, err);

	if (!r)
		r = read_list(&merged, q, "merge", true, err);
	w->filter = query_text(q, "filter");
	w->reverse = query_flag(q, "reverse");
	for (size_t i = 0; i < merged.n; i++)
		w->merged |= 1u << merged.column[i];
	if (!query_flag(q, "processes")) {
		w->merged |= 1u << PROFILE_PID;
		return r;
	}
	w->group = (struct profile_list){ 2, { PROFILE_PID, PROFILE_HOST } };
	w->merged &= ~(1u << PROFILE_PID | 1u << PROFILE_HOST);
	return r;
}

static int profile_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct profile_wish wish = { .filter = NULL };
	struct profile_view view = { .p = NULL };
	struct source *s = q->source;
	struct profile *whole, p;
	int64_t top = 0;
	int r = query_number(q->query, "top", 1, 10000, 200, &top, err);

	if (!r)
		r = read_wish(&wish, q->query, err);
	if (!r)
		r = api_profile_of(s, &whole, err);
	if (r)
		return r;
	p = *whole;
	if (!query_flag(q->query, "pairs"))
		p.n_pairs = 0;
	profile_sort_usually(&wish, &p);
	r = profile_view_make(&view, &p, &wish, err);
	if (!r)
		r = profile_json_write(&out->body, &view, s->recording.path ? s->recording.path : s->id,
				       (size_t)top);
	profile_view_release(&view);
	out->keep = true;
	return r;
}

const struct route api_profile_routes[] = {
	{ "/api/v1/profile", "rec, sort, reverse, filter, merge, top, pairs, processes",
	  "Where time went and what waited, by location, as buildbeat profile --json prints it.",
	  profile_reply },
	{ 0 }
};
