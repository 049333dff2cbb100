/* SPDX-License-Identifier: MIT */
#include "rerun/model_ranks.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/sort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tasks that are to be first, and all that they wait for. */
static int mark_first(const struct rerun_model *m, const struct rerun_effect *effect, bool *first)
{
	uint32_t *list = array_new(m->n + 1, sizeof *list), *from = array_new(m->first_next[m->n] + 1, sizeof *from);
	uint32_t *end = array_new_zero(m->n + 2, sizeof *end);	/* in `from`, of each node */
	size_t n = 0;

	if (!list || !from || !end) {
		free_all(list, from, end);
		return -ENOMEM;
	}
	for (uint32_t k = 0; k < m->first_next[m->n]; k++)
		end[m->next[k] + 1]++;
	for (size_t i = 0; i < m->n; i++)
		end[i + 1] += end[i];
	for (uint32_t i = 0; i < m->n; i++) {
		for (uint32_t k = m->first_next[i]; k < m->first_next[i + 1]; k++)
			from[end[m->next[k]]++] = i;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->node[i].task != NO_INDEX && effect[m->node[i].task].first) {
			first[i] = true;
			list[n++] = i;
		}
	}
	while (n) {
		uint32_t i = list[--n];

		for (uint32_t k = i ? end[i - 1] : 0; k < end[i]; k++) {
			if (!first[from[k]]) {
				first[from[k]] = true;
				list[n++] = from[k];
			}
		}
	}
	free_all(list, from, end);
	return 0;
}

/* Does this version of a host start first what most others wait for? ninja from 1.12 on. */
static bool prefers_long_chains(const struct instance *in)
{
	const char *version = in->version;
	long major = strtol(version, (char **)&version, 10);
	long minor = *version == '.' ? strtol(version + 1, NULL, 10) : 0;

	return !strcmp(in->tool, "ninja") && (major > 1 || (major == 1 && minor >= 12));
}

/* How many tasks follow each one in the longest chain; what a node waits for comes before it in some
 * order. */
static int find_depths(const struct rerun_model *m, uint32_t *depth)
{
	uint32_t *order = array_new(m->n + 1, sizeof *order), *left = array_new(m->n + 1, sizeof *left);
	size_t n = 0;

	if (!order || !left) {
		free_all(order, left);
		return -ENOMEM;
	}
	memcpy(left, m->n_waits, m->n * sizeof *left);
	order[n++] = m->start;
	for (size_t at = 0; at < n; at++) {
		for (uint32_t k = m->first_next[order[at]]; k < m->first_next[order[at] + 1]; k++) {
			if (!--left[m->next[k]])
				order[n++] = m->next[k];
		}
	}
	while (n--) {
		uint32_t i = order[n], most = 0;

		for (uint32_t k = m->first_next[i]; k < m->first_next[i + 1]; k++)
			most = MAX(most, depth[m->next[k]]);
		depth[i] = most + (m->node[i].kind == RERUN_TASK);
	}
	free_all(order, left);
	return 0;
}

int rerun_ranks_fill(struct rerun_model *m, const struct rerun_effect *effect)
{
	struct keyed *k = array_new(m->n + 1, sizeof *k);
	bool *first = array_new_zero(m->n + 1, sizeof *first);
	uint32_t *depth = array_new_zero(m->n + 1, sizeof *depth);
	size_t n = 0;
	int r = k && first && depth ? 0 : -ENOMEM;

	if (!r && effect)
		r = mark_first(m, effect, first);
	if (!r)
		r = find_depths(m, depth);
	for (uint32_t i = 0; !r && i < m->n; i++) {
		const struct rerun_node *node = &m->node[i];
		bool deep;

		if ((node->kind != RERUN_TASK && node->kind != RERUN_HOST) || node->goes_on)
			continue;
		deep = prefers_long_chains(&m->s->rec->instance[node->instance]);
		k[n++] = (struct keyed){ (uint64_t)!first[i] << 63 |
			(uint64_t)(deep ? INT32_MAX - (int32_t)MIN(depth[i], INT32_MAX) : 0) << 32 | m->place[i], i };
	}
	r = r ? r : sort_keyed(k, n);
	for (size_t i = 0; !r && i < n; i++)
		k[i].key = m->node[k[i].value].instance;
	r = r ? r : sort_keyed(k, n);
	m->of_rank = array_new(n + 1, sizeof *m->of_rank);
	r = m->of_rank ? r : -ENOMEM;
	m->n_ranks = n;
	for (size_t i = 0; !r && i < n; i++) {
		struct rerun_instance *in = &m->instance[k[i].key];

		m->node[k[i].value].rank = (uint32_t)i;
		m->of_rank[i] = (uint32_t)k[i].value;
		if (!in->n_ranks++)
			in->first_rank = (uint32_t)i;
	}
	free_all(k, first, depth);
	return r;
}
