/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_OTHER_H
#define BUILDBEAT_RENDER_CHART_PACK_OTHER_H

#include "base/json.h"
#include "render/chart/pack_tasks.h"

/* The build to compare with: how our tasks differ from its, and its own lanes. Call it when the
 * names of all our tasks are known. 0 or -ENOMEM. */
int pack_other_tasks(struct pack_tasks *p);

/* The key "ghost". */
void pack_other_json(struct json *j, const struct pack_tasks *p);

#endif
