/* SPDX-License-Identifier: MIT */
#include "base/sha1.h"

#include <stdint.h>
#include <string.h>

#define BLOCK 64

static uint32_t rotate(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static uint32_t big_endian(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void mix_block(uint32_t h[5], const unsigned char *p)
{
	uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4], w[80];

	for (int i = 0; i < 16; i++)
		w[i] = big_endian(p + 4 * i);
	for (int i = 16; i < 80; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f, next;

		if (i < 20)
			f = (d ^ (b & (c ^ d))) + 0x5a827999;
		else if (i < 40)
			f = (b ^ c ^ d) + 0x6ed9eba1;
		else if (i < 60)
			f = ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
		else
			f = (b ^ c ^ d) + 0xca62c1d6;
		next = rotate(a, 5) + f + e + w[i];
		e = d;
		d = c;
		c = rotate(b, 30);
		b = a;
		a = next;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

void sha1(unsigned char out[SHA1_SIZE], const void *data, size_t len)
{
	uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	unsigned char last[2 * BLOCK] = { 0 };
	const unsigned char *p = data;
	size_t rest = len % BLOCK, end = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;

	for (size_t i = 0; i < len / BLOCK; i++)
		mix_block(h, p + i * BLOCK);
	if (rest)
		memcpy(last, p + len - rest, rest);
	last[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		last[end - 1 - i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
	for (size_t i = 0; i < end; i += BLOCK)
		mix_block(h, last + i);
	for (int i = 0; i < SHA1_SIZE; i++)
		out[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}
