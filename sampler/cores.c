/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source.h"

#include <errno.h>
#include <stdlib.h>

#define CORES_MAX 1024
#define LINES_MAX 8192		/* as many cores as Linux can have */

static const struct table_column busy = { "", "10ms", true, 1, 1 };

struct cores_source {
	struct source source;
	struct root_file stat;
	struct roster roster;
};

static bool every_core(void *ctx, struct slice name)
{
	(void)ctx;
	(void)name;
	return true;
}

static bool cores_read(struct source *source, struct root_text *text)
{
	struct cores_source *s = (struct cores_source *)source;

	return !root_file_read(&s->stat, text) &&
	       parse_cores(text, &s->roster, &source->table);
}

static void cores_release(struct source *source)
{
	struct cores_source *s = (struct cores_source *)source;

	root_file_close(&s->stat);
	roster_release(&s->roster);
	free(s);
}

__attribute__((cold)) int cores_open(struct source **out, const struct setup *setup)
{
	struct cores_source *s;
	int r;

	if (!setup->per_core)
		return -ENOENT;
	s = calloc(1, sizeof *s);
	if (!s)
		return -ENOMEM;
	s->source = (struct source){ .read = cores_read, .release = cores_release };
	r = root_file_open(&s->stat, setup->root.proc_fd, "stat", ROOT_WHOLE);
	if (!r)
		r = roster_init(&s->roster, LINES_MAX, every_core, NULL);
	if (!r)
		r = root_file_read(&s->stat, setup->text);
	if (!r && !parse_cores(setup->text, &s->roster, NULL))
		r = -ENODATA;
	if (!r)
		r = table_open(&s->source.table, setup->dir_fd, "proc_cores",
			       setup->interval_ms, &busy, 1, CORES_MAX);
	if (r) {
		cores_release(&s->source);
		return r;
	}
	*out = &s->source;
	return 0;
}
