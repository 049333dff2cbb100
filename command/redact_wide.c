/* SPDX-License-Identifier: MIT */
#include "command/redact_wide.h"

#include "command/redact_parts.h"

#include <stdatomic.h>

static void add_byte(struct redact_wide *w, unsigned position, unsigned char c, unsigned group)
{
	w->low[position][c & 15] |= (unsigned char)(1 << group);
	w->high[position][c >> 4] |= (unsigned char)(1 << group);
}

void redact_wide_add(struct redact_wide *w, unsigned position, char c, bool fold, unsigned group)
{
	if (!c) {
		for (unsigned i = 0; i < 256; i++)
			add_byte(w, position, (unsigned char)i, group);
		return;
	}
	add_byte(w, position, (unsigned char)c, group);
	if (fold && redact_is_letter(c))
		add_byte(w, position, (unsigned char)(c ^ 32), group);
}

#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>
#include <immintrin.h>

/* Not __builtin_cpu_supports(), which has a constructor in each program and in the plugin. */
static bool has_avx2(void)
{
	unsigned a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (bit_OSXSAVE | bit_AVX)) != (bit_OSXSAVE | bit_AVX))
		return false;
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	/* the system saves both halves of the registers */
	return (low & 6) == 6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_AVX2;
}

bool redact_wide_usable(void)
{
	enum { UNKNOWN, NO, YES };
	static atomic_int usable;

	if (atomic_load_explicit(&usable, memory_order_relaxed) == UNKNOWN)
		atomic_store_explicit(&usable, has_avx2() ? YES : NO, memory_order_relaxed);
	return atomic_load_explicit(&usable, memory_order_relaxed) == YES;
}

__attribute__((target("avx2"))) static inline __m256i twice(const unsigned char half[16])
{
	return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)half));
}

/* The groups for which the byte fits, in each of 32 places. A byte beyond ASCII fits none: its lower half is
 * not looked up. */
__attribute__((target("avx2"))) static inline __m256i groups(const char *p, __m256i low, __m256i high)
{
	__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)p);
	__m256i upper = _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));

	return _mm256_and_si256(_mm256_shuffle_epi8(low, v), _mm256_shuffle_epi8(high, upper));
}

__attribute__((target("avx2"))) const char *redact_wide(const struct redact_wide *w, const char *p, const char *end)
{
	const __m256i l0 = twice(w->low[0]), l1 = twice(w->low[1]), l2 = twice(w->low[2]), l3 = twice(w->low[3]);
	const __m256i h0 = twice(w->high[0]), h1 = twice(w->high[1]), h2 = twice(w->high[2]), h3 = twice(w->high[3]);

	for (; end - p >= REDACT_WIDE_LEAST; p += 32) {
		__m256i m = _mm256_and_si256(_mm256_and_si256(groups(p, l0, h0), groups(p + 1, l1, h1)),
					     _mm256_and_si256(groups(p + 2, l2, h2), groups(p + 3, l3, h3)));
		unsigned none = (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(m, _mm256_setzero_si256()));

		if (none != 0xffffffff)
			return p + __builtin_ctz(~none);
	}
	return p;
}
#else
bool redact_wide_usable(void)
{
	return false;
}

const char *redact_wide(const struct redact_wide *w, const char *p, const char *end)
{
	(void)w;
	(void)end;
	return p;
}
#endif
