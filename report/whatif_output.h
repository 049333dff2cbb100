/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_WHATIF_OUTPUT_H
#define BUILDBEAT_REPORT_WHATIF_OUTPUT_H

#include "rerun/curve.h"
#include "rerun/forecast.h"
#include "write/doc.h"

/* The outputs of `buildbeat whatif`. */

/* The prediction. memory_kb: what the machine would have; 0: not asked. 0 or the buffer's error. */
int whatif_doc(struct doc *d, const struct forecast *f, const struct rerun *r, int64_t memory_kb);
int whatif_json(struct buf *out, const struct forecast *f, const struct rerun *r, int64_t memory_kb);

/* Wall time and memory over the number of workers. */
int whatif_curve_doc(struct doc *d, const struct rerun_curve *c, const struct rerun *r, int64_t memory_kb);
int whatif_curve_json(struct buf *out, const struct rerun_curve *c, const struct rerun *r, int64_t memory_kb);

#endif
