/* SPDX-License-Identifier: MIT */
#include "tests/fuzz.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int (*target)(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t size = 0, n = 1;

	if (!f) {
		perror(path);
		return 1;
	}
	while (n) {
		uint8_t *grown = realloc(data, size + 65536);

		if (!grown)
			abort();
		data = grown;
		n = fread(data + size, 1, 65536, f);
		size += n;
	}
	fclose(f);
	data = realloc(data, size ? size : 1);
	target(data, size);
	free(data);
	return 0;
}

static int run_path(const char *path, unsigned *n_files)
{
	struct dirent *entry;
	struct stat st;
	int failed = 0;
	DIR *dir;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		++*n_files;
		return run_file(path);
	}
	dir = opendir(path);
	if (!dir) {
		perror(path);
		return 1;
	}
	while ((entry = readdir(dir))) {
		char file[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
		failed |= run_path(file, n_files);
	}
	closedir(dir);
	return failed;
}

int fuzz_files(int (*function)(const uint8_t *data, size_t size), char **paths)
{
	unsigned n_files = 0;
	int failed = 0;

	target = function;
	for (; *paths; paths++)
		failed |= run_path(*paths, &n_files);
	printf("%u inputs\n", n_files);
	return failed || !n_files;
}
