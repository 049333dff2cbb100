/* SPDX-License-Identifier: MIT */
#include "tests/drawn.h"

#include "render/chart/bootchart.h"
#include "render/chart/chart.h"

#include <check.h>

void drawn(struct buf *svg, const struct summary *sum, const struct summary *like)
{
	struct panels before, panels;
	struct chart_input in = { .sum = sum, .panels = &panels, .by = LANES_WORKER };
	struct chart c;

	ck_assert_int_eq(panels_make(&before, like), 0);
	ck_assert_int_eq(panels_make(&panels, sum), 0);
	for (size_t i = 0; i < before.n; i++) {
		enum panel_id id = before.panel[i].id;

		ck_assert_msg(panels_find(&panels, id) ||
			      (like != sum && (id == PANEL_MEMORY || id == PANEL_VOLUMES)),
			      "no panel %s", before.panel[i].word);
	}
	ck_assert_int_eq(chart_make(&c, &in), 0);
	ck_assert(!sum->n_ran == !c.row_place);
	ck_assert_int_eq(bootchart_write(svg, &c), 0);
	chart_release(&c);
	panels_release(&panels);
	panels_release(&before);
}
