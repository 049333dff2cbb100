/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_RESIDENT_H
#define BUILDBEAT_REPORT_INSPECT_RESIDENT_H

#include "report/inspect/maps.h"

/* Which pages of the mappings that the wish has are in memory: a row for each range of them within
 * one mapping, and their total. */
void resident_table(struct doc *d, const struct snapshot *s, const struct maps_wish *wish);

/* An array "resident". */
void resident_json(struct json *j, const struct snapshot *s, const struct maps_wish *wish);

#endif
