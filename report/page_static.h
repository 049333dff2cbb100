/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_PAGE_STATIC_H
#define BUILDBEAT_REPORT_PAGE_STATIC_H

/*
 * Styles and scripts, made into C strings at build time:
 *	page_css		the style of all pages
 *	page_js			the script of the report
 *	page_diff_js		the script of the page of diff
 *	page_profile_js		the script of a profile
 *	page_inspect_css, page_inspect_js	style and script of an inspection
 *	page_log_css, page_log_js	style and script of the build's output
 *	page_site_js		the script of pages that are served, beside their own
 */
extern const char page_css[], page_js[], page_diff_js[], page_profile_js[];
extern const char page_inspect_css[], page_inspect_js[];
extern const char page_log_css[], page_log_js[];
extern const char page_site_js[];

#endif
