/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_PROCESSES_DOC_H
#define BUILDBEAT_REPORT_INSPECT_PROCESSES_DOC_H

#include "inspect/process_table.h"
#include "write/doc.h"

#include <stdbool.h>

/* The outputs of `buildbeat ps`. */
enum processes_key {
	PROCESSES_BY_RSS, PROCESSES_BY_CPU, PROCESSES_BY_PSS, PROCESSES_BY_THREADS,
	PROCESSES_BY_AGE, PROCESSES_BY_PID, PROCESSES_BY_PROGRAM, PROCESSES_BY_TASK
};

/* Their words, ended by NULL. */
extern const char *const processes_keys[];

struct processes {
	const char *recording;	/* path, NULL: none */
	const char *tool;	/* of the build */
	int64_t wall_ns;	/* when they were read */
	bool pss;		/* it was read */
	bool tasks;		/* of a recording: show the column */
	size_t n;
	struct process_row *row;
};

/* The largest first; numbers of processes and names in their own order. */
void processes_sort(struct processes *p, enum processes_key key);

/* 0 or the buffer's error. JSON of one line if compact. */
int processes_text(struct buf *out, const struct processes *p, const struct style *style);
int processes_json(struct buf *out, const struct processes *p, bool compact);

/* The table alone: in JSON the array "processes". */
void processes_table(struct doc *d, const struct processes *p);

#endif
