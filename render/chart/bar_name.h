/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BAR_NAME_H
#define BUILDBEAT_RENDER_CHART_BAR_NAME_H

#include "base/buf.h"
#include "render/chart/lanes.h"

/*
 * What is written in a bar: the part of its task's name that distinguishes it, and how long it
 * ran: "lib07.c 12.1 s", "busybox 3.2 s". The file comes without its directory, the recipe
 * without its version; what the row says (`by`) or the colour is left out. In less room it is
 * the name without the duration, or its beginning.
 */
#define BAR_NAME_SIZE 10.5	/* of the font, in pixels */
#define BAR_NAME_SMALL 9.0
#define BAR_NAME_HEIGHT 9.5	/* of a bar that has room for a small name */
#define BAR_NAME_LEAST 30.0	/* pixels: every bar of this width has a name */

/* Safe to print, at most width pixels wide. */
void bar_name_add(struct buf *b, const struct summary *s, enum lanes_by by, uint32_t task,
		  double width, double size);

/* The same without the duration, for legends. */
void bar_name_add_task(struct buf *b, const struct recording *rec, uint32_t task, double width,
		       double size);

/* The same of a part of the task, which took so long. */
void bar_name_add_part(struct buf *b, const struct summary *s, enum lanes_by by, uint32_t task,
		       int64_t us, double width, double size);

/* The same of any name and time. */
void bar_name_add_text(struct buf *b, const char *name, int64_t us, double width, double size);

/* "24 tasks", of a bar of several of which none has most of it. */
void bar_name_add_count(struct buf *b, uint32_t n_tasks, double width, double size);

#endif
