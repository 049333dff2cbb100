/* SPDX-License-Identifier: MIT */
#include "compare/fixed_by.h"

#include <string.h>

static bool was_built(const struct build *build, const char *commit)
{
	for (size_t i = 0; i < build->n_revisions; i++) {
		if (!strncmp(build->revision[i].commit, commit, strlen(commit)))
			return true;
	}
	return false;
}

static bool has(const struct build *build, const char *commit,
		const struct fixed_by_history *history)
{
	for (size_t i = 0; history && i < build->n_revisions; i++) {
		if (history->has(history->context, &build->revision[i], commit))
			return true;
	}
	return was_built(build, commit);
}

/* The first build after the note that has the revision; builds->n: none. Builds after it have it
 * too, so few are asked. */
static size_t first_with(const struct known *k, const struct builds *builds,
			 const struct fixed_by_history *history)
{
	size_t first = k->build + 1, end = builds->n;

	for (size_t i = first; i < builds->n; i++) {
		if (was_built(&builds->build[i], k->fixed_by)) {
			end = i;
			break;
		}
	}
	while (first < end) {
		size_t mid = first + (end - first) / 2;

		if (has(&builds->build[mid], k->fixed_by, history))
			end = mid;
		else
			first = mid + 1;
	}
	return end;
}

void fixed_by_find(struct known_list *list, const struct builds *builds, const struct rules *rules,
		   const struct fixed_by_history *history)
{
	for (size_t i = 0; i < list->n; i++) {
		struct known *k = &list->known[i];
		int64_t good = 0;

		if (k->kind != KNOWN_ACKNOWLEDGED || !k->fixed_by || k->invalid)
			continue;
		k->overdue = false;
		for (size_t b = first_with(k, builds, history); b < builds->n && !k->overdue; b++) {
			good += builds->build[b].total[TOTAL_STATUS] <= 0;
			k->overdue = good > rules->agree;
			k->overdue_since = (uint32_t)b;
		}
	}
}

void fixed_by_mark(struct verdict *v, const struct builds *builds, const struct known_list *list)
{
	for (size_t i = 0; i < v->n; i++) {
		struct verdict_finding *f = &v->finding[i];

		if (f->state != FINDING_CONFIRMED || !f->worse)
			continue;
		for (size_t n = list->n; n-- > 0 && !f->overdue; ) {
			const struct known *k = &list->known[n];

			if (k->overdue && k->build >= f->first && verdict_known_fits(v, builds, f, k))
				f->overdue = k;
		}
	}
}
