/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source_proc.h"

#include "base/minmax.h"

#include <errno.h>
#include <unistd.h>

#define LINE_ROOM 256		/* its own length, and how much the lines before it may grow */

enum { PGPGOUT, PGPGIN, PGMAJFAULT, PSWPOUT, PSWPIN, OOM_KILL, COLUMNS };

struct vmstat_source {
	struct sampler_source source;
	struct table_column column[COLUMNS];	/* those this kernel has */
	struct want want[COLUMNS];
	uint64_t last[COLUMNS];
	size_t n;
};

/*
 * The kernel formats line after line until the buffer is full. So read only up to the last line
 * that is wanted, which moves a little as numbers grow.
 */
static void set_enough(struct vmstat_source *s)
{
	size_t last = 0;

	for (size_t i = 0; i < s->n; i++)
		last = MAX(s->want[i].at, last);
	s->source.file.enough = last + LINE_ROOM;
}

static bool read_wants(struct vmstat_source *s, struct root_text *text)
{
	if (!root_file_read(&s->source.file, text) && parse_keyed(text, s->want, s->n) == s->n)
		return true;
	s->source.file.enough = 0;
	if (root_file_read(&s->source.file, text) || !parse_keyed(text, s->want, s->n))
		return false;
	set_enough(s);
	return true;
}

static bool vmstat_read(struct sampler_source *source, struct root_text *text)
{
	struct vmstat_source *s = (struct vmstat_source *)source;

	if (!read_wants(s, text))
		return false;
	for (size_t i = 0; i < s->n; i++)
		if (s->want[i].found)
			table_add(&source->table, 0, i,
				  table_step(&s->last[i], s->want[i].value));
	return true;
}

static int learn_columns(struct vmstat_source *s, struct root_text *text)
{
	/* pgpg* count KiB, pswp* count pages */
	uint32_t page_kb = (uint32_t)(sysconf(_SC_PAGESIZE) / 1024);
	const struct table_column columns[COLUMNS] = {
		[PGPGOUT] = { "pgpgout", "1MiB", true, 1, 1024 },
		[PGPGIN] = { "pgpgin", "1MiB", true, 1, 1024 },
		[PGMAJFAULT] = { "pgmajfault", "1", true, 1, 1 },
		[PSWPOUT] = { "pswpout", "1KiB", true, page_kb, 1 },
		[PSWPIN] = { "pswpin", "1KiB", true, page_kb, 1 },
		[OOM_KILL] = { "oom_kill", "1", true, 1, 1 },
	};
	struct want want[COLUMNS];
	int r = root_file_read(&s->source.file, text);

	if (r)
		return r;
	for (size_t i = 0; i < COLUMNS; i++)
		want[i] = (struct want){ .key = columns[i].name };
	if (!parse_keyed(text, want, COLUMNS))
		return -ENODATA;
	for (size_t i = 0; i < COLUMNS; i++) {
		if (!want[i].found)
			continue;
		s->column[s->n] = columns[i];
		s->want[s->n] = want[i];
		s->last[s->n++] = want[i].value;
	}
	set_enough(s);
	return 0;
}

__attribute__((cold)) int vmstat_open(struct sampler_source **out, const struct source_setup *setup)
{
	struct vmstat_source *s = source_new(out, sizeof *s, vmstat_read, NULL);
	int r = s ? root_file_open(&s->source.file, setup->root.proc_fd, "vmstat", ROOT_RECORDS)
		: -ENOMEM;

	if (!r)
		r = learn_columns(s, setup->text);
	return r ? r : source_table(*out, setup, "proc_vmstat", s->column, s->n, 0);
}
