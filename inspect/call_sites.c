/* SPDX-License-Identifier: MIT */
#include "inspect/call_sites.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static struct call_site *find_site(struct call_sites *t, const struct call *call, bool mapped)
{
	uint64_t a = (uint64_t)call->function << 32 | call->source;
	uint64_t b = (uint64_t)call->line << 1 | mapped;
	struct call_site *site;
	uint32_t number;

	if (index_find(&t->index, a, b, &number))
		return &t->site[number];
	if (index_put(&t->index, a, b, (uint32_t)t->n))
		return NULL;
	site = array_add(&t->site, &t->n, sizeof *site);
	if (site)
		*site = (struct call_site){ .call = *call, .mapped = mapped };
	return site;
}

int call_sites_add(struct call_sites *t, unsigned column, struct class_nodes *nodes,
		   struct calls *calls, const struct snapshot *s, const struct pattern *filter)
{
	int r = 0;

	for (size_t i = 0; i < s->n_sites && !r; i++) {
		struct call call = { CLASSES_NONE, INSPECTION_NONE, 0, INSPECTION_NONE };
		struct call_site *site;
		size_t first = 0;

		r = calls_read(calls, s->site[i].stack);
		if (r || !calls_fit(calls, filter))
			continue;
		r = class_nodes_blame(nodes, calls, 0, &first);
		if (calls->n)
			call = calls->call[first < calls->n ? first : 0];
		site = r ? NULL : find_site(t, &call, s->site[i].mapped);
		if (!site)
			return -ENOMEM;
		heap_add_site(site->value[column], &site->variance[column], &s->site[i]);
	}
	return r;
}

void call_sites_release(struct call_sites *t)
{
	free(t->site);
	index_release(&t->index);
	*t = (struct call_sites){ 0 };
}
