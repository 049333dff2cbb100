/* SPDX-License-Identifier: MIT */
#include "report/words.h"

#include "report/amount.h"
#include "report/revisions.h"

#include <math.h>

#define SHORT_ID 8

void words_add_count(struct buf *b, size_t n, const char *one, const char *more)
{
	buf_addu(b, n);
	buf_addc(b, ' ');
	buf_adds(b, n == 1 ? one : more);
}

void words_add_verdict(struct buf *b, const struct verdict *v)
{
	if (!v->enough)
		buf_adds(b, "too few builds for a verdict");
	else if (v->n_confirmed)
		words_add_count(b, v->n_confirmed, "regression confirmed", "regressions confirmed");
	else
		buf_adds(b, "no regression");
	if (v->n_known)
		buf_addf(b, ", %zu known", v->n_known);
	if (v->n_suspect)
		buf_addf(b, ", %zu suspected", v->n_suspect);
}

void words_add_judged(struct buf *b, const struct verdict *v, const struct rules *rules)
{
	words_add_count(b, v->n_series, "figure", "figures");
	buf_adds(b, " judged over ");
	words_add_count(b, v->n_builds, "build", "builds");
	if (v->n_series)
		buf_addf(b, "; of what is told %g %% at most is by chance", 100 * rules->rate);
}

void words_add_builds_to_come(struct buf *b, const struct verdict *v)
{
	if (!v->more_builds)
		return;
	buf_adds(b, v->enough ? "what is suspected can be confirmed in " :
		 "a verdict can be given in ");
	words_add_count(b, v->more_builds, "more build", "more builds");
}

void words_add_host(struct buf *b, const struct verdict *v, enum metric m)
{
	buf_addf(b, "all tasks together: %s ", metric_info[m].title);
	amount_add_share(b, v->host[m] - 1);
	buf_adds(b, " in the newest build, more than builds differ; taken out of what follows");
}

void words_add_exact(struct buf *b, const struct exact_change *e)
{
	const struct total_info *info = &total_info[e->total];

	buf_addf(b, "%s: ", info->title);
	amount_add(b, info->unit, (double)e->before);
	buf_adds(b, " before, now ");
	amount_add(b, info->unit, (double)e->now);
}

const char *words_task(const struct builds *builds, uint32_t task)
{
	if (task == TASK_HOST)
		return "all tasks together";
	return task == TASK_TOTAL ? "the build as a whole" : builds->task[task].name;
}

void words_add_build(struct buf *b, const struct builds *builds, uint32_t build)
{
	amount_add_day(b, builds->build[build].start_s);
	buf_addf(b, " (%.*s)", SHORT_ID, builds->build[build].id);
}

void words_add_amounts(struct buf *b, const struct finding *f)
{
	enum unit unit = metric_info[f->metric].unit;

	if (f->task == TASK_HOST) {
		buf_addf(b, "x %.2f -> x %.2f", f->before, f->now);
		return;
	}
	amount_add(b, unit, f->before);
	buf_adds(b, " -> ");
	amount_add(b, unit, f->now);
}

void words_add_interval(struct buf *b, const struct finding *f)
{
	if (!isfinite(f->low) || !isfinite(f->high))
		return;
	buf_adds(b, " (");
	amount_add_share(b, f->low);
	buf_adds(b, " to ");
	amount_add_share(b, f->high);
	buf_addc(b, ')');
}

void words_add_since(struct buf *b, const struct builds *builds, const struct finding *f)
{
	buf_adds(b, "since ");
	words_add_build(b, builds, f->since);
	if (f->first < f->last) {
		buf_adds(b, ", which may be ");
		amount_add_day(b, builds->build[f->first].start_s);
		buf_adds(b, " to ");
		amount_add_day(b, builds->build[f->last].start_s);
	}
}

void words_add_ranges(struct buf *b, const struct builds *builds, const struct finding *f)
{
	struct source_range r;
	size_t from = b->len, i = 0;

	while (source_range_next(&r, builds, f->first, f->last, &i)) {
		int64_t commits = source_range_commits(&r);

		if (b->len > from)
			buf_adds(b, ", ");
		buf_addf(b, "%s ", r.source);
		if (r.from)
			buf_addf(b, "%.*s..", SHORT_ID, r.from->commit);
		buf_addf(b, "%.*s", SHORT_ID, r.to->commit);
		if (commits >= 0) {
			buf_adds(b, " (");
			words_add_count(b, (size_t)commits, "commit", "commits");
			buf_addc(b, ')');
		}
		if (r.to->dirty)
			buf_adds(b, " and what was not committed");
	}
}
