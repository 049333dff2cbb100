/* SPDX-License-Identifier: MIT */
#include "sampler/pressure.h"

#include "sampler/source_proc.h"

#include <errno.h>

static const struct table_column some[PRESSURE_FILES] = {
	{ "cpu.some", "1ms", true, 1, 1000 },
	{ "io.some", "1ms", true, 1, 1000 },
	{ "memory.some", "1ms", true, 1, 1000 },
};

static const struct table_column full[PRESSURE_FILES] = {
	[PRESSURE_IO] = { "io.full", "1ms", true, 1, 1000 },
	[PRESSURE_MEMORY] = { "memory.full", "1ms", true, 1, 1000 },
};

static struct table_column in_unit(struct table_column f, bool coarse)
{
	if (coarse) {
		f.unit = "10ms";
		f.div *= 10;
	}
	return f;
}

void pressure_set_open(struct pressure_set *p, int dir_fd, const char *const names[PRESSURE_FILES],
		       struct root_text *text, bool coarse, struct table_column *column, size_t *n)
{
	for (size_t i = 0; i < PRESSURE_FILES; i++) {
		struct parse_stalls now;

		if (root_file_open(&p->file[i], dir_fd, names[i], ROOT_WHOLE))
			continue;
		if (root_file_read(&p->file[i], text) || !parse_pressure(text, &now) || !now.has_some) {
			root_file_close(&p->file[i]);
			continue;
		}
		column[(*n)++] = in_unit(some[i], coarse);
		p->last[2 * i] = now.some_us;
		/* cpu.full has a meaning for control groups only, where it is the time throttled */
		p->full[i] = now.has_full && full[i].name;
		if (p->full[i])
			column[(*n)++] = in_unit(full[i], coarse);
		p->last[2 * i + 1] = now.full_us;
	}
}

void pressure_set_close(struct pressure_set *p)
{
	for (size_t i = 0; i < PRESSURE_FILES; i++)
		root_file_close(&p->file[i]);
}

bool pressure_set_read(struct pressure_set *p, struct root_text *text, struct table *t,
		       size_t first)
{
	bool any = false;

	for (size_t i = 0; i < PRESSURE_FILES; i++) {
		struct parse_stalls now;

		if (p->file[i].fd < 0)
			continue;
		if (!root_file_read(&p->file[i], text) && parse_pressure(text, &now)) {
			table_add(t, 0, first, table_step(&p->last[2 * i], now.some_us));
			if (p->full[i])
				table_add(t, 0, first + 1,
					  table_step(&p->last[2 * i + 1], now.full_us));
			any = true;
		}
		first += p->full[i] ? 2 : 1;
	}
	return any;
}

struct pressure_source {
	struct sampler_source source;
	struct pressure_set set;
	struct table_column column[PRESSURE_COLUMNS];
};

static bool pressure_read(struct sampler_source *source, struct root_text *text)
{
	struct pressure_source *s = (struct pressure_source *)source;

	return pressure_set_read(&s->set, text, &source->table, 0);
}

static void pressure_release(struct sampler_source *source)
{
	pressure_set_close(&((struct pressure_source *)source)->set);
}

__attribute__((cold)) int pressure_open(struct sampler_source **out,
					const struct source_setup *setup)
{
	static const char *const names[PRESSURE_FILES] = {
		"pressure/cpu", "pressure/io", "pressure/memory",
	};
	struct pressure_source *s = source_new(out, sizeof *s, pressure_read, pressure_release);
	size_t n = 0;

	if (!s)
		return -ENOMEM;
	pressure_set_open(&s->set, setup->root.proc_fd, names, setup->text, setup->coarse,
			  s->column, &n);
	return n ? source_table(*out, setup, "proc_pressure", s->column, n, 0) : -ENOENT;
}
