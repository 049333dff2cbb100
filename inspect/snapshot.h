/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_SNAPSHOT_H
#define BUILDBEAT_INSPECT_SNAPSHOT_H

#include "base/arena.h"
#include "base/name_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What one process has in memory at one time: its mappings, as /proc/PID/smaps lists them, and
 * its allocations by call stack. Whoever measures fills it, the archive keeps it, and the views
 * read it.
 */

/* The sizes of a mapping, in KiB as the kernel counts them. */
enum mapping_value {
	MAPPING_SIZE, MAPPING_RSS, MAPPING_PSS,
	MAPPING_SHARED_CLEAN, MAPPING_SHARED_DIRTY, MAPPING_PRIVATE_CLEAN, MAPPING_PRIVATE_DIRTY,
	MAPPING_ANONYMOUS, MAPPING_HUGE, MAPPING_SWAP,
	MAPPING_VALUES
};

/* Their words, in archives and in JSON. */
extern const char *const mapping_value_words[MAPPING_VALUES];

struct mapping {
	uint64_t start, end;
	uint64_t offset;	/* in the file */
	uint64_t inode;
	uint32_t device_major, device_minor;
	char permissions[5];	/* "r-xp" */
	uint32_t file;		/* number of its text in names: a path, "[heap]", "" */
	uint64_t kb[MAPPING_VALUES];
};

/* Pages of the process that are in memory, one after the other. */
struct resident {
	uint64_t start, end;
};

/* The allocations of one call stack; estimates if the heap is sampled. */
struct site {
	uint32_t stack;		/* number of the stack in the inspection */
	bool mapped;		/* by mmap(), not by malloc() */
	uint64_t allocations, frees;	/* since the start of the process */
	uint64_t allocated;	/* bytes, since the start of the process */
	uint64_t live, live_bytes;	/* allocations that were not freed */
	uint64_t peak_bytes;	/* live when the whole heap was largest */
	uint64_t temporary;	/* freed before the thread allocated again */
	uint64_t error_bytes;	/* standard error of live_bytes, 0: exact */
};

/* Anonymous memory that the process mapped itself, not through malloc(). The kernel may have joined
 * several ranges to one mapping. */
struct mapped_range {
	uint64_t start, end;
	uint32_t stack;		/* that called mmap() or mremap() */
};

/* Of the process at that time. */
struct process_values {
	uint64_t user_ticks, system_ticks;
	uint64_t minor_faults, major_faults;
	uint64_t rss_kb;
	uint32_t threads;
	bool has_io;		/* the next two may be read */
	uint64_t read_kb, written_kb;	/* from and to disks */
};

struct snapshot {
	int64_t time_us;	/* since the inspection began */
	int64_t took_us;	/* to read it */
	bool frozen;		/* the process was stopped all the time */
	bool ended;		/* it had ended: no mappings, and the heap is what was left */
	bool has_heap, has_pages;
	struct process_values process;
	size_t n;		/* by start, without overlaps */
	struct mapping *mapping;
	size_t n_resident;	/* by start, without overlaps */
	struct resident *resident;
	size_t n_sites;		/* by stack, mapped after others */
	struct site *site;
	size_t n_ranges;	/* with the heap: by start, without overlaps */
	struct mapped_range *range;
};

void snapshot_release(struct snapshot *s);

/* Make it empty; the memory is kept. */
void snapshot_clear(struct snapshot *s);

/* The sum of a value over all mappings. */
uint64_t snapshot_sum_kb(const struct snapshot *s, enum mapping_value value);

/* The mapping that has this address, NULL if there is none. */
const struct mapping *snapshot_find(const struct snapshot *s, uint64_t address);

#endif
