/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_PAGE_TEXT_H
#define BUILDBEAT_LIVE_PAGE_TEXT_H

/* /live.js, /live.css and /streams.js; made from live/page/ by render/c_string.awk. */
extern const char page_live_js[], page_live_css[], page_streams_js[];

#endif
