/* SPDX-License-Identifier: MIT */
#include "archive/archive.h"
#include "compare/follow_renames.h"
#include "compare/repeats.h"
#include "compare/verdict.h"
#include "live/route.h"
#include "live/source.h"
#include "report/check_output.h"
#include "report/fix_look.h"
#include "report/history_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the builds of an archive show, by the rules of a missing configuration. */

#define TOP_MAX 100000

struct build_series {
	struct rules rules;
	struct archive *archive;
	struct buf ref;
	struct builds builds;
	struct known_list known;
};

static int open_series(struct build_series *s, const struct request *q, struct error *err)
{
	const struct catalogue *c = q->source->catalogue;
	int r;

	*s = (struct build_series){ .ref = BUF_INIT, .builds = BUILDS_INIT };
	rules_init(&s->rules);
	if (c->kind != CATALOGUE_ARCHIVE)
		return error_set(err, -ENOENT, c->path, 0, 0, "this is not an archive: only builds "
				 "in one have a history");
	r = archive_open(&s->archive, c->path, ARCHIVE_READ, err);
	if (!r)
		r = archive_choose(s->archive, query_text(q->query, "series"), &s->ref, err);
	if (!r)
		r = archive_builds(s->archive, buf_str(&s->ref), 0, &s->builds, err);
	if (!r) {
		builds_add_counted(&s->builds, &s->rules);
		r = archive_known(s->archive, &s->builds, &s->known, err);
	}
	if (r >= 0)
		r = repeats_join(&s->builds, &s->known, err);
	if (!r && (r = fix_look(&s->known, &s->builds, &s->rules)))
		error_sys(err, r, NULL, NULL);
	r = r ? r : follow_renames(&s->builds, err);
	return r ? r : builds_scale(&s->builds, &s->rules, err);
}

static void close_series(struct build_series *s)
{
	free(s->known.known);
	builds_release(&s->builds);
	buf_release(&s->ref);
	archive_close(s->archive);
}

/* The rest of what it takes, as in `buildbeat history` and `buildbeat check`. */
struct made {
	struct build_series series;
	struct history history;
	struct verdict verdict;
	struct verdict_groups groups;
	struct population population;
	struct history_view view;
};

static void release(struct made *m)
{
	history_view_release(&m->view);
	population_release(&m->population);
	verdict_groups_release(&m->groups);
	verdict_release(&m->verdict);
	history_release(&m->history);
	close_series(&m->series);
	free(m);
}

/* A task, "total" or "host"; a metric; NULL: all. */
static int choose(struct made *m, const char *what, struct error *err)
{
	const struct builds *builds = &m->series.builds;
	enum metric metric = what ? metric_find(what) : METRICS;

	m->view.task = HISTORY_ALL;
	if (metric < METRICS)
		m->series.rules.metrics = METRIC_BIT(metric);
	if (!what || metric < METRICS)
		return 0;
	m->view.task = !strcmp(what, "total") ? TASK_TOTAL : !strcmp(what, "host") ? TASK_HOST :
		       builds_find(builds, what);
	if (m->view.task < builds->n_tasks || !strcmp(what, "total") || !strcmp(what, "host"))
		return 0;
	return error_set(err, -ENOENT, builds->ref, 0, 0, "no task or metric is named '%.200s'", what);
}

static int history(struct made *m, struct reply *out, const struct request *q, struct error *err)
{
	struct build_series *s = &m->series;
	int r = choose(m, query_text(q->query, "of"), err);

	if (!r)
		r = history_make(&m->history, &m->verdict, &s->builds, &s->rules, &s->known,
				 m->view.task, err);
	if (r)
		return r;
	r = history_view_fill(&m->view, &m->history, &s->builds, s->rules.metrics, err);
	return r ? r : history_json(&out->body, &m->view);
}

static int check(struct made *m, struct reply *out, int64_t top, struct error *err)
{
	struct build_series *s = &m->series;
	struct check c = {
		.builds = &s->builds, .rules = &s->rules, .verdict = &m->verdict,
		.groups = &m->groups, .population = &m->population, .top = (size_t)top,
		.archive = { .ref = s->builds.ref },
	};
	struct power power;
	int r;

	if (!s->builds.n)
		return error_set(err, -ENOENT, s->builds.ref, 0, 0, "the series has no builds");
	r = verdict_make(&m->verdict, &s->builds, &s->rules, &s->known, err);
	if (!r)
		fixed_by_mark(&m->verdict, &s->builds, &s->known);
	if (!r && (r = verdict_groups_make(&m->groups, &m->verdict, &s->builds)))
		error_sys(err, r, NULL, NULL);
	if (!r)
		r = population_make(&m->population, &s->builds, err);
	if (!r && power_is_short(&m->verdict, &s->builds, &s->rules)) {
		r = power_find_short(&power, &s->builds, &s->rules, &s->known, err);
		c.power = &power;
	}
	return r ? r : check_json(&out->body, &c);
}

static int reply(struct reply *out, const struct request *q, struct error *err, bool is_check)
{
	struct made *m = calloc(1, sizeof *m);
	int64_t top = 0;
	int r = m ? query_number(q->query, "top", 1, TOP_MAX, 20, &top, err) :
		error_sys(err, -ENOMEM, NULL, NULL);

	if (!m)
		return r;
	if (!r)
		r = open_series(&m->series, q, err);
	m->view.top = (size_t)top;
	if (!r)
		r = is_check ? check(m, out, top, err) : history(m, out, q, err);
	out->keep = true;
	release(m);
	return r;
}

static int history_reply(struct reply *out, const struct request *q, struct error *err)
{
	return reply(out, q, err, false);
}

static int check_reply(struct reply *out, const struct request *q, struct error *err)
{
	return reply(out, q, err, true);
}

const struct route api_archive_routes[] = {
	{ "/api/v1/history", "series, of, top",
	  "When each metric changed, as buildbeat history --json prints it.", history_reply },
	{ "/api/v1/check", "series, top",
	  "The verdict about the newest build, as buildbeat check --json prints it.", check_reply },
	{ 0 }
};
