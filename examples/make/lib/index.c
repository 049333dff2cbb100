/* SPDX-License-Identifier: MIT */
#include "ix.h"

int ix_index_file(struct ix_table *t, FILE *f, uint32_t *words)
{
	char word[64];

	while (ix_next_word(f, word, sizeof word)) {
		++*words;
		if (!ix_is_stopword(word))
			ix_postings_add(ix_table_get(t, word, true), *words);
	}
	return ferror(f) ? -1 : 0;
}
