/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PANEL_FILL_H
#define BUILDBEAT_RENDER_CHART_PANEL_FILL_H

#include "render/chart/panel_bands.h"

/*
 * A panel of samples: its points and its bands' values. The caller frees time_us
 * and gap; the values are in the memory of time_us. No band: n_bands is 0. The maxima
 * and means are not filled in. cores: what HOW_CORES is shares of. 0 or -ENOMEM.
 */
int panel_fill(struct panel *p, const struct panel_plan *plan, const struct summary *s,
	       int64_t cores);

#endif
