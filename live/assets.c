/* SPDX-License-Identifier: MIT */
#include "live/assets.h"

#include "base/array.h"
#include "base/hash.h"
#include "live/compressed.h"
#include "live/page_shell.h"
#include "live/page_text.h"
#include "render/chart/bootchart.h"
#include "report/html.h"
#include "report/page_static.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT "text/javascript; charset=utf-8"
#define STYLE "text/css; charset=utf-8"

/* For what has no icon of its own, such as JSON. */
static const char icon[] = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">"
	"<path d=\"M1 9h3l2-6 4 11 2-5h3\" fill=\"none\" stroke=\"#3b82d6\" stroke-width=\"2\"/></svg>\n";

static const struct {
	const char *path, *type, *text;
} files[] = {
	{ "/favicon.ico", "image/svg+xml", icon },
	{ "/live.js", SCRIPT, page_live_js },
	{ "/live.css", STYLE, page_live_css },
	{ "/chart.js", SCRIPT, bootchart_js },
	{ "/diff.js", SCRIPT, page_diff_js },
	{ "/inspect.css", STYLE, page_inspect_css },
	{ "/inspect.js", SCRIPT, page_inspect_js },
	{ "/profile.js", SCRIPT, page_profile_js },
	{ "/site.js", SCRIPT, page_site_js },
	{ "/streams.js", SCRIPT, page_streams_js },
};

/* The text of a path: false if there is none. */
static bool make_text(struct asset *a, const char *path)
{
	const struct shell_page *page = page_shell_find(path);

	a->type = "text/html; charset=utf-8";
	if (page) {
		a->path = page->path;
		return !page_shell_write(&a->made, page);
	}
	a->type = STYLE;
	if (!strcmp(path, "/page.css")) {
		a->path = "/page.css";
		html_style(&a->made);
		return true;
	}
	if (!strcmp(path, "/chart.css")) {
		a->path = "/chart.css";
		bootchart_style(&a->made);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (strcmp(path, files[i].path))
			continue;
		*a = (struct asset){ .path = files[i].path, .type = files[i].type, .text = files[i].text,
				     .len = strlen(files[i].text) };
		return true;
	}
	return false;
}

static void release(struct asset *a)
{
	buf_release(&a->made);
	buf_release(&a->gzip);
	free(a);
}

static struct asset *make(const char *path)
{
	struct asset *a = calloc(1, sizeof *a);

	if (!a)
		return NULL;
	if (!make_text(a, path) || buf_error(&a->made))
		goto failed;
	if (!a->text) {
		a->text = buf_str(&a->made);
		a->len = a->made.len;
	}
	snprintf(a->tag, sizeof a->tag, "%016llx", (unsigned long long)hash_fnv64(a->text, a->len));
	if (!compressed_add(&a->gzip, a->text, a->len, COMPRESSED_SMALL))
		return a;
failed:
	release(a);
	return NULL;
}

const struct asset *assets_find(struct assets *all, const char *path)
{
	struct asset *a, **place;

	for (size_t i = 0; i < all->n; i++) {
		if (!strcmp(all->asset[i]->path, path))
			return all->asset[i];
	}
	a = make(path);
	place = a ? array_add(&all->asset, &all->n, sizeof *place) : NULL;
	if (place)
		*place = a;
	else if (a)
		release(a);
	return place ? a : NULL;
}

void assets_release(struct assets *all)
{
	for (size_t i = 0; i < all->n; i++)
		release(all->asset[i]);
	free(all->asset);
}
