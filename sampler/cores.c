/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source_proc.h"

#include <errno.h>

#define CORES_MAX 1024
#define LINES_MAX 8192		/* the most cores that Linux supports */

static const struct table_column busy = { "", "10ms", true, 1, 1 };

static bool every_core(void *ctx, struct slice name)
{
	(void)ctx;
	(void)name;
	return true;
}

static bool cores_read(struct sampler_source *s, struct root_text *text)
{
	return !root_file_read(&s->file, text) && parse_cores(text, &s->roster, &s->table);
}

__attribute__((cold)) int cores_open(struct sampler_source **out, const struct source_setup *setup)
{
	struct sampler_source *s;
	int r;

	if (!setup->per_core)
		return -ENOENT;
	s = source_new(out, sizeof *s, cores_read, NULL);
	r = s ? root_file_open(&s->file, setup->root.proc_fd, "stat", ROOT_WHOLE) : -ENOMEM;
	if (!r)
		r = roster_init(&s->roster, LINES_MAX, every_core, NULL);
	if (!r)
		r = root_file_read(&s->file, setup->text);
	if (!r && !parse_cores(setup->text, &s->roster, NULL))
		r = -ENODATA;
	return r ? r : source_table(s, setup, "proc_cores", &busy, 1, CORES_MAX);
}
