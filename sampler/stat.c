/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source.h"

#include <errno.h>
#include <stdlib.h>

/* Those that change most come first: empty columns at the end cost nothing. */
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

/* The kernel works the load average out anew every so often. */
#define LOAD_MS 5000

struct stat_source {
	struct source source;
	struct root_file stat, loadavg;
	int64_t load_due;	/* so many samples until then */
	int64_t load_every;
	uint64_t last[COLUMNS];
};

static void count(struct stat_source *s, size_t column, uint64_t now)
{
	table_add(&s->source.table, 0, column, table_step(&s->last[column], now));
}

static bool stat_read(struct source *source, struct root_text *text)
{
	struct stat_source *s = (struct stat_source *)source;
	struct table *t = &source->table;
	struct parse_stat_values f;
	uint64_t load;

	if (root_file_read(&s->stat, text) || !parse_stat(text, &f))
		return false;
	count(s, USER, f.user);
	count(s, SYSTEM, f.system);
	count(s, IOWAIT, f.iowait);
	count(s, IRQ, f.irq);
	count(s, STEAL, f.steal);
	count(s, NICE, f.nice);
	/* one of those running is the thread that reads this */
	table_set(t, 0, RUNNING, f.running ? f.running - 1 : 0);
	table_set(t, 0, BLOCKED, f.blocked);
	if (s->load_due-- > 0)
		return true;
	s->load_due = s->load_every - 1;
	if (!root_file_read(&s->loadavg, text) && parse_loadavg(text, &load))
		table_set(t, 0, LOAD, load);
	return true;
}

static void stat_release(struct source *source)
{
	struct stat_source *s = (struct stat_source *)source;

	root_file_close(&s->stat);
	root_file_close(&s->loadavg);
	free(s);
}

__attribute__((cold)) int stat_open(struct source **out, const struct setup *setup)
{
	struct stat_source *s = calloc(1, sizeof *s);
	struct parse_stat_values f;
	int r;

	if (!s)
		return -ENOMEM;
	s->source = (struct source){ .read = stat_read, .release = stat_release };
	s->load_every = (LOAD_MS + setup->interval_ms - 1) / setup->interval_ms;
	root_file_open(&s->loadavg, setup->root.proc_fd, "loadavg", ROOT_WHOLE);
	r = root_file_open(&s->stat, setup->root.proc_fd, "stat", ROOT_WHOLE);
	if (!r)
		r = root_file_read(&s->stat, setup->text);
	if (!r && !parse_stat(setup->text, &f))
		r = -ENODATA;
	if (!r)
		r = table_open(&s->source.table, setup->dir_fd, "proc_stat",
			       setup->interval_ms, columns, COLUMNS, 0);
	if (r) {
		stat_release(&s->source);
		return r;
	}
	s->last[USER] = f.user;
	s->last[SYSTEM] = f.system;
	s->last[IOWAIT] = f.iowait;
	s->last[IRQ] = f.irq;
	s->last[STEAL] = f.steal;
	s->last[NICE] = f.nice;
	*out = &s->source;
	return 0;
}
