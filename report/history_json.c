/* SPDX-License-Identifier: MIT */
#include "report/history_output.h"

#include "base/json.h"
#include "report/revisions.h"
#include "report/words_change.h"

struct document {
	struct json j;
	const struct history_view *view;
};

static void add_build(struct document *d, const char *name, uint32_t build)
{
	const struct build *n = &d->view->builds->build[build];

	json_object(&d->j, name);
	json_int(&d->j, "index", build);
	json_str(&d->j, "id", n->id);
	json_known(&d->j, "start_s", n->start_s);
	json_int(&d->j, "recordings", n->repeats + 1);
	json_int(&d->j, "runs", n->runs ? n->runs : 1);
	json_object_end(&d->j);
}

static void add_revisions(struct document *d, uint32_t first, uint32_t last)
{
	struct revisions_range range;

	json_array(&d->j, "revisions");
	for (size_t i = 0; revisions_range(&range, d->view->builds, first, last, i); i++) {
		json_object(&d->j, NULL);
		json_str(&d->j, "source", range.source);
		json_str(&d->j, "from", range.from ? range.from->commit : NULL);
		json_str(&d->j, "to", range.to ? range.to->commit : NULL);
		json_bool(&d->j, "dirty", (range.from && range.from->dirty) ||
			  (range.to && range.to->dirty));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

static void add_known(struct document *d, const char *name, const struct known *known)
{
	if (!known) {
		json_null(&d->j, name);
		return;
	}
	json_object(&d->j, name);
	json_str(&d->j, "kind", known->kind == KNOWN_ACCEPTED ? "accepted" : "acknowledged");
	json_str(&d->j, "reason", known->reason);
	json_str(&d->j, "by", known->by);
	json_str(&d->j, "owner", known->owner);
	json_str(&d->j, "bug", known->bug);
	json_str(&d->j, "fixed_by", known->fixed_by);
	json_bool(&d->j, "invalid", known->invalid);
	json_object_end(&d->j);
}

static void add_change(struct document *d, const struct history_change *c)
{
	struct buf pattern = BUF_PART_OF(d->j.out);

	json_object(&d->j, NULL);
	json_str(&d->j, "of", c->task == TASK_TOTAL ? "build" : c->task == TASK_HOST ? "host" :
		 c->task == TASK_SHARED ? "tasks" : "task");
	json_str(&d->j, "task", c->task < HISTORY_ALL ? d->view->builds->task[c->task].name : NULL);
	if (c->task == TASK_SHARED)
		shared_add_pattern(&pattern, d->view->builds, &c->group);
	json_str(&d->j, "pattern", pattern.len ? buf_str(&pattern) : NULL);
	json_known(&d->j, "tasks", c->task == TASK_SHARED ? (int64_t)c->tasks : -1);
	buf_release(&pattern);
	json_str(&d->j, "metric", metric_info[c->metric].name);
	json_bool(&d->j, "creep", c->creep);
	json_int(&d->j, "at", c->change.at);
	json_int(&d->j, "first", c->change.first);
	json_int(&d->j, "last", c->change.last);
	json_shortest(&d->j, "before", c->change.before);
	json_shortest(&d->j, "after", c->change.after);
	json_shortest(&d->j, "effect", c->change.effect);
	json_shortest(&d->j, "rate", c->change.p);
	json_str(&d->j, "state", c->finding ? words_finding_state[c->finding->state] : NULL);
	add_known(d, "known", c->known);
	add_known(d, "overdue", c->finding ? c->finding->overdue : NULL);
	json_object_end(&d->j);
}

static void add_event(struct document *d, const struct history_event *e)
{
	const struct history *h = d->view->history;

	json_object(&d->j, NULL);
	add_build(d, "at", e->at);
	add_build(d, "first", e->first);
	add_build(d, "last", e->last);
	json_bool(&d->j, "worse", e->worse);
	json_bool(&d->j, "creep", h->change[e->first_change].creep);
	json_bool(&d->j, "host", e->host);
	add_revisions(d, e->first, e->last);
	json_object(&d->j, "contribution");
	for (enum metric m = 0; m < METRICS; m++) {
		if (e->contribution[m])
			json_shortest(&d->j, metric_info[m].name, e->contribution[m]);
	}
	json_object_end(&d->j);
	json_array(&d->j, "changes");
	for (size_t i = 0; i < e->n_changes; i++)
		add_change(d, &h->change[e->first_change + i]);
	json_array_end(&d->j);
	json_object_end(&d->j);
}

static void add_series(struct document *d)
{
	const struct history_view *view = d->view;

	json_object(&d->j, "values");
	for (enum metric m = 0; m < METRICS; m++) {
		if (!view->series[m])
			continue;
		json_array(&d->j, metric_info[m].name);
		for (size_t i = 0; i < view->builds->n; i++)
			json_shortest(&d->j, NULL, view->series[m][i]);
		json_array_end(&d->j);
	}
	json_object_end(&d->j);
}

static void add_names(struct document *d)
{
	const struct builds *builds = d->view->builds;
	const struct builds_task *task = d->view->task < builds->n_tasks ?
					 &builds->task[d->view->task] : NULL;

	json_array(&d->j, "names");
	for (size_t i = 0; task && i < task->n_held; i++) {
		json_object(&d->j, NULL);
		json_str(&d->j, "name", task->held[i].name);
		add_build(d, "first", task->held[i].first);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

int history_json(struct buf *out, const struct history_view *view)
{
	struct document d = { .view = view };

	json_init(&d.j, out, false);
	json_object(&d.j, NULL);
	json_str(&d.j, "ref", view->builds->ref);
	json_str(&d.j, "task", view->task < view->builds->n_tasks ?
		 view->builds->task[view->task].name : NULL);
	add_names(&d);
	json_int(&d.j, "series", (int64_t)view->history->n_series);
	json_array(&d.j, "events");
	for (size_t i = 0; i < view->history->n_events; i++)
		add_event(&d, &view->history->event[i]);
	json_array_end(&d.j);
	add_series(&d);
	json_array(&d.j, "builds");
	for (uint32_t i = 0; i < d.view->builds->n; i++)
		add_build(&d, NULL, i);
	json_array_end(&d.j);
	json_object_end(&d.j);
	buf_addc(out, '\n');
	return buf_error(out);
}
