/* SPDX-License-Identifier: MIT */
/* ELF files, tables of the cache and symbols.log, of any bytes: the first bytes say which. libdw
 * runs only in its own process: what it does with such files is not ours to fix. */
#include "base/hash.h"
#include "inspect/symbols_log.h"
#include "symbols/demangle.h"
#include "symbols/symtab.h"
#include "tests/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void look_up(const struct symtab *t, const uint8_t *data, size_t size)
{
	struct buf text = BUF_INIT;
	uint64_t start, address = 0;

	for (size_t i = 0; i < 64; i++) {
		const char *name = symtab_find(t, address, &start);

		if (name && i < 8) {
			buf_clear(&text);
			demangle_add(&text, name);
			check(text.len <= 2 * DEMANGLE_MAX);
		}
		check(!name || !start);
		memcpy(&address, data + i * 7919 % size, size - i * 7919 % size < 4 ? 1 : 4);
	}
	buf_release(&text);
}

/* What is made of a file can be used again. */
static void file(const uint8_t *data, size_t size)
{
	struct elf_file f;
	struct symtab t, again;
	const char *name;
	uint32_t crc;

	if (elf_file_of_memory(&f, data, size))
		return;
	elf_file_debuglink(&f, &name, &crc);
	elf_file_has_debug(&f);
	if (!symtab_make(&t, &f, &f)) {
		check(symtab_use(&again, t.memory, t.size, false));
		look_up(&t, data, size);
		symtab_release(&t);
	}
	elf_file_close(&f);
}

static void table(const uint8_t *data, size_t size)
{
	char *copy = malloc(size);
	struct symtab t;

	memcpy(copy, data, size);
	if (size > sizeof(struct symtab_head))	/* its checksum would hide the rest */
		((struct symtab_head *)copy)->hash =
			hash_bytes(0, copy + sizeof(struct symtab_head), size - sizeof(struct symtab_head));
	if (symtab_use(&t, copy, size, false)) {
		look_up(&t, data, size);
		symtab_release(&t);
	} else {
		free(copy);
	}
}

/* Names that can be read are written as the same names. */
static void names(const uint8_t *data, size_t size)
{
	struct frame frame[4] = { { .module = 0 } };
	struct inspection in = { .arena = arena_new(), .n_frames = 4, .frame = frame };
	struct buf first = BUF_INIT, second = BUF_INIT;

	in.names.arena = in.arena;
	if (!symbols_log_read(&in, (const char *)data, size, "x", NULL)) {
		symbols_log_write(&first, &in);
		check(!symbols_log_read(&in, first.data, first.len, "x", NULL));
		symbols_log_write(&second, &in);
		check(first.len == second.len && !memcmp(first.data, second.data, first.len));
	}
	buf_release(&first);
	buf_release(&second);
	free(in.frame_name);
	name_table_release(&in.names);
	arena_free(in.arena);
}

FUZZ_TARGET(symbols)
{
	if (size < 2)
		return 0;
	if (*data == 0x7f)
		file(data, size);
	else if (size > 12 && !memcmp(data, "buildbeat in", 12))
		names(data, size < 2000 ? size : 2000);	/* no text is so long that it is cut */
	else
		table(data, size);
	return 0;
}
