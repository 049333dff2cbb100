/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BOOTCHART_H
#define BUILDBEAT_RENDER_CHART_BOOTCHART_H

#include "base/buf.h"
#include "render/chart/chart.h"

/*
 * bootchart.svg: the static picture, the data of all tasks and samples, and the
 * script that redraws them at any zoom. 0 or a negative errno.
 *
 * The elements of the document, for the script and the tests:
 *
 *	svg#bb				role="graphics-document", title, desc, style
 *	 g#head				text.fact: the facts
 *	 g.panel#p-WORD			one a panel ("p-cpu")
 *	  text.title, g.legend		g.key[data-band=ID]: swatch and text, with its <title>
 *	  g.axis, g.axis.right		grid lines and labels; these stay
 *	  svg.plot			x, y, width, height of the plot; clips
 *	   g.draw			all the script replaces: path.gap (nothing is known),
 *					paths .area/.line/.band with a colour class c0 ... c7
 *	 g#time				the time axis, grid lines through everything: replaced
 *	 g#other			the lanes of the build to compare with: text.title, text.note
 *	 g#lanes
 *	  path.stripe, g.row[data-row=I]: text.label
 *	  svg.plot
 *	   g.draw			replaced, in this order: path.queue (lead-ins), path.bar.cN
 *					(bars by colour, a tint) each with path.cpu.cN (the part of
 *					them that computed, the colour itself), path.phase,
 *					path.critical, path.ghost, path.unfinished/.killed/.failed
 *					(outlines), path.badge with path.bolt (killed) or path.cross
 *					(failed) upon it, text.name.tN or, on what computed,
					text.name.cN
 *	 g#legend			g.key[data-kind=KIND] a kind, then what the marks mean
 *	 script#data type="application/x-buildbeat"	pack.h
 *	 script				the program
 *
 * The script adds g#tools (search, slider, buttons: a foreignObject), g#cross (the
 * crosshair) and g#tip (the tooltip).
 */
int bootchart_write(struct buf *out, const struct chart *c);

#endif
