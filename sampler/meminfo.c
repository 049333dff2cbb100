/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "sampler/parse.h"
#include "sampler/source_proc.h"

#include <errno.h>

/* The totals are last: they change only once, with the first line. */
enum {
	FREE, AVAILABLE, CACHED, DIRTY, BUFFERS, WRITEBACK, SLAB, SHMEM, SWAP, TOTAL, SWAP_TOTAL,
	COLUMNS
};

#define MIB(name) { name, "1MiB", false, 1, 1024 }

static const struct table_column columns[COLUMNS] = {
	[FREE] = MIB("free"), [AVAILABLE] = MIB("available"), [CACHED] = MIB("cached"),
	[DIRTY] = MIB("dirty"), [BUFFERS] = MIB("buffers"), [WRITEBACK] = MIB("writeback"),
	[SLAB] = MIB("slab"), [SHMEM] = MIB("shmem"), [SWAP] = MIB("swap"),
	[TOTAL] = MIB("total"), [SWAP_TOTAL] = MIB("swap_total"),
};

static const char *const keys[COLUMNS] = {
	[FREE] = "MemFree", [AVAILABLE] = "MemAvailable", [CACHED] = "Cached",
	[DIRTY] = "Dirty", [BUFFERS] = "Buffers", [WRITEBACK] = "Writeback",
	[SLAB] = "Slab", [SHMEM] = "Shmem", [SWAP] = "SwapFree",
	[TOTAL] = "MemTotal", [SWAP_TOTAL] = "SwapTotal",
};

/* A unit is at most this part of the memory, which no chart can show. */
#define UNIT_PART 4096

static const struct {
	uint32_t kb;
	const char *name;
} units[] = {
	{ 16 << 10, "16MiB" }, { 8 << 10, "8MiB" }, { 4 << 10, "4MiB" }, { 2 << 10, "2MiB" },
};

struct meminfo_source {
	struct sampler_source source;
	struct table_column column[COLUMNS];	/* those this kernel has */
	size_t column_of[COLUMNS];	/* the index of each in columns[] */
	struct want want[COLUMNS];
	size_t n;
};

static bool read_wants(const struct root_text *text, struct want want[COLUMNS])
{
	for (size_t i = 0; i < COLUMNS; i++)
		want[i].key = keys[i];
	if (!parse_keyed(text, want, COLUMNS))
		return false;
	if (want[SWAP].found) {		/* used, not free */
		uint64_t total = want[SWAP_TOTAL].value, free_kb = want[SWAP].value;

		want[SWAP].value = total > free_kb ? total - free_kb : 0;
	}
	return want[TOTAL].found;
}

static bool meminfo_read(struct sampler_source *source, struct root_text *text)
{
	struct meminfo_source *s = (struct meminfo_source *)source;
	struct want *want = s->want;

	if (root_file_read(&source->file, text) || !read_wants(text, want))
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (want[s->column_of[i]].found)
			table_set(&source->table, 0, i, want[s->column_of[i]].value);
	return true;
}

/* On a large machine the last digits would take space and show nothing. The used swap space
 * matters from the first MiB. */
static void choose_unit(struct table_column *f, uint64_t total_kb)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (total_kb / UNIT_PART < units[i].kb)
			continue;
		f->unit = units[i].name;
		f->div = units[i].kb;
		return;
	}
}

static int learn_columns(struct meminfo_source *s, struct root_text *text)
{
	struct want *want = s->want;
	int r = root_file_read(&s->source.file, text);

	if (r)
		return r;
	if (!read_wants(text, want))
		return -ENODATA;
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!want[i].found)
			continue;
		s->column[s->n] = columns[i];
		if (i != SWAP && i != SWAP_TOTAL)
			choose_unit(&s->column[s->n], want[TOTAL].value);
		s->column_of[s->n++] = i;
	}
	return 0;
}

__attribute__((cold)) int meminfo_open(struct sampler_source **out,
					const struct source_setup *setup)
{
	struct meminfo_source *s = source_new(out, sizeof *s, meminfo_read, NULL);
	int r = s ? root_file_open(&s->source.file, setup->root.proc_fd, "meminfo", ROOT_WHOLE)
		: -ENOMEM;

	if (!r)
		r = learn_columns(s, setup->text);
	return r ? r : source_table(*out, setup, "proc_meminfo", s->column, s->n, 0);
}
