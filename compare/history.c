/* SPDX-License-Identifier: MIT */
#include "compare/history.h"

#include "base/array.h"
#include "compare/history_group.h"
#include "compare/history_scan.h"
#include "stats/hostfactor.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct search {
	struct history *h;
	const struct builds *builds;
	const struct rules *rules;
	uint32_t task;
	struct history_scan scan;
	double *series;		/* one */
};

static bool is_asked(const struct search *s, uint32_t task)
{
	return s->task == HISTORY_ALL || s->task == task;
}

/* Sets h->host to the common factor of all tasks. */
static int find_host(struct search *s, const float *values)
{
	const struct builds *builds = s->builds;
	struct hostfactor factor = HOSTFACTOR_INIT;
	enum metric m = s->scan.metric;
	double *host;
	int r = hostfactor_find(&factor, values, builds->n_tasks, builds->n,
				s->rules->gate[m].amount);

	host = r ? NULL : array_new(builds->n, sizeof *host);
	for (size_t i = 0; host && i < builds->n; i++)
		host[i] = exp(factor.ln[i]);
	hostfactor_release(&factor);
	s->h->host[m] = host;
	s->scan.host = host;
	return host ? 0 : r ? r : -ENOMEM;
}

static int scan_all(struct search *s)
{
	struct history_scan *scan = &s->scan;
	int r = 0;

	if (is_asked(s, TASK_TOTAL)) {
		history_scan_take_total(scan, s->series);
		r = history_scan_series(scan, TASK_TOTAL, s->series);
	}
	if (!r && scan->host && is_asked(s, TASK_HOST))
		r = history_scan_series(scan, TASK_HOST, scan->host);
	if (!r && s->task == HISTORY_ALL)
		r = history_scan_tasks(scan, 0, (uint32_t)s->builds->n_tasks);
	else if (!r && s->task < s->builds->n_tasks)
		r = history_scan_tasks(scan, s->task, s->task + 1);
	return r;
}

static int scan_metric(struct search *s, float *values, enum metric m, struct error *err)
{
	int r = s->builds->load(s->builds, m, values, err);

	if (r)
		return r;
	s->scan.metric = m;
	s->scan.host = NULL;
	if (metric_info[m].time)
		r = find_host(s, values);
	if (!r)
		r = scan_all(s);
	if (r == -EFBIG)
		return error_set(err, r, s->builds->ref, 0, 0, "more than %d builds",
				 CHANGEPOINTS_MAX);
	return r ? error_sys(err, r, s->builds->ref, NULL) : 0;
}

static int scan_metrics(struct search *s, struct error *err)
{
	const struct builds *builds = s->builds;
	struct rules rules = *s->rules;
	float *values = array_new(builds->n * builds->n_tasks, sizeof *values);
	int r = 0;

	/* Small changes are of interest if one task was selected. */
	for (enum metric m = 0; s->task != HISTORY_ALL && m < METRICS; m++)
		rules.gate[m].amount = 0;
	s->series = array_new_zero(builds->n, sizeof *s->series);
	if (!values || !s->series)
		r = error_sys(err, -ENOMEM, builds->ref, NULL);
	s->scan = (struct history_scan){ .builds = builds, .rules = &rules, .values = values };
	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (s->rules->metrics & METRIC_BIT(m))
			r = scan_metric(s, values, m, err);
	}
	s->scan.rules = NULL;
	free(values);
	free(s->series);
	return r;
}

/* Keeps the changes within the false discovery rate over all series. A series without a change
 * counts as one test. */
static int keep_sure(struct history *h, double rate, size_t n_quiet)
{
	size_t n = h->n_changes;
	double *p = array_new(n + n_quiet, sizeof *p);
	int r;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		p[i] = h->change[i].change.p;
	for (size_t i = 0; i < n_quiet; i++)
		p[n + i] = 1;
	r = stats_adjust(p, n + n_quiet);
	h->n_changes = 0;
	for (size_t i = 0; !r && i < n; i++) {
		if (p[i] > rate)
			continue;
		h->change[h->n_changes] = h->change[i];
		h->change[h->n_changes++].change.p = p[i];
	}
	free(p);
	return r;
}

/* A note between a change and the next one of its series is about this change. Changes are in
 * the order of the series. */
static void mark_known(struct history *h, const struct builds *builds,
		       const struct known_list *known)
{
	for (size_t i = 0; known && i < h->n_changes; i++) {
		struct history_change *c = &h->change[i];
		bool next = i + 1 < h->n_changes && c->task == c[1].task &&
			    c->metric == c[1].metric;
		uint32_t last = (uint32_t)(next ? c[1].change.at : builds->n) - 1;
		const struct known_subject subject = { .task = c->task, .metric = c->metric };

		if (c->task == TASK_HOST)
			continue;
		c->known = known_find(known, KNOWN_ACCEPTED, builds, &subject, c->change.first, last);
		if (!c->known)
			c->known = known_find(known, KNOWN_ACKNOWLEDGED, builds, &subject, c->change.first, last);
	}
}

int history_find(struct history *h, const struct builds *builds, const struct rules *rules,
		 const struct known_list *known, uint32_t task, struct error *err)
{
	struct search s = { .h = h, .builds = builds, .rules = rules, .task = task };
	int r;

	*h = (struct history){ 0 };
	r = scan_metrics(&s, err);
	h->change = s.scan.change;
	h->n_changes = s.scan.n_changes;
	h->n_series = s.scan.n_series;
	if (r)
		return r;
	r = keep_sure(h, rules->rate, s.scan.n_quiet);
	if (!r) {
		mark_known(h, builds, known);
		r = history_group(h, builds);
	}
	return r ? error_sys(err, r, builds->ref, NULL) : 0;
}

int history_series(const struct history *h, const struct builds *builds, uint32_t task,
		   enum metric m, double *values, struct error *err)
{
	struct history_scan s = { .builds = builds, .metric = m, .host = h->host[m] };
	float *all;
	int r;

	if (task == TASK_TOTAL) {
		history_scan_take_total(&s, values);
		return 0;
	}
	if (task == TASK_HOST) {
		for (size_t i = 0; i < builds->n; i++)
			values[i] = s.host ? s.host[i] : NAN;
		return 0;
	}
	s.values = all = array_new(builds->n * builds->n_tasks, sizeof *all);
	r = all ? builds->load(builds, m, all, err) : error_sys(err, -ENOMEM, builds->ref, NULL);
	if (!r)
		history_scan_take_task(&s, task, values);
	free(all);
	return r;
}

void history_release(struct history *h)
{
	free(h->change);
	free(h->event);
	for (enum metric m = 0; m < METRICS; m++)
		free(h->host[m]);
	*h = (struct history){ 0 };
}
