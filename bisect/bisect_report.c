/* SPDX-License-Identifier: MIT */
#include "bisect/bisect_report.h"

#include "base/json.h"
#include "base/text.h"
#include "report/amount.h"

#include <math.h>
#include <string.h>

#define BRIEF 12		/* digits of a commit id */

static void add_commit(struct buf *out, const struct bisect_view *t, const char *id)
{
	buf_addf(out, "%.*s  ", BRIEF, id);
	text_add_name(out, t->subject(t->context, id), 0);
	buf_addc(out, '\n');
}

/* "12.1 s -> 14.6 s, +21 % (+18 % to +24 %)" */
static void add_apart(struct buf *out, const struct bisect_view *t, const struct apart *a)
{
	amount_add(out, metric_info[t->metric].unit, a->good);
	buf_adds(out, " -> ");
	amount_add(out, metric_info[t->metric].unit, a->bad);
	if (isnan(a->effect))
		return;
	buf_adds(out, ", ");
	amount_add_share(out, a->effect);
	if (!isfinite(a->in.low) || !isfinite(a->in.high))
		return;
	buf_adds(out, " (");
	amount_add_interval(out, a->effect, a->in.low, a->in.high);
	buf_addc(out, ')');
}

static void add_found(struct buf *out, const struct bisect_view *t)
{
	const struct bisect *b = t->bisect;

	buf_adds(out, "first bad commit: ");
	add_commit(out, t, b->left[0]);
	if (b->before) {
		buf_adds(out, "  compared with its parent: ");
		add_apart(out, t, &b->own);
		buf_addc(out, '\n');
	}
}

static void add_range(struct buf *out, const struct bisect_view *t)
{
	const struct bisect *b = t->bisect;

	buf_addf(out, "the first bad commit is one of %zu:\n", b->n_left);
	for (size_t i = 0; i < b->n_left; i++) {
		const struct bisect_commit *c = bisect_find(b, b->left[i]);

		buf_adds(out, "  ");
		add_commit(out, t, b->left[i]);
		if (c && c->state == BISECT_FAILED)
			buf_addf(out, "    skipped: %s\n", c->why);
		else if (c && c->state == BISECT_UNSURE)
			buf_addf(out, "    undecided after %zu runs\n", c->runs);
	}
}

static void add_hidden(struct buf *out, const struct bisect_view *t)
{
	const struct matters *matters = &t->bisect->matters;
	enum unit unit = metric_info[t->metric].unit;

	switch (t->bisect->whole.hidden) {
	case HIDDEN_BY_FLOOR:
		buf_adds(out, "  both are below the floor of ");
		amount_add(out, unit, matters->floor);
		buf_adds(out, " (key floor; option --amount replaces it)\n");
		break;
	case HIDDEN_BY_SHARE:
		buf_addf(out, "  the difference is below the share of %g %% (key share)\n",
			 100 * matters->share);
		break;
	case HIDDEN_BY_AMOUNT:
		buf_adds(out, "  the difference is below the amount of ");
		amount_add(out, unit, matters->amount);
		buf_adds(out, " (key amount, or option --amount)\n");
		break;
	case HIDDEN_BY_NOISE:
		buf_adds(out, "  the builds vary too much for a difference of this size "
			 "(option --repeat-max allows more builds)\n");
		break;
	case HIDDEN_NOT:
		break;
	}
}

int bisect_text(struct buf *out, const struct bisect_view *t)
{
	const struct bisect *b = t->bisect;

	buf_adds(out, metric_info[t->metric].title);
	buf_adds(out, " of ");
	if (t->task)
		text_add_name(out, t->task, 0);
	else
		buf_adds(out, "the build");
	buf_adds(out, ": ");
	add_apart(out, t, &b->whole);
	buf_addc(out, '\n');
	switch (b->end) {
	case BISECT_FOUND:
		add_found(out, t);
		break;
	case BISECT_RANGE:
		add_range(out, t);
		break;
	case BISECT_SAME:
		buf_adds(out, "good and bad do not differ by more than the thresholds\n");
		add_hidden(out, t);
		break;
	case BISECT_NOT_SURE:
		buf_addf(out, "undecided whether good and bad differ after %zu runs of each\n",
			 b->commit[0].n);
		add_hidden(out, t);
		break;
	}
	buf_addf(out, "%zu builds of %zu commits", b->runs, b->n);
	if (b->failed)
		buf_addf(out, ", %zu failed", b->failed);
	if (b->drifts)
		buf_addf(out, "; the machine's speed changed %zu times", b->drifts);
	if (b->end == BISECT_FOUND || b->end == BISECT_RANGE)
		buf_addf(out, "; %s%.1f %% sure", b->error < 0.001 ? "more than " : "",
			 b->error < 0.001 ? 99.9 : floor(1000 * (1 - b->error)) / 10);
	buf_addc(out, '\n');
	return buf_error(out);
}

/* JSON */

static const char *const end_word[] = {
	[BISECT_FOUND] = "found", [BISECT_RANGE] = "range", [BISECT_SAME] = "same",
	[BISECT_NOT_SURE] = "unsure",
};

static const char *const hidden_word[] = {
	[HIDDEN_NOT] = NULL, [HIDDEN_BY_FLOOR] = "floor", [HIDDEN_BY_SHARE] = "share",
	[HIDDEN_BY_AMOUNT] = "amount", [HIDDEN_BY_NOISE] = "noise",
};

static const char *const state_word[] = {
	[BISECT_UNKNOWN] = "unknown", [BISECT_GOOD] = "good", [BISECT_BAD] = "bad",
	[BISECT_FAILED] = "failed", [BISECT_UNSURE] = "unsure",
};

static void json_commit(struct json *j, const char *name, const struct bisect_view *t,
			const char *id)
{
	json_object(j, name);
	json_str(j, "commit", id);
	json_str(j, "subject", t->subject(t->context, id));
	json_object_end(j);
}

static void json_apart(struct json *j, const char *name, const struct apart *a)
{
	json_object(j, name);
	json_shortest(j, "before", a->good);
	json_shortest(j, "after", a->bad);
	json_shortest(j, "effect", a->effect);
	json_shortest(j, "effect_low", a->in.low);
	json_shortest(j, "effect_high", a->in.high);
	json_object_end(j);
}

static void json_tried(struct json *j, const struct bisect *b)
{
	json_array(j, "tried");
	for (size_t i = 0; i < b->n; i++) {
		const struct bisect_commit *c = &b->commit[i];

		json_object(j, NULL);
		json_str(j, "commit", c->id);
		json_str(j, "state", state_word[c->state]);
		json_str(j, "reason", c->why);
		json_int(j, "builds", (int64_t)c->runs);
		json_array(j, "values");
		for (size_t k = 0; k < c->n; k++)
			json_shortest(j, NULL, c->v[k]);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

int bisect_json(struct buf *out, const struct bisect_view *t)
{
	const struct bisect *b = t->bisect;
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "result", end_word[b->end]);
	json_str(&j, "task", t->task);
	json_str(&j, "metric", metric_word[t->metric]);
	json_str(&j, "unit", amount_unit_word[metric_info[t->metric].unit]);
	json_apart(&j, "difference", &b->whole);
	json_object(&j, "thresholds");
	json_shortest(&j, "share", b->matters.share);
	json_shortest(&j, "amount", b->matters.amount);
	json_shortest(&j, "floor", b->matters.floor);
	json_object_end(&j);
	json_str(&j, "hidden_by", hidden_word[b->whole.hidden]);
	if (b->end == BISECT_FOUND) {
		json_commit(&j, "first_bad", t, b->left[0]);
		if (b->before)
			json_apart(&j, "own", &b->own);
		else
			json_null(&j, "own");
	}
	json_array(&j, "left");
	for (size_t i = 0; i < b->n_left; i++)
		json_commit(&j, NULL, t, b->left[i]);
	json_array_end(&j);
	if (b->end == BISECT_FOUND || b->end == BISECT_RANGE)
		json_shortest(&j, "confidence", 1 - b->error);
	json_int(&j, "builds", (int64_t)b->runs);
	json_int(&j, "failed", (int64_t)b->failed);
	json_int(&j, "machine_changes", (int64_t)b->drifts);
	json_tried(&j, b);
	json_object_end(&j);
	return buf_error(out);
}
