/* SPDX-License-Identifier: MIT */
#include "ix.h"

/* ixbuild INDEX TEXT...: index the texts, in this order */
int main(int argc, char **argv)
{
	struct ix_table table = { 0 };
	uint32_t words = 0;

	if (argc < 3)
		return 2;
	for (int i = 2; i < argc; i++) {
		FILE *f = fopen(argv[i], "r");

		if (!f || ix_index_file(&table, f, &words)) {
			perror(argv[i]);
			return 1;
		}
		fclose(f);
	}
	if (ix_store(&table, argv[1])) {
		perror(argv[1]);
		return 1;
	}
	ix_table_free(&table);
	return 0;
}
