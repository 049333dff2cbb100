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

/* The hash of a number and bytes. It takes eight bytes a step because names are long; its value
 * depends on the machine's byte order and must not be written to files. */
static inline uint64_t hash_bytes(uint64_t seed, const char *p, size_t len)
{
	uint64_t h = hash_mix(seed + 1), word;

	for (; len >= sizeof word; len -= sizeof word, p += sizeof word) {
		memcpy(&word, p, sizeof word);
		h = hash_mix(h ^ word);
	}
	word = len;
	if (len)	/* otherwise p may be NULL */
		memcpy(&word, p, len);
	return hash_mix(h ^ word ^ (uint64_t)len << 56);
}

/* FNV-1a: the same on every machine, so it may be written to files. The functions with _more
 * continue with a text that follows. */
static inline uint64_t hash_fnv64_more(uint64_t h, const char *p, size_t len)
{
	for (; len; len--)
		h = (h ^ (unsigned char)*p++) * UINT64_C(0x100000001b3);
	return h;
}

static inline uint64_t hash_fnv64(const char *p, size_t len)
{
	return hash_fnv64_more(UINT64_C(0xcbf29ce484222325), p, len);
}

static inline uint32_t hash_fnv32_more(uint32_t h, const char *p, size_t len)
{
	for (; len; len--)
		h = (h ^ (unsigned char)*p++) * UINT32_C(0x1000193);
	return h;
}

static inline uint32_t hash_fnv32(const char *p, size_t len)
{
	return hash_fnv32_more(UINT32_C(0x811c9dc5), p, len);
}

#endif
