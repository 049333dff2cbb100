/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>

/* ixcorpus WORDS SEED: a text of made-up words on standard output */
int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	ix_corpus(stdout, (uint32_t)strtoul(argv[1], NULL, 10),
		  (uint32_t)strtoul(argv[2], NULL, 10));
	return fflush(stdout) ? 1 : 0;
}
