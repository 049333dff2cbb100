/* SPDX-License-Identifier: MIT */
#include "analyse/profile_view.h"
#include "live/api_parts.h"
#include "live/comparison.h"
#include "live/page_shell.h"
#include "live/parameters.h"
#include "live/route.h"
#include "live/source.h"
#include "report/build_page.h"
#include "report/diff_output.h"
#include "report/html.h"
#include "report/inspected_find.h"
#include "report/profile_page.h"

#include <errno.h>

/* The pages that commands write to files, served: html.h. */

#define SAVED_TOP 10		/* rows of a list, as show has them */
#define HTML "text/html; charset=utf-8"

static struct html_site site_of(const struct request *q)
{
	return (struct html_site){ .path = q->route->path, .rec = query_text(q->query, "rec"),
				   .navigate = page_shell_bar, .context = q->source->catalogue };
}

static int profile_reply(struct reply *out, const struct request *q, struct error *err)
{
	const struct html_site site = site_of(q);
	struct profile_snapshot snapshot = { .title = q->source->id };
	struct profile_page page = { .title = snapshot.title, .snapshot = &snapshot,
				     .n_snapshots = 1, .site = &site };
	struct profile *p;
	const char *command;
	int r = api_profile_of(q->source, &p, err);

	if (r)
		return r;
	command = recording_build(&q->source->recording, "command");
	if (command && *command)
		page.title = command;
	snapshot.profile = p;
	page.wish.merged = 1u << PROFILE_PID;
	page.wish.similar = true;
	profile_group_usually(&page.wish, p);
	profile_sort_usually(&page.wish, p);
	r = profile_page_write(&out->body, &page);
	out->type = HTML;
	out->keep = true;
	return r ? error_sys(err, r, q->source->id, NULL) : 0;
}

/* A file to keep: with this type no browser opens it here, where its own policy and scripts are not allowed. */
#define KEPT "application/octet-stream"

static int write_build(struct buf *out, struct source *s, struct build_output *output, struct error *err)
{
	struct inspected_found inspected = INSPECTED_INIT;
	struct groups programs = { 0 };
	struct show_options o = {
		.sort = VALUE_SORTS, .top = SAVED_TOP, .chain = &s->chain, .answer = &s->answer,
		.inspected = &inspected.inspected, .output = output, .programs = &programs,
	};
	struct view view = { 0 };
	int r = inspected_find(&inspected, &s->recording, err);

	if (r)
		return r;
	r = view_make(&view, &s->summary, &(struct selection){ 0 });
	if (!r && s->recording.n_programs)
		r = groups_make(&programs, &s->summary, view.task, view.n_tasks, true, GROUPS_PROGRAM);
	if (!r)
		r = build_page_write(out, &view, &o);
	groups_release(&programs);
	view_release(&view);
	inspected_release(&inspected);
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

static int build_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct build_output *output;
	int r = source_need(q->source, SOURCE_ANSWER, err);

	if (!r)
		r = api_log_output(q->source, &output, err);
	if (!r)
		r = write_build(&out->body, q->source, output, err);
	out->type = KEPT;
	return r;
}

static int diff_reply(struct reply *out, const struct request *q, struct error *err)
{
	const struct html_site site = site_of(q);
	const char *a, *b;
	struct comparison c;
	int r = parameter_needed(q->query, "a", &a, err);

	if (!r)
		r = parameter_needed(q->query, "b", &b, err);
	if (r)
		return r;
	r = comparison_make(&c, q->source->catalogue, a, b, NULL, err);
	c.view.site = &site;
	if (!r && (r = diff_html(&out->body, &c.view)))
		error_sys(err, r, NULL, NULL);
	out->type = HTML;
	out->keep = !c.source[DIFF_BASE].running && !c.source[DIFF_NOW].running;
	comparison_release(&c);
	return r;
}

const struct route site_routes[] = {
	{ "/build.html", "rec", "The build as one file, which needs no server, as buildbeat show --html writes it.",
	  build_reply },
	{ "/profile", "rec", "The table of a profile, as buildbeat profile --html writes it.",
	  profile_reply },
	{ "/diff", "a, b", "The comparison of two recordings, as buildbeat diff --html writes it.",
	  diff_reply },
	{ 0 }
};
