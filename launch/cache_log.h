/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_CACHE_LOG_H
#define BUILDBEAT_LAUNCH_CACHE_LOG_H

#include "base/buf.h"
#include "base/name_table.h"
#include "recording/recording.h"

/*
 * What a compiler cache logged during a build, joined with the tasks.
 *
 * ccache's log of statistics has, for each call, a line "# SOURCE" and a line for each counter, such
 * as direct_cache_hit. SOURCE is as in the command, or relative to the directory of the call; it is
 * empty where there are several, for example in a link since ccache 4.11.
 * sccache's log has lines such as "[2026-11-23T05:00:00Z DEBUG ...] [x.o]: Cache hit in 0.001 s" with
 * the name of the object without its directory.
 *
 * Neither has the process or the directory, and ccache's has no times. So several tasks may be
 * candidates of an entry. The entries are in the order in which the calls ended. Tasks that did not
 * run at the same time ended in the order of their times, and each wrote as many entries as the
 * others. What remains ambiguous stays unknown, unless all candidate entries have one result.
 */
enum cache_kind { CACHE_CCACHE, CACHE_SCCACHE, CACHE_KINDS };

struct cache_log {
	enum cache_kind kind;
	struct name_table names;	/* of sources or objects, in the text */
	size_t n_entries;
	struct cache_entry *entry;	/* in the order of the log */
	uint64_t hits, misses, uncacheable;	/* calls */
	bool has_relative;		/* a name is not absolute */
	size_t n_candidates;
	struct cache_candidate *candidate;
};

struct cache_entry {
	uint32_t name;
	enum task_cache result;
};

/* A task that may have called the cache with this name. */
struct cache_candidate {
	uint32_t name, task;
	int rank;		/* the highest rank of a name is the likely one */
};

#define CACHE_LOG_INIT(k) { .kind = (k), .names = NAME_TABLE_INIT }

/* Parse a log; text stays unchanged as long as the struct is used. 0 or -ENOMEM. */
int cache_log_parse(struct cache_log *l, struct slice text);

/* Add the task with its command as a candidate. dir is the directory of its instance. 0 or
 * -ENOMEM. */
int cache_log_add_task(struct cache_log *l, uint32_t task, const char *command, const char *dir);

/* Set result[task] of all tasks whose result is unambiguous. Call it after the last task was added.
 * 0 or -ENOMEM. */
int cache_log_join(struct cache_log *l, const struct recording *rec, enum task_cache *result);

void cache_log_release(struct cache_log *l);

#endif
