/* SPDX-License-Identifier: MIT */
#include "live/assets.h"

#include "live/page_shell.h"
#include "live/page_text.h"
#include "render/chart/bootchart.h"
#include "report/html.h"
#include "report/page_static.h"

#include <string.h>

#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE "text/css; charset=utf-8"

static const struct {
	const char *path, *type, *text;
} files[] = {
	{ "/live.js", SCRIPT, page_live_js },
	{ "/live.css", STYLE, page_live_css },
	{ "/chart.js", SCRIPT, bootchart_js },
	{ "/diff.js", SCRIPT, page_diff_js },
	{ "/inspect.css", STYLE, page_inspect_css },
	{ "/inspect.js", SCRIPT, page_inspect_js },
	{ "/profile.js", SCRIPT, page_profile_js },
	{ "/site.js", SCRIPT, page_site_js },
};

bool asset_find(struct asset *a, const char *path)
{
	const struct shell_page *page = page_shell_find(path);

	*a = (struct asset){ .type = "text/html; charset=utf-8" };
	if (page)
		return !page_shell_write(&a->text, page);
	if (!strcmp(path, "/page.css")) {
		a->type = STYLE;
		html_style(&a->text);
		return !buf_error(&a->text);
	}
	if (!strcmp(path, "/chart.css")) {
		a->type = STYLE;
		bootchart_style(&a->text);
		return !buf_error(&a->text);
	}
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		if (strcmp(path, files[i].path))
			continue;
		a->type = files[i].type;
		buf_adds(&a->text, files[i].text);
		return !buf_error(&a->text);
	}
	return false;
}

void asset_release(struct asset *a)
{
	buf_release(&a->text);
}
