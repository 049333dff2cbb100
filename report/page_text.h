/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_TEXT_H
#define BUILDBEAT_REPORT_PAGE_TEXT_H

/* The style of all pages (page.css), the script of the report (page.js), that of the profile, and
 * style and script of the build's output, made into C strings at build time. */
extern const char page_css[], page_js[], page_profile_js[], page_log_css[], page_log_js[];

#endif
