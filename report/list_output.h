/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_LIST_OUTPUT_H
#define BUILDBEAT_REPORT_LIST_OUTPUT_H

#include "analyse/listing.h"
#include "write/doc.h"

/* The outputs of `buildbeat list`. 0 or the buffer's error. */
int list_doc(struct doc *d, const struct listing *l);	/* on a terminal */
int list_json(struct buf *out, const struct listing *l);

#endif
