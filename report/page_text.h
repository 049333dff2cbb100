/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_TEXT_H
#define BUILDBEAT_REPORT_PAGE_TEXT_H

/* The style of all pages and the program of the report, page.css and page.js, made into C
 * at build time: without indentation and empty lines, else as they are. */
extern const char page_css[], page_js[];

#endif
