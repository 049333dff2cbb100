/* SPDX-License-Identifier: MIT */
#include "inspect/snapshot.h"

#include <stdlib.h>

const char *const mapping_value_words[MAPPING_VALUES] = {
	"size", "rss", "pss", "shared_clean", "shared_dirty", "private_clean", "private_dirty",
	"anonymous", "huge", "swap",
};

void snapshot_release(struct snapshot *s)
{
	free(s->mapping);
	free(s->resident);
	free(s->site);
	free(s->range);
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
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->mapping[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->n && s->mapping[low].start <= address ? &s->mapping[low] : NULL;
}
