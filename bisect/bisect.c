/* SPDX-License-Identifier: MIT */
#include "bisect/bisect.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GOOD, BAD };		/* the first two commits */

#define DRIFTS_MOST 2		/* changes of the machine per commit before it is given up */
#define SURPRISE 0.01		/* probability below which a run does not fit its level */

#define BISECT_INTERVAL 0.05

static struct sample sample_of(const struct bisect *b, size_t i)
{
	return (struct sample){ b->commit[i].v, b->commit[i].n };
}

const struct bisect_commit *bisect_find(const struct bisect *b, const char *id)
{
	for (size_t i = 0; i < b->n; i++) {
		if (!strcmp(b->commit[i].id, id))
			return &b->commit[i];
	}
	return NULL;
}

/* The index of the commit, which is added if new, or a negative errno. */
static ptrdiff_t commit_index(struct bisect *b, const char *id)
{
	const struct bisect_commit *known = bisect_find(b, id);
	struct bisect_commit *grown;

	if (known)
		return known - b->commit;
	grown = array_grow(b->commit, b->n, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	b->commit = grown;
	grown[b->n] = (struct bisect_commit){ .id = id, .v = malloc(b->most * sizeof(double)) };
	if (!grown[b->n].v)
		return -ENOMEM;
	return (ptrdiff_t)b->n++;
}

/* Only the newest `most` runs count. A commit that fails once is not built again. */
static int run_commit(struct bisect *b, size_t i, struct error *err)
{
	struct bisect_commit *c = &b->commit[i];
	const char *why = NULL;
	double value;
	int r = b->measure(b->context, c->id, &value, &why, err);

	if (r)
		return r;
	b->runs++;
	c->runs++;
	if (why) {
		b->failed++;
		c->state = BISECT_FAILED;
		c->why = why;
		return 0;
	}
	if (c->n == b->most)
		memmove(c->v, c->v + 1, --c->n * sizeof *c->v);
	c->v[c->n++] = value;
	return 0;
}

/* Alternates, so that a drift affects both, until the levels are known. */
static int run_pair(struct bisect *b, size_t good, size_t bad, double error, struct apart *apart,
		    struct error *err)
{
	const struct bisect_commit *one = &b->commit[good], *other = &b->commit[bad];
	size_t looks = b->most > BISECT_LEAST ? b->most - BISECT_LEAST + 1 : 1;
	int r = 0;

	apart->levels = LEVELS_UNSURE;
	while (!r && apart->levels == LEVELS_UNSURE) {
		bool first = one->n <= other->n;

		if (one->n >= b->most && other->n >= b->most)
			break;
		r = run_commit(b, first ? good : bad, err);
		if (r || one->state == BISECT_FAILED || other->state == BISECT_FAILED)
			break;
		if (one->n == other->n && one->n >= BISECT_LEAST)
			r = decide_apart(apart, sample_of(b, good), sample_of(b, bad), &b->matters,
					 error / (double)looks);
	}
	return r;
}

static int cannot_measure(const struct bisect_commit *c, const char *which, struct error *err)
{
	return error_set(err, -EINVAL, NULL, 0, 0, "bisect: the %s revision %.10s cannot be "
			 "measured: %s", which, c->id, c->why);
}

static int find_levels(struct bisect *b, struct error *err)
{
	int r = run_pair(b, GOOD, BAD, BISECT_ERROR, &b->whole, err);

	b->commit[GOOD].state = b->commit[GOOD].state == BISECT_FAILED ? BISECT_FAILED :
		BISECT_GOOD;
	b->commit[BAD].state = b->commit[BAD].state == BISECT_FAILED ? BISECT_FAILED : BISECT_BAD;
	if (!r && b->commit[GOOD].state == BISECT_FAILED)
		r = cannot_measure(&b->commit[GOOD], "good", err);
	if (!r && b->commit[BAD].state == BISECT_FAILED)
		r = cannot_measure(&b->commit[BAD], "bad", err);
	return r;
}

static int decide_one(struct bisect *b, size_t i, double error, struct error *err)
{
	struct bisect_commit *c = &b->commit[i];
	enum decision d = DECIDE_UNSURE;
	double odds = 0;
	int r = 0;

	while (!r && d == DECIDE_UNSURE && c->n < b->most) {
		r = run_commit(b, i, err);
		if (r || c->state == BISECT_FAILED)
			return r;
		r = decide_odds(&odds, sample_of(b, GOOD), sample_of(b, BAD), sample_of(b, i));
		d = decide(odds, c->n, error);
	}
	c->state = d == DECIDE_GOOD ? BISECT_GOOD : d == DECIDE_BAD ? BISECT_BAD : BISECT_UNSURE;
	c->error = d == DECIDE_UNSURE ? 0 : 1 / (1 + exp(fabs(odds)));
	return r;
}

/* Whether the last run of a level does not fit it any more. */
static int is_strange(bool *strange, struct bisect *b, size_t level)
{
	struct sample own = { b->commit[level].v, b->commit[level].n - 1 };
	struct sample other = sample_of(b, level == GOOD ? BAD : GOOD);
	struct sample last = { own.v + own.n, 1 };
	double odds;
	int r = decide_odds(&odds, own, other, last);

	*strange = !r && (odds > 0 || decide_surprise(own, other, *last.v) < SURPRISE);
	return r;
}

/* Measures the other level again: if the machine changed, the verdict on commit i is wrong. Two
 * deviating runs are needed because one may be a disturbance. */
static int control(bool *drifted, struct bisect *b, size_t i, struct error *err)
{
	size_t level = b->commit[i].state == BISECT_BAD ? GOOD : BAD;
	struct bisect_commit *c = &b->commit[level];
	enum bisect_state state = c->state;
	int r = 0;

	*drifted = true;
	for (int runs = 0; !r && *drifted && runs < 2; runs++) {
		r = run_commit(b, level, err);
		if (!r && c->state == BISECT_FAILED) {
			c->state = state;	/* it was built before */
			*drifted = false;
		} else if (!r) {
			r = is_strange(drifted, b, level);
		}
	}
	return r;
}

static int judge_commit(struct bisect *b, size_t i, double error, struct error *err)
{
	bool drifted = true;
	int r = 0;

	for (unsigned drifts = 0; !r && drifted; drifts++) {
		r = decide_one(b, i, error, err);
		drifted = false;
		if (r || (b->commit[i].state != BISECT_GOOD && b->commit[i].state != BISECT_BAD))
			break;
		r = control(&drifted, b, i, err);
		if (r || !drifted)
			break;
		b->commit[i].state = BISECT_UNSURE;
		/* Values from before the machine changed are not comparable. */
		b->drifts++;
		for (size_t k = 0; k < b->n; k++)
			b->commit[k].n = 0;
		r = find_levels(b, err);
		if (b->whole.levels != LEVELS_DIFFER || drifts == DRIFTS_MOST)
			break;
	}
	b->error += b->commit[i].error;
	return r;
}

static unsigned steps_of(size_t n)
{
	unsigned steps = 1;

	while (n > 2) {
		n = (n + 1) / 2;
		steps++;
	}
	return steps;
}

static int look(struct bisect *b, struct error *err)
{
	free(b->left);
	b->left = NULL;
	b->n_left = 0;
	return b->between(b->context, b, &b->left, &b->n_left, err);
}

static int halve(struct bisect *b, struct error *err)
{
	int r = look(b, err);
	double error = BISECT_ERROR / steps_of(b->n_left);

	while (!r && b->whole.levels == LEVELS_DIFFER) {
		const char *next;
		size_t best = 0;
		ptrdiff_t i;

		while (best < b->n_left && bisect_find(b, b->left[best]))
			best++;
		if (best == b->n_left)
			break;
		next = b->left[best];
		i = commit_index(b, next);
		r = i < 0 ? error_sys(err, (int)i, NULL, "bisect") :
		    judge_commit(b, (size_t)i, error, err);
		if (r)
			break;
		if (b->commit[i].state == BISECT_BAD)
			b->nearest_bad = next;
		r = look(b, err);
		if (b->verdict && !r)
			b->verdict(b->context, &b->commit[i], b->n_left);
	}
	return r;
}

/* Compares the found commit with its parent. */
static int measure_found(struct bisect *b, struct error *err)
{
	const struct bisect_commit *pair[2];
	ptrdiff_t i[2];
	const char *id;
	int r = b->parent(b->context, b->left[0], &id, err);

	if (r)
		return r;
	i[0] = commit_index(b, id);
	i[1] = i[0] < 0 ? i[0] : commit_index(b, b->left[0]);
	if (i[1] < 0)
		return error_sys(err, (int)i[1], NULL, "bisect");
	for (int j = 0; j < 2; j++)
		pair[j] = &b->commit[i[j]];
	while (!r && (pair[0]->n < BISECT_LEAST || pair[1]->n < BISECT_LEAST)) {
		r = run_commit(b, (size_t)i[pair[0]->n > pair[1]->n], err);
		if (pair[0]->state == BISECT_FAILED || pair[1]->state == BISECT_FAILED)
			return r;
	}
	if (r)
		return r;
	b->before = id;
	return decide_apart(&b->own, sample_of(b, (size_t)i[0]), sample_of(b, (size_t)i[1]),
			    &b->matters, BISECT_INTERVAL);
}

int bisect_search(struct bisect *b, const char *good, const char *bad, struct error *err)
{
	int r = 0;

	b->nearest_bad = bad;
	if (commit_index(b, good) < 0 || commit_index(b, bad) < 0)
		return error_sys(err, -ENOMEM, NULL, "bisect");
	r = find_levels(b, err);
	if (!r && b->whole.levels == LEVELS_DIFFER)
		r = halve(b, err);
	b->end = b->whole.levels == LEVELS_SAME ? BISECT_SAME :
		 b->whole.levels == LEVELS_UNSURE ? BISECT_NOT_SURE :
		 b->n_left == 1 ? BISECT_FOUND : BISECT_RANGE;
	if (!r && b->end == BISECT_FOUND)
		r = measure_found(b, err);
	return r;
}

void bisect_release(struct bisect *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->commit[i].v);
	free(b->commit);
	free(b->left);
}
