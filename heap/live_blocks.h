/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_LIVE_BLOCKS_H
#define BUILDBEAT_HEAP_LIVE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The recorded allocations that were not freed, by address. The caller has the lock. */

struct live_block {
	uint32_t site;
	uint64_t size;		/* less than 2^48 */
};

/* Add a block, at an address that is in no other one. false: no memory. */
bool live_put(uintptr_t address, struct live_block block);

/* Remove the block at an address; false: it is not here. */
bool live_take(uintptr_t address, struct live_block *block);

/* Forget all. */
void live_reset(void);

#endif
