/* SPDX-License-Identifier: MIT */
#include "compare/presence.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>

#define LARGEST_OF 32		/* good builds, to decide whether one is whole */
#define REGULAR_OF 10		/* whole builds, to decide whether a task is regular */

static void free_sets(struct presence *p)
{
	for (size_t i = p->set ? p->n_builds : 0; i-- > 0; ) {
		if (!i || p->set[i] != p->set[i - 1])
			free(p->set[i]);
	}
	free(p->set);
}

void presence_release(struct presence *p)
{
	free_sets(p);
	free_all(p->count, p->good, p->whole, p->first);
	*p = (struct presence){ 0 };
}

static size_t count_bits(const struct presence *p, const uint64_t *set)
{
	size_t n = 0;

	for (size_t i = 0; i < p->words; i++)
		n += (size_t)__builtin_popcountll(set[i]);
	return n;
}

static int read_set(struct presence *p, const struct builds *builds, uint32_t build,
		    struct error *err)
{
	uint64_t *set = array_new_zero(p->words + 1, sizeof *set);
	int r = set ? builds->ran(builds, build, set, err) :
		error_sys(err, -ENOMEM, builds->ref, NULL);

	if (r) {
		free(set);
		set = r > 0 && build ? p->set[build - 1] : NULL;
	}
	p->set[build] = set;
	if (r >= 0)
		p->count[build] = r ? p->count[build - 1] : count_bits(p, set);
	return r < 0 ? r : 0;
}

static void find_whole(struct presence *p)
{
	for (size_t i = 0; i < p->n_good; i++) {
		size_t largest = 0;

		for (size_t k = i < LARGEST_OF ? 0 : i - LARGEST_OF; k < i; k++) {
			size_t count = p->count[p->good[k]];

			largest = MAX(count, largest);
		}
		if (4 * p->count[p->good[i]] >= 3 * largest)
			p->whole[p->n_whole++] = p->good[i];
	}
}

/* The first whole build of each task. */
static int find_first(struct presence *p)
{
	uint64_t *seen = array_new_zero(p->words + 1, sizeof *seen);

	p->first = array_new_zero(p->n_tasks + 1, sizeof *p->first);
	for (uint32_t i = 0; seen && p->first && i < p->n_whole; i++) {
		const uint64_t *set = p->set[p->whole[i]];

		if (i && set == p->set[p->whole[i - 1]])
			continue;
		for (size_t w = 0; w < p->words; w++) {
			for (uint64_t left = set[w] & ~seen[w]; left; left &= left - 1)
				p->first[64 * w + (size_t)__builtin_ctzll(left)] = i;
			seen[w] |= set[w];
		}
	}
	free(seen);
	return seen && p->first ? 0 : -ENOMEM;
}

int presence_read(struct presence *p, const struct builds *builds, struct error *err)
{
	size_t n = builds->n;
	int r = 0;

	*p = (struct presence){
		.n_builds = n, .n_tasks = builds->n_tasks, .words = (builds->n_tasks + 63) / 64,
		.set = array_new_zero(n + 1, sizeof *p->set), .count = array_new_zero(n + 1, sizeof *p->count),
		.good = array_new_zero(n + 1, sizeof *p->good), .whole = array_new_zero(n + 1, sizeof *p->whole),
	};
	if (!p->set || !p->count || !p->good || !p->whole)
		return error_sys(err, -ENOMEM, builds->ref, NULL);
	for (uint32_t i = 0; !r && i < n; i++) {
		r = read_set(p, builds, i, err);
		if (!(builds->build[i].total[TOTAL_STATUS] > 0))
			p->good[p->n_good++] = i;
	}
	if (r)
		return r;
	find_whole(p);
	return find_first(p) ? error_sys(err, -ENOMEM, builds->ref, NULL) : 0;
}

static uint64_t *joined(const struct presence *p, const uint64_t *set, const uint32_t *to,
			size_t words)
{
	uint64_t *made = array_new_zero(words + 1, sizeof *made);

	for (size_t w = 0; made && w < p->words; w++) {
		for (uint64_t left = set[w]; left; left &= left - 1) {
			uint32_t task = to[64 * w + (size_t)__builtin_ctzll(left)];

			made[task / 64] |= UINT64_C(1) << task % 64;
		}
	}
	return made;
}

int presence_join(struct presence *p, const uint32_t *to, size_t n_tasks)
{
	struct presence now = *p;
	int r = 0;

	now.words = (n_tasks + 63) / 64;
	now.n_tasks = n_tasks;
	now.set = array_new_zero(p->n_builds, sizeof *now.set);
	for (size_t i = 0; now.set && !r && i < p->n_builds; i++) {
		now.set[i] = i && p->set[i] == p->set[i - 1] ? now.set[i - 1] :
			     joined(p, p->set[i], to, now.words);
		r = now.set[i] ? 0 : -ENOMEM;
	}
	free_sets(r || !now.set ? &now : p);
	if (r || !now.set)
		return -ENOMEM;
	free(p->first);
	*p = now;
	return find_first(p);
}

bool presence_regular(const struct presence *p, size_t since, size_t i, uint32_t task)
{
	size_t n = i - since, missed = 0;

	n = MIN(n, REGULAR_OF);
	for (size_t k = 1; k <= n && 10 * missed <= n; k++)
		missed += !presence_ran(p, p->whole[i - k], task);
	return 10 * missed <= n;
}
