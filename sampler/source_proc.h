/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_SOURCE_PROC_H
#define BUILDBEAT_SAMPLER_SOURCE_PROC_H

#include "sampler/root.h"
#include "sampler/roster.h"
#include "sampler/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A source reads some files of /proc into one table. Each source is in a file of its own,
 * sampler/NAME.c; sampler.c lists them.
 */

/* What a source is opened with. */
struct source_setup {
	struct root root;
	int dir_fd;		/* of the recording */
	int64_t interval_ms;
	bool coarse;		/* the interval is a second or more: a resolution of 10 ms is enough */
	bool per_core;
	bool all_interfaces;
	struct root_text *text;	/* shared: every source overwrites it */
};

struct sampler_source {
	struct table table;
	struct root_file file;	/* the file to read; a source with several has the others itself */
	struct roster roster;	/* the disks, interfaces or cores in it; may be empty */
	/* Read the current values into the table. False: there are no values now. */
	bool (*read)(struct sampler_source *s, struct root_text *text);
	/* Release what the source itself has, except its memory. May be NULL. */
	void (*release)(struct sampler_source *s);
};

/* For the functions below: a source of this size in *out, without a table. NULL: no memory. */
void *source_new(struct sampler_source **out, size_t size,
		 bool (*read)(struct sampler_source *s, struct root_text *text),
		 void (*release)(struct sampler_source *s));

/* Open its log; parameters as for table_open(). */
int source_table(struct sampler_source *s, const struct source_setup *setup, const char *name,
		 const struct table_column *column, size_t n_columns, size_t max_groups);

void source_free(struct sampler_source *s);	/* may be NULL */

/*
 * 0, or a negative errno: -ENOENT and the like where the machine does not have these values.
 * Then, too, the caller frees *out. Counters of a log whose header is written after the first
 * sample count from the moment of opening.
 */
int stat_open(struct sampler_source **out, const struct source_setup *setup);
int cores_open(struct sampler_source **out, const struct source_setup *setup);
int meminfo_open(struct sampler_source **out, const struct source_setup *setup);
int diskstats_open(struct sampler_source **out, const struct source_setup *setup);
int net_open(struct sampler_source **out, const struct source_setup *setup);
int pressure_open(struct sampler_source **out, const struct source_setup *setup);
int vmstat_open(struct sampler_source **out, const struct source_setup *setup);
int cgroup_open(struct sampler_source **out, const struct source_setup *setup);

#endif
