/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_PAGE_PARTS_H
#define BUILDBEAT_REPORT_INSPECT_PAGE_PARTS_H

#include "base/index.h"
#include "report/inspect_page.h"
#include "report/packed.h"

/* The parts of the page of an inspection, and what they collect of its snapshots. */

struct page_time {
	int64_t time_us;
	struct process_values process;
	uint64_t kb[MAPPING_VALUES];	/* of all mappings */
	uint64_t live_bytes;		/* of the heap */
};

/* Of a node of the call tree itself, in the last snapshot. */
struct page_node {
	uint64_t allocations, allocated, temporary, peak_bytes;
	double spread;			/* largest square of the error, divided by live bytes */
};

struct page_live {
	uint32_t node, snapshot;
	uint64_t bytes;
};

/* Mappings at one address, of one file and with the same permissions. */
struct page_area {
	uint64_t start, offset;
	uint32_t file;
	char permissions[5];
	uint32_t last;			/* its last change, PAGE_NONE */
	uint32_t seen;			/* number of the last snapshot that has it, plus 1 */
	uint64_t most_kb;
};

#define PAGE_NONE UINT32_MAX

/* Values of an area from a snapshot on. */
struct page_change {
	uint32_t before;		/* the area's change before this, PAGE_NONE */
	uint32_t snapshot;
	uint32_t kb[MAPPING_VALUES];
};

struct inspect_page {
	const struct inspection *in;
	const struct call_tree *tree;
	const struct class_rule_file *rules;
	size_t n;
	struct page_time *time;
	/* the heap */
	bool has_heap;
	struct page_node *node;
	bool *kept;			/* 0.1 % of the heap or more in a snapshot */
	uint64_t *sum;			/* room for a value of all nodes */
	size_t n_live;
	struct page_live *live;		/* by snapshot */
	/* mappings */
	struct index areas;		/* (start, file and permissions) -> area */
	size_t n_areas;
	struct page_area *area;
	size_t n_changes;
	struct page_change *change;
};

/* 0 or -ENOMEM. */
int inspect_heap_add(struct inspect_page *p, const struct snapshot *s);
int inspect_maps_add(struct inspect_page *p, const struct snapshot *s);

/* Errors are in data->r. */
void inspect_heap_write(struct packed *data, const struct inspect_page *p);
void inspect_maps_write(struct packed *data, const struct inspect_page *p);

/* Title and facts; and the sentences that say what the memory is and when it grew. */
void inspect_header_write(struct markup *h, const struct inspect_page *p);
void inspect_answer_write(struct markup *h, const struct inspect_page *p,
			  const struct classes *memory, const struct classes *heap);

#endif
