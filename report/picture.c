/* SPDX-License-Identifier: MIT */
#include "report/picture.h"

#include "render/chart/bootchart.h"
#include "render/chart/pack_code.h"

static int pack(struct picture *p, const struct buf *svg)
{
	struct buf deflated = BUF_INIT;
	int r = pack_deflate(&deflated, svg->data, svg->len);

	p->n_deflated = deflated.len;
	if (!r)
		r = pack_characters(&p->packed, deflated.data, deflated.len);
	buf_release(&deflated);
	return r;
}

int picture_make(struct picture *p, const struct recording *rec, int64_t until_us)
{
	struct panels panels = { 0 };
	struct chart_input in = { .by = LANES_WORKER, .until_us = until_us };
	struct chart chart = { 0 };
	struct buf svg = BUF_INIT;
	struct summary sum;
	int r = summary_make(&sum, rec);

	*p = (struct picture){ .packed = BUF_INIT };
	in.sum = &sum;
	in.panels = &panels;
	if (!r)
		r = panels_make(&panels, &sum);
	if (!r)
		r = chart_make(&chart, &in);
	if (!r)
		r = bootchart_write(&svg, &chart);
	p->width = CHART_WIDTH;
	p->height = chart.height;
	if (!r)
		r = pack(p, &svg);
	chart_release(&chart);
	buf_release(&svg);
	panels_release(&panels);
	summary_release(&sum);
	return r;
}

void picture_release(struct picture *p)
{
	buf_release(&p->packed);
}
