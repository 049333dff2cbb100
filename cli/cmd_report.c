/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/buildset.h"
#include "cli/output_file.h"
#include "recording/recording.h"
#include "compare/everywhere.h"
#include "compare/verdict_group.h"
#include "report/kept_builds.h"
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CULPRIT_EVENTS 40	/* only the newest changes list their commits */

struct report_arguments {
	struct buildset_options buildset;
	const char *into;
	struct word_list sources;
};

#define OPTIONS struct report_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	BUILDSET_REF_OPTION(buildset),
	BUILDSET_METRICS_OPTION(buildset),
	{ OPT_TEXT('o', "output", into, "DIR", "write the report to DIR/index.html") },
	{ OPT_LIST(0, "source", sources, "DIR",
	  "git repository of the sources, to list the commits between builds") },
	{ 0 }
};

/* The data of a report. */
struct made {
	struct buildset buildset;
	struct kept_builds kept;	/* of buildset */
	struct history history;
	struct verdict verdict;
	struct buildset *sets;		/* the series of the archive, if they were compared */
	struct verdict *sets_verdict;
	struct everywhere everywhere;
	size_t n_sets;
	struct population population;
	struct power power;
	struct values newest;		/* compared with the limits */
	struct limits_check limits;
	struct trends trends;
	size_t n_logs;
	struct source_log *log[WORD_LIST_MAX];
	size_t n_culprits;
	struct culprits *culprits;
	struct picture picture[2];
	struct error why[2];	/* why a picture is missing */
	struct page page;
};

static void release(struct made *m)
{
	for (int i = 0; i < 2; i++)
		picture_release(&m->picture[i]);
	for (size_t i = 0; i < m->n_culprits; i++)
		culprits_release(&m->culprits[i]);
	free(m->culprits);
	for (size_t i = 0; i < m->n_logs; i++)
		source_log_close(m->log[i]);
	trends_release(&m->trends);
	population_release(&m->population);
	limits_check_release(&m->limits);
	values_release(&m->newest);
	everywhere_release(&m->everywhere);
	for (size_t i = 0; m->sets_verdict && i < m->n_sets; i++)
		verdict_release(&m->sets_verdict[i]);
	free(m->sets_verdict);
	buildset_release_every(m->sets, m->n_sets);
	verdict_release(&m->verdict);
	history_release(&m->history);
	kept_builds_release(&m->kept);
	buildset_release(&m->buildset);
}

static int check_limits(struct made *m, struct error *err)
{
	const struct buildset *n = &m->buildset;
	int r = archive_values(n->archive, n->builds.build[n->builds.n - 1].id, &m->newest, err);

	if (!r && (r = limits_check(&m->limits, &n->limits.limits, &m->newest)))
		error_sys(err, r, NULL, NULL);
	m->page.limits = &m->limits;
	return r;
}

static int count_causes(struct made *m, struct error *err)
{
	struct verdict_groups groups = { 0 };
	int r = verdict_groups_make(&groups, &m->verdict, &m->kept.builds);

	m->page.n_causes = groups.n_causes;
	verdict_groups_release(&groups);
	return r ? error_sys(err, r, NULL, NULL) : 0;
}

static int find_changes(struct made *m, struct error *err)
{
	struct buildset *n = &m->buildset;
	const struct builds *builds = &m->kept.builds;
	int r;

	kept_builds_init(&m->kept, &n->builds);
	r = n->limits.n ? check_limits(m, err) : 0;
	r = r ? r : history_make(&m->history, &m->verdict, builds, &n->rules, &n->known, HISTORY_ALL,
				 err);
	r = r ? r : count_causes(m, err);
	if (!r)
		r = population_make(&m->population, &n->builds, err);
	m->page.is_short = power_is_short(&m->verdict, builds, &n->rules);
	if (!r && (m->page.is_short || power_is_quick(&m->verdict, builds))) {
		r = power_find_short(&m->power, builds, &n->rules, &n->known, err);
		m->page.power = &m->power;
	}
	if (!r)
		r = trends_make(&m->trends, builds, &n->rules, &m->history, &m->verdict, err);
	return r;
}

/* Which other series of the archive have the same changes. */
static int check_others(struct made *m, struct args *args, const struct report_arguments *a,
			struct error *err)
{
	struct buildset_options every = a->buildset;
	struct everywhere_series *series = NULL;
	size_t n = 1;
	int r;

	every.ref = NULL;
	r = buildset_open_every(&m->sets, &m->n_sets, args, &every, BUILDSET_FRESH, err);
	if (r || m->n_sets < 2)
		return r;
	m->sets_verdict = array_new_zero(m->n_sets, sizeof *m->sets_verdict);
	series = array_new(m->n_sets, sizeof *series);
	r = m->sets_verdict && series ? 0 : error_sys(err, -ENOMEM, NULL, NULL);
	if (!r)
		series[0] = (struct everywhere_series){ &m->buildset.builds, &m->verdict };
	for (size_t i = 0; !r && i < m->n_sets; i++) {
		const struct buildset *set = &m->sets[i];

		if (!set->builds.n || !strcmp(set->builds.ref, m->buildset.builds.ref))
			continue;
		r = verdict_make(&m->sets_verdict[i], &set->builds, &set->rules, &set->known, err);
		series[n++] = (struct everywhere_series){ &set->builds, &m->sets_verdict[i] };
	}
	if (!r && (r = everywhere_mark(&m->everywhere, series, n)))
		error_sys(err, r, NULL, NULL);
	free(series);
	return r;
}

/* The report of a good series does not fail because another one is damaged. */
static int find_elsewhere(struct made *m, struct args *args, const struct report_arguments *a,
			  struct error *err)
{
	struct error damaged = { 0 };
	int r = m->verdict.n ? check_others(m, args, a, &damaged) : 0;

	return r == -ENOMEM ? error_sys(err, r, NULL, NULL) : 0;
}

static int find_culprits(struct made *m, const struct word_list *sources, struct error *err)
{
	size_t n = MIN(m->history.n_events, CULPRIT_EVENTS);
	int r = 0;

	for (; !r && m->n_logs < sources->n; m->n_logs += !r)
		r = source_log_open(&m->log[m->n_logs], sources->item[m->n_logs], err);
	if (r)
		return r;
	m->culprits = calloc(n + 1, sizeof *m->culprits);
	if (!m->culprits)
		return error_sys(err, -ENOMEM, NULL, NULL);
	while (!r && m->n_culprits < n) {
		size_t i = m->n_culprits++;

		r = culprits_find(&m->culprits[i], &m->buildset.builds, &m->history,
				  &m->history.event[i], m->log, m->n_logs);
	}
	return r ? error_sys(err, r, NULL, NULL) : 0;
}

/* The last build before the newest confirmed regression, otherwise the build before the
 * newest. */
static uint32_t build_before(const struct made *m)
{
	uint32_t newest = (uint32_t)m->buildset.builds.n - 1, since = 0;

	for (size_t i = 0; i < m->verdict.n; i++) {
		const struct verdict_finding *f = &m->verdict.finding[i];

		if (f->state == FINDING_CONFIRMED && f->worse && f->since > since)
			since = f->since;
	}
	return since ? since - 1 : newest ? newest - 1 : 0;
}

/* If a recording is damaged or has no times, the page says so in place of the chart. */
static int draw_chart(struct made *m, int i, uint32_t build, int64_t until_us)
{
	struct page_chart *chart = &m->page.chart[i];
	struct recording rec = RECORDING_INIT;
	int r = archive_recording(m->buildset.archive, m->buildset.builds.build[build].id, &rec,
				  &m->why[i]);

	if (!r)
		r = picture_make(&m->picture[i], &rec, until_us);
	recording_release(&rec);
	chart->build = build;
	chart->why = *m->why[i].message ? m->why[i].message : strerror(-r);
	chart->picture = r ? NULL : &m->picture[i];
	return r == -ENOMEM ? r : 0;
}

/* Every date in a report is in UTC, also in the charts, and both charts have one time scale. */
static int draw_charts(struct made *m, struct error *err)
{
	const struct build *build = m->buildset.builds.build;
	uint32_t newest = (uint32_t)m->buildset.builds.n - 1, before = build_before(m);
	int64_t until_us = build[newest].total[TOTAL_WALL_US];
	int r;

	if (build[before].total[TOTAL_WALL_US] > until_us)
		until_us = build[before].total[TOTAL_WALL_US];
	setenv("TZ", "UTC0", 1);
	tzset();
	r = draw_chart(m, 1, newest, until_us);
	if (!r && newest)
		r = draw_chart(m, 0, before, until_us);
	return r ? error_sys(err, r, NULL, NULL) : 0;
}

static int write_page(struct made *m, const char *dir, struct error *err)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	struct page *p = &m->page;
	int r;

	p->builds = &m->buildset.builds;
	p->rules = &m->buildset.rules;
	p->history = &m->history;
	p->verdict = &m->verdict;
	p->population = &m->population;
	p->culprits = m->culprits;
	p->n_culprits = m->n_culprits;
	p->trends = &m->trends;
	buf_addf(&path, "%s/index.html", dir);
	r = page_write(&text, p);
	r = r ? r : buf_error(&path);
	r = r ? error_sys(err, r, NULL, NULL) : file_make_parents(path.data, err);
	r = r ? r : outfile_replace(path.data, &text, err);
	if (!r)
		output_path(path.data);
	buf_release(&path);
	buf_release(&text);
	return r;
}

static int make(struct made *m, struct args *args, struct report_arguments *a, struct error *err)
{
	int r;

	if (!a->into)
		return error_say(err, -EINVAL, "report: option '--output' is missing");
	r = buildset_open(&m->buildset, args, &a->buildset, BUILDSET_ALL, err);
	if (r)
		return r;
	if (!m->buildset.builds.n)
		return error_set(err, -ENODATA, buf_str(&m->buildset.ref), 0, 0, "the series has no builds");
	if ((r = find_changes(m, err)) || (r = find_elsewhere(m, args, a, err)) ||
	    (r = find_culprits(m, &a->sources, err)) || (r = draw_charts(m, err)))
		return r;
	return write_page(m, a->into, err);
}

static const struct report_arguments defaults;

static int run_report(struct args *a, void *values, struct error *err)
{
	struct made made = { .buildset = BUILDSET_INIT };
	int r = make(&made, a, values, err);

	release(&made);
	return r;
}

COMMAND(report, "", "Write an HTML report about the builds in an archive", COMMAND_OPTIONS);
