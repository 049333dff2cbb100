/* SPDX-License-Identifier: MIT */
#include "command/ninja_hash.h"

#include <endian.h>
#include <string.h>

static uint64_t read8(const unsigned char *p)
{
	uint64_t n;

	memcpy(&n, p, sizeof n);
	return le64toh(n);
}

static uint64_t read4(const unsigned char *p)
{
	uint32_t n;

	memcpy(&n, p, sizeof n);
	return le32toh(n);
}

/* MurmurHash64A */

#define MURMUR_SEED UINT64_C(0xdecafbaddecafbad)
#define MURMUR_FACTOR UINT64_C(0xc6a4a7935bd1e995)

static uint64_t murmur_shift(uint64_t n)
{
	return n ^ n >> 47;
}

uint64_t ninja_hash_murmur(const void *text, size_t len)
{
	const unsigned char *p = text;
	uint64_t h = MURMUR_SEED ^ len * MURMUR_FACTOR;
	uint64_t tail = 0;

	for (; len >= 8; p += 8, len -= 8) {
		h ^= murmur_shift(read8(p) * MURMUR_FACTOR) * MURMUR_FACTOR;
		h *= MURMUR_FACTOR;
	}
	if (len) {
		while (len--)
			tail = tail << 8 | p[len];
		h = (h ^ tail) * MURMUR_FACTOR;
	}
	return murmur_shift(murmur_shift(h) * MURMUR_FACTOR);
}

/* rapidhash */

#define RAPID_SEED UINT64_C(0xbdd89aa982704029)
#define RAPID_0 UINT64_C(0x2d358dccaa6c78a5)
#define RAPID_1 UINT64_C(0x8bb84b93962eacc9)
#define RAPID_2 UINT64_C(0x4b33a62ed433d4a3)

/* The product of both is in both: low half, high half. */
static void multiply(uint64_t *a, uint64_t *b)
{
	uint64_t al = (uint32_t)*a, ah = *a >> 32, bl = (uint32_t)*b, bh = *b >> 32;
	uint64_t low = al * bl, middle = ah * bl + (low >> 32), other = al * bh + (uint32_t)middle;

	*a = other << 32 | (uint32_t)low;
	*b = ah * bh + (middle >> 32) + (other >> 32);
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	multiply(&a, &b);
	return a ^ b;
}

/* Of a text of up to 16 bytes, all in two numbers. */
static void rapid_short(const unsigned char *p, size_t len, uint64_t *a, uint64_t *b)
{
	size_t inner = len >= 8 ? 4 : 0;

	*a = *b = 0;
	if (len >= 4) {
		*a = read4(p) << 32 | read4(p + len - 4);
		*b = read4(p + inner) << 32 | read4(p + len - 4 - inner);
	} else if (len) {
		*a = (uint64_t)p[0] << 56 | (uint64_t)p[len >> 1] << 32 | p[len - 1];
	}
}

/* Of a longer one: its last 16 bytes, and the others in *seed. */
static void rapid_long(const unsigned char *p, size_t len, uint64_t *seed, uint64_t *a,
		       uint64_t *b)
{
	uint64_t h = *seed, second = h, third = h;

	if (len > 48) {
		for (; len >= 48; p += 48, len -= 48) {
			h = mix(read8(p) ^ RAPID_0, read8(p + 8) ^ h);
			second = mix(read8(p + 16) ^ RAPID_1, read8(p + 24) ^ second);
			third = mix(read8(p + 32) ^ RAPID_2, read8(p + 40) ^ third);
		}
		h ^= second ^ third;
	}
	if (len > 16)
		h = mix(read8(p) ^ RAPID_2, read8(p + 8) ^ h ^ RAPID_1);
	if (len > 32)
		h = mix(read8(p + 16) ^ RAPID_2, read8(p + 24) ^ h);
	*a = read8(p + len - 16);
	*b = read8(p + len - 8);
	*seed = h;
}

uint64_t ninja_hash_rapid(const void *text, size_t len)
{
	uint64_t seed = RAPID_SEED ^ mix(RAPID_SEED ^ RAPID_0, RAPID_1) ^ len;
	uint64_t a, b;

	if (len <= 16)
		rapid_short(text, len, &a, &b);
	else
		rapid_long(text, len, &seed, &a, &b);
	a ^= RAPID_1;
	b ^= seed;
	multiply(&a, &b);
	return mix(a ^ RAPID_0 ^ len, b ^ RAPID_1);
}
