/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_MAPS_H
#define BUILDBEAT_REPORT_INSPECT_MAPS_H

#include "base/pattern.h"
#include "inspect/snapshot.h"
#include "write/doc.h"

/* The mappings of a snapshot as a table, or as JSON. */
struct maps_wish {
	const struct name_table *names;
	const struct pattern *file, *permissions;	/* NULL: all */
	bool address_given;		/* only the mapping of the address */
	uint64_t address;
	bool all_values;		/* in the table: shared and private apart, and the offset */
};

bool maps_wanted(const struct maps_wish *wish, const struct mapping *m);

/* A row for each mapping that the wish has, and their totals. */
void maps_table(struct doc *d, const struct snapshot *s, const struct maps_wish *wish);

/* An array "mappings" and an object "total". */
void maps_json(struct json *j, const struct snapshot *s, const struct maps_wish *wish);

#endif
