/* SPDX-License-Identifier: MIT */
#include "ix.h"

size_t ix_varint_put(uint8_t *to, uint32_t n)
{
	size_t len = 0;

	while (n >= 128) {
		to[len++] = (uint8_t)(n | 128);
		n >>= 7;
	}
	to[len++] = (uint8_t)n;
	return len;
}

size_t ix_varint_get(const uint8_t *from, size_t len, uint32_t *n)
{
	*n = 0;
	for (size_t i = 0; i < len && i < 5; i++) {
		*n |= (uint32_t)(from[i] & 127) << (7 * i);
		if (from[i] < 128)
			return i + 1;
	}
	return 0;
}
