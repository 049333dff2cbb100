/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_INSPECT_STATS_H
#define BUILDBEAT_REPORT_INSPECT_INSPECT_STATS_H

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"
#include "inspect/look.h"
#include "inspect/whole_machine.h"
#include "inspect/recent.h"

/* The outputs of `buildbeat inspect stats`. 0 or the buffer's error. JSON of one line if compact. */
int stats_machine_text(struct buf *out, const struct whole_machine *m, const struct style *style);
int stats_machine_json(struct buf *out, const struct whole_machine *m, int64_t wall_ns, bool compact);

/* Its member "pressure" alone, empty if the kernel does not know it. */
void stats_pressure_json(struct json *j, const struct whole_machine *m);

/* Of one process, the last samples as columns of blocks. */
int stats_process_text(struct buf *out, const struct look *l, const struct recent *r,
		       const struct style *style);
int stats_process_json(struct buf *out, const struct look *l, const struct recent *r,
		       int64_t wall_ns, bool compact);

/* Its array "samples" in an open object. */
void stats_samples_json(struct json *j, const struct recent *r);

#endif
