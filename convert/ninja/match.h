/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_MATCH_H
#define BUILDBEAT_CONVERT_NINJA_MATCH_H

#include "convert/ninja/build.h"
#include "convert/ninja/log.h"
#include "convert/ninja/tasks.h"

/* Which edges the commands of a recorded ninja belong to. */

/* Things by hash: those of one hash hang together, in order. */
struct ninja_chains {
	struct index first;
	size_t n;
	uint32_t *next;
	uint32_t *taken;	/* the run it was taken in */
	uint32_t *from, *from_run;	/* of the first of a hash: none before is free then */
};

/* A directory ninja builds in. */
struct ninja_place {
	char *dir, *file;	/* build.ninja, relative to it */
	infile_reader *read;	/* of both and of what they include */
	bool has_build, has_log;
	struct ninja_build build;
	struct ninja_log log;
	/* private */
	struct ninja_chains commands;	/* edges by command; by it with the response file */
	struct ninja_chains responses;
	struct ninja_chains lines;	/* of the log, the first of each run */
	int64_t *edge_ms;		/* when each edge began in the log, -1: unknown */
	bool looked;			/* for the log */
};

#define NO_LINE UINT32_MAX

/* What a task turned out to be: an edge, or else the first of a run of lines. */
struct ninja_match {
	uint32_t edge, line;
};

/* Where a run built. Its files are read later, with `read`. 0 or -ENOMEM. */
int ninja_place_find(struct ninja_place *p, const struct ninja_run *run, infile_reader *read);

/* Its build.ninja. What is not there or cannot be read is not there. 0 or -ENOMEM. */
int ninja_place_read(struct ninja_place *p);
void ninja_place_release(struct ninja_place *p);

/* All tasks of a run; number is another one for each call, from 1. 0 or -ENOMEM. */
int ninja_match(struct ninja_place *p, const struct ninja_run *run, uint32_t number,
		const struct ninja_task *task, struct ninja_match *match);

#endif
