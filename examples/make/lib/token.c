/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <ctype.h>

bool ix_next_word(FILE *f, char *word, size_t size)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(f)) != EOF && !isalnum(c))
		;
	for (; c != EOF && isalnum(c); c = getc_unlocked(f))
		if (n + 1 < size)
			word[n++] = (char)tolower(c);
	word[n] = '\0';
	return n > 0;
}
