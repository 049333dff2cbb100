/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_DETAIL_H
#define BUILDBEAT_RENDER_CHART_PACK_DETAIL_H

#include "render/chart/pack_tasks.h"

/*
 * What the script shows of one chosen task: the tool that ran it, how long it waited for what, and
 * the tasks it depended on; and what some tasks wrote. Waits and dependencies are those of the longest
 * tasks. 0 or -ENOMEM.
 */
int pack_detail_tools(struct pack_tasks *p);
void pack_detail_results(struct pack_tasks *p);
int pack_detail_waits(struct pack_tasks *p, const uint32_t *longest, size_t n);
void pack_detail_log(struct pack_tasks *p);

#endif
