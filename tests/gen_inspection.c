/* SPDX-License-Identifier: MIT */
/*
 * Writes an archive of a made inspection: gen_inspection ARCHIVE [STACKS [SNAPSHOTS [MAPPINGS
 * [SEED]]]]. Without numbers it is the compilation of made_inspection.h. With SEED 0 names are
 * harmless, otherwise hostile.
 */
#include "inspect/archive_files.h"
#include "tests/made_inspection.h"

#include <stdio.h>
#include <stdlib.h>

static size_t number(char **argv, int argc, int i, size_t otherwise)
{
	return argc > i ? strtoul(argv[i], NULL, 10) : otherwise;
}

static int write_archive(const struct made_inspection *m, const char *path, struct error *err)
{
	struct inspect_archive *a;
	int r = inspect_archive_create(&a, ".", path, &m->inspection, STORE_ACCESS_USER, err);

	if (r)
		return r;
	for (size_t i = 0; !r && i < m->n; i++)
		r = inspect_archive_add_snapshot(a, &m->snapshot[i]);
	if (!r)
		r = inspect_archive_set_symbols(path, &m->inspection, err);
	return inspect_archive_end(a, m->inspection.end, err) || r;
}

int main(int argc, char **argv)
{
	struct made_inspection_wish wish = {
		.stacks = number(argv, argc, 2, 0), .snapshots = number(argv, argc, 3, 10),
		.mappings = number(argv, argc, 4, 100), .seed = number(argv, argc, 5, 0), .depth = 40,
	};
	struct made_inspection m;
	struct error err = { 0 };
	int r;

	if (argc < 2)
		return 2;
	wish.hostile = wish.seed != 0;
	if (argc == 2)
		made_inspection_compile(&m);
	else
		made_inspection_random(&m, &wish);
	r = write_archive(&m, argv[1], &err);
	if (r)
		fprintf(stderr, "gen_inspection: %s: %s\n", argv[1], err.message);
	made_inspection_release(&m);
	return r ? 1 : 0;
}
