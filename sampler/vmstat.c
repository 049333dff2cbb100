/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LINE_ROOM 256		/* its own length, and what others before it may grow by */

enum { PGPGOUT, PGPGIN, PGMAJFAULT, PSWPOUT, PSWPIN, OOM_KILL, COLUMNS };

struct vmstat_source {
	struct source source;
	struct root_file file;
	struct table_column column[COLUMNS];	/* those this kernel has */
	struct want want[COLUMNS];
	uint64_t last[COLUMNS];
	size_t n;
};

/*
 * The kernel writes the lines one by one and stops when what was asked for is full: so
 * no more than up to the last line we want, which moves a little as numbers grow.
 */
static void set_enough(struct vmstat_source *s)
{
	size_t last = 0;

	for (size_t i = 0; i < s->n; i++)
		last = s->want[i].at > last ? s->want[i].at : last;
	s->file.enough = last + LINE_ROOM;
}

static bool read_wants(struct vmstat_source *s, struct root_text *text)
{
	if (!root_file_read(&s->file, text) && parse_keyed(text, s->want, s->n) == s->n)
		return true;
	s->file.enough = 0;
	if (root_file_read(&s->file, text) || !parse_keyed(text, s->want, s->n))
		return false;
	set_enough(s);
	return true;
}

static bool vmstat_read(struct source *source, struct root_text *text)
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

static void vmstat_release(struct source *source)
{
	struct vmstat_source *s = (struct vmstat_source *)source;

	root_file_close(&s->file);
	free(s);
}

static int learn_columns(struct vmstat_source *s, struct root_text *text)
{
	/* pgpg* are counted in KiB, pswp* in pages */
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
	int r = root_file_read(&s->file, text);

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

__attribute__((cold)) int vmstat_open(struct source **out, const struct setup *setup)
{
	struct vmstat_source *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return -ENOMEM;
	s->source = (struct source){ .read = vmstat_read, .release = vmstat_release };
	r = root_file_open(&s->file, setup->root.proc_fd, "vmstat", ROOT_RECORDS);
	if (!r)
		r = learn_columns(s, setup->text);
	if (!r)
		r = table_open(&s->source.table, setup->dir_fd, "proc_vmstat",
			       setup->interval_ms, s->column, s->n, 0);
	if (r) {
		vmstat_release(&s->source);
		return r;
	}
	*out = &s->source;
	return 0;
}
