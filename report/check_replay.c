/* SPDX-License-Identifier: MIT */
#include "report/check_replay.h"

#include "base/array.h"
#include "base/minmax.h"
#include "report/amount.h"
#include "report/words_change.h"

#include <errno.h>
#include <string.h>

#define LINE 60		/* builds */

static const char *const why_word[] = {
	[EPISODE_OPEN] = "it still fails", [EPISODE_LEFT] = "back at the level before",
	[EPISODE_BACK] = "the newest build is back", [EPISODE_ACCEPTED] = "accepted",
	[EPISODE_KNOWN] = "acknowledged", [EPISODE_GONE] = "no longer reported",
};

enum check_answer check_replay_answer(const struct check_replay *c, uint32_t build)
{
	const struct episodes_build *b = &c->episodes->build[build - c->episodes->first];

	if (c->exceeds && c->exceeds[build - c->episodes->first])
		return CHECK_FAILS;
	return b->not_judged ? CHECK_FAILED_BUILD : b->n_confirmed ? CHECK_FAILS :
	       b->enough ? CHECK_PASSES : CHECK_TOO_FEW;
}

int check_replay_status(const struct check_replay *c, uint32_t build)
{
	enum check_answer answer = check_replay_answer(c, build);

	return answer == CHECK_FAILS ? 1 : answer == CHECK_FAILED_BUILD ||
	       (answer == CHECK_TOO_FEW && c->need_history) ? 3 : 0;
}

int check_replay_groups(struct verdict *v, struct verdict_groups *g, const struct check_replay *c,
			size_t begin, size_t end)
{
	*v = (struct verdict){ .enough = true };
	*g = (struct verdict_groups){ 0 };
	for (size_t i = begin; i < end; i++) {
		struct verdict_finding *added = array_add(&v->finding, &v->n, sizeof *added);

		if (!added)
			return -ENOMEM;
		*added = c->episodes->episode[i].finding;
	}
	return verdict_groups_make(g, v, c->builds);
}

/* The longest episode of a cause, whose first group is given. */
static const struct episode *longest_of(const struct check_replay *c, const struct verdict_groups *g,
					size_t begin, size_t cause)
{
	const struct episode *longest = NULL;

	for (size_t i = 0; i < g->n; i++) {
		for (size_t k = 0; g->cause[i] == cause && k < g->group[i].n; k++) {
			const struct episode *e =
				&c->episodes->episode[begin + g->member[g->group[i].first + k]];

			if (!longest || e->red > longest->red || (e->red == longest->red && e->end > longest->end))
				longest = e;
		}
	}
	return longest;
}

int check_replay_sum(struct check_replay_sum *s, const struct check_replay *c)
{
	const struct episodes *e = c->episodes;
	int r = 0;

	*s = (struct check_replay_sum){ .changes = e->n };
	for (uint32_t b = e->first; b < e->n_builds; b++)
		s->n[check_replay_answer(c, b)]++;
	for (size_t i = 0, end; !r && i < e->n; i = end) {
		struct verdict_groups groups;
		struct verdict v;

		end = episodes_same(e, i);
		r = check_replay_groups(&v, &groups, c, i, end);
		for (size_t k = 0; !r && k < groups.n; k++) {
			const struct episode *longest = longest_of(c, &groups, i, k);

			if (groups.cause[k] != k)
				continue;
			s->regressions++;
			s->red += longest->red;
			s->open += longest->why == EPISODE_OPEN;
		}
		verdict_groups_release(&groups);
		verdict_release(&v);
	}
	s->red /= s->regressions ? (double)s->regressions : 1;
	return r;
}

static void add_head(struct doc *d, const struct check_replay *c, const struct check_replay_sum *s)
{
	const struct episodes *e = c->episodes;
	struct buf strong = BUF_PART_OF(d->out), rest = BUF_PART_OF(d->out), *text;

	buf_addf(&strong, "%zu of ", s->n[CHECK_FAILS]);
	words_add_count(&strong, e->n_builds - e->first, "build fails", "builds fail");
	buf_adds(&strong, " the check, ");
	words_add_count(&strong, s->regressions, "regression", "regressions");
	buf_addf(&rest, ": %s, ", c->builds->ref);
	words_add_day(&rest, c->builds, e->first);
	buf_adds(&rest, " to ");
	words_add_day(&rest, c->builds, e->n_builds - 1);
	doc_lead(d, s->n[CHECK_FAILS] ? TONE_ALARM : TONE_TITLE, buf_str(&strong), buf_str(&rest));
	buf_release(&strong);
	buf_release(&rest);
	if (s->regressions) {
		text = doc_item(d, 0);
		buf_addf(text, "on average a regression fails the check of %.3g builds", s->red);
		if (s->open)
			buf_addf(text, "; %zu still %s", s->open, s->open == 1 ? "does" : "do");
	}
	if (s->n[CHECK_FAILED_BUILD]) {
		text = doc_item(d, 0);
		words_add_count(text, s->n[CHECK_FAILED_BUILD], "build", "builds");
		buf_adds(text, " failed: no verdict");
	}
}

/* The settings that decide. */
static void add_settings(struct doc *d, const struct rules *rules)
{
	struct buf *text = doc_sentence(d);

	buf_addf(text, "settings: agree %lld, rate %g %%, window %lld, least-history %lld",
		 (long long)rules->agree, 100 * rules->rate, (long long)rules->window,
		 (long long)rules->least_history);
	if (rules->n) {
		buf_adds(text, ", ");
		words_add_count(text, rules->n, "rule", "rules");
	}
	for (enum metric m = 0; m < METRICS; m++) {
		if (!(rules->metrics & METRIC_BIT(m)))
			continue;
		buf_addf(text, "; %s: %g %%, ", metric_info[m].title, 100 * rules->gate[m].share);
		amount_add(text, metric_info[m].unit, rules->gate[m].amount);
	}
}

/* A character for each build. */
static void add_answers(struct doc *d, const struct check_replay *c)
{
	static const char sign[CHECK_ANSWERS] = {
		[CHECK_PASSES] = '.', [CHECK_FAILS] = '!', [CHECK_FAILED_BUILD] = 'x', [CHECK_TOO_FEW] = '?',
	};
	static const struct doc_column columns[] = {
		{ "from", .gap = 2, .width = 10 }, { "the check of each build", .gap = 2 },
	};
	const struct doc_table table = {
		.title = "Builds (. passes, ! fails, x the build failed, ? too few builds)",
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = !doc_is(d, DOC_TERMINAL),
	};
	const struct episodes *e = c->episodes;

	doc_table(d, &table);
	for (uint32_t b = e->first; b < e->n_builds; ) {
		uint32_t end = MIN(b + LINE, e->n_builds);
		struct buf *text;

		doc_row(d);
		words_add_day(doc_text(d, 0), c->builds, b);
		text = doc_text(d, 0);
		for (; b < end; b++)
			buf_addc(text, sign[check_replay_answer(c, b)]);
		doc_code(d);
	}
	doc_table_end(d, 0);
}

/* "12 builds, until 2026-11-03: back at the level before". */
static void add_length(struct buf *text, const struct check_replay *c, const struct verdict_group *g,
		       const struct verdict_groups *groups, size_t begin)
{
	const struct episode *last = NULL;
	uint32_t least = UINT32_MAX, most = 0;

	for (size_t i = 0; i < g->n; i++) {
		const struct episode *e = &c->episodes->episode[begin + groups->member[g->first + i]];

		least = MIN(e->red, least);
		most = MAX(e->red, most);
		last = !last || e->end > last->end ? e : last;
	}
	if (least < most)
		buf_addf(text, "%u to ", least);
	words_add_count(text, most, "build", "builds");
	if (last->why == EPISODE_OPEN) {
		buf_adds(text, ", to the newest");
		return;
	}
	buf_adds(text, ", until ");
	words_add_day(text, c->builds, last->end);
	buf_addf(text, ": %s", why_word[last->why]);
}

/* The build that confirmed some regressions. */
static void add_begin(struct buf *text, const struct check_replay *c, uint32_t build)
{
	words_add_build(text, c->builds, build);
	if (build && build == c->episodes->first)
		buf_adds(text, " or earlier");
}

static void add_group(struct doc *d, const struct check_replay *c, const struct verdict_groups *groups,
		      size_t i, size_t begin)
{
	const struct verdict_group *g = &groups->group[i];
	struct buf amounts = BUF_PART_OF(d->out), share = BUF_PART_OF(d->out), *text;

	words_add_group_amounts(&amounts, g);
	amount_add_share(&share, g->whole.effect);
	doc_row(d);
	add_begin(doc_text(d, 0), c, c->episodes->episode[begin].begin);
	words_add_group(doc_text(d, 0), c->builds, g);
	buf_addf(doc_text(d, 0), "%s %s, %s", metric_info[g->whole.metric].title, buf_str(&share),
		 buf_str(&amounts));
	doc_str(d, metric_info[g->whole.metric].title);
	doc_str(d, buf_str(&amounts));
	doc_str(d, buf_str(&share));
	text = doc_text(d, 0);
	if (doc_is(d, DOC_TERMINAL))
		buf_adds(text, "fails ");
	add_length(text, c, g, groups, begin);
	buf_release(&amounts);
	buf_release(&share);
}

static int add_regressions(struct doc *d, const struct check_replay *c)
{
	static const struct doc_column columns[] = {
		{ "confirmed", .gap = 2, .in = DOC_MARKDOWN }, { "task", .gap = 4, .width = 40, .shorten = true },
		{ .in = DOC_TERMINAL, .gap = 2, .below = true }, { "metric", .in = DOC_MARKDOWN },
		{ "before, now", .type = DOC_REAL, .in = DOC_MARKDOWN },
		{ "change", .type = DOC_REAL, .in = DOC_MARKDOWN },
		{ "fails", .gap = 2, .below = true },
	};
	const struct doc_table table = {
		.title = "Regressions, by the build that confirmed them", .column = columns,
		.n_columns = ARRAY_SIZE(columns), .heads = !doc_is(d, DOC_TERMINAL),
		.more = " (--all lists them)",
	};
	const struct episodes *e = c->episodes;
	size_t shown = 0, left_out = 0, end;
	int r = 0;

	doc_table(d, &table);
	for (end = e->n; !r && end > 0; ) {
		struct verdict_groups groups;
		struct verdict v;
		size_t begin = end - 1;

		while (begin > 0 && e->episode[begin - 1].begin == e->episode[begin].begin)
			begin--;
		r = check_replay_groups(&v, &groups, c, begin, end);
		if (!r && shown < c->top && doc_is(d, DOC_TERMINAL))
			add_begin(doc_item(d, 2), c, e->episode[begin].begin);
		for (size_t i = 0; !r && i < groups.n; i++) {
			left_out += shown >= c->top;
			if (shown < c->top)
				add_group(d, c, &groups, i, begin);
			shown++;
		}
		verdict_groups_release(&groups);
		verdict_release(&v);
		end = begin;
	}
	doc_table_end(d, left_out);
	return r;
}

int check_replay_doc(struct doc *d, const struct check_replay *c)
{
	struct check_replay_sum sum;
	int r = check_replay_sum(&sum, c);

	if (r)
		return r;
	add_head(d, c, &sum);
	add_settings(d, c->rules);
	add_answers(d, c);
	r = add_regressions(d, c);
	return r ? r : buf_error(d->out);
}
