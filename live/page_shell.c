/* SPDX-License-Identifier: MIT */
#include "live/page_shell.h"

#include "base/array.h"
#include "live/catalogue.h"
#include "live/task_json.h"
#include "report/html.h"

#include <string.h>

#define CHOICE_MAX 200	/* recordings; the one that is shown is there in any case */

static const struct shell_page pages[] = {
	{ "/", "overview", "Overview", SHELL_FIRST },
	{ "/chart", "chart", "Chart", SHELL_FIRST },
	{ "/output", "output", "Output", SHELL_FIRST },
	{ "/table", "table", "Tasks", SHELL_FIRST },
	{ "/profile", NULL, "Profile", SHELL_BUILD },
	{ "/tracker", "tracker", "Tracker", SHELL_BUILD },
	{ "/graph", "graph", "Graph", SHELL_BUILD },
	{ "/races", "races", "Races", SHELL_BUILD },
	{ "/machine", "machine", "Machine", SHELL_MACHINE },
	{ "/processes", "processes", "Processes", SHELL_MACHINE },
	{ "/inspections", "inspections", "Inspections", SHELL_MACHINE },
	{ "/compare", "compare", "Compare", SHELL_FIRST },
	{ "/history", "history", "History", SHELL_BUILDS },
	{ "/tasks", "tasks", "Background", SHELL_SERVER },
	{ "/settings", "settings", "Settings", SHELL_SERVER },
	{ "/help", "help", "Help", SHELL_SERVER },
	{ "/task", "task", "Task", SHELL_GROUPS },
	{ "/process", "process", "Process", SHELL_GROUPS },
	{ "/class", "class", "Class of tasks", SHELL_GROUPS },
};

/* Below "More" */
static const char *const groups[SHELL_GROUPS] = {
	[SHELL_BUILD] = "The build", [SHELL_MACHINE] = "The machine",
	[SHELL_BUILDS] = "Several builds", [SHELL_SERVER] = "The server",
};

const struct shell_page *page_shell_find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (pages[i].name && !strcmp(pages[i].path, path))
			return &pages[i];
	}
	return NULL;
}

/* Pages that are not in it need more than a recording. */
static bool page_in_menu(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (!strcmp(pages[i].path, path))
			return pages[i].group != SHELL_GROUPS;
	}
	return false;
}

static void add_page(struct markup *h, const struct shell_page *page, const char *current)
{
	markup_begin(h, "a");
	markup_attr(h, "href", page->path);
	if (current && !strcmp(current, page->path))
		markup_attr(h, "aria-current", "page");
	markup_text(h, page->title);
	markup_end(h);
}

static void add_group(struct markup *h, enum shell_group group, const char *current)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (pages[i].group == group)
			add_page(h, &pages[i], current);
	}
}

static void add_more(struct markup *h, const char *current)
{
	markup_begin(h, "details");
	markup_attr(h, "id", "more");
	markup_leaf(h, "summary", NULL, "More");
	markup_begin(h, "div");
	for (enum shell_group group = SHELL_BUILD; group < SHELL_GROUPS; group++) {
		markup_begin(h, "span");
		markup_attr(h, "role", "group");
		markup_attr(h, "aria-label", groups[group]);
		markup_leaf(h, "small", NULL, groups[group]);
		add_group(h, group, current);
		markup_end(h);
	}
	markup_end(h);
	markup_end(h);
}

static void add_navigation(struct markup *h, const char *current)
{
	markup_begin(h, "nav");
	markup_attr(h, "id", "pages");
	markup_attr(h, "aria-label", "Pages");
	add_group(h, SHELL_FIRST, current);
	add_more(h, current);
	markup_end(h);
}

static void add_recording(struct markup *h, const char *id, bool chosen)
{
	markup_begin(h, "option");
	if (chosen)
		markup_attr(h, "selected", "selected");
	markup_text(h, id);
	markup_end(h);
}

/* Builds of an archive have names that only a script makes: they are chosen on other pages. */
static void add_form(struct markup *h, const struct html_site *site, const struct catalogue *c)
{
	const char *rec;

	if (!c || c->kind != CATALOGUE_DIRECTORY || c->n < 2 || !page_in_menu(site->path))
		return;
	rec = site->rec ? site->rec : c->entry[0].id;
	markup_begin(h, "form");
	markup_attr(h, "id", "choice");
	markup_attr(h, "action", site->path);
	markup_begin(h, "select");
	markup_attr(h, "name", "rec");
	markup_attr(h, "aria-label", "Recording");
	for (size_t i = 0; i < c->n; i++) {
		if (i < CHOICE_MAX || !strcmp(c->entry[i].id, rec))
			add_recording(h, c->entry[i].id, !strcmp(c->entry[i].id, rec));
	}
	markup_end(h);
	markup_leaf(h, "button", NULL, "Show");
	markup_end(h);
}

void page_shell_bar(struct markup *h, const struct html_site *site)
{
	markup_open(h, "header", "bar");
	add_navigation(h, site->path);
	add_form(h, site, site->context);
	markup_end(h);
}

static void add_choice(struct markup *h)
{
	markup_begin(h, "span");
	markup_attr(h, "id", "choice");
	markup_attr(h, "hidden", "hidden");
	markup_begin(h, "select");
	markup_attr(h, "id", "recording");
	markup_attr(h, "aria-label", "Recording");
	markup_content(h);
	markup_end(h);
	markup_end(h);
	markup_begin(h, "a");
	markup_attr(h, "id", "save");
	markup_attr(h, "href", "/build.html");
	markup_attr(h, "download", "build.html");
	markup_attr(h, "title", "Save this build as one HTML file, which needs no server");
	markup_text(h, "Save");
	markup_end(h);
	markup_begin(h, "button");
	markup_attr(h, "id", "refresh");
	markup_attr(h, "type", "button");
	markup_attr(h, "title", "Read the recording again: forget what the server has kept");
	markup_text(h, "Refresh");
	markup_end(h);
}

/* What the columns of its tables are made from. */
static void add_tables(struct markup *h)
{
	struct buf text = BUF_PART_OF(h->out);
	struct json j;

	json_init(&j, &text, true);
	json_object(&j, NULL);
	task_json_tables(&j);
	json_object_end(&j);
	html_json(h, "tables", &text);
	buf_release(&text);
}

int page_shell_write(struct buf *out, const struct shell_page *page)
{
	const struct html_site site = { .path = page->path };
	struct markup h;

	html_head(&h, out, page->title, &site);
	markup_begin(&h, "script");
	markup_attr(&h, "src", "/live.js");
	markup_attr(&h, "defer", "defer");
	markup_content(&h);
	markup_end(&h);
	markup_end(&h);
	markup_begin(&h, "body");
	markup_attr(&h, "class", "live");
	markup_attr(&h, "data-page", page->name);
	markup_begin(&h, "a");
	markup_attr(&h, "class", "skip");
	markup_attr(&h, "href", "#main");
	markup_text(&h, "Skip to content");
	markup_end(&h);
	markup_open(&h, "header", "bar");
	add_navigation(&h, page->path);
	markup_open(&h, "div", "choices");
	add_choice(&h);
	markup_end(&h);
	markup_end(&h);
	markup_begin(&h, "p");
	markup_attr(&h, "id", "unreachable");
	markup_attr(&h, "role", "alert");
	markup_attr(&h, "hidden", "hidden");
	markup_content(&h);
	markup_end(&h);
	markup_begin(&h, "main");
	markup_attr(&h, "id", "main");
	markup_attr(&h, "tabindex", "-1");
	markup_begin(&h, "h1");
	markup_attr(&h, "id", "title");
	markup_text(&h, page->title);
	markup_end(&h);
	markup_leaf(&h, "noscript", NULL, "This page needs JavaScript.");
	markup_end(&h);
	add_tables(&h);
	while (h.depth)
		markup_end(&h);
	return buf_error(out);
}
