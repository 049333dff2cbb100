/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_HISTORY_TREND_H
#define BUILDBEAT_REPORT_HISTORY_TREND_H

#include "base/error.h"
#include "render/plot/trend.h"
#include "report/history_output.h"

/* The series of what was told, a plot each, as trend_draw() draws them. */
int history_trend(struct buf *out, const struct history_view *told, const struct trend_output *o,
		  struct error *err);

#endif
