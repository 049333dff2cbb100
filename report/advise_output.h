/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_ADVISE_OUTPUT_H
#define BUILDBEAT_REPORT_ADVISE_OUTPUT_H

#include "rerun/advise.h"
#include "write/doc.h"

/* The outputs of `buildbeat advise`. 0 or the buffer's error. */
int advise_doc(struct doc *d, const struct advise *a, const struct rerun *r);
int advise_json(struct buf *out, const struct advise *a, const struct rerun *r);

#endif
