/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_PANELS_H
#define BUILDBEAT_RENDER_CHART_PACK_PANELS_H

#include "render/chart/pack_numbers.h"
#include "render/chart/panel.h"

#include <stdbool.h>
#include <stdint.h>

/* The columns of one panel being packed. */
struct packed_panel {
	uint32_t steps;		/* values are in 1/steps of their axis */
	struct numbers time, gap;
	struct numbers band[PANEL_BANDS_MAX];
};

/* Its bands have no columns if the script makes them of the tasks. */
static inline bool panel_is_packed(const struct panel *p)
{
	return p->id != PANEL_RUNNING;
}

/* 0 or -ENOMEM. Always release. */
int packed_panel_make(struct packed_panel *out, const struct panel *p, int64_t unit_us);
void packed_panel_release(struct packed_panel *p);

#endif
