/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BOOTCHART_H
#define BUILDBEAT_RENDER_CHART_BOOTCHART_H

#include "base/buf.h"
#include "render/chart/chart.h"

/*
 * bootchart.svg: the static picture, which readers without script and printers show, the data
 * of all tasks and samples, and the app (app.js), which takes the picture's place on a screen.
 * 0 or a negative errno.
 *
 * The elements of the document, for the tests:
 *
 *	svg#bb				role="graphics-document", title, desc, style
 *	 g#head				text.headline; text.label and text.fact of each fact
 *	 g#verdict			path.bullet; text.verdict a line
 *	 g#time				the time axis above and below the tasks, and grid lines
 *	 g#path				text.title, text.note: what the end of the build waited for
 *	  svg.plot			path.bar.cN, g.name, path.needed, path.waited, as below
 *	 g#lanes
 *	  path.stripe, g.row[data-row=I]: text.label
 *	  svg.plot
 *	   g.draw			path.queue (lead-ins); path.bar.cN (bars by colour);
 *					path.gauge.cN (CPU over time in bars of a colour);
 *					g.name.nN[.small] with the texts in bars of a colour;
 *					path.phase and text.phase-name (spans);
 *					path.needed, path.waited (brackets above tasks of the path
 *					that needed the one before, or had no free worker);
 *					path.unfinished/.killed/.failed (outlines), path.badge with
 *					path.bolt (killed) or path.cross (failed) upon it
 *	 g#other			the lanes of the build to compare with: text.title, text.note
 *	 g.panel#p-WORD			one a panel ("p-cpu")
 *	  text.title, g.legend		g.key[data-band=ID]: swatch and text, with its <title>
 *	  g.axis, g.axis.right		grid lines and labels
 *	  svg.plot			x, y, width, height of the plot; clips
 *	   g.draw			path.gap (nothing is known), paths .area/.line/.band with
 *					a colour class c0 ... c7
 *	 g#legend			g.key[data-kind=NAME] a work, then what the marks mean
 *	 script#data type="application/x-buildbeat"	pack_chart.h
 *	 script				the app
 */
int bootchart_write(struct buf *out, const struct chart *c);

/* The style and the script of the picture, for pages of a server, which has them in files of their
 * own. Errors are those of the buffer. */
void bootchart_style(struct buf *css);
extern const char bootchart_js[];

#endif
