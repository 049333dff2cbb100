/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_PAGE_SHELL_H
#define BUILDBEAT_LIVE_PAGE_SHELL_H

#include "base/buf.h"
#include "report/html.h"
#include "write/markup.h"

/* Of the navigation: always in view, or below "More". */
enum shell_group { SHELL_FIRST, SHELL_BUILD, SHELL_MACHINE, SHELL_BUILDS, SHELL_SERVER, SHELL_GROUPS };

/*
 * The document of the live pages. It is the same for all: navigation, the choice of a recording, and
 * an empty <main>, which live/page/page_NAME.js fills. It links /page.css (report/page.css with the
 * colours), /live.css and /live.js (page_text.h).
 */
struct shell_page {
	const char *path;	/* "/chart" */
	const char *name;	/* of the script: pages.chart; NULL: a route replies (live/site.c) */
	const char *title;
	enum shell_group group;	/* of the navigation; SHELL_GROUPS: not in it */
};

/* NULL: there is no live page with this path. */
const struct shell_page *page_shell_find(const char *path);

/* 0 or a negative errno. */
int page_shell_write(struct buf *out, const struct shell_page *page);

/* The bar of other documents, for html.h: the navigation, and of a page of one recording the choice of another,
 * which needs no script. context: a struct catalogue, or NULL. */
void page_shell_bar(struct markup *h, const struct html_site *site);

#endif
