/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_SOURCE_H
#define BUILDBEAT_SAMPLER_SOURCE_H

#include "sampler/root.h"
#include "sampler/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A source: what is read from some files of /proc into one table. Each has a
 * file of its own, sampler/NAME.c; sampler.c lists them.
 */

/* What a source is opened with. */
struct setup {
	struct root root;
	int dir_fd;		/* of the recording */
	int64_t interval_ms;
	bool coarse;		/* the interval is a second or more: a resolution of 10 ms is enough */
	bool per_core;
	bool all_interfaces;
	struct root_text *text;	/* to read into; no source keeps anything in it */
};

struct source {
	struct table table;
	/* The figures as they are now, into the table. False: there are none now. */
	bool (*read)(struct source *s, struct root_text *text);
	/* Files and memory of its own, s itself included; not the table. */
	void (*release)(struct source *s);
};

/*
 * 0 and *out set, or a negative errno: -ENOENT and the like where the machine has
 * no such figures. Those whose first line stands in the log after the first
 * sample count from the moment of opening.
 */
int stat_open(struct source **out, const struct setup *setup);
int cores_open(struct source **out, const struct setup *setup);
int meminfo_open(struct source **out, const struct setup *setup);
int diskstats_open(struct source **out, const struct setup *setup);
int net_open(struct source **out, const struct setup *setup);
int pressure_open(struct source **out, const struct setup *setup);
int vmstat_open(struct source **out, const struct setup *setup);
int cgroup_open(struct source **out, const struct setup *setup);

#endif
