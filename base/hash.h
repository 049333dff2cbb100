/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_HASH_H
#define BUILDBEAT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t hash_mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

/* Of bytes and a number, eight bytes a step: names are what takes time. */
static inline uint64_t hash_bytes(uint64_t seed, const char *p, size_t len)
{
	uint64_t h = hash_mix(seed + 1), word;

	for (; len >= sizeof word; len -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		h = hash_mix(h ^ word);
	}
	word = len;
	memcpy(&word, p, len);
	return hash_mix(h ^ word ^ (uint64_t)len << 56);
}

#endif
