/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_BOOTCHART_TEXT_H
#define BUILDBEAT_RENDER_CHART_BOOTCHART_TEXT_H

/* bootchart.css and bootchart.js, made into C at build time: without indentation
 * and empty lines, otherwise unchanged. */
extern const char bootchart_css[], bootchart_js[];

#endif
