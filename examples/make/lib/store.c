/* SPDX-License-Identifier: MIT */
#include "ix.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_word(FILE *f, const struct ix_word *w)
{
	uint8_t bytes[5];
	uint32_t before = 0;

	fprintf(f, "%s", w->text);
	putc('\0', f);
	fwrite(bytes, 1, ix_varint_put(bytes, w->at.n), f);
	for (uint32_t i = 0; i < w->at.n; i++) {
		fwrite(bytes, 1, ix_varint_put(bytes, w->at.place[i] - before), f);
		before = w->at.place[i];
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp((*(const struct ix_word *const *)a)->text,
		      (*(const struct ix_word *const *)b)->text);
}

int ix_store(const struct ix_table *t, const char *path)
{
	const struct ix_word **sorted = malloc((t->n + 1) * sizeof *sorted);
	FILE *f = fopen(path, "wb");
	uint32_t n = 0;
	int bad;

	if (!f || !sorted)
		return -1;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slot[i].text)
			sorted[n++] = &t->slot[i];
	qsort(sorted, n, sizeof *sorted, by_text);
	for (uint32_t i = 0; i < n; i++)
		put_word(f, sorted[i]);
	free(sorted);
	bad = fflush(f) || fsync(fileno(f));
	return fclose(f) || bad ? -1 : 0;
}

static uint8_t *read_all(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*len = (size_t)ftell(f);
	rewind(f);
	data = malloc(*len + 1);
	if (data && fread(data, 1, *len, f) != *len) {
		free(data);
		data = NULL;
	}
	fclose(f);
	return data;
}

int ix_load(struct ix_table *t, const char *path)
{
	size_t len = 0, at = 0;
	uint8_t *data = read_all(path, &len);

	if (!data)
		return -1;
	while (at < len) {
		struct ix_postings *p = ix_table_get(t, (char *)data + at, true);
		uint32_t n, step, place = 0;

		at += strlen((char *)data + at) + 1;
		at += ix_varint_get(data + at, len - at, &n);
		while (n--) {
			at += ix_varint_get(data + at, len - at, &step);
			ix_postings_add(p, place += step);
		}
	}
	free(data);
	return 0;
}
