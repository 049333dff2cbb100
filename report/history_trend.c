/* SPDX-License-Identifier: MIT */
#include "report/history_parts.h"

#include "base/arena.h"
#include "report/amount.h"

#include <errno.h>
#include <math.h>

_Static_assert(METRICS <= TREND_PANES, "a pane a metric");

static const enum trend_unit unit_of[] = {
	[UNIT_US] = TREND_TIME, [UNIT_KB] = TREND_BYTES, [UNIT_BYTES] = TREND_BYTES,
	[UNIT_COUNT] = TREND_COUNT, [UNIT_STATUS] = TREND_RATIO,
};

/* A trend that is being made; texts and numbers belong to the arena. */
struct plan {
	const struct history_view *view;
	struct arena *memory;
	struct trend trend;
};

static const char *keep(struct plan *p, struct buf *text)
{
	const char *kept = buf_error(text) ? NULL : arena_text(p->memory, buf_str(text), text->len);

	buf_release(text);
	return kept;
}

/* Trends are in bytes, some metrics in KiB. */
static double scale_of(enum metric m)
{
	return metric_info[m].unit == UNIT_KB ? 1024 : 1;
}

static int plan_changes(struct plan *p, struct trend_pane *pane, enum metric m,
			const struct history_levels *l)
{
	struct trend_change *change = arena_alloc(p->memory, (l->n + 1) * sizeof *change);

	if (!change)
		return -ENOMEM;
	pane->change = change;
	pane->n_changes = l->n;
	for (size_t i = 0; i < l->n; i++) {
		const struct change *c = &l->change[i]->change;
		struct buf label = BUF_INIT;

		amount_add_share(&label, c->effect);
		change[i] = (struct trend_change){
			.at = c->at, .first = c->first, .last = c->last,
			.creep = l->change[i]->creep, .before = c->before * scale_of(m),
			.after = c->after * scale_of(m), .label = keep(p, &label),
		};
		if (!change[i].label)
			return -ENOMEM;
	}
	return 0;
}

static int plan_pane(struct plan *p, enum metric m)
{
	size_t n = p->view->builds->n;
	struct trend_pane *pane = &p->trend.pane[p->trend.n_panes++];
	double *value = arena_alloc(p->memory, (n + 1) * sizeof *value);
	bool ratio = p->view->task == TASK_HOST;
	struct history_levels l;
	int r;

	if (!value)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		value[i] = p->view->series[m][i] * (ratio ? 1 : scale_of(m));
	*pane = (struct trend_pane){
		.title = metric_info[m].title, .value = value,
		.unit = ratio ? TREND_RATIO : unit_of[metric_info[m].unit],
	};
	r = history_levels_find(&l, p->view, m);
	if (!r)
		r = plan_changes(p, pane, m, &l);
	history_levels_release(&l);
	return r;
}

/* "gcc: do_compile", and below "builder/main/x86_64, 365 builds, 2025-11-21 to ...". */
static int plan_head(struct plan *p)
{
	const struct builds *builds = p->view->builds;
	struct buf title = BUF_INIT, subtitle = BUF_INIT;
	int64_t *start_s = arena_alloc(p->memory, (builds->n + 1) * sizeof *start_s);

	history_add_subject(&title, p->view);
	history_add_span(&subtitle, builds);
	p->trend.title = keep(p, &title);
	p->trend.subtitle = keep(p, &subtitle);
	p->trend.n = builds->n;
	p->trend.start_s = start_s;
	for (size_t i = 0; start_s && i < builds->n; i++)
		start_s[i] = builds->build[i].start_s;
	return p->trend.title && p->trend.subtitle && start_s ? 0 : -ENOMEM;
}

static int plan_panes(struct plan *p)
{
	int r = 0;

	for (enum metric m = 0; !r && m < METRICS; m++) {
		const double *series = p->view->series[m];
		bool known = false;

		for (size_t i = 0; series && i < p->view->builds->n; i++)
			known |= isfinite(series[i]);
		if (known)
			r = plan_pane(p, m);
	}
	return r;
}

int history_trend(struct buf *out, const struct history_view *view, const struct trend_output *o,
		  struct error *err)
{
	struct plan p = { .view = view, .memory = arena_new() };
	int r = p.memory ? plan_head(&p) : -ENOMEM;

	if (!r)
		r = plan_panes(&p);
	if (r)
		error_sys(err, r, view->builds->ref, NULL);
	else if (!p.trend.n_panes)
		r = error_set(err, -ENODATA, view->builds->ref, 0, 0, "no build recorded it");
	else
		r = trend_draw(&p.trend, o, out, err);
	arena_free(p.memory);
	return r;
}
