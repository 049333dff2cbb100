/* SPDX-License-Identifier: MIT */
#include "inspect/snapshot.h"

#include "base/array.h"
#include "base/search.h"

const char *const mapping_value_words[MAPPING_VALUES] = {
	"size", "rss", "pss", "shared_clean", "shared_dirty", "private_clean", "private_dirty",
	"anonymous", "huge", "swap",
};

void snapshot_release(struct snapshot *s)
{
	free_all(s->mapping, s->resident, s->site, s->range);
	*s = (struct snapshot){ 0 };
}

void snapshot_clear(struct snapshot *s)
{
	*s = (struct snapshot){
		.mapping = s->mapping, .resident = s->resident, .site = s->site,
		.range = s->range,
	};
}

uint64_t snapshot_sum_kb(const struct snapshot *s, enum mapping_value value)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->mapping[i].kb[value];
	return sum;
}

const struct mapping *snapshot_find(const struct snapshot *s, uint64_t address)
{
	struct search_range search = search_all(s->n);

	while (search_next(&search))
		search_past(&search, s->mapping[search.at].end <= address);
	return search.at < s->n && s->mapping[search.at].start <= address ? &s->mapping[search.at] : NULL;
}
