/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_PAGE_TEXT_H
#define BUILDBEAT_LIVE_PAGE_TEXT_H

/* /live.js and /live.css; made from live/page/ by render/c_string.awk. */
extern const char page_live_js[], page_live_css[];

#endif
