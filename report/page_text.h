/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_TEXT_H
#define BUILDBEAT_REPORT_PAGE_TEXT_H

/* The style of all pages (page.css) and the script of the report (page.js), made into C strings
 * at build time. */
extern const char page_css[], page_js[], page_profile_js[];

#endif
