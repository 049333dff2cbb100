/* SPDX-License-Identifier: MIT */
#include "compare/repeats.h"

#include "base/array.h"
#include "compare/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Builds at the same time of two consecutive days are further apart, however much they vary. */
#define REPEATS_WITHIN_S (12 * 3600)

static bool has_same_sources(const struct build *a, const struct build *b)
{
	if (!a->n_revisions || a->n_revisions != b->n_revisions ||
	    a->circumstances != b->circumstances)
		return false;
	for (size_t i = 0; i < a->n_revisions; i++) {
		const struct revision *x = &a->revision[i], *y = build_revision(b, x->source);

		if (!y || strcmp(x->commit, y->commit) || x->dirty || y->dirty)
			return false;
	}
	return true;
}

static bool is_repeat(const struct build *first, const struct build *b)
{
	return first->start_s >= 0 && b->start_s >= 0 &&
	       b->start_s - first->start_s < REPEATS_WITHIN_S &&
	       first->start_s - b->start_s < REPEATS_WITHIN_S &&
	       first->total[TOTAL_STATUS] <= 0 && b->total[TOTAL_STATUS] <= 0 &&
	       first->total[TOTAL_TASKS] == b->total[TOTAL_TASKS];
}

/* The first recording that i repeats, at or after `from`, whose sources are the same; i if it
 * repeats none. */
static size_t find_first(const struct builds *builds, const uint32_t *first, size_t from, size_t i)
{
	for (size_t k = from; k < i; k++) {
		if (first[k] == k && is_repeat(&builds->build[k], &builds->build[i]))
			return k;
	}
	return i;
}

size_t repeats_find(uint32_t *build, const struct builds *builds)
{
	size_t from = 0, n = 0;

	for (size_t i = 0; i < builds->n; i++) {
		if (i && !has_same_sources(&builds->build[i - 1], &builds->build[i]))
			from = i;
		build[i] = (uint32_t)find_first(builds, build, from, i);
	}
	/* From first recordings to numbers, by the newest ones: from the end, numbers count down. */
	for (size_t i = 0; i < builds->n; i++)
		n += build[i] == i;
	for (size_t i = builds->n, number = n; i-- > 0; ) {
		size_t first = build[i];

		if (first >= builds->n)
			continue;
		number--;
		for (size_t k = first; k <= i; k++) {
			if (build[k] == first)
				build[k] = UINT32_MAX - (uint32_t)number;
		}
	}
	for (size_t i = 0; i < builds->n; i++)
		build[i] = UINT32_MAX - build[i];
	return n;
}

/* The order of a list of notes, which is nearly sorted. */
static void sort_known(struct known_list *known)
{
	for (size_t i = 1; i < known->n; i++) {
		struct known k = known->known[i];
		size_t at = i;

		for (; at && (known->known[at - 1].build > k.build ||
			      (known->known[at - 1].build == k.build &&
			       known->known[at - 1].time_s > k.time_s)); at--)
			known->known[at] = known->known[at - 1];
		known->known[at] = k;
	}
}

int repeats_join(struct builds *builds, struct known_list *known, struct error *err)
{
	struct merge_part part = { .to = array_new(builds->n, sizeof *part.to) };
	size_t n;
	int r = 0;

	if (!part.to)
		return error_sys(err, -ENOMEM, builds->ref, NULL);
	n = repeats_find(part.to, builds);
	if (n < builds->n) {
		for (size_t i = 0; known && i < known->n; i++)
			known->known[i].build = part.to[known->known[i].build];
		if (known)
			sort_known(known);
		part.builds = *builds;
		r = merge_builds(builds, n, &part, 1, err);
	}
	free(part.to);
	return r;
}
