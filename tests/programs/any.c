/* SPDX-License-Identifier: MIT */
/* Allocates, prints to both outputs, ends with 3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < 2000; i++) {
		char *volatile p = malloc(1000 + (size_t)i);
		memset(p, 1, 1000);
		if (i % 2)
			free(p);
	}
	for (int i = 0; i < argc; i++)
		puts(argv[i]);
	fprintf(stderr, "an error\n");
	return 3;
}
