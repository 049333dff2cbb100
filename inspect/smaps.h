/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_SMAPS_H
#define BUILDBEAT_INSPECT_SMAPS_H

#include "base/cursor.h"
#include "inspect/snapshot.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parser of /proc/PID/smaps and /proc/PID/maps: text in, mappings out. It reads no file. The
 * text comes in pieces of any length.
 */
struct smaps {
	struct snapshot *s;	/* mappings are added here */
	struct name_table *names;
	size_t lines;		/* whole lines so far, to report an error */
	size_t expected;	/* private: which value the next line probably has */
	bool in_mapping;	/* private: a mapping has begun */
	struct slice last_file;	/* private: in names */
	uint32_t last_number;
};

void smaps_init(struct smaps *p, struct snapshot *s, struct name_table *names);

/*
 * Parse the whole lines of a piece. *used is their length: the rest belongs before the next piece.
 * Unknown keys are skipped. A mapping that begins before the end of the last one replaces it: the
 * kernel joined both while the file was read. 0, -ENOMEM, or -EINVAL on any other line.
 */
int smaps_parse(struct smaps *p, const char *text, size_t len, size_t *used);

#endif
