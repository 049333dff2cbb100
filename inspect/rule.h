/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_RULE_H
#define BUILDBEAT_INSPECT_RULE_H

#include "base/buf.h"
#include "base/error.h"
#include "inspect/inspection.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Which processes of a build are inspected, and how: one text, the same on the command line and in
 * buildbeat.yaml.
 *
 *	NAME[,rss>SIZE][,heap[=exact]][,interval=TIME][,count=N][,freeze][,pages]
 *
 * NAME is the file name of the program: several with '|', '*', '?' and '[...]' as in the shell. It
 * may be empty unless the heap is counted: then all processes match. Without rss> a process is
 * inspected from its start.
 */
#define RULE_NAMES_MAX 256

struct inspect_rule {
	char names[RULE_NAMES_MAX];
	uint64_t rss_kb;	/* when it has more than this; 0: from its start */
	enum heap_mode heap;
	int64_t interval_us;	/* between snapshots, 0: as often as its cost allows */
	int64_t count;		/* of snapshots, 0: until the process ends */
	bool freeze;		/* stop the process while a snapshot is taken */
	bool pages;		/* also record which pages are in memory */
};

#define RULE_INTERVAL_MIN_US INT64_C(10000)
#define RULE_INTERVAL_MAX_US (INT64_C(86400) * 1000000)
#define RULE_COUNT_MAX 1000000

/* 0, or -EINVAL with err's message, which says what was expected. */
int rule_parse(struct inspect_rule *r, const char *text, struct error *err);

/* Does it have this name? Of a name that the kernel shortened (15 bytes), the start matters. */
bool rule_has_name(const struct inspect_rule *r, const char *program);

/* Append the text of a rule. */
void rule_write(struct buf *out, const struct inspect_rule *r);

#endif
