/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "sampler/parse.h"
#include "sampler/source.h"

#include <errno.h>
#include <stdlib.h>

/* The totals stand last: they change once, at the first line. */
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

/* A unit is no more than this part of all there is: far below what a chart shows. */
#define UNIT_PART 4096

static const struct {
	uint32_t kb;
	const char *name;
} units[] = {
	{ 16 << 10, "16MiB" }, { 8 << 10, "8MiB" }, { 4 << 10, "4MiB" }, { 2 << 10, "2MiB" },
};

struct meminfo_source {
	struct source source;
	struct root_file file;
	struct table_column column[COLUMNS];	/* those this kernel has */
	size_t column_of[COLUMNS];	/* and which of ours each is */
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

static bool meminfo_read(struct source *source, struct root_text *text)
{
	struct meminfo_source *s = (struct meminfo_source *)source;
	struct want *want = s->want;

	if (root_file_read(&s->file, text) || !read_wants(text, want))
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (want[s->column_of[i]].found)
			table_set(&source->table, 0, i, want[s->column_of[i]].value);
	return true;
}

static void meminfo_release(struct source *source)
{
	struct meminfo_source *s = (struct meminfo_source *)source;

	root_file_close(&s->file);
	free(s);
}

/* The larger the machine, the more digits its memory would take for nothing. Swap space
 * in use matters from the first MiB. */
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
	int r = root_file_read(&s->file, text);

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

__attribute__((cold)) int meminfo_open(struct source **out, const struct setup *setup)
{
	struct meminfo_source *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return -ENOMEM;
	s->source = (struct source){ .read = meminfo_read, .release = meminfo_release };
	r = root_file_open(&s->file, setup->root.proc_fd, "meminfo", ROOT_WHOLE);
	if (!r)
		r = learn_columns(s, setup->text);
	if (!r)
		r = table_open(&s->source.table, setup->dir_fd, "proc_meminfo",
			       setup->interval_ms, s->column, s->n, 0);
	if (r) {
		meminfo_release(&s->source);
		return r;
	}
	*out = &s->source;
	return 0;
}
