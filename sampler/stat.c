/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source_proc.h"

#include <errno.h>

/* Columns that change often are first: empty columns at the end of a line cost nothing. */
enum { USER, SYSTEM, RUNNING, IRQ, LOAD, STEAL, BLOCKED, IOWAIT, NICE, COLUMNS };

static const struct table_column columns[COLUMNS] = {
	[USER] = { "user", "10ms", true, 1, 1 },
	[SYSTEM] = { "system", "10ms", true, 1, 1 },
	[RUNNING] = { "running", "1", false, 1, 1 },
	[IOWAIT] = { "iowait", "10ms", true, 1, 1 },
	[BLOCKED] = { "blocked", "1", false, 1, 1 },
	[LOAD] = { "load", "0.01", false, 1, 1 },
	[IRQ] = { "irq", "10ms", true, 1, 1 },
	[STEAL] = { "steal", "10ms", true, 1, 1 },
	[NICE] = { "nice", "10ms", true, 1, 1 },
};

/* How often the kernel computes the load average. */
#define LOAD_MS 5000

struct stat_source {
	struct sampler_source source;
	struct root_file loadavg;
	int64_t load_due;	/* samples until it is read again */
	int64_t load_every;
	uint64_t last[COLUMNS];
};

static void count_time(struct stat_source *s, size_t column, uint64_t now)
{
	table_add(&s->source.table, 0, column, table_step(&s->last[column], now));
}

static bool stat_read(struct sampler_source *source, struct root_text *text)
{
	struct stat_source *s = (struct stat_source *)source;
	struct table *t = &source->table;
	struct parse_stat_values f;
	uint64_t load;

	if (root_file_read(&source->file, text) || !parse_stat(text, &f))
		return false;
	count_time(s, USER, f.user);
	count_time(s, SYSTEM, f.system);
	count_time(s, IOWAIT, f.iowait);
	count_time(s, IRQ, f.irq);
	count_time(s, STEAL, f.steal);
	count_time(s, NICE, f.nice);
	/* one of the running threads is this one */
	table_set(t, 0, RUNNING, f.running ? f.running - 1 : 0);
	table_set(t, 0, BLOCKED, f.blocked);
	if (s->load_due-- > 0)
		return true;
	s->load_due = s->load_every - 1;
	if (!root_file_read(&s->loadavg, text) && parse_loadavg(text, &load))
		table_set(t, 0, LOAD, load);
	return true;
}

static void stat_release(struct sampler_source *source)
{
	struct stat_source *s = (struct stat_source *)source;

	root_file_close(&s->loadavg);
}

__attribute__((cold)) int stat_open(struct sampler_source **out, const struct source_setup *setup)
{
	struct stat_source *s = source_new(out, sizeof *s, stat_read, stat_release);
	struct parse_stat_values f;
	int r;

	if (!s)
		return -ENOMEM;
	s->load_every = (LOAD_MS + setup->interval_ms - 1) / setup->interval_ms;
	root_file_open(&s->loadavg, setup->root.proc_fd, "loadavg", ROOT_WHOLE);
	r = root_file_open(&s->source.file, setup->root.proc_fd, "stat", ROOT_WHOLE);
	if (!r)
		r = root_file_read(&s->source.file, setup->text);
	if (!r && !parse_stat(setup->text, &f))
		r = -ENODATA;
	if (r)
		return r;
	s->last[USER] = f.user;
	s->last[SYSTEM] = f.system;
	s->last[IOWAIT] = f.iowait;
	s->last[IRQ] = f.irq;
	s->last[STEAL] = f.steal;
	s->last[NICE] = f.nice;
	return source_table(*out, setup, "proc_stat", columns, COLUMNS, 0);
}
