/* SPDX-License-Identifier: MIT */
#include "ix.h"

/* Words of two to four syllables; low numbers come up far more often, as words do. */
static const char *const syllable[] = {
	"ka", "lo", "mi", "ter", "no", "su", "ven", "da", "pri", "qu", "re", "sto",
	"ul", "wa", "xe", "zi", "bra", "che", "fon", "gra", "hy", "jo", "ple", "tri",
};

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void put_word(FILE *out, uint32_t n)
{
	const uint32_t base = sizeof syllable / sizeof *syllable;

	do {
		fputs(syllable[n % base], out);
		n /= base;
	} while (n);
}

void ix_corpus(FILE *out, uint32_t words, uint32_t seed)
{
	for (uint32_t i = 1; i <= words; i++) {
		uint32_t r = next(&seed);
		uint32_t range = 1u << (4 + r % 16);

		put_word(out, next(&seed) % range);
		putc(i % 12 ? ' ' : '\n', out);
	}
}
