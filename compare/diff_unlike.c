/* SPDX-License-Identifier: MIT */
#include "compare/diff_parts.h"

#include "base/array.h"
#include "base/minmax.h"

#include <string.h>

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const struct {
	enum diff_unlike is;
	const char *key;
	bool path;		/* its last part counts: clones of a project are in many places */
} facts[] = {
	{ DIFF_UNLIKE_MACHINE, "host", false },
	{ DIFF_UNLIKE_DIRECTORY, "cwd", true },
	{ DIFF_UNLIKE_COMMAND, "command", false },
	{ DIFF_UNLIKE_SOURCES, "source", true },
};

/* Whether two runs have this circumstance in common, or it is unknown of one. */
static bool is_shared(const struct values *a, const struct values *b, const char *key, bool path)
{
	bool known[DIFF_SIDES] = { false };

	for (size_t k = 0; k < b->n_facts; k++)
		known[DIFF_NOW] |= !strcmp(b->fact[k].key, key);
	for (size_t i = 0; i < a->n_facts; i++) {
		const char *value = a->fact[i].value;

		if (strcmp(a->fact[i].key, key))
			continue;
		known[DIFF_BASE] = true;
		for (size_t k = 0; k < b->n_facts; k++) {
			const char *other = b->fact[k].value;

			if (!strcmp(b->fact[k].key, key) &&
			    !strcmp(path ? last_part(value) : value, path ? last_part(other) : other))
				return true;
		}
	}
	return !known[DIFF_BASE] || !known[DIFF_NOW];
}

static bool is_shared_by_any(const struct diff *d, const char *key, bool path)
{
	for (size_t i = 0; i < d->n_runs[DIFF_BASE]; i++) {
		for (size_t k = 0; k < d->n_runs[DIFF_NOW]; k++) {
			if (is_shared(&d->run[DIFF_BASE][i], &d->run[DIFF_NOW][k], key, path))
				return true;
		}
	}
	return false;
}

void diff_find_unlike(struct diff *d)
{
	size_t most = MAX(d->n_base, d->n_now);

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		if (!is_shared_by_any(d, facts[i].key, facts[i].path))
			d->unlike |= DIFF_UNLIKE_BIT(facts[i].is);
	}
	if (2 * d->n_both < most)
		d->unlike |= DIFF_UNLIKE_BIT(DIFF_UNLIKE_TASKS);
}
