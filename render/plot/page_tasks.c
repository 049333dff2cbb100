/* SPDX-License-Identifier: MIT */
#include "render/plot/plot_page.h"

#include "base/minmax.h"
#include "base/saturate.h"
#include "base/text.h"
#include "render/chart/axis.h"

#include <errno.h>

/* Which tasks had the memory, in the whole build and around its peak. */

/* The peak has a pane of its own if it would be a line in the whole build. */
#define CLOSE_PART 10
#define CLOSE_TIMES 3		/* of the life of the largest task */

static int add_pane(struct plot_page *page, const struct summary *s, const struct panel *from,
		    size_t n, const char *title, int64_t from_us, int64_t until_us)
{
	struct pane *p = plot_page_add_panel(page, from, n, from_us, until_us);
	struct buf b;

	if (!p)
		return -ENOMEM;
	p->mark_us = s->memory_peak_kb.time_us;
	p->legend_columns = 2;
	buf_init_fixed(&b, p->mark_label, sizeof p->mark_label);
	axis_add_value(&b, AXIS_BYTES, sat_mul(s->memory_peak_kb.value, 1024));
	buf_adds(&b, " at ");
	text_add_time(&b, p->mark_us);
	buf_init_fixed(&b, p->title, sizeof p->title);
	buf_adds(&b, title);
	return 0;
}

/* False: the whole build shows the peak well. Otherwise [from, until), within the build, is
 * the stretch around it to show. */
static bool close_look(const struct summary *s, int64_t *from_us, int64_t *until_us)
{
	const struct task *t = &s->rec->task[s->peak_task[0].task];
	int64_t start_us = t->start_us, end_us = recording_task_end_us(s->rec, t);
	int64_t margin_us = (end_us - start_us) * (CLOSE_TIMES - 1) / 2;

	start_us = start_us > margin_us ? start_us - margin_us : 0;
	end_us = s->wall_us - end_us > margin_us ? end_us + margin_us : s->wall_us;
	if (start_us >= end_us || end_us - start_us >= s->wall_us / CLOSE_PART)
		return false;
	*from_us = start_us;
	*until_us = end_us;
	return true;
}

int page_add_tasks(struct plot_page *page, const struct summary *s, const struct panels *panels,
		   size_t n)
{
	const struct panel *from = panels_find(panels, PANEL_MEMORY);
	int64_t from_us = 0, until_us = MAX(s->wall_us, 1000);
	struct buf b;
	int r;

	if (!from) {
		buf_init_fixed(&b, page->note, sizeof page->note);
		buf_adds(&b, "Which tasks made up the peak is not known: their memory over time "
			 "was not recorded.");
		return 0;
	}
	r = add_pane(page, s, from, n, from->title, from_us, until_us);
	if (!r && s->n_peak_tasks && close_look(s, &from_us, &until_us))
		r = add_pane(page, s, from, n, "Around the peak", from_us, until_us);
	return r;
}
