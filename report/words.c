#include "words.h"

#include "amount.h"

#include <math.h>
#include <string.h>

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
		buf_adds(b, "too few nights for a verdict");
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
	words_add_count(b, v->n_nights, "night", "nights");
	buf_addf(b, "; of what is told %g %% at most is by chance", 100 * rules->rate);
}

void words_add_nights_to_come(struct buf *b, const struct verdict *v)
{
	if (!v->more_nights)
		return;
	buf_adds(b, v->enough ? "what is suspected can be confirmed in " :
		 "a verdict can be given in ");
	words_add_count(b, v->more_nights, "more night", "more nights");
}

void words_add_host(struct buf *b, const struct verdict *v, enum metric m)
{
	buf_addf(b, "all tasks together: %s ", metric_info[m].title);
	amount_add_share(b, v->host[m] - 1);
	buf_adds(b, " in the newest night, more than nights differ; taken out of what follows");
}

void words_add_exact(struct buf *b, const struct exact_change *e)
{
	const struct total_info *info = &total_info[e->total];

	buf_addf(b, "%s: ", info->title);
	amount_add(b, info->unit, (double)e->before);
	buf_adds(b, " before, now ");
	amount_add(b, info->unit, (double)e->now);
}

const char *words_task(const struct nights *nights, uint32_t task)
{
	if (task == TASK_HOST)
		return "all tasks together";
	return task == TASK_TOTAL ? "the build as a whole" : nights->task[task].name;
}

void words_add_night(struct buf *b, const struct nights *nights, uint32_t night)
{
	amount_add_day(b, nights->night[night].start_s);
	buf_addf(b, " (%.*s)", SHORT_ID, nights->night[night].id);
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

void words_add_since(struct buf *b, const struct nights *nights, const struct finding *f)
{
	buf_adds(b, "since ");
	words_add_night(b, nights, f->since);
	if (f->first < f->last) {
		buf_adds(b, ", which may be ");
		amount_add_day(b, nights->night[f->first].start_s);
		buf_adds(b, " to ");
		amount_add_day(b, nights->night[f->last].start_s);
	}
}

static const struct revision *revision_of(const struct night *night, const char *source)
{
	for (size_t i = 0; i < night->n_revisions; i++) {
		if (!strcmp(night->revision[i].source, source))
			return &night->revision[i];
	}
	return NULL;
}

static bool differs(const struct revision *from, const struct revision *to)
{
	return !from || strcmp(from->commit, to->commit) || from->dirty || to->dirty;
}

bool words_range(struct revision_range *range, const struct nights *nights,
		 const struct finding *f, size_t n)
{
	const struct night *after = &nights->night[f->last];
	const struct night *before = f->first ? &nights->night[f->first - 1] : NULL;

	for (size_t i = 0; i < after->n_revisions; i++) {
		const struct revision *to = &after->revision[i];
		const struct revision *from = before ? revision_of(before, to->source) : NULL;

		if (!differs(from, to) || n--)
			continue;
		*range = (struct revision_range){
			.source = to->source, .from = from ? from->commit : NULL, .to = to->commit,
			.commits = -1, .dirty = to->dirty,
		};
		if (from && from->count >= 0 && to->count >= from->count)
			range->commits = to->count - from->count;
		return true;
	}
	return false;
}

void words_add_ranges(struct buf *b, const struct nights *nights, const struct finding *f)
{
	struct revision_range r;

	for (size_t i = 0; words_range(&r, nights, f, i); i++) {
		if (i)
			buf_adds(b, ", ");
		buf_addf(b, "%s ", r.source);
		if (r.from)
			buf_addf(b, "%.*s..", SHORT_ID, r.from);
		buf_addf(b, "%.*s", SHORT_ID, r.to);
		if (r.commits >= 0) {
			buf_adds(b, " (");
			words_add_count(b, (size_t)r.commits, "commit", "commits");
			buf_addc(b, ')');
		}
		if (r.dirty)
			buf_adds(b, " and what was not committed");
	}
}
