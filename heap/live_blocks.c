/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing, at most half full. */
#include "heap/live_blocks.h"

#include "heap/pages.h"

#define FIRST 1024	/* slots */

/* The address has 48 bits, and so has the size. */
struct slot {
	uint64_t address_size;	/* address, and above it the upper 16 bits of the size; 0: free */
	uint32_t size, site;
};
#define ADDRESS ((((uint64_t)1) << 48) - 1)

static struct slot *slots;
static size_t n_slots, n_used;
static unsigned shift;		/* of the hash value */

static size_t home(uint64_t address)
{
	return (size_t)((address >> 4) * 0x9e3779b97f4a7c15 >> shift);
}

static size_t find_slot(uint64_t address)
{
	size_t i = home(address);

	while (slots[i].address_size && (slots[i].address_size & ADDRESS) != address)
		i = (i + 1) & (n_slots - 1);
	return i;
}

static bool grow(void)
{
	struct slot *old = slots;
	size_t n_old = n_slots, n = n_old ? 2 * n_old : FIRST;
	struct slot *fresh = pages_new(n * sizeof *fresh);

	if (!fresh)
		return false;
	slots = fresh;
	n_slots = n;
	shift = (unsigned)__builtin_clzll(n) + 1;
	for (size_t i = 0; i < n_old; i++) {
		if (old[i].address_size)
			slots[find_slot(old[i].address_size & ADDRESS)] = old[i];
	}
	pages_free(old, n_old * sizeof *old);
	return true;
}

bool live_put(uintptr_t address, struct live_block block)
{
	if (2 * n_used >= n_slots && !grow())
		return false;
	slots[find_slot(address)] = (struct slot){
		.address_size = (address & ADDRESS) | block.size >> 32 << 48,
		.size = (uint32_t)block.size,
		.site = block.site,
	};
	n_used++;
	return true;
}

bool live_take(uintptr_t address, struct live_block *block)
{
	size_t i, next;

	if (!n_slots)
		return false;
	i = find_slot(address);
	if (!slots[i].address_size)
		return false;
	block->site = slots[i].site;
	block->size = slots[i].address_size >> 48 << 32 | slots[i].size;
	n_used--;
	/* move back what a search would no longer find behind a free slot */
	for (next = (i + 1) & (n_slots - 1); slots[next].address_size;
	     next = (next + 1) & (n_slots - 1)) {
		size_t from = home(slots[next].address_size & ADDRESS);

		if (((next - from) & (n_slots - 1)) >= ((next - i) & (n_slots - 1))) {
			slots[i] = slots[next];
			i = next;
		}
	}
	slots[i].address_size = 0;
	return true;
}

void live_reset(void)
{
	pages_free(slots, n_slots * sizeof *slots);
	slots = NULL;
	n_slots = n_used = 0;
}
