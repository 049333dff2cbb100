/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/json.h"
#include "compare/pairs.h"
#include "live/route.h"
#include "live/source.h"
#include "recording/suspended.h"
#include "render/chart/pack_chart.h"
#include "report/diff_view.h"

#include <stdio.h>
#include <string.h>

/*
 * /api/v1/chart: the data of the bootchart's page. While a build runs they are made anew for requests
 * after it grew, but making them takes at most one part in REST of the time.
 */

#define REST 10
#define CLOCKS_APART_US 10000000	/* the wall clock may have been set */

/* The data that were made last. A reader replies about one recording. */
static struct {
	char id[256], with[256];	/* of the recording, and that to compare with or "" */
	uint64_t generation;
	bool running;
	int64_t made_ns, took_ns;	/* when, which is their name too; and for how long */
	struct buf text;
} kept;

static bool is_of(const struct source *s, const char *with)
{
	return kept.made_ns && !strcmp(kept.id, s->id) && !strcmp(kept.with, with);
}

/* Is what is kept good enough? */
static bool is_fresh(const struct source *s, const char *with)
{
	if (!is_of(s, with) || kept.running != s->running)
		return false;
	return kept.generation == s->generation ||
	       (s->running && clock_mono_ns() - kept.made_ns < REST * kept.took_ns);
}

static int draw(struct buf *out, const struct source *s, const struct chart_other *other,
		struct error *err)
{
	struct panels panels = { 0 };
	struct chart_input in = {
		.sum = &s->summary, .panels = &panels, .other = other, .by = LANES_WORKER,
		.served = true, .running = s->running,
	};
	struct chart chart = { 0 };
	int r = panels_make(&panels, &s->summary);

	r = r ? r : chart_make(&chart, &in);
	r = r ? r : pack_chart(out, &chart);
	chart_release(&chart);
	panels_release(&panels);
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

static int draw_compared(struct buf *out, struct source *s, const char *with, struct error *err)
{
	struct buf words = BUF_INIT;
	struct pairs pairs = { 0 };
	struct source there;
	int r = catalogue_find(s->catalogue, with) ? 0 : catalogue_update(s->catalogue, err);

	if (r)
		return r;
	if (!catalogue_find(s->catalogue, with))
		return error_say(err, -ENOENT, "there is no recording '%.200s' to compare with",
				 with);
	r = source_init(&there, s->catalogue, with);
	r = r ? error_sys(err, r, NULL, NULL) : source_update(&there, err);
	r = r ? r : source_need(&there, SOURCE_SUMMARY, err);
	if (!r && (r = pairs_make(&pairs, &there.summary, &s->summary)))
		error_sys(err, r, with, NULL);
	if (!r) {
		diff_add_warning(&words, &pairs.diff);
		r = draw(out, s, &(struct chart_other){
			.sum = &there.summary, .same = pairs.same, .n_same = pairs.n_same,
			.n_only_here = pairs.n_only_now, .n_only_there = pairs.n_only_base,
			.warning = words.len ? buf_str(&words) : NULL,
		}, err);
	}
	pairs_release(&pairs);
	buf_release(&words);
	source_release(&there);
	return r;
}

static int make_data(struct source *s, const char *with, struct error *err)
{
	int64_t start_ns = clock_mono_ns();
	struct buf text = BUF_INIT;
	int r = *with ? draw_compared(&text, s, with, err) : draw(&text, s, NULL, err);

	if (r) {
		buf_release(&text);
		return r;
	}
	buf_release(&kept.text);
	kept.text = text;
	snprintf(kept.id, sizeof kept.id, "%s", s->id);
	snprintf(kept.with, sizeof kept.with, "%s", with);
	kept.generation = s->generation;
	kept.running = s->running;
	kept.made_ns = clock_mono_ns();
	kept.took_ns = kept.made_ns - start_ns;
	return 0;
}

/* How long the build has run while it was not suspended. Another machine, or another boot, has another
 * monotonic clock. */
static int64_t elapsed_us(const struct source *s, bool *suspended)
{
	const struct recording *rec = &s->recording;
	int64_t us = (clock_mono_ns() - rec->start_mono_ns) / 1000;
	int64_t wall_us = (clock_wall_ns() - rec->start_wall_ns) / 1000;

	if (us < wall_us - CLOCKS_APART_US || us > wall_us + CLOCKS_APART_US)
		us = wall_us;
	us = suspended_elapsed_us(rec, us, suspended);
	return s->running && us > rec->last_us ? us : rec->last_us;
}

static int chart_reply(struct reply *out, const struct request *q, struct error *err)
{
	const char *with = query_text(q->query, "with");
	struct source *s = q->source;
	int64_t have = 0;
	bool suspended;
	struct json j;
	int r = query_number(q->query, "have", 0, INT64_MAX, 0, &have, err);

	with = with ? with : "";
	r = r ? r : source_need(s, SOURCE_SUMMARY, err);
	if (!r && !is_fresh(s, with))
		r = make_data(s, with, err);
	if (r)
		return r;
	out->type = "application/x-buildbeat";
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_int(&j, "data", kept.made_ns);
	json_bool(&j, "unchanged", have == kept.made_ns);
	json_bool(&j, "is_running", s->running);
	json_int(&j, "elapsed_us", elapsed_us(s, &suspended));
	json_bool(&j, "suspended", s->running && suspended);
	json_int(&j, "took_us", kept.took_ns / 1000);
	json_object_end(&j);
	if (have != kept.made_ns)
		buf_add(&out->body, kept.text.data, kept.text.len);
	return buf_error(&out->body);
}

const struct route api_chart_routes[] = {
	{ "/api/v1/chart", "rec, with, have",
	  "The data of the bootchart: a line of JSON about them, then the data as in bootchart.svg.",
	  chart_reply },
	{ 0 }
};
