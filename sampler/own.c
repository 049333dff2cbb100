/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/cursor.h"
#include "sampler/sampler.h"
#include "sampler/source_proc.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

/* What this process, which is buildbeat's own, costs the machine. */

enum { CPU, MEMORY, COLUMNS };

struct own_source {
	struct sampler_source source;
	struct table_column column[COLUMNS];
	uint64_t last_us;
};

static uint64_t cpu_us(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* statm: pages of address space, resident ones ... */
static bool own_read(struct sampler_source *source, struct root_text *text)
{
	struct own_source *s = (struct own_source *)source;
	uint64_t all, resident;
	struct cursor c;

	if (root_file_read(&s->source.file, text))
		return false;
	root_text_cursor(text, &c);
	if (!cursor_u64(&c, &all) || !cursor_byte(&c, ' ') || !cursor_u64(&c, &resident))
		return false;
	table_add(&source->table, 0, CPU, table_step(&s->last_us, cpu_us()));
	table_set(&source->table, 0, MEMORY, resident);
	return true;
}

__attribute__((cold)) int own_open(struct sampler_source **out, const struct source_setup *setup)
{
	uint32_t page_kb = (uint32_t)(sysconf(_SC_PAGESIZE) / 1024);
	struct own_source *s;
	int r;

	s = source_new(out, sizeof *s, own_read, NULL);
	r = s ? root_file_open(&s->source.file, setup->root.proc_fd, "self/statm", ROOT_WHOLE) :
		-ENOMEM;
	if (r)
		return r;
	s->column[CPU] = (struct table_column){ "cpu", "10us", true, 1, 10 };
	s->column[MEMORY] = (struct table_column){ "memory", "1MiB", false, page_kb, 1024 };
	s->last_us = cpu_us();
	return source_table(*out, setup, "proc_own", s->column, COLUMNS, 0);
}
