/* SPDX-License-Identifier: MIT */
#include "sampler/source_proc.h"

#include <stdlib.h>

void *source_new(struct sampler_source **out, size_t size,
		 bool (*read)(struct sampler_source *s, struct root_text *text),
		 void (*release)(struct sampler_source *s))
{
	struct sampler_source *s = calloc(1, size);

	*out = s;
	if (!s)
		return NULL;
	s->table.log = (struct log)LOG_CLOSED;
	s->file.fd = -1;
	s->read = read;
	s->release = release;
	return s;
}

int source_table(struct sampler_source *s, const struct source_setup *setup, const char *name,
		 const struct table_column *column, size_t n_columns, size_t max_groups)
{
	return table_open(&s->table, setup->dir_fd, name, setup->interval_ms, column, n_columns,
			  max_groups);
}

void source_free(struct sampler_source *s)
{
	if (!s)
		return;
	if (s->release)
		s->release(s);
	table_close(&s->table);
	root_file_close(&s->file);
	roster_release(&s->roster);
	free(s);
}
