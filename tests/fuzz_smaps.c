/* SPDX-License-Identifier: MIT */
/*
 * What is read of an inspected process: /proc/PID/smaps, in pieces of the length of the first
 * byte; the rest as the head of an ELF file if that byte is 0.
 */
#include "inspect/elf_head.h"
#include "inspect/smaps.h"
#include "tests/fuzz.h"

#include <string.h>

struct bytes {
	const uint8_t *data;
	size_t size;
};

static size_t read_bytes(void *ctx, void *to, size_t len, uint64_t offset)
{
	const struct bytes *b = ctx;

	if (offset >= b->size)
		return 0;
	len = len < b->size - offset ? len : b->size - (size_t)offset;
	memcpy(to, b->data + offset, len);
	return len;
}

static void elf(const uint8_t *data, size_t size)
{
	struct elf_head h;
	uint64_t address;

	if (!elf_head_read(&h, read_bytes, &(struct bytes){ data, size }))
		return;
	check(h.n_loads && h.n_loads <= ELF_HEAD_LOADS && strlen(h.build_id) <= 40);
	elf_head_address(&h, 0, 4096, &address);
}

/* Returns whether all of it could be parsed. */
static bool parse(struct snapshot *s, struct name_table *names, const char *text, size_t size,
		  size_t piece)
{
	struct smaps p;
	size_t used = 0, at = 0, len = 0;
	int r = 0;

	smaps_init(&p, s, names);
	while (!r && at + len < size) {
		size_t more = size - at - len < piece ? size - at - len : piece;
		char *copy = malloc(len + more);	/* of exact size: sanitizers see a read after it */

		len += more;
		check(copy != NULL);
		memcpy(copy, text + at, len);
		r = smaps_parse(&p, copy, len, &used);
		check(used <= len);
		at += used;
		len -= used;
		free(copy);
	}
	return !r;
}

FUZZ_TARGET(smaps)
{
	struct snapshot whole = { 0 }, pieces = { 0 };
	struct name_table names = NAME_TABLE_INIT;

	if (!size || size > 65536)
		return 0;
	if (!data[0]) {
		elf(data + 1, size - 1);
		return 0;
	}
	names.arena = arena_new();
	check(names.arena != NULL);
	check(parse(&whole, &names, (const char *)data + 1, size - 1, size) ==
	      parse(&pieces, &names, (const char *)data + 1, size - 1, data[0]));
	check(whole.n == pieces.n);
	for (size_t i = 0; i < whole.n; i++) {
		const struct mapping *m = &whole.mapping[i];

		check(m->start < m->end && m->file < names.n && !m->permissions[4]);
		check(!i || m[-1].end <= m->start);
		check(!memcmp(m, &pieces.mapping[i], sizeof *m));
	}
	snapshot_release(&whole);
	snapshot_release(&pieces);
	name_table_release(&names);
	arena_free(names.arena);
	return 0;
}
