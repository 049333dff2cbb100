/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>
#include <string.h>

/* ixquery INDEX top N | near WORD WORD DISTANCE | count WORD */
int main(int argc, char **argv)
{
	struct ix_table table = { 0 };
	struct ix_postings *a, *b;

	if (argc < 4)
		return 2;
	if (ix_load(&table, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	if (!strcmp(argv[2], "top")) {
		ix_rank(&table, strtoul(argv[3], NULL, 10), stdout);
	} else if (!strcmp(argv[2], "count")) {
		a = ix_table_get(&table, argv[3], false);
		printf("%u\n", a ? a->n : 0);
	} else if (!strcmp(argv[2], "near") && argc == 6) {
		a = ix_table_get(&table, argv[3], false);
		b = ix_table_get(&table, argv[4], false);
		uint32_t *out = a ? malloc((a->n + 1) * sizeof *out) : NULL;

		printf("%zu\n", out && b ? ix_postings_and(a, b, (uint32_t)atoi(argv[5]), out) : 0);
		free(out);
	} else {
		return 2;
	}
	ix_table_free(&table);
	return 0;
}
