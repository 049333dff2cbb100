/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

#define WORD_MAX 64

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = MIN(a, b);

	return MIN(ab, c);
}

/* Letters to change, add, drop or swap with their neighbour. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[3][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3];
		const unsigned *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

const char *nearest_word(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	unsigned best = (unsigned)strlen(word) / 3 + 2;

	for (; *candidates; candidates++) {
		unsigned d = distance(word, *candidates);
		bool begins = strlen(word) >= 2 &&
			      !strncmp(word, *candidates, strlen(word));

		if (begins && d > 1)
			d = 1;
		if (d < best && d < strlen(*candidates)) {
			best = d;
			nearest = *candidates;
		}
	}
	return nearest;
}
